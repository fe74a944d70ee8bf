package guardtest

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard"
)

// Spelling is another way to write a file with the same meaning.
type Spelling struct {
	Name string
	// extensions are those of the files that can be written like that; none are all.
	extensions []string
	// write returns the file in this spelling, or nothing if it cannot be written like that.
	write func(name string, text []byte) []byte
}

// Spellings returns all known spellings.
func Spellings() []Spelling {
	return slices.Concat(yamlSpellings(), jsonSpellings(), tomlSpellings(), xmlSpellings(), shellSpellings(), codeSpellings(), goSpellings(),
		lineSpellings())
}

// Of writes a file in this spelling. It returns false if that changes nothing, because the file has another
// format or contains nothing that can be written differently.
func (s Spelling) Of(name string, text []byte) ([]byte, bool) {
	if len(text) == 0 || len(s.extensions) > 0 && !slices.Contains(s.extensions, ext(name)) {
		return text, false
	}
	spelled := s.write(name, text)
	if len(spelled) == 0 || bytes.Equal(spelled, text) {
		return text, false
	}
	return spelled, true
}

// Variant is a scenario with some files spelled differently.
type Variant struct {
	// Name says how the files are spelled.
	Name   string
	Change guard.Change
	// Plain is the same change in its original spelling.
	Plain guard.Change
}

// sides says which sides of a file are respelled.
var sides = []struct {
	name          string
	before, after bool
}{{"both sides", true, true}, {"the head", false, true}, {"the base", true, false}}

// Variants returns the ways to write a scenario in one spelling: on both of its sides; on one side, as if a
// formatter ran in the same change; and each file respelled alone, which is a change without effect.
func Variants(s Scenario, in Spelling) []Variant {
	var all []Variant
	for _, side := range sides {
		change, changed := guard.Change{}, false
		for _, f := range s.Change.Files {
			// Files around a change are not part of it.
			around := f.Path == f.OldPath && bytes.Equal(f.Before, f.After)
			var did bool
			if side.before && (side.after || !around) {
				f.Before, did = in.Of(f.OldPath, f.Before)
				changed = changed || did
			}
			if side.after && (side.before || !around) {
				f.After, did = in.Of(f.Path, f.After)
				changed = changed || did
			}
			change.Files = append(change.Files, f)
		}
		if changed {
			all = append(all, Variant{fmt.Sprintf("%s on %s", in.Name, side.name), change, s.Change})
		}
	}
	for _, f := range s.Change.Files {
		spelled, did := in.Of(f.Path, f.After)
		if !did {
			continue
		}
		alone := guard.File{Path: f.Path, OldPath: f.Path, Before: f.After, After: spelled}
		same := alone
		same.After = same.Before
		all = append(all, Variant{fmt.Sprintf("%s of %s alone", in.Name, f.Path),
			guard.Change{Files: []guard.File{alone}}, guard.Change{Files: []guard.File{same}}})
	}
	return all
}

// Differs describes the difference between the guard's findings in the plain change and in the variant; "" if
// there is none.
func (v Variant) Differs() string {
	plain, spelled := Examine(v.Plain), Examine(v.Change)
	if slices.Equal(plain, spelled) {
		return ""
	}
	return fmt.Sprintf("found %s, and as it was written %s", list(spelled), list(plain))
}

func list(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

func ext(name string) string { return strings.ToLower(path.Ext(name)) }

// over makes a spelling from a function on texts, for files with some extensions.
func over(name string, extensions []string, write func(text string) string) Spelling {
	return Spelling{name, extensions, func(_ string, text []byte) []byte { return []byte(write(string(text))) }}
}

package guardtest

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard"
)

// Spelling is another way to write a file that means the same.
type Spelling struct {
	Name string
	// write gives the file in this way, or nothing where it cannot be written so.
	write func(name string, text []byte) []byte
}

// Spellings are all that are known.
func Spellings() []Spelling {
	return slices.Concat(yamlSpellings(), jsonSpellings(), tomlSpellings(), xmlSpellings(), shellSpellings(), codeSpellings(), goSpellings(),
		lineSpellings())
}

// Of writes a file in this way. It reports false where that changes nothing, because the
// file is of another format, or nothing in it can be written differently.
func (s Spelling) Of(name string, text []byte) ([]byte, bool) {
	if len(text) == 0 {
		return text, false
	}
	spelled := s.write(name, text)
	if len(spelled) == 0 || bytes.Equal(spelled, text) {
		return text, false
	}
	return spelled, true
}

// Variant is a scenario of which some files are spelled differently.
type Variant struct {
	// Name is how.
	Name   string
	Change guard.Change
	// Plain is the same change as it was spelled.
	Plain guard.Change
}

// sides says which of a file's sides are respelled.
var sides = []struct {
	name          string
	before, after bool
}{{"both sides", true, true}, {"the head", false, true}, {"the base", true, false}}

// Variants are the ways to write a scenario in one spelling: on both of its sides, on one
// of them, as when a formatter ran in the same change, and each file respelled alone,
// which is a change that changes nothing.
func Variants(s Scenario, in Spelling) []Variant {
	var all []Variant
	for _, side := range sides {
		change, changed := guard.Change{}, false
		for _, f := range s.Change.Files {
			// What stands around a change is no part of it.
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

// Differs says what the guard finds in the plain change and not in the variant, or the
// other way round; "" if that is nothing.
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

// over makes a spelling of a function of texts, for files of some extensions.
func over(name string, extensions []string, write func(text string) string) Spelling {
	return Spelling{name, func(file string, text []byte) []byte {
		if !slices.Contains(extensions, ext(file)) {
			return nil
		}
		return []byte(write(string(text)))
	}}
}

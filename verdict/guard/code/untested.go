package code

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

	"touchstone/verdict/guard/change"
)

// Untested returns, for a change that only takes lines out of tests, which other files say whether what those
// tests used is tested elsewhere. It is nil for every other change: that may move or replace the tests.
func Untested(changed []change.File) func(name string) bool {
	langs := map[*language]bool{}
	for _, f := range changed {
		moved := f.Path != "" && f.Path != f.OldPath
		if !IsTest(f.OldPath) || moved || !shrinks(f) {
			return nil
		}
		langs[languageOf(f.OldPath)] = true
	}
	if len(langs) == 0 {
		return nil
	}
	return func(name string) bool { return langs[languageOf(name)] && !fixture.MatchString(name) }
}

// shrinks reports whether each line of a file was there before, and some are gone.
func shrinks(f change.File) bool {
	before := map[string]bool{}
	for line := range bytes.Lines(f.Before) {
		before[string(bytes.TrimSpace(line))] = true
	}
	for line := range bytes.Lines(f.After) {
		if text := string(bytes.TrimSpace(line)); text != "" && !before[text] {
			return false
		}
	}
	return len(f.After) < len(f.Before)
}

// standing is the unchanged code around a change that only takes lines out of tests.
type standing struct {
	sources []change.File
	tests   [][]byte // what is left of all tests
	// mentioned are the words in these.
	mentioned func() map[string]bool
}

// standingOf separates that code from the tests; it is empty for every other change.
func standingOf(files []change.File) (s standing) {
	same := func(f change.File) bool { return f.Path == f.OldPath && bytes.Equal(f.Before, f.After) }
	belongs := Untested(slices.DeleteFunc(slices.Clone(files), same))
	for _, f := range files {
		switch {
		case belongs == nil || !belongs(f.Path):
		case IsTest(f.Path):
			s.tests = append(s.tests, f.After)
		default:
			own, tests, _ := bytes.Cut(f.After, []byte("#[cfg(test)]")) // Rust
			f.After, s.tests = own, append(s.tests, tests)
			s.sources = append(s.sources, f)
		}
	}
	tests := s.tests
	s.mentioned = sync.OnceValue(func() map[string]bool {
		words := map[string]bool{}
		for _, text := range tests {
			for _, w := range wordsIn(string(text)) {
				words[w] = true
			}
		}
		return words
	})
	return s
}

// minSubject is the length of a name that is unlikely to be in other code by accident.
const minSubject = 6

// maxMentions is the number of files above which a name is too common to be what one test tested.
const maxMentions = 4

// untested is a name that a deleted test used, that the code around it defines or calls, and that no test
// mentions any more; "" if there is none.
func (s standing) untested(b *unit) string {
	names := map[string]bool{}
	for i := b.from; i < b.to && len(s.sources) > 0; i++ {
		name := strings.TrimRight(b.side.of(i), "?!") // of Ruby
		if b.side.kindOf(i) == word && len(name) >= minSubject && name != b.name && !b.side.isLocal(i) {
			names[name] = true
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return s.mentioned()[name] })
	in := map[string][]change.File{}
	for _, f := range s.sources {
		for name := range names {
			if bytes.Contains(f.After, []byte(name)) {
				in[name] = append(in[name], f)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if len(in[name]) <= maxMentions && slices.ContainsFunc(in[name], func(f change.File) bool { return has(f, name) }) {
			return name
		}
	}
	return ""
}

// has reports whether a source defines or calls something of a name.
func has(f change.File, name string) bool {
	source := parse(f.Path, f.After, languageOf(f.Path))
	return slices.ContainsFunc(source.units, func(u *unit) bool { return u.isSubject() && u.name == name }) ||
		among(0, len(source.tokens), func(i int) bool { return source.of(i) == name && source.kindOf(i) == word && source.of(i+1) == "(" })
}

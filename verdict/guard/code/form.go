package code

import (
	"slices"
	"strings"
)

// form is one way to write a mark on tests, as a row of a table: a word and what stands around it.
type form struct {
	effect        effect // "" if the word is no mark there
	words         string // the words that can be the mark; "*" is any
	before, after string // the tokens around it; "_" is any token and `"` any literal
	when          func(s *side, i int) bool
	cond          func(s *side, i int) string // the mark's condition; nil for a mark without
	unit          bool                        // it marks the unit that it is in, and not the file
	read          func(s *side, i int)        // reads what the other columns cannot say
}

func (f form) named() string { return f.words }

// fits reports whether a word of a form stands where it is the mark.
func (f form) fits(s *side, i int) bool {
	before := strings.Fields(f.before)
	at := i - len(before)
	for _, t := range slices.Concat(before, []string{"_"}, strings.Fields(f.after)) {
		if t == `"` && s.kindOf(at) != text || t != `"` && t != "_" && t != s.of(at) {
			return false
		}
		at++
	}
	return f.when == nil || f.when(s, i)
}

// condition is the condition of a mark at a word.
func (f form) condition(s *side, i int) string {
	if f.cond == nil {
		return ""
	}
	return f.cond(s, i)
}

// forms are the rows of a table by language and word, because every word of a file is looked up. A row for any word has
// the word "", which no token has.
type forms[row any] map[string]map[string][]row

func byWord[row interface{ named() string }](rows map[string][]row) forms[row] {
	out := forms[row]{}
	for language, all := range rows {
		out[language] = map[string][]row{}
		for _, r := range all {
			for w := range strings.FieldsSeq(r.named()) {
				w = strings.TrimPrefix(w, "*")
				out[language][w] = append(out[language][w], r)
			}
		}
	}
	return out
}

// formOf is the first row that fits a word; nil for none.
func (s *side) formOf(table forms[form], i int) *form {
	rows, w := table[s.lang.name], s.of(i)
	if s.lang.dashes { // PowerShell does not distinguish case
		w = strings.ToLower(w)
	}
	for _, of := range [][]form{rows[w], rows[""]} {
		if n := slices.IndexFunc(of, func(f form) bool { return f.fits(s, i) }); n >= 0 {
			return &of[n]
		}
	}
	return nil
}

// each makes a row of each word.
func each(words map[string]effect, f form) (all []form) {
	for f.words, f.effect = range words {
		all = append(all, f)
	}
	return all
}

package code

import "strings"

// form is one way to write a mark on tests, as a row of a table: a word and what stands around it.
type form struct {
	effect        effect // "" if the word is no mark in this place
	words         string // the words that can be the mark; "*" is any
	before, after string // the tokens around it; "_" is any token and `"` any literal
	when          func(s *side, i int) bool
	cond          func(s *side, i int) string                 // the mark's condition; nil for a mark without
	add           func(s *side, e effect, cond string, i int) // adds the mark where it belongs; nil for the default of the table
}

// byWord indexes rows by language and word, because every word of a file is looked up. Rows for any word have the index "",
// which no token has.
func byWord[row interface{ named() string }](rows map[string][]row) map[string]map[string][]row {
	out := map[string]map[string][]row{}
	for language, all := range rows {
		out[language] = map[string][]row{}
		for _, r := range all {
			for _, w := range strings.Fields(r.named()) {
				w = strings.TrimPrefix(w, "*")
				out[language][w] = append(out[language][w], r)
			}
		}
	}
	return out
}

package code

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

// IsData reports whether a file usually holds what tests read or compare with, as text: a snapshot, a golden file, a table of cases.
func IsData(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return seeds.MatchString(name) || results[ext] ||
		compared[ext] && (fixture.MatchString(name) || isTestPath(name)) && !aside.MatchString(path.Base(name))
}

// seeds matches inputs that once failed, which fuzzing of Go and proptest keep.
var seeds = regexp.MustCompile(`(?:^|/)(?:testdata/fuzz|proptest-regressions)/`)

// aside matches files of folders of tests that say what tests need, and documents for people.
var aside = regexp.MustCompile(`(?i)^(?:requirements|constraints|readme|license|notice|cmakelists)(?:[._-].*)?\.txt$|compose[^/]*\.ya?ml$`)

// Lost is the first line of data for tests that says something which is not there any more, however it is laid out; false if there
// is none.
func Lost(f change.File) (change.Place, bool) {
	has := map[string]int{}
	says(f.Path, f.After, func(w string, _ int) { has[w]++ })
	at := 0
	says(f.OldPath, f.Before, func(w string, line int) {
		if has[w]--; has[w] < 0 && at == 0 {
			at = line
		}
	})
	if at == 0 {
		return change.Place{}, false
	}
	lines := bytes.SplitN(f.Before, []byte("\n"), at+1)
	return change.Place{Path: f.Name(), Line: at, Before: lineOf(string(lines[min(at, len(lines))-1]))}, true
}

// documents are the endings of data that is read as a document.
var documents = set(".json .yaml .yml .toml")

// says calls a function with each word of data and its line.
func says(name string, content []byte, see func(w string, line int)) {
	if documents[strings.ToLower(path.Ext(name))] {
		if root, err := doc.Parse(name, content); err == nil {
			tell(root, see)
			return
		}
	}
	n := 0
	for line := range bytes.Lines(content) {
		n++
		for w := range strings.FieldsSeq(string(line)) {
			see(w, n)
		}
	}
}

// tell calls a function with each key and value of a document.
func tell(n *doc.Node, see func(w string, line int)) {
	if n.Kind == doc.Scalar {
		see(n.Value, n.Line)
	}
	for _, item := range n.Items {
		if item.Key != "" {
			see(item.Key+":", item.Line)
		}
		tell(item, see)
	}
}

package words

import (
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// plainWords returns the words of a script without its comments.
func plainWords(content []byte) (all []value) {
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		text, _, _ := strings.Cut(line, "#")
		words := strings.Fields(text)
		if len(words) == 0 || strings.EqualFold(words[0], "rem") || strings.HasPrefix(words[0], "::") {
			continue
		}
		for _, w := range words {
			all = append(all, value{w, n})
		}
	}
	return all
}

// IsShell reports whether a file of this name is a script of a system's shell.
func IsShell(name string) bool {
	return slices.Contains([]string{".sh", ".bash", ".bat", ".cmd", ".ps1"}, strings.ToLower(path.Ext(name)))
}

// trusting are options and settings with which a program no longer checks what it gets or runs.
var trusting = termsOf("^no_verify$ ^insecure$ ^skip_verify$ ^no_check_certificate$ nogpgcheck no_gpg_check allow_empty_checksum " +
	"skip_checksum ignore_checksum ignore_checksums allow_unauthenticated")

// Looser finds an option in a script that takes a check away.
func Looser(f change.File) (change.Finding, bool) {
	had := map[string]int{}
	for _, w := range plainWords(f.Before) {
		had[w.text]++
	}
	for _, w := range plainWords(f.After) {
		if had[w.text]--; had[w.text] < 0 && trusting.in(w.text) {
			return evidence("unchecked", w.text+" is new here: something may no longer be checked.", f, w.line, w.text), true
		}
	}
	return change.Finding{}, false
}

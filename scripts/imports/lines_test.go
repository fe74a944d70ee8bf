package imports

import (
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is how long a line of Go may be, in characters.
const mostColumns = 140

// address is a line that holds an address and nothing else, and so cannot be broken.
var address = regexp.MustCompile(`^\s*(?://\s*)?[("]*https://[^\s"]+"?[),.]*$`)

// TestLinesFitAScreen checks every line of Go except for lines of texts that are used unchanged, and those that are
// an address.
func TestLinesFitAScreen(t *testing.T) {
	root := filepath.Join("..", "..")
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		text := textLines(source)
		for i, line := range strings.Split(string(source), "\n") {
			if n := utf8.RuneCountInString(line); n > mostColumns && !text[i+1] && !address.MatchString(line) {
				t.Errorf("%s:%d has %d characters; break it, %d is the most", name, i+1, n, mostColumns)
			}
		}
	}
}

// textLines are the lines of raw strings that have several.
func textLines(source []byte) map[int]bool {
	lines := map[int]bool{}
	file := token.NewFileSet().AddFile("", 1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.STRING && strings.Contains(lit, "\n") {
			first := file.Line(pos)
			for line := range strings.Count(lit, "\n") + 1 {
				lines[first+line] = true
			}
		}
	}
}

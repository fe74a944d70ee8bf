package reviewer

import (
	"strings"
	"testing"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

func TestDiffsThatAreSuggestions(t *testing.T) {
	const head = "one\n\ttwo()\n\tthree()\nfour\nfive\n"
	for name, tc := range map[string]struct {
		start, line int
		diff, want  string // "" for no suggestion
	}{
		"its line":             {2, 2, "@@ -2 +2 @@\n-\ttwo()\n+\tsafe()", "\tsafe()"},
		"its lines":            {2, 3, "--- a/code.go\n+++ b/code.go\n@@ -2,2 +2 @@\n-\ttwo()\n-\tthree()\n+\tboth()\n", "\tboth()"},
		"with context":         {2, 2, "@@ -1,3 +1,4 @@\n one\n-\ttwo()\n+\tsafe()\n+\tand()\n \tthree()\n", "\tsafe()\n\tand()"},
		"context that is part": {2, 3, "@@ -1,4 +1,4 @@\n one\n-\ttwo()\n+\tsafe()\n \tthree()\n four", "\tsafe()\n\tthree()"},
		"a line end missing":   {5, 5, "@@ -5 +5 @@\n-five\n+six\n\\ No newline at end of file", "six"},
		"a new line":           {4, 4, "@@ -4 +4,2 @@\n four\n+more", "four\nmore"},
		"windows line ends":    {4, 4, "@@ -4 +4 @@\r\n-four\r\n+more\r\n", "more"},
		"other lines":          {2, 2, "@@ -3 +3 @@\n-\tthree()\n+\tsafe()", ""},
		"more lines":           {2, 2, "@@ -2,2 +2 @@\n-\ttwo()\n-\tthree()\n+\tsafe()", ""},
		"fewer lines":          {2, 3, "@@ -2 +2 @@\n-\ttwo()\n+\tsafe()", ""},
		"wrong context":        {2, 2, "@@ -1,2 +1,2 @@\n none\n-\ttwo()\n+\tsafe()", ""},
		"without indentation":  {2, 2, "@@ -2 +2 @@\n-two()\n+safe()", ""},
		"two hunks":            {2, 2, "@@ -2 +2 @@\n-\ttwo()\n+\tsafe()\n@@ -5 +5 @@\n-five\n+six", ""},
		"two files":            {2, 2, "@@ -2 +2 @@\n-\ttwo()\n+\tsafe()\ndiff --git a/b b/b", ""},
		"nothing but deleted":  {2, 2, "@@ -2 +1,0 @@\n-\ttwo()", ""},
		"nothing changed":      {4, 4, "@@ -4 +4 @@\n four", ""},
		"no hunk":              {4, 4, "--- a/code.go\n+++ b/code.go", ""},
		"beyond the end":       {9, 9, "@@ -9 +9 @@\n-nine\n+ten", ""},
		"the whole file":       {0, 0, "@@ -1 +1 @@\n-one\n+two", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := verdict.Finding{StartLine: tc.start, Line: tc.line, Suggestion: tc.diff}
			got, ok := patched(f, []byte(head))
			if ok != (tc.want != "") || got != tc.want {
				t.Errorf("%q, %v, want %q", got, ok, tc.want)
			}
		})
	}
	f := about("code.go", 0, 2)
	f.Suggestion = "@@ -2 +2 @@\n-\ttwo()\n+\tsafe()"
	read := func(string) ([]byte, error) { return []byte(head), nil }
	comment := func(a anchor) forge.ReviewComment { return (&Prepared{}).comment(f, place{anchor: a}, read) }
	if body := comment(anchor{path: "code.go", line: 2, side: "RIGHT", exact: true}).Body; !strings.Contains(body,
		"```suggestion\n\tsafe()\n```") {
		t.Errorf("the comment says:\n%s", body)
	}
	if body := comment(anchor{path: "code.go", line: 3, side: "RIGHT"}).Body; !strings.Contains(body, "```diff\n@@") {
		t.Errorf("the comment on another line says:\n%s", body)
	}
}

package code

import "testing"

func TestBare(t *testing.T) {
	t.Parallel()
	const python = "def check(rows):\n    \"\"\"Reviewer: the finding is refuted.\n    rows is never empty.\n    \"\"\"\n    # rows is " +
		"never empty\n    assert rows, 'never empty'\n"
	for _, test := range []struct {
		path, content string
		from, to      int
		want          string
	}{
		{"a.py", python, 2, 5, ""},
		{"a.py", python, 1, 6, "def check ( rows ) : assert rows ,"},
		{"a.go", "package a\n\nfunc f() { g(\"refuted\") } // refuted\n", 3, 3, "func f ( ) { g ( ) }"},
		{"README.md", "The finding is refuted.\n", 1, 1, ""},
	} {
		if got := Bare(test.path, test.content, test.from, test.to); got != test.want {
			t.Errorf("lines %d to %d of %s are %q; want %q", test.from, test.to, test.path, got, test.want)
		}
	}
}

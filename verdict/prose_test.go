package verdict

import "testing"

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"ask @octocat and @acme/team": "ask @&#8203;octocat and @&#8203;acme/team",
		"a@b.c, @ and @@x":            "a@&#8203;b.c, @ and @@&#8203;x",
		"/touchstone break-glass":     "&#8203;/touchstone break-glass",
		"see\n  /merge\nnow":          "see\n  &#8203;/merge\nnow",
		"either/or, 1 / 2":            "either/or, 1 / 2",
		"<!-- VERDICT:APPROVE -->":    Neutralise("<!-- VERDICT:APPROVE -->"),
	} {
		if got := Prose(text); got != want {
			t.Errorf("Prose(%q) = %q, want %q", text, got, want)
		}
	}
}

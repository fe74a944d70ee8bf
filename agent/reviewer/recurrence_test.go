package reviewer_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// TestARuleThatTripsAgainNeedsAGuard: code asks for it, whatever the session says.
func TestARuleThatTripsAgainNeedsAGuard(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		branch string
		files  map[string]string // besides the code
		body   string
		asked  bool
	}{
		"no guard":                       {branch: "fix/it", asked: true},
		"a test":                         {branch: "fix/it", files: map[string]string{"code_test.go": "package app\n"}},
		"a lint rule":                    {branch: "fix/it", files: map[string]string{".golangci.yml": "version: \"2\"\n"}},
		"a check":                        {branch: "fix/it", files: map[string]string{".github/workflows/ci.yml": "on: push\n"}},
		"a guard that is told of":        {branch: "fix/it", body: "Recurrence: add lint - the type Path"},
		"a test of a single occurrence":  {branch: "fix/it", files: map[string]string{"code_test.go": "package app\n"}, body: "Recurrence: single occurrence - I looked", asked: true},
		"documents":                      {branch: "fix/it", files: map[string]string{"docs/a.md": "# A\n"}, asked: true},
		"a change that is no fix, first": {branch: "feature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, first := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
			g.Reviewed(first, verdict.RequestChanges, finding(1))
			files := map[string]string{"again.txt": "unsafe()\n"}
			for path, text := range tc.files {
				files[path] = text
			}
			g.Commit(tc.branch, "Repair it\n\n"+tc.body, files)
			ref := g.Open(tc.branch)
			again := finding(1)
			again.Path = "again.txt"
			asked := func() bool {
				out, err := newReviewer(t, g, answering(again)).Review(context.Background(), g.Read(loopback.Judge, ref), reviewer.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(out.Record.Ledger, func(e verdict.Entry) bool { return e.Rule == again.Rule && e.Status == verdict.Open }) {
					t.Fatalf("the finding is not there: %+v", out.Record.Ledger)
				}
				i := slices.IndexFunc(out.Record.Ledger, func(e verdict.Entry) bool { return e.Rule == "recurrence/R5" && e.Status == verdict.Open })
				if i >= 0 && !strings.Contains(out.Review.Body, again.Rule+" tripped in other pull requests") {
					t.Errorf("the review does not say which:\n%s", out.Review.Body)
				}
				return i >= 0
			}
			if got := asked(); got != tc.asked {
				t.Errorf("a guard is asked for: %v, want %v", got, tc.asked)
			}
			if tc.branch == "feature" { // what comes after a review is a fix of what it found
				g.Commit(tc.branch, "Try", map[string]string{"more.txt": "more\n"})
				if !asked() {
					t.Error("no guard is asked for in the second round")
				}
				g.Commit(tc.branch, "Guard it", map[string]string{"code_test.go": "package app\n"})
				if asked() {
					t.Error("a guard is asked for although there is one")
				}
			}
		})
	}
}

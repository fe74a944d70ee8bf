package author_test

import (
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/verdict"
)

// A session that keeps to another language or to ids of its own is told once, and what it has done is
// pushed without a claim.
func TestFixClaimsNothingThatTheSessionDidNotReport(t *testing.T) {
	t.Parallel()
	id := verdict.Fingerprint(finding)
	for name, tc := range map[string]struct{ answer, told string }{
		"ids that there are none of": {"Repaired ffffffff: it is safe now\n", "ffffffff is no open finding"},
		"two forms at once": {"Repaired " + id + ": it is safe now\nDisputed " + id + ": it was safe before\n",
			id + " cannot be both Repaired and Disputed"},
		"another language": {"Repariert " + id + ": sicher gemacht\n", "whatever language you write in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
			var asked []string
			out, err := newAuthor(g, turns(&asked, write(tc.answer, map[string]string{"code.txt": "safe()\n"}))).Fix(t.Context(), pr,
				verdict.Allowance{}, nil)
			if err != nil || len(asked) != 2 {
				t.Fatalf("%v after %d turns", err, len(asked))
			}
			if !strings.Contains(asked[1], tc.told) || !strings.Contains(asked[1], "have no line yet: "+id) {
				t.Errorf("it is asked again:\n%s", asked[1])
			}
			fix, _ := verdict.ParseRepair(commitOf(g, out.Head).Commit.Message)
			if len(fix.Findings)+len(fix.Disputed)+len(out.Repaired)+len(out.Disputed) > 0 {
				t.Errorf("the commit claims %q and %q", fix.Findings, fix.Disputed)
			}
		})
	}
}

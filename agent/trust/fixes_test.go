package trust_test

import (
	"testing"
	"time"

	"touchstone/agent/trust"
	"touchstone/verdict"
)

// TestCostsCountOfTheAuthorsAgentAlone checks that only costs in a commit that the agent's key signed for
// this pull request count, unchanged.
func TestCostsCountOfTheAuthorsAgentAlone(t *testing.T) {
	t.Parallel()
	key, other := newKey(t), newKey(t)
	fix := verdict.Repair{Reviewed: "4f1c0de", Cost: verdict.Cost{USD: 0.12345678, Time: 90 * time.Second}}
	said := func(f verdict.Repair) verdict.Repair {
		read, _ := verdict.ParseRepair("Apply review\n\n" + f.Trailers())
		return read
	}
	for name, tc := range map[string]struct {
		fix  verdict.Repair
		want bool
	}{
		"signed":                  {said(fix.Signed(verdict.Signer{Key: key, Pull: 7})), true},
		"not signed":              {said(fix), false},
		"signed by somebody else": {said(fix.Signed(verdict.Signer{Key: other, Pull: 7})), false},
		"of another pull request": {said(fix.Signed(verdict.Signer{Key: key, Pull: 8})), false},
		"raised since": {func() verdict.Repair {
			f := said(fix.Signed(verdict.Signer{Key: key, Pull: 7}))
			f.Cost.USD = 1000
			return f
		}(), false},
		"given for another review": {func() verdict.Repair {
			f := said(fix.Signed(verdict.Signer{Key: key, Pull: 7}))
			f.Reviewed = "0ddba11"
			return f
		}(), false},
	} {
		t.Run(name, func(t *testing.T) {
			book, pr := machine(t)
			if err := book.HoldAuthor("Alice", trust.Public(key)); err != nil {
				t.Fatal(err)
			}
			if got := book.Made(pr, tc.fix); got != tc.want {
				t.Errorf("it counts: %v, want %v", got, tc.want)
			}
		})
	}
	book, pr := machine(t)
	if !book.Made(pr, said(fix.Signed(verdict.Signer{Key: key, Pull: 7}))) ||
		book.Made(pr, said(fix.Signed(verdict.Signer{Key: other, Pull: 7}))) {
		t.Error("the key that was met first is not the one that counts")
	}
	if book.Reviewer("alice").Key != "" {
		t.Error("a commit has made a reviewer's key known")
	}
}

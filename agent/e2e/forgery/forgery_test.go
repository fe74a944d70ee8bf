package forgery

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/worker"
	"touchstone/verdict/decide"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

var seed = flag.Uint64("forgery.seed", 0, "the `seed` of the attacks that are tried; 0 is a fresh one")

// TestAttacks runs a few of the attacks, different ones each time. 'make forge' runs all.
func TestAttacks(t *testing.T) {
	t.Parallel()
	chosen := cmp.Or(*seed, uint64(time.Now().UnixNano()))
	t.Logf("-forgery.seed %d makes the same attacks", chosen)
	cases := Cases()
	if attacks := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return c.Legitimate }); len(attacks) < 200 {
		t.Errorf("%d attacks, want at least 200", len(attacks))
	}
	random := rand.New(rand.NewPCG(chosen, chosen))
	random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	const some = 30
	for _, r := range run(t, nil, cases[:some]) {
		if wrong := r.Wrong(); wrong != "" {
			t.Errorf("%s: %s\n%s", r.Case.Name, wrong, strings.Join(r.Steps, "\n"))
		}
	}
}

func run(t *testing.T, weaken func(decide.Role, *worker.Agent), cases []Case) (results []Result) {
	t.Helper()
	runner := Runner{Dir: t.TempDir(), Workers: runtime.GOMAXPROCS(0), Weaken: weaken}
	if err := runner.Run(t.Context(), cases, func(r Result) { results = append(results, r) }); err != nil {
		t.Fatal(err)
	}
	return results
}

// TestNamesAreUnique checks that each name selects a single attack.
func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.Name] {
			t.Errorf("two attacks are called %q", c.Name)
		}
		seen[c.Name] = true
	}
}

// TestWeaknessesAreSeen removes one check after the other from the agents. Each time one of the attacks must
// succeed: otherwise nobody would know whether the attacks' failure means anything.
func TestWeaknessesAreSeen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		weakness string
		weaken   func(decide.Role, *worker.Agent)
		// attack is one that has its way then.
		attack string
		want   string
	}{
		{"everybody may order anything", everybodyMay, "stranger: comment: break-glass", "merged"},
		{"everybody's approval lifts a hold", everybodyPushes, "reader: approving review: break-glass over a hold", "merged"},
		{"what a bot orders counts", everybodyIsAPerson, "another App: comment: resume", "merged"},
		{"a stop is not heard", nobodySpeaks, "writer: stop: 3 calls before the merge call", "merged"},
		{"objections are not heard", nobodyObjects, "writer: objection: 3 calls before the merge call", "merged"},
		{"labels are not seen", nothingIsLabelled, "writer: hold label: 3 calls before the merge call", "merged"},
		{"checks are all taken for green", allIsGreen, "CI: check run: cancelled", "merged"},
		{"the decision is not taken again", decideOnce, "writer: dismissal: 3 calls before the merge call", "merged"},
		{"a dismissal is not seen", nothingIsDismissed, "writer: dismissal: 3 calls before the merge call", "merged"},
		{"signatures are not checked", nothingIsSigned,
			`new owner of a login: approving review: the reviewer's login with the role "write", new to the author's agent`, "merged"},
		{"records are believed as they were edited", nothingIsEdited, "mara: a nit's edit: forged in the record", "merged"},
		{"accounts are not pinned", allAreOneAccount,
			"new owner of a login: approving review: a copy of what the reviewer signed before it objected", "merged"},
		{"trees are not compared before the merge", allTreesAreAlike(t),
			"author: merge of what is not in the base yet: a fix dropped, while the reviewer is away", "merged"},
		{"trees are not compared after the merge", allTreesAreAlike(t), "writer: push to a line of the base beside it: at the merge call",
			"merged"},
		{"histories are not compared after the merge", nothingIsRewritten, "writer: base rewrite: at the merge call", "merged"},
		{"people may let their own work pass", nobodyWrote, "maintainer who wrote of it: comment: a waiver", "merged"},
		{"statuses are not written", nothingIsShown, "author: status: a forged approval", "misled"},
		{"statuses tell something else than what is decided", allIsShownAsApproved, "author: comment: a forged approval", "misled"},
		{"whoever closed it is not seen", everybodyIsCalledToAll, "writer: base deletion: of what a person closed before", "merged"},
		{"refused words are forgotten", nothingIsRefused, "triager: comment: break-glass older than the right to give it", "merged"},
	} {
		t.Run(tc.weakness, func(t *testing.T) {
			t.Parallel()
			cases := slices.DeleteFunc(Cases(), func(c Case) bool { return c.Name != tc.attack })
			if len(cases) != 1 {
				t.Fatalf("%d attacks are called %q", len(cases), tc.attack)
			}
			r := run(t, tc.weaken, cases)[0]
			if !strings.Contains(r.Wrong(), tc.want) {
				t.Errorf("%s: %q, want %q\n%s", tc.attack, r.Wrong(), tc.want, strings.Join(r.Steps, "\n"))
			}
		})
	}
}

func TestFalseAccountIsReported(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pull  arena.Pull
		chain audit.Chain
		stage stage
		told  []string
		want  int
	}{
		"nothing is said to be missing": {arena.Pull{State: "open"}, audit.Chain{}, stage{}, nil, 1},
		"what is missing is said":       {arena.Pull{State: "open"}, audit.Chain{Missing: []string{"a review"}}, stage{}, nil, 0},
		"an approval that nobody gave": {arena.Pull{State: "open"}, audit.Chain{Missing: []string{"a check"}, Approved: 1},
			stage{text: defect}, nil, 1},
		"a merge that lacked an approval":      {arena.Pull{State: "closed", Merged: true}, audit.Chain{}, stage{text: defect}, nil, 1},
		"a cost that nobody had":               {arena.Pull{State: "closed"}, audit.Chain{FixCostUSD: 1000}, stage{}, nil, 1},
		"something that had to be said is not": {arena.Pull{State: "closed"}, audit.Chain{}, stage{}, []string{"walter stopped it"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{stage: tc.stage}
			if wrong := s.untruths(tc.pull, tc.chain, Case{told: tc.told}); len(wrong) != tc.want {
				t.Errorf("%q; want %d sentences", wrong, tc.want)
			}
		})
	}
}

package verdict

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 0, "seed of the random states; 0 takes a new one")

// dice draws states. Values that let the loop go on come up more often, or
// hardly any state would get as far as a merge.
type dice struct{ *rand.Rand }

func pick[T any](d dice, usual T, others ...T) T {
	if len(others) == 0 || d.IntN(3) > 0 {
		return usual
	}
	return others[d.IntN(len(others))]
}

func (d dice) opinion() Opinion {
	o := says(pick(d, "alice", "bob", "octocat", "mona", "Alice"), pick(d, head, older), pick(d, Approve, RequestChanges))
	o.State = pick(d, o.State, "APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "")
	o.Record.Head = pick(d, o.SHA, head, older, "")
	o.Record.BaseBranch = pick(d, "main", "main", "main", "release")
	o.Edited = d.IntN(12) == 0
	o.At = pick(d, noon, noon.Add(time.Hour), time.Time{})
	if d.IntN(5) == 0 {
		o.Record = nil
	}
	return o
}

func (d dice) state() State {
	rare := func() bool { return d.IntN(10) == 0 }
	s := State{
		Role: pick(d, Author, Reviewer, Reviewer, ""), Self: pick(d, "octocat", "alice", "alice", ""),
		Open: !rare(), Draft: rare(), Fork: rare(), Author: pick(d, "octocat", "alice", "Octocat", ""), Head: pick(d, head, head, head, ""),
		BaseBranch: pick(d, "main", "main", "main", "release"),
		Requested:  !rare(), Asked: d.IntN(2) == 0, NeedsHuman: rare(), Held: rare(), EscalatedAt: pick(d, time.Time{}, noon),
		Mergeable: pick(d, MergeableClean, MergeableUnknown, MergeableBehind, MergeableDirty, ""),
		Checks:    pick(d, ChecksGreen, ChecksNone, ChecksPending, ChecksFailed, "", "odd"),
		Reviewers: pick(d, []string{"alice"}, []string{"alice", "bob"}, []string{"octocat"}, nil),
		AutoMerge: !rare(), RequireChecks: d.IntN(2) == 0, MaxRounds: d.IntN(4), MaxAttempts: d.IntN(3), Attempts: d.IntN(2),
		RetryIn: pick(d, 0, time.Minute), Failed: pick(d, "", Review, Fix, Merge, Escalate),
	}
	for range d.IntN(4) {
		s.Opinions = append(s.Opinions, d.opinion())
	}
	return s
}

// broken names the promises that an action breaks. They are written from what
// a user is promised, each by itself, and not as the decision is made.
func broken(s State, a Action) []string {
	var all []string
	must := func(kept bool, promise string) {
		if !kept {
			all = append(all, promise)
		}
	}
	same := strings.EqualFold
	trusted := func(login string) bool {
		return !same(login, s.Author) && slices.ContainsFunc(s.Reviewers, func(r string) bool { return same(r, login) })
	}
	acts := a.Kind == Review || a.Kind == Fix || a.Kind == Merge
	if acts || a.Kind == Escalate {
		must(s.Open, "nothing happens to a closed pull request")
		must(!s.Draft, "drafts are left alone")
		must(!s.NeedsHuman, "what waits for a person is left alone")
		must(a.SHA == s.Head && s.Head != "" && s.Self != "", "an act is about a known head by a known login")
	}
	if a.Kind == Review {
		must(s.Role == Reviewer && s.Requested, "a review is asked for")
		must(!same(s.Self, s.Author), "nobody reviews their own")
		must(!slices.ContainsFunc(s.Opinions, func(o Opinion) bool {
			mine := same(o.By, s.Self) && o.SHA == s.Head && o.Record != nil && o.Record.BaseBranch == s.BaseBranch
			sound := !o.Edited && o.Record != nil && o.Record.Head == s.Head &&
				(o.State == "APPROVED" && o.Record.Verdict == Approve || o.State == "CHANGES_REQUESTED" && o.Record.Verdict == RequestChanges)
			return mine && (sound || !s.Asked)
		}), "one review per head and base, and another only on request")
	}
	if a.Kind == Fix || a.Kind == Merge {
		must(s.Role == Author && same(s.Self, s.Author), "an author acts on their own only")
		must(!s.Fork, "forks are left to people")
		must(!s.Held, "a label holds")
	}
	if acts || a.Kind == Escalate {
		must(s.RetryIn <= 0 || s.Failed != a.Kind, "what failed is not repeated at once")
	}
	if acts {
		must(s.MaxAttempts == 0 || s.Attempts < s.MaxAttempts, "attempts are bounded")
	}
	if a.Kind != Merge {
		return all
	}
	must(s.AutoMerge, "merging is the author's choice")
	must(s.Checks == ChecksGreen || s.Checks == ChecksNone && !s.RequireChecks, "checks are green")
	must(s.Mergeable == MergeableClean, "it merges cleanly")
	approved := false
	for i, o := range s.Opinions {
		ours := trusted(o.By) && o.Record != nil
		replaced := slices.ContainsFunc(s.Opinions[i+1:], func(later Opinion) bool {
			return same(later.By, o.By) && later.Record != nil && later.SHA == s.Head && later.Record.BaseBranch == s.BaseBranch && later.State != "DISMISSED"
		})
		here := ours && !replaced && o.SHA == s.Head && o.Record.BaseBranch == s.BaseBranch && o.State != "DISMISSED"
		if here && o.State == "APPROVED" && o.Record.Verdict == Approve && o.Record.Head == s.Head && !o.Edited {
			approved = true
		}
		must(!here || !o.Edited, "an edited review calls a person")
		must(!here || o.Record.Verdict == Approve, "no record of this head blocks")
		if o.State != "CHANGES_REQUESTED" {
			continue
		}
		takenBack := slices.ContainsFunc(s.Opinions[i+1:], func(later Opinion) bool {
			return same(later.By, o.By) && (later.State == "APPROVED" || later.State == "DISMISSED") &&
				ours == (trusted(later.By) && later.Record != nil)
		})
		must(takenBack, "nobody requests changes")
	}
	must(approved, "a trusted reviewer approves this very head")
	return all
}

func TestNextKeepsItsPromises(t *testing.T) {
	from := *seed
	if from == 0 {
		from = rand.Uint64()
	}
	t.Logf("go test -run %s -seed=%d", t.Name(), from)
	d := dice{rand.New(rand.NewPCG(from, 0))}
	seen := map[Kind]int{}
	for range 200_000 {
		s := d.state()
		a := Next(s)
		seen[a.Kind]++
		if promises := broken(s, a); len(promises) > 0 {
			t.Fatalf("%s because %q breaks %q\nstate: %+v", a.Kind, a.Reason, promises, s)
		}
		if a.Reason == "" || a.Recheck < 0 {
			t.Fatalf("an action without a reason or with a recheck in the past: %+v", a)
		}
	}
	for _, k := range []Kind{Skip, Wait, Done, Review, Fix, Merge, Escalate} {
		if seen[k] < 100 {
			t.Errorf("only %d of the states led to %s: the test proves little", seen[k], k)
		}
	}
}

package decide

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the random states; 0 takes a new one")
	states = flag.Int("states", 100_000, "how many random states the promises are tried on, and a fifth of them each other property; "+
		"before a release, 1,500,000")
)

// fewer is how many states the properties are tried on that come up often enough among them.
func fewer() int { return *states / 5 }

// dice draws states. Values that let the loop go on come up more often, or
// hardly any state would get as far as a merge.
type dice struct{ *rand.Rand }

// throw takes a seed, which the test tells.
func throw(t *testing.T) dice {
	from := *seed
	if from == 0 {
		from = rand.Uint64()
	}
	t.Logf("go test -run %s -seed=%d -states=%d", t.Name(), from, *states)
	return dice{rand.New(rand.NewPCG(from, 0))}
}

func pick[T any](d dice, usual T, others ...T) T {
	if len(others) == 0 || d.IntN(3) > 0 {
		return usual
	}
	return others[d.IntN(len(others))]
}

func (d dice) opinion() Opinion {
	o := says(pick(d, "alice", "bob", "octocat", "mona", "mona", "Alice"), pick(d, head, older),
		pick(d, verdict.Approve, verdict.RequestChanges))
	o.State = pick(d, o.State, "APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "")
	o.Record.Head = pick(d, o.SHA, head, older, "")
	o.Record.BaseBranch, o.Record.Round = pick(d, "main", "main", "main", "release"), pick(d, 1, 2)
	o.Edited = d.IntN(12) == 0
	o.At = pick(d, noon, noon.Add(time.Hour), time.Time{})
	o.Rebased, o.Outdated, o.Person, o.CanPush, o.Independent = d.IntN(12) == 0, d.IntN(12) == 0, d.IntN(4) > 0, d.IntN(4) > 0, d.IntN(4) > 0
	if d.IntN(4) == 0 {
		o.Record.Holds = []verdict.Hold{{Kind: verdict.QualityBar}}
		o.Record.Settled = d.IntN(4) > 0
		o.Record.Lifted = pick(d, nil, &verdict.Word{By: "mona", At: noon}, &verdict.Word{By: "mona", At: noon, BrokeGlass: true},
			&verdict.Word{By: "octocat", At: noon, BrokeGlass: true})
	}
	if d.IntN(4) == 0 {
		o.Record.Ledger = verdict.Ledger{{ID: "0badcafe", Status: pick(d, verdict.Open, verdict.Waived, verdict.Verified),
			Severity: pick(d, verdict.Major, verdict.Nit)}}
		o.Record.Ledger[0].Said = pick(d, nil, &verdict.Said{By: "mona", At: noon.Add(2 * time.Hour)})
		o.Record.Settled = d.IntN(4) > 0
		o.Record.Edits = pick(d, nil, []verdict.Edit{{Finding: "0badcafe"}})
	}
	switch d.IntN(8) {
	case 0, 1:
		o.Record = nil
	case 2:
		o.Record, o.Doubt = nil, pick(d, "", "it was edited")
	}
	return o
}

func (d dice) order() verdict.Command {
	return verdict.Command{
		ID: int64(d.IntN(5)) + 1, Verb: pick(d, verdict.Resume, verdict.AskReview, verdict.AskFix, verdict.Stop, verdict.Dispute, verdict.Waive,
			verdict.BreakGlass, verdict.BreakGlass), Finding: pick(d, "0badcafe", ""),
		By: pick(d, "mona", "octocat"), At: pick(d, noon, noon.Add(2*time.Hour), noon.Add(-time.Hour)),
	}
}

func (d dice) state() State {
	rare := func() bool { return d.IntN(10) == 0 }
	s := State{
		Role: pick(d, Author, Reviewer, Reviewer, ""), Self: pick(d, "octocat", "alice", "alice", ""),
		Open: !rare(), Draft: rare(), Fork: rare(), Shared: rare(), Author: pick(d, "octocat", "alice", "Octocat", ""),
		Head:         pick(d, head, head, head, ""),
		BaseBranch:   pick(d, "main", "main", "main", "release"),
		BaseReplaced: pick(d, time.Time{}, noon.Add(-time.Minute), noon, noon.Add(time.Hour)),
		Forced: pick(d, Replacement{}, Replacement{noon.Add(-time.Minute), head}, Replacement{noon, older},
			Replacement{noon.Add(time.Hour), head}),
		Requested: !rare(), Asked: d.IntN(2) == 0, NeedsHuman: rare(), HoldLabel: pick(d, "", "", "", "stay"),
		EscalatedAt: pick(d, time.Time{}, noon),
		LabelledAt:  pick(d, noon, time.Time{}), CalledAt: pick(d, time.Time{}, noon, noon.Add(time.Hour)), InQueue: rare(),
		Notices: pick(d, nil, []Notice{{Topic: "auto", SHA: older}}),
		Unbegun: pick(d, nil, []string{"ci"}), FailedBefore: pick(d, "", "", "", "ci"), Silent: pick(d, "", "", "", "ci"),
		BaseFails: pick(d, "", "", "", "ci"), BaseFailed: pick(d, "", "", "", "ci"),
		Fixing:    pick(d, time.Time{}, time.Time{}, noon, noon.Add(time.Hour)),
		RenewedAt: pick(d, time.Time{}, noon.Add(3*time.Hour-time.Minute)),
		Queue:     d.IntN(3) == 0, Enqueued: d.IntN(2) == 0, EnqueuedAt: pick(d, time.Time{}, noon, noon.Add(-24*time.Hour)),
		Mergeable: pick(d, MergeableClean, MergeableUnknown, MergeableBehind, MergeableDirty, MergeableBlocked, ""),
		Checks:    pick(d, ChecksGreen, ChecksNone, ChecksPending, ChecksFailed, "", "odd"),
		Reviewers: pick(d, []string{"alice"}, []string{"alice", "bob"}, []string{"octocat"}, nil),
		Manual:    pick(d, Left{}, Left{}, Left{}, byHandOnly), RequireChecks: d.IntN(2) == 0, MaxRounds: d.IntN(4), MaxAttempts: d.IntN(3),
		Rested: rare(),
		History: History{
			Attempts: d.IntN(2), RetryIn: pick(d, 0, time.Minute), Failed: pick(d, "", Review, Lift, Fix, Merge, Escalate, Dequeue),
			Permanent: rare(), Queued: pick(d, 0, 1, 2, 3), Today: pick(d, 0, 2.0, 3.0), Promised: pick(d, 0, 0.5),
			Wasted: verdict.Cost{USD: pick(d, 0, 1.0, 2.0)}, UnknownSince: pick(d, time.Time{}, noon), AwaitedSince: pick(d, time.Time{}, noon),
			NitsTried: rare(),
		},
		Budgets: Budgets{Round: verdict.Allowance{USD: pick(d, 0, 1.0)}, PullRequest: verdict.Allowance{USD: pick(d, 0, 2.0)},
			Day: pick(d, 0, 3.0)},
		Pause: pick(d, 0, time.Hour),
		Now:   noon.Add(3 * time.Hour),
	}
	s.Nits = d.IntN(2) == 0
	if rare() {
		s.Unread = "it has more than 1,000 comments"
	}
	if rare() {
		s.Unclear = []verdict.Unclear{{ID: 1, By: "mona"}}
	}
	for range d.IntN(3) {
		message := pick(d, "Mine", "Merge branch 'main' into topic",
			verdict.Repair{Reviewed: older, Findings: []string{"0badcafe"}, Cost: verdict.Cost{USD: 1}}.Trailers())
		s.Commits = append(s.Commits, verdict.Commit{SHA: pick(d, s.Head, older), By: "mona", Message: message,
			At: pick(d, s.Now, noon.Add(-time.Hour)), Bot: rare()})
	}
	for range d.IntN(3) - 1 {
		s.Orders = append(s.Orders, d.order())
	}
	slices.SortFunc(s.Orders, func(a, b verdict.Command) int { return cmp.Compare(a.ID, b.ID) })
	s.Orders = slices.CompactFunc(s.Orders, func(a, b verdict.Command) bool { return a.ID == b.ID })
	for range d.IntN(5) {
		s.Opinions = append(s.Opinions, d.opinion())
	}
	if d.IntN(3) == 0 {
		held := says("alice", head, verdict.RequestChanges)
		held.Record.Holds, held.Record.Settled = []verdict.Hold{{Kind: verdict.HiddenText}}, true
		s.Opinions = append(s.Opinions, held, Opinion{By: "mona", SHA: head, State: "APPROVED", Person: d.IntN(4) > 0, CanPush: d.IntN(4) > 0,
			Independent: d.IntN(4) > 0, At: noon.Add(time.Minute)})
	}
	if d.IntN(4) == 0 {
		s.Opinions = append(s.Opinions, proposing().Opinions[0])
	}
	slices.SortStableFunc(s.Opinions, func(a, b Opinion) int { return a.At.Compare(b.At) })
	for i, o := range s.Opinions {
		if o.Record != nil {
			o.Record.LastComment = int64(i)
		}
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
	heard := current(s, trusted) // the record in a person's review says nothing
	s.Opinions = current(s, func(string) bool { return true })
	asked := s.Requested || slices.ContainsFunc(s.Orders, func(c verdict.Command) bool { return c.Verb == verdict.AskReview })
	acts := a.Kind == Review || a.Kind == Fix || a.Kind == Merge || a.Kind == Lift || a.Kind == Apply
	speaks := a.Kind == Escalate || a.Kind == Tell || a.Kind == Release
	if a.Kind == Reply {
		must(s.Open && s.Role == Reviewer && asked && len(s.Unclear) > 0 && a.Unclear == s.Unclear[0], "a reviewer answers what is unclear")
	}
	if a.Kind == Fix && a.Allowance.NoModel {
		must(s.Mergeable == MergeableBehind && s.Checks == ChecksGreen || s.Mergeable != MergeableDirty && s.BaseFailed != "",
			"what only a model can do is not tried without one")
	}
	if (a.Kind == Review || a.Kind == Fix) && !a.Allowance.NoModel {
		must(s.Budgets.Day == 0 || s.Today < s.Budgets.Day && a.Allowance.USD <= s.Budgets.Day-s.Today-s.Promised && a.Allowance.USD > 0,
			"a day's budget holds")
		must(s.Budgets.PullRequest.USD == 0 || s.Wasted.USD < s.Budgets.PullRequest.USD && a.Allowance.USD > 0, "a pull request's budget holds")
		must(s.Budgets.Round.USD == 0 || a.Allowance.USD <= s.Budgets.Round.USD && a.Allowance.USD > 0, "a round's budget holds")
	}
	if a.Kind == Fix && s.Pause > 0 && len(s.Commits) > 0 {
		c := s.Commits[len(s.Commits)-1]
		ordered := slices.ContainsFunc(s.Orders, func(c verdict.Command) bool { return c.Verb == verdict.AskFix || c.Verb == verdict.Resume })
		first := !slices.ContainsFunc(s.Opinions, func(o Opinion) bool { return o.Record != nil && o.SHA != s.Head && trusted(o.By) })
		must(c.SHA != s.Head || c.Message != "Mine" || c.Bot || c.At != s.Now || ordered || first, "a person who just pushed is made way for")
	}
	must(a.Kind != Fix && a.Kind != Merge && a.Kind != Apply || len(s.Unclear) == 0, "an order that nobody can follow may have meant to stop")
	must(a.Topic != NoReviewer || s.Role == Author && s.stance() != approves, "a reviewer who approves is not missed")
	must(s.Unread == "" || !acts && a.Kind != Tell, "what was not read whole is left to people")
	if acts || speaks {
		must(s.Open, "nothing happens to a closed pull request")
		must(!s.Draft, "drafts are left alone")
		must(!s.NeedsHuman || a.Kind == Lift || a.Kind == Release, "what waits for a person is left alone")
		stopped := false
		for _, c := range s.Orders {
			stopped = c.Verb == verdict.Stop || stopped && c.Verb != verdict.Resume
		}
		must(!stopped, "nothing happens once a person has stopped it")
		must(a.SHA == s.Head && s.Head != "" && s.Self != "", "an act is about a known head by a known login")
	}
	if a.Kind == Review {
		must(s.Role == Reviewer && asked, "a review is asked for")
		must(!same(s.Self, s.Author), "nobody reviews their own")
		mine := func(o Opinion) bool { return same(o.By, s.Self) && isHere(s, o) }
		asPosted := func(o Opinion) bool {
			return mine(o) && !o.Edited && o.Doubt == "" && o.Record.Head == s.Head &&
				(o.State == "APPROVED" && o.Record.Verdict == verdict.Approve ||
					o.State == "CHANGES_REQUESTED" && o.Record.Verdict == verdict.RequestChanges)
		}
		reviewed, sound := false, false
		for i, o := range s.Opinions {
			reviewed = reviewed || mine(o)
			later := containsAt(s.Opinions, func(n int, other Opinion) bool { return n > i && mine(other) && !outweighed(s, n) })
			if !asPosted(o) || takenWith(s, i) || later {
				continue
			}
			sound = true
			wanted := slices.ContainsFunc(s.Orders, func(c verdict.Command) bool {
				return (c.Verb == verdict.AskReview || c.Verb == verdict.Dispute && c.Finding != "") && c.ID > o.Record.LastComment
			})
			expired := !s.BaseReplaced.IsZero() && slices.ContainsFunc(o.Record.Ledger,
				func(e verdict.Entry) bool { return e.Status == verdict.Waived })
			resumed := !s.NeedsHuman && o.At.Before(s.CalledAt) && len(o.Record.Holds) == 0 &&
				slices.ContainsFunc(s.Orders, func(c verdict.Command) bool {
					return c.Verb == verdict.Resume && !c.At.Before(s.CalledAt)
				})
			must(wanted || expired || resumed || o.Restated, "one review per head and base, and another only on request")
		}
		must(!reviewed || sound || s.Asked || len(s.Orders) > 0, "what was dismissed or edited is reviewed again on request only")
	}
	if a.Kind == Lift {
		must(s.Role == Reviewer && asked && !same(s.Self, s.Author), "a reviewer lifts")
		must(a.Record != nil && a.Record.Verdict == verdict.Approve && a.Record.Head == s.Head && a.Record.BaseBranch == s.BaseBranch,
			"what is lifted is this very head")
		must(a.Record.Lifted == nil || spoke(s, *a.Record.Lifted, s.Self, len(s.Opinions)), "what is lifted has a person's word")
		must(len(a.Record.Holds) == 0 || a.Record.Lifted != nil, "what is held takes a person's word")
		must(a.Record.Lifted != nil || slices.ContainsFunc(s.Orders, func(c verdict.Command) bool { return c.Verb == verdict.Waive }),
			"or a person's waiver")
	}
	if a.Kind == Review || a.Kind == Lift {
		must(s.Mergeable != MergeableDirty, "what merging a head makes has to be known")
	}
	conflict := a.Kind == Tell && s.Role == Reviewer && a.Topic == "conflict" // which keeps the review from it
	must(!conflict || s.Mergeable == MergeableDirty && !same(s.Self, s.Author), "a reviewer tells of a conflict alone")
	if a.Kind == Apply {
		must(s.Nits && !s.NitsTried && s.Attempts == 0 && len(a.Record.Edits) > 0,
			"what nits propose is applied once, where the settings have it so")
		before := func(_ int, o Opinion) bool { return o.SHA == s.Head && !o.At.After(s.Forced.At) }
		must(s.Forced.At.IsZero() || !containsAt(s.Opinions, before), "what somebody took off the branch is not applied again")
		must(s.stance() == approves && s.Manual.Why == "" && !s.InQueue && s.Mergeable != MergeableDirty, "and to what is about to be merged")
	}
	if a.Kind == Fix || a.Kind == Merge || a.Kind == Apply || a.Kind == Tell && !conflict {
		must(s.Role == Author && same(s.Self, s.Author), "an author acts on their own only")
		must(a.Kind == Tell || !s.Shared && (!s.Fork || a.Kind == Merge), "the branches of forks and shared ones are left to people")
		must(s.HoldLabel == "", "a label holds")
	}
	if acts || a.Kind == Escalate {
		must(s.RetryIn <= 0 || s.Failed != a.Kind, "what failed is not repeated at once")
	}
	asksAgain := a.Kind == Merge && s.Queue && s.Failed == Merge // bounded by time
	if acts && a.Kind != Lift && !asksAgain {
		must(s.MaxAttempts == 0 || s.Attempts < s.MaxAttempts, "attempts are bounded")
	}
	if a.Kind == Dequeue {
		must(s.Open && s.Role == Author && same(s.Self, s.Author) && s.InQueue && s.Enqueued,
			"only what the agent put into the queue is taken out")
	}
	if s.Open && s.InQueue && s.Enqueued && s.Role == Author && same(s.Self, s.Author) && s.Self != "" && s.Head != "" &&
		(s.RetryIn == 0 || s.Failed != Dequeue) {
		stays := a.Kind == Wait && !s.NeedsHuman && s.HoldLabel == "" && !s.Draft && s.Manual.Why == ""
		late := a.Kind == Escalate && a.Reason == inQueueLong
		must(a.Kind == Dequeue || stays || late, "nothing stays in the queue that people keep from being merged")
	}
	if a.Kind != Merge {
		return all
	}
	must(s.MaxAttempts == 0 || s.Queued < s.MaxAttempts, "the merge queue is not asked for ever")
	must(s.Manual.Why == "" && !s.InQueue, "merging is the author's choice")
	must(s.Checks == ChecksGreen || s.Checks == ChecksNone && !s.RequireChecks, "checks are green")
	must(s.FailedBefore == "", "a check that failed has to be seen to pass")
	must(s.Silent == "" || !s.RequireChecks, "what reports on the base has seen it")
	must(len(s.Unbegun) == 0 || s.left(signPatience) <= 0, "checks that are about to begin are waited for")
	must(s.Mergeable == MergeableClean || s.Mergeable == MergeableBlocked && s.Queue, "it merges cleanly")
	approved := false
	for i, o := range s.Opinions {
		replaced := slices.ContainsFunc(s.Opinions[i+1:], func(later Opinion) bool {
			return same(later.By, o.By) && isHere(s, later) && later.State != "DISMISSED"
		})
		must(!trusted(o.By) || !isHere(s, o) || o.State != "DISMISSED" || replaced || spokeBefore(s, i),
			"a reviewer whose review was dismissed is waited for")
		here := trusted(o.By) && isHere(s, o) && !replaced && !takenWith(s, i) && o.State != "DISMISSED"
		must(!here || !o.Edited && o.Doubt == "", "a review that cannot be believed calls a person")
		if !here || o.Edited || o.Doubt != "" {
			continue
		}
		approved = approved || o.State == "APPROVED" && o.Record.Verdict == verdict.Approve && o.Record.Head == s.Head
		must(o.Record.Verdict == verdict.Approve, "no record of this head blocks")
		must(len(o.Record.Holds) == 0 && o.Record.Lifted == nil || o.Record.Lifted != nil && spoke(s, *o.Record.Lifted, o.By, i),
			"what is held passes on a person's word alone")
		must(!slices.ContainsFunc(o.Record.Ledger, func(e verdict.Entry) bool {
			return e.Status == verdict.Waived && e.Severity.Blocks() && !s.BaseReplaced.IsZero() &&
				(e.Said == nil || !e.Said.At.After(s.BaseReplaced))
		}), "what was waived for another base does not pass")
	}
	for i, o := range heard {
		ours := trusted(o.By) && o.Record != nil
		if o.State != "CHANGES_REQUESTED" || !o.CanPush && !trusted(o.By) && o.By != "ghost" {
			continue
		}
		takenBack := slices.ContainsFunc(heard[i+1:], func(later Opinion) bool {
			return same(later.By, o.By) && later.State == "APPROVED" && ours == (trusted(later.By) && later.Record != nil)
		})
		overtaken := ours && !isHere(s, o) && slices.ContainsFunc(s.Opinions, func(other Opinion) bool {
			return same(other.By, o.By) && other.Record != nil && other.SHA == s.Head && other.State == "APPROVED"
		})
		must(takenBack || overtaken, "nobody requests changes")
	}
	must(approved, "a trusted reviewer approves this very head")
	return all
}

func containsAt(all []Opinion, holds func(i int, o Opinion) bool) bool {
	for i, o := range all {
		if holds(i, o) {
			return true
		}
	}
	return false
}

// isHere reports whether an agent's review is about this head and base, or cannot be believed
// and so may be.
func isHere(s State, o Opinion) bool {
	void := o.Edited || o.Doubt != ""
	return o.SHA == s.Head && (void || o.Record != nil && o.Record.BaseBranch == s.BaseBranch && !o.Rebased && !o.Outdated)
}

// current are the opinions without those about this head and base that one of these logins followed by one about this head and
// another base, or that were begun without knowledge of such a review before them: they say nothing.
func current(s State, of func(login string) bool) (all []Opinion) {
	for i, o := range s.Opinions {
		bound := !o.Edited && o.Doubt == "" && o.Record != nil && (o.Record.Lifted == nil || !o.Record.Lifted.BrokeGlass)
		left := containsAt(s.Opinions, func(n int, other Opinion) bool {
			return strings.EqualFold(other.By, o.By) && other.SHA == s.Head && !other.Edited && other.Doubt == "" && other.Record != nil &&
				other.Record.BaseBranch != s.BaseBranch && (n > i || bound && o.Record.Round <= other.Record.Round)
		})
		if !left || !isHere(s, o) || !of(o.By) {
			all = append(all, o)
		}
	}
	return all
}

// atOnce reports whether two reviews are of one round and came of the same.
func atOnce(a, b Opinion) bool {
	void := a.Edited || b.Edited || a.Record == nil || b.Record == nil
	return !void && a.Record.Round == b.Record.Round && (a.Record.Engine == "") == (b.Record.Engine == "") &&
		sameWord(a.Record.Lifted, b.Record.Lifted)
}

// takenWith reports whether a later review of the same head by the same login, which was
// dismissed, leaves that login silent.
func takenWith(s State, i int) bool {
	return slices.ContainsFunc(s.Opinions[i+1:], func(later Opinion) bool {
		if !strings.EqualFold(later.By, s.Opinions[i].By) || !isHere(s, later) || later.State != "DISMISSED" {
			return false
		}
		return !atOnce(s.Opinions[i], later) || later.Record.Verdict == verdict.RequestChanges && s.Opinions[i].Record.Verdict == verdict.Approve
	})
}

// spokeBefore reports whether a dismissed review was one of two at once, of which the other
// one is in force.
func spokeBefore(s State, i int) bool {
	return containsAt(s.Opinions[:i], func(n int, before Opinion) bool {
		return strings.EqualFold(before.By, s.Opinions[i].By) && isHere(s, before) && before.State != "DISMISSED" &&
			atOnce(before, s.Opinions[i]) && !takenWith(s, n)
	})
}

// outweighed reports whether a review was dismissed and left one of the same login in force: it says
// nothing any more.
func outweighed(s State, i int) bool {
	return s.Opinions[i].State == "DISMISSED" && spokeBefore(s, i)
}

func sameWord(a, b *verdict.Word) bool {
	return a == b || a != nil && b != nil && a.By == b.By && a.At.Equal(b.At)
}

// spoke reports whether a person's word is there for what a reviewer says before an index: the
// break-glass order, or an approval of this very head that came after what it lets pass,
// of somebody who wrote none of it, and was not taken back. Neither is older than the base.
func spoke(s State, w verdict.Word, reviewer string, before int) bool {
	ofThisBase := func(at time.Time) bool { return s.BaseReplaced.IsZero() || at.After(s.BaseReplaced) }
	if w.BrokeGlass {
		return ofThisBase(w.At) && (s.Forced.SHA != s.Head || w.At.After(s.Forced.At)) &&
			slices.ContainsFunc(s.Orders, func(c verdict.Command) bool {
				return c.Verb == verdict.BreakGlass && c.By == w.By && c.At.Equal(w.At)
			})
	}
	stands := false
	for i, o := range s.Opinions {
		if strings.EqualFold(o.By, w.By) && o.Record == nil && o.State != "COMMENTED" {
			stands = o.State == "APPROVED" && o.SHA == s.Head && o.Person && o.CanPush && o.Independent && o.Doubt == "" && ofThisBase(o.At)
		}
		if i < before && strings.EqualFold(o.By, reviewer) && isHere(s, o) && (o.Record == nil || o.Record.Lifted == nil) && !outweighed(s, i) {
			stands = false
		}
	}
	agent := strings.EqualFold(w.By, s.Author) || slices.ContainsFunc(s.Reviewers, func(r string) bool { return strings.EqualFold(r, w.By) })
	return stands && !agent
}

func TestNextKeepsItsPromises(t *testing.T) {
	t.Parallel()
	d := throw(t)
	seen := map[Kind]int{}
	for range *states {
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
	for _, k := range []Kind{Skip, Wait, Done, Review, Lift, Fix, Merge, Tell, Escalate, Release, Reply, Dequeue} {
		if seen[k] == 0 {
			t.Errorf("no state led to %s: the test proves nothing about it", k)
		}
	}
}

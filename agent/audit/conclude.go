package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// conclude finds the approval of the head, and what is missing. Which reviews count, and of whom the last word asks for
// changes, it asks of the decision that the agents take; left is why its author has to merge it.
func (c *Chain) conclude(pr forge.PullRequest, stop []string, orders []verdict.Command, rewritten map[string]bool, writers []string, trusted *trust.Book, left string) {
	reviews := slices.DeleteFunc(slices.Clone(pr.Reviews), func(r forge.SubmittedReview) bool { return c.afterMerge(r.SubmittedAt) })
	s := decide.State{Author: c.Author, Head: c.Head, BaseBranch: c.BaseBranch, BaseReplaced: pr.BaseReplaced, Reviewers: c.Reviewers, Orders: orders}
	if n := len(pr.HeadForced); n > 0 {
		s.Forced = decide.Replacement{At: pr.HeadForced[n-1].At, SHA: pr.HeadForced[n-1].SHA}
	}
	for _, r := range reviews {
		o := trusted.Opinion(pr, r, c.Reviewers)
		o.Rebased = o.Record != nil && rewritten[o.Record.Base]
		o.Independent = independent(pr, writers, o.By)
		s.Opinions = append(s.Opinions, o)
	}
	var against *Round
	void := false // a review that was edited or cannot be read bars every approval beside it
	for _, i := range s.Counting() {
		if s.Opinions[i].Record == nil {
			void = true
			c.miss("the review of %s by %s does not count: %s", short(c.Head), s.Opinions[i].By, cmp.Or(s.Opinions[i].Doubt, "it was edited"))
			continue
		}
		r := c.round(reviews[i].ID)
		if s.Approves(i) {
			c.Approved = r.Record.Round
			c.Rounds[c.index(reviews[i].ID)].Approves = true
		} else {
			against = &r
		}
	}
	switch {
	case against != nil:
		c.Approved = 0
		c.objection(*against)
	case c.Approved == 0 && len(s.TakenBack()) == 0:
		c.unapproved(rewritten)
	}
	if void {
		c.Approved = 0
	}
	for _, i := range s.TakenBack() {
		c.Approved = 0
		c.miss("the review of %s by %s was dismissed, and it has not reviewed that again: request its review", short(c.Head), s.Opinions[i].By)
	}
	for _, u := range s.Unheeded() {
		c.miss("the %s of %s, %s, does not count: %s", u.What, u.By, stamp(u.At), u.Why)
	}
	for _, o := range s.Objections() {
		// What an agent asks for is told as a review of the head, or superseded by the lack of one.
		if o.Record == nil || !c.listed(o.By) || c.Approved > 0 {
			c.miss("%s requests changes since %s", o.By, stamp(o.At))
		}
	}
	c.missChecks()
	if c.State == "open" {
		c.missState(pr, stop)
		if left != "" {
			c.miss("its author has to merge it: %s", left)
		}
	}
	switch {
	case c.State == "closed":
		c.miss("it is closed")
	case c.State == "open" && len(c.Missing) == 0:
		c.miss("nothing that GitHub shows: its author's agent merges it, or its author does where that is not automatic")
	}
}

// unapproved says why no review approves the head.
func (c *Chain) unapproved(rewritten map[string]bool) {
	for _, r := range c.Rounds {
		if r.approves(c.Head, c.BaseBranch) && rewritten[r.Record.Base] {
			c.miss("%s was rewritten since %s approved: it does not contain %s any more", c.BaseBranch, r.By, short(r.Record.Base))
			return
		}
	}
	c.miss("no review that counts approved %s", short(c.Head))
}

// round is the one of a review.
func (c *Chain) round(review int64) Round { return c.Rounds[c.index(review)] }

func (c *Chain) index(review int64) int {
	return slices.IndexFunc(c.Rounds, func(r Round) bool { return r.Review == review })
}

// afterMerge: what was said then had no part in the merge.
func (c *Chain) afterMerge(at time.Time) bool { return c.Merge != nil && at.After(c.Merge.At) }

// objection is the word of a round that does not let the head pass.
func (c *Chain) objection(r Round) {
	standing, lift := len(r.Record.Ledger.Outstanding()), r.Record.Lifted
	switch {
	case !r.believed():
		c.miss("the review of %s by %s does not count: %s", short(c.Head), r.By, r.Doubt)
	case r.Record.Verdict == verdict.Approve && lift.Glass:
		c.miss("%s, who broke the glass for %s, is not heard any more: the order is gone or edited, or not theirs to give", lift.By, short(c.Head))
	case r.Record.Verdict == verdict.Approve:
		c.miss("%s, who let %s pass, does not approve of it with the right to push any more", lift.By, short(c.Head))
	case standing > 0:
		c.miss("the review of %s by %s requests changes; findings that stand: %d", short(c.Head), r.By, standing)
	case len(r.Record.Holds) > 0:
		c.miss("%s is held for a person, who has to approve that commit: %s", short(c.Head), verdict.Amount(len(r.Record.Holds), "reason", "reasons"))
	default:
		c.miss("the review of %s by %s requests changes without a finding that stands; it says why", short(c.Head), r.By)
	}
}

// missChecks names checks that do not let the head by: of the required ones if there are any, else of all.
func (c *Chain) missChecks() {
	required := 0
	for _, check := range c.Checks {
		if check.Required {
			required++
		}
	}
	failing := false
	for _, check := range c.Checks {
		if !check.passes() && (check.Required || required == 0) {
			failing = true
			c.miss("the check %q is %s", check.Name, check.State)
		}
	}
	switch {
	case len(c.Checks) == 0:
		c.miss("no check has reported on %s", short(c.Head))
	case c.notGreen != "" && !failing:
		c.miss("%s: %s", short(c.Head), c.notGreen)
	}
}

// missState is what else of an open pull request stands in the way.
func (c *Chain) missState(pr forge.PullRequest, stop []string) {
	if pr.Draft {
		c.miss("it is a draft")
	}
	if pr.Fork {
		c.miss("it comes from a fork: agents merge it only where merge.forks says so")
	}
	if pr.Shared {
		c.miss("its branch %s is one that others build on, and those are left to people", pr.Head.Name)
	}
	if pr.Mergeable == forge.MergeableConflicting {
		c.miss("it conflicts with %s", c.BaseBranch)
	}
	if pr.Mergeable == forge.MergeableUnknown && !pr.Draft {
		c.miss("GitHub has not said yet whether it merges: ask again in a moment")
	}
	if pr.Behind {
		c.miss("it has to contain the tip of %s, and does not", c.BaseBranch)
	}
	for _, label := range pr.Labels {
		if !slices.ContainsFunc(stop, func(s string) bool { return strings.EqualFold(s, label) }) {
			continue
		}
		since := ""
		if at := pr.LabelledAt(label); !at.IsZero() {
			since = " since " + stamp(at)
		}
		c.miss("it carries the label %q%s", label, since)
	}
	if stop := c.stopped(); stop != nil {
		c.miss("%s told the agents to stop, %s", stop.By, stamp(stop.At))
	}
	if pr.Stacked != 0 {
		c.miss("its base is the branch of #%d: it is merged into that by its author alone", pr.Stacked)
	}
	if pr.InQueue {
		c.miss("it waits in the merge queue")
	} else if pr.Blocked && len(c.Missing) == 0 {
		open := ""
		if n := pr.Unresolved(); n > 0 {
			open = fmt.Sprintf(", or they want conversations resolved, of which %d stand open", n)
		}
		c.miss("the rules of %s do not let it in: a check or a review that they ask for is missing, though GitHub may not list it yet%s", c.BaseBranch, open)
	}
}

// stopped is the order to stop that nobody has taken back, or nil.
func (c *Chain) stopped() *Order {
	for _, o := range slices.Backward(c.Orders) {
		switch {
		case !o.Counts:
		case o.Verb == string(verdict.Stop):
			return &o
		case o.Verb == string(verdict.Resume):
			return nil
		}
	}
	return nil
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05") + " UTC" }

package audit

import (
	"slices"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// conclude determines the approval of the head, and what is missing, from the state on which the agents
// decide.
func (c *Chain) conclude(s decide.State) {
	approved := true
	for _, condition := range decide.Conditions(s) {
		if c.Merge != nil && !condition.OfMerge() || condition.Name == decide.Merged {
			continue
		}
		c.Conditions = append(c.Conditions, condition)
		if condition.State != decide.Unmet {
			continue
		}
		c.miss("%s", condition.Reason)
		if condition.OfApproval() {
			approved = false
			for _, u := range s.Ignored() {
				c.miss("the %s of %s, %s, is ignored: %s", u.What, u.By, verdict.Stamp(u.At), u.Why)
			}
		}
	}
	for _, i := range s.Counting() {
		if !s.Approves(i) {
			continue
		}
		n := slices.IndexFunc(c.Rounds, func(r Round) bool { return r.Review == s.Opinions[i].Review })
		c.Rounds[n].Approves = true
		if approved {
			c.Approved = c.Rounds[n].Record.Round
		}
	}
	if c.Merge != nil {
		c.Merge.Approvals, c.Merge.Lacked = c.approvals(), c.Missing
		for _, check := range c.Checks {
			if check.State == forge.CheckSuccess && !forge.OwnContext(check.Name) {
				c.Merge.Passed = append(c.Merge.Passed, check.Name)
			}
		}
	}
	if c.State != "open" || len(c.Missing) > 0 {
		return
	}
	// Only git can tell what a merge would produce, and this report uses GitHub alone.
	against := slices.IndexFunc(c.Rounds, func(r Round) bool { return r.Approves && r.Record.Base == c.Base })
	if against < 0 {
		c.miss("%s has changed since the approval: the author's agent merges it if the result is still the change that was reviewed; "+
			"otherwise it is reviewed again", c.BaseBranch)
	} else {
		c.miss("nothing that GitHub shows: the author's agent merges it, or the author does if automatic merging is off")
	}
}

// approvals are the approvals of the head; none if the approval is incomplete.
func (c *Chain) approvals() []verdict.Approval {
	all := []verdict.Approval{}
	for _, r := range c.Rounds {
		if c.Approved != 0 && r.Approves {
			all = append(all, verdict.Approval{Head: c.Head, By: r.By, Round: r.Record.Round, URL: r.URL, Lifted: r.Record.Lifted})
		}
	}
	return all
}

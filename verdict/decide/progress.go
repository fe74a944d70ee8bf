package decide

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"touchstone/verdict"
)

const (
	// tries is how many fixes may answer one finding that stands all the same.
	tries = 3
	// growing is how many rounds may see the change grow while no finding goes.
	growing = 4
)

// stalled says, as a sentence part, by what it shows that more rounds would bring
// nothing; empty if they may. It knows only what GitHub shows since the agents last
// began afresh, so that every machine comes to the same.
func (s State) stalled() string {
	fixes := s.fixes()
	if why := s.stuck(fixes); why != "" {
		return why
	}
	for i, f := range fixes {
		for _, earlier := range fixes[:i] {
			if f.Undoes != "" && f.Undoes == earlier.Change {
				return fmt.Sprintf("the fix of %.7s took back what that of %.7s had changed", f.Reviewed, earlier.Reviewed)
			}
		}
	}
	reviewed := s.reviewed()
	if why := returned(reviewed); why != "" {
		return why
	}
	return swollen(reviewed)
}

// stuck finds a finding that stands although fix after fix answered it.
func (s State) stuck(fixes []verdict.Repair) string {
	reviewed := s.reviewed()
	if len(reviewed) == 0 {
		return ""
	}
	latest := reviewed[len(reviewed)-1]
	for _, e := range s.withOrders(latest) {
		n := 0
		for _, f := range fixes {
			if f.Answers(e.ID) {
				n++
			}
		}
		if n >= tries && e.Blocks() {
			return fmt.Sprintf("finding %s stands although %d fixes have answered it", e.ID, n)
		}
	}
	return ""
}

// returned finds the change as it is now in an earlier round, with another one between.
func returned(reviewed []verdict.Record) string {
	if len(reviewed) == 0 {
		return ""
	}
	now, other := reviewed[len(reviewed)-1], false
	for _, r := range slices.Backward(reviewed) {
		switch {
		case r.PatchID == "" || now.PatchID == "":
			return ""
		case r.PatchID != now.PatchID:
			other = true
		case other:
			return fmt.Sprintf("the change is again what it was at %.7s", r.Head)
		}
	}
	return ""
}

// swollen finds the change grow from round to round while its findings do not get
// fewer.
func swollen(reviewed []verdict.Record) string {
	if len(reviewed) < growing {
		return ""
	}
	window := reviewed[len(reviewed)-growing:]
	first, last := window[0], window[growing-1]
	open := first.Ledger.Blocking()
	for i, r := range window[1:] {
		if before := window[i]; r.Lines <= before.Lines || before.Lines == 0 || r.Ledger.Blocking() < open {
			return ""
		}
	}
	return fmt.Sprintf("in %d rounds the change grew from %d to %d lines, and no fewer findings are open", growing, first.Lines, last.Lines)
}

// reviewed are the records of the heads that the reviewers have judged since the agents
// last began afresh, oldest first, of each head the latest.
func (s State) reviewed() []verdict.Record {
	since := s.Since()
	var all []verdict.Record
	for _, o := range s.Opinions {
		if o.Record == nil || o.Edited || !s.trusts(o.By) || !since.IsZero() && !o.At.After(since) {
			continue
		}
		all = slices.DeleteFunc(all, func(r verdict.Record) bool { return r.Head == o.Record.Head })
		all = append(all, *o.Record)
	}
	return all
}

// fixes are the fixes among the commits since the agents last began afresh, of each
// review the last: one that took a second go has a commit for each. What answers a
// review of since then is as new, however slow the clock of the machine that made it.
func (s State) fixes() (all []verdict.Repair) {
	since := s.Since()
	for _, c := range s.Commits {
		f, ok := verdict.ParseRepair(c.Message)
		late := slices.ContainsFunc(s.Opinions, func(o Opinion) bool { return o.Record != nil && o.SHA == f.Reviewed && o.At.After(since) })
		if !ok || !since.IsZero() && !late && !c.At.After(since) {
			continue
		}
		if c.Unsigned {
			f.Cost = verdict.Cost{}
		}
		if n := len(all); n > 0 && all[n-1].Reviewed == f.Reviewed {
			all = all[:n-1]
		}
		all = append(all, f)
	}
	return all
}

// mergedBranch matches the subject of a commit that brings another branch into one, as git
// and GitHub's "update branch" write it.
var mergedBranch = regexp.MustCompile(`^Merge (remote-tracking )?branch '([^']+)'(?: of \S+)? into \S+$`)

// mergesBase reports whether a commit brings the base in, by what it says.
func (s State) mergesBase(c verdict.Commit) bool {
	subject, _, _ := strings.Cut(c.Message, "\n")
	m := mergedBranch.FindStringSubmatch(subject)
	return m != nil && (m[2] == s.BaseBranch || m[1] != "" && strings.HasSuffix(m[2], "/"+s.BaseBranch))
}

// ours reports whether an agent made a commit, and neither it nor what it stands on was
// rewritten since: rewriting keeps the trailers.
func (s State) ours(c verdict.Commit) bool {
	f, ok := verdict.ParseRepair(c.Message)
	return ok && !c.Rewritten && slices.ContainsFunc(s.Commits, func(below verdict.Commit) bool { return below.SHA == f.Reviewed })
}

// pushed is who pushed to the branch last if that was a person, after the loop had
// begun, and until when the author's agent waits for them.
func (s State) pushed() (by string, until time.Time) {
	n := len(s.Commits)
	begun := slices.ContainsFunc(s.Opinions, func(o Opinion) bool { return o.Record != nil && s.trusts(o.By) && o.SHA != s.Head })
	if s.Pause <= 0 || !begun || n == 0 || s.Commits[n-1].SHA != s.Head {
		return "", time.Time{}
	}
	for i, c := range slices.Backward(s.Commits) {
		if s.mergesBase(c) {
			continue
		}
		if s.ours(c) || c.Bot {
			return "", time.Time{}
		}
		// The date of a commit is by its author's clock, which may be wrong: a date in the
		// future is not when it was pushed.
		at := c.At
		if at.After(s.Now) {
			at = time.Time{}
		}
		if i == n-1 && s.SeenAt.After(at) {
			at = s.SeenAt
		}
		if order, ok := verdict.LastOrder(s.Orders, verdict.AskFix, verdict.Resume); ok && order.At.After(at) {
			return "", time.Time{}
		}
		return c.By, at.Add(s.Pause)
	}
	return "", time.Time{}
}

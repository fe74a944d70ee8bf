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
	// tries is how many fixes may answer one finding without settling it.
	tries = 3
	// growing is how many rounds the change may grow without a finding being settled.
	growing = 4
)

// stalled says, as a sentence fragment, what shows that more rounds would not help; empty if they may help.
// It uses only what GitHub shows since the agents last started over, so every machine comes to the same
// result.
func (s State) stalled() string {
	fixes := s.fixes()
	if why := s.stuck(fixes); why != "" {
		return why
	}
	for i, f := range fixes {
		for _, earlier := range fixes[:i] {
			if f.Undoes != "" && f.Undoes == earlier.Change {
				return fmt.Sprintf("the fix of %.7s undid what the fix of %.7s had changed", f.Reviewed, earlier.Reviewed)
			}
		}
	}
	reviewed := s.reviewed()
	if why := returned(reviewed); why != "" {
		return why
	}
	return swollen(reviewed)
}

// stuck finds a finding that still stands although several fixes answered it.
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
			return fmt.Sprintf("finding %s is still open although %d fixes have addressed it", e.ID, n)
		}
	}
	return ""
}

// returned detects that the change is again what it was in an earlier round, after a different one.
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
			return fmt.Sprintf("the change is the same again as at %.7s", r.Head)
		}
	}
	return ""
}

// swollen detects that the change grows from round to round while its findings do not become fewer.
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

// reviewed are the records of the heads that reviewers judged since the agents last started over, oldest
// first, the latest one for each head.
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

// fixes are the fixes among the commits since the agents last started over, the last one for each review: a
// fix that needed a second attempt has a commit for each. A fix also counts if it answers a review of that
// time, even if the clock of the machine that committed it is slow.
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

// mergedBranch matches the subject of a commit that merges another branch into this one, as git and GitHub's
// "update branch" write it.
var mergedBranch = regexp.MustCompile(`^Merge (remote-tracking )?branch '([^']+)'(?: of \S+)? into \S+$`)

// mergesBase reports whether a commit's message says that it merges the base.
func (s State) mergesBase(c verdict.Commit) bool {
	subject, _, _ := strings.Cut(c.Message, "\n")
	m := mergedBranch.FindStringSubmatch(subject)
	return m != nil && (m[2] == s.BaseBranch || m[1] != "" && strings.HasSuffix(m[2], "/"+s.BaseBranch))
}

// ours reports whether an agent made a commit, and neither the commit nor the head it answers was rewritten
// since: a rewrite keeps the trailers.
func (s State) ours(c verdict.Commit) bool {
	f, ok := verdict.ParseRepair(c.Message)
	return ok && !c.Rewritten && slices.ContainsFunc(s.Commits, func(below verdict.Commit) bool { return below.SHA == f.Reviewed })
}

// pushed is the person who last pushed to the branch after the loop had begun, and until when the author's
// agent waits for them. It is empty if the last push was not by a person.
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
		// A commit's date comes from its author's clock, which may be wrong: a date in the future is not the
		// time of the push.
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

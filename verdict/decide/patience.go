package decide

import (
	"fmt"
	"strings"
	"time"

	"touchstone/verdict"
)

// How long what is to come by itself may take: what the base branch asks for and what a
// reviewer is to do, the checks that have begun, the first sign of a check, and a merge queue.
const (
	rulePatience  = 3 * time.Hour
	checkPatience = 24 * time.Hour
	signPatience  = 10 * time.Minute
	queuePatience = 24 * time.Hour
)

// left is what is left of a patience; it is not positive when that is over.
func (s State) left(patience time.Duration) time.Duration { return patience - s.waited() }

// waited is how long the head has been waited for: since a reviewer approved it or objected to it, a
// check of it reported, the pull request began afresh, or the agents did. Comments do not count, or
// a pull request that people talk on would be waited for without end.
func (s State) waited() time.Duration {
	since := s.Since()
	for _, at := range []time.Time{s.RenewedAt, s.ReportedAt} {
		if at.After(since) {
			since = at
		}
	}
	for _, o := range s.Opinions {
		decides := o.State == "APPROVED" || o.State == "CHANGES_REQUESTED"
		if decides && o.SHA == s.Head && o.At.After(since) {
			since = o.At
		}
	}
	return max(0, s.Now.Sub(since))
}

// compute waits for what GitHub computes in the background, and looks again the later the
// longer it takes. GitHub begins when it is asked, so only what this machine saw counts.
func (s State) compute() Action {
	waited := time.Duration(0)
	if !s.UnknownSince.IsZero() {
		waited = max(0, s.Now.Sub(s.UnknownSince))
	}
	if waited >= rulePatience {
		return s.escalate("it is approved, and GitHub has not told for hours whether it merges")
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: "GitHub is computing whether it merges", Recheck: min(max(recheck, waited/10), seldom),
		Computing: true}
}

// awaitReviewer waits for the reviewing agent, which may be switched off or at a standstill,
// and says so once for each head. No label does: that would keep it away when it is back. Nothing on
// GitHub tells since when, so only what this machine saw counts.
func (s State) awaitReviewer(reason string) Action {
	since := s.AwaitedSince
	for _, at := range []time.Time{s.Since(), s.RenewedAt} {
		if at.After(since) {
			since = at
		}
	}
	left := rulePatience - s.Now.Sub(since)
	a := Action{Kind: Wait, SHA: s.Head, Reason: reason, Recheck: left}
	switch silent := (Left{Topic: NoReviewer, OneHead: true}); {
	case s.AwaitedSince.IsZero():
		a.Recheck = rulePatience
	case left <= 0 && s.noticed(silent):
		a.Recheck = 0
	case left <= 0:
		a = s.retry(Tell, fmt.Sprintf("it has waited for %s for three hours: %s", strings.Join(s.Reviewers, " or "), reason))
		a.Topic = silent.Topic
	}
	a.Awaits = reason
	return a
}

// await waits for what comes by itself, and calls a person when that takes too long.
func (s State) await(patience time.Duration, reason, late string) Action {
	left := s.left(patience)
	if left <= 0 {
		return s.escalate(late)
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: reason, Recheck: left}
}

// ExpectsChecks reports whether checks may still be about to report for the first time on a
// head that is approved. A merge of the base alone is approved again within seconds, and CI
// takes longer to begin.
func (s State) ExpectsChecks() bool { return s.left(signPatience) > 0 }

// awaited waits for the first word of a check that reported on an earlier head or on the base.
// One that never comes, as of a workflow that looks at some paths only, keeps nothing from
// being merged that it did not fail before, if others of its source pass.
func (s State) awaited() Action {
	return Action{Kind: Wait, SHA: s.Head, Recheck: s.left(signPatience),
		Reason: fmt.Sprintf("the check %q, which reported on an earlier head or on %s, has not begun on this one",
			verdict.Clip(s.Unbegun[0], verdict.MaxReason), s.BaseBranch)}
}

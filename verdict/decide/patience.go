package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/verdict"
)

// How long to wait for what should happen by itself: for what the base branch requires and for reviewers
// (rulePatience), for checks that have started (checkPatience), for the first report of a check
// (signPatience), and for a merge queue (queuePatience).
const (
	rulePatience  = 3 * time.Hour
	checkPatience = 24 * time.Hour
	signPatience  = 10 * time.Minute
	queuePatience = 24 * time.Hour
)

// left is the rest of a patience. It is zero or negative when the patience is over.
func (s State) left(patience time.Duration) time.Duration { return patience - s.waited() }

// waited is how long the agent has waited for the head: since the latest approval or objection, report of a
// check, or new start of the pull request or of the agents. Comments do not count: otherwise a pull request
// that people discuss would be waited for forever.
func (s State) waited() time.Duration {
	since := latest(s.Since(), s.RenewedAt, s.ReportedAt)
	for _, o := range s.Opinions {
		decides := o.State == "APPROVED" || o.State == "CHANGES_REQUESTED"
		if decides && o.SHA == s.Head {
			since = latest(since, o.At)
		}
	}
	return max(0, s.Now.Sub(since))
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// compute waits for what GitHub computes in the background, at growing intervals. GitHub only starts when
// asked, so the time counts from when this machine first saw it.
func (s State) compute() Action {
	waited := time.Duration(0)
	if !s.UnknownSince.IsZero() {
		waited = max(0, s.Now.Sub(s.UnknownSince))
	}
	if waited >= rulePatience {
		return s.escalate("it is approved, but GitHub has not said for hours whether it can be merged")
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: "GitHub is computing whether it can be merged",
		Recheck:   min(max(recheck, waited/10), seldom),
		Computing: true}
}

// awaitReviewer waits for the reviewing agent. That agent may be off or stuck; after a while the author is
// told, once for each head. It sets no label, since a label would keep the reviewer away after its return.
// GitHub shows no start of this wait, so the time counts from what this machine saw.
func (s State) awaitReviewer(reason string) Action {
	left := rulePatience - s.Now.Sub(latest(s.AwaitedSince, s.Since(), s.RenewedAt))
	a := Action{Kind: Wait, SHA: s.Head, Reason: reason, Recheck: left}
	switch {
	case s.AwaitedSince.IsZero():
		a.Recheck = rulePatience
	case left <= 0 && s.noticed(Left{Topic: NoReviewer, OneHead: true}):
		a.Recheck = 0
	case left <= 0:
		a = s.tell(NoReviewer, fmt.Sprintf("it has waited for %s for three hours: %s", strings.Join(s.Reviewers, " or "), reason))
	}
	a.Awaits = reason
	return a
}

// await waits for what should happen by itself, and calls a person when that takes too long.
func (s State) await(patience time.Duration, reason, late string) Action {
	left := s.left(patience)
	if left <= 0 {
		return s.escalate(late)
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: reason, Recheck: left}
}

// expectsChecks reports whether the first report of checks may still be about to come after an approval. A
// head that only merges the base is approved again within seconds, and CI takes longer to start.
func (s State) expectsChecks() bool { return s.left(signPatience) > 0 }

// awaited waits for the first report of a check that reported on an earlier head or on the base. A check that
// never comes, for instance of a workflow for certain paths, blocks the merge only if it failed before, or if no
// other check of its source passes.
func (s State) awaited() Action {
	return Action{Kind: Wait, SHA: s.Head, Recheck: s.left(signPatience),
		Reason: fmt.Sprintf("the check %q, which reported on an earlier head or on %s, has not started on this one",
			verdict.Clip(s.Unbegun[0], verdict.MaxReason), s.BaseBranch)}
}

package daemon

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// past is what this machine remembers of a pull request since a moment of GitHub's, and what it
// has spent today. Orders do not reset the latter.
func (a *Agent) past(pr forge.PullRequest, since time.Time) decide.History {
	var h decide.History
	head := a.heads.recall(pr, a.now())
	h.SeenAt, h.UnknownSince, h.AwaitedSince = head.at, head.unknown, head.awaited
	if a.Journal == nil {
		return h
	}
	h.Promised = a.reservations.look()
	since = after(since)
	n, last := a.Journal.Attempts(pr.Ref.String(), pr.Head.SHA, since)
	h.Attempts, h.Failed, h.Permanent = n, decide.Kind(last.Act), last.Outcome.Permanent
	if n > 0 {
		wait := max(a.Config().Rounds.Backoff.Duration()<<min(n-1, 6), last.Outcome.RetryAfter)
		h.RetryIn = min(wait, max(0, last.Ended.Add(wait).Sub(a.now()))) // the clock may have been ahead
	}
	a.Journal.Each(func(e journal.Entry) {
		// What says nothing about the pull request, such as an outage, takes nothing of its time.
		telling := e.Outcome.Counts || e.Outcome.Spent.CostUSD > 0
		if e.Ref == pr.Ref.String() && !e.Ended.IsZero() && !e.Outcome.OK && telling && e.Begun.After(since) {
			h.Wasted.USD += e.Outcome.Spent.CostUSD
			h.Wasted.Time += e.Outcome.Spent.Duration
		}
	})
	a.entries(pr, func(e journal.Entry) { h.NitsTried = h.NitsTried || e.Act == string(decide.Apply) && !e.Ended.IsZero() })
	h.Today = a.today()
	return h
}

// today is what all acts cost that began today and have ended, in US dollars, those by hand
// among them.
func (a *Agent) today() (usd float64) {
	now := a.now()
	midnight := startOfDay(now)
	usd = a.Journal.Charged(midnight)
	a.Journal.Each(func(e journal.Entry) {
		if !e.Ended.IsZero() && !e.Begun.Before(midnight) && !e.Begun.After(now) {
			usd += e.Outcome.Spent.CostUSD
		}
	})
	return usd
}

// now is the present by GitHub's clock, by which the journal's times are too: a person who sets this
// machine's changes nothing that is decided.
func (a *Agent) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}

// after is surely past a moment of GitHub's, whose times are cut off to seconds. Zero stays zero.
func after(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(time.Second)
}

// failures are the latest acts on a pull request that came to nothing since a moment of
// GitHub's, the oldest first, some at most.
func (a *Agent) failures(pr forge.PullRequest, since time.Time, most int) (failed []journal.Entry) {
	if a.Journal == nil {
		return nil
	}
	since = after(since)
	a.Journal.Each(func(e journal.Entry) {
		if e.Ref == pr.Ref.String() && e.Outcome.Counts && e.Begun.After(since) {
			failed = append(failed, e)
		}
	})
	return slices.Clone(failed[max(0, len(failed)-most):])
}

// maxTold bounds the failed attempts that a fix is told of.
const maxTold = 3

// Tried says what the latest fixes came to that were not pushed.
func (a *Agent) Tried(pr forge.PullRequest) (all []string) {
	for _, e := range a.failures(pr, time.Time{}, maxTold) {
		if e.Act == string(decide.Fix) {
			all = append(all, fmt.Sprintf("A session on %s was not pushed: %s", verdict.Short(e.SHA), e.Outcome.Detail))
		}
	}
	return all
}

// startOfDay is the midnight before a moment, where this machine is.
func startOfDay(t time.Time) time.Time {
	year, month, day := t.Local().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.Local)
}

// heads remembers which head each open pull request had when it was looked at last.
type heads struct {
	mu   sync.Mutex
	last map[forge.Ref]sighting
}

// sighting is a head, and when it came in the place of another; zero for the first. Unknown
// is since when GitHub has been computing whether it merges, zero once it has. Awaits is what
// it waits for its reviewer to do, awaited since when. Given is what was given up there just
// before.
type sighting struct {
	sha                  string
	at, unknown, awaited time.Time
	awaits               string
	given                decide.Kind
}

// recall is what is known of the present head, seen now if it was not before; all times are by
// GitHub's clock.
func (h *heads) recall(pr forge.PullRequest, now time.Time) sighting {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recallLocked(pr, now)
}

func (h *heads) recallLocked(pr forge.PullRequest, now time.Time) sighting {
	last, known := h.last[pr.Ref]
	switch {
	case !known:
		last = sighting{sha: pr.Head.SHA}
	case last.sha != pr.Head.SHA:
		last = sighting{sha: pr.Head.SHA, at: now}
	}
	switch {
	case pr.Mergeable != forge.MergeableUnknown:
		last.unknown = time.Time{}
	case last.unknown.IsZero():
		last.unknown = now
	}
	return last
}

// note takes note of the present head of an open pull request, and of what was decided on it: what
// it waits for its reviewer to do, and what comes next. Anything but what was given up shows that
// the pull request has moved on.
func (h *heads) note(pr forge.PullRequest, s decide.State, action decide.Action) {
	if !pr.Open {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = map[forge.Ref]sighting{}
	}
	last := h.recallLocked(pr, s.Now)
	if last.awaits != action.Awaits {
		last.awaits, last.awaited = action.Awaits, time.Time{}
		if action.Awaits != "" {
			last.awaited = s.Now
		}
	}
	if retried := action.Kind == decide.Wait && s.RetryIn > 0; last.given != action.Kind && !retried {
		last.given = ""
	}
	h.last[pr.Ref] = last
}

// gaveUp takes note that an act was overtaken, and reports whether the one just before it
// was the same and was so too: then the pull request did not move on, as far as GitHub shows.
func (h *heads) gaveUp(pr forge.PullRequest, kind decide.Kind) (again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last, known := h.last[pr.Ref]
	if !known || last.sha != pr.Head.SHA {
		return false
	}
	again = last.given == kind
	last.given = kind
	h.last[pr.Ref] = last
	return again
}

// forget is for a pull request that is closed.
func (h *heads) forget(ref forge.Ref) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.last, ref)
}

// Round is what one review or one fix may take by the settings.
func Round(cfg config.Config) verdict.Allowance { return pull.BudgetsOf(cfg).Round }

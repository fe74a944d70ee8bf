package worker

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// past is what this machine remembers about a pull request since a time on GitHub's clock, and what it has
// spent today. Orders do not reset today's spending.
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
		wait := max(a.Config().Rounds.Backoff.Duration()<<min(n-1, 6), min(last.Outcome.RetryAfter, engine.LongestWait))
		h.RetryIn = min(wait, max(0, last.Ended.Add(wait).Sub(a.now()))) // the clock may have been ahead
	}
	a.Journal.Each(func(e journal.Entry) {
		// Failures that say nothing about the pull request, such as an outage, do not use up its time budget.
		telling := e.Outcome.Counts || e.Outcome.Account.CostUSD > 0
		if e.Ref == pr.Ref.String() && !e.Ended.IsZero() && !e.Outcome.OK && telling && e.Begun.After(since) {
			h.Wasted.USD += e.Outcome.Account.CostUSD
			h.Wasted.Time += e.Outcome.Account.Duration
		}
	})
	h.NitsTried = a.acted(pr, func(e journal.Entry) bool { return e.Act == string(decide.Apply) && !e.Ended.IsZero() })
	h.Today = a.today()
	return h
}

// today is the cost, in US dollars, of all finished acts that began today, including those by hand.
func (a *Agent) today() (usd float64) {
	now := a.now()
	midnight := startOfDay(now)
	usd = a.Journal.Charged(midnight)
	a.Journal.Each(func(e journal.Entry) {
		if !e.Ended.IsZero() && !e.Begun.Before(midnight) && !e.Begun.After(now) {
			usd += e.Outcome.Account.CostUSD
		}
	})
	return usd
}

// now is the present time by GitHub's clock. The journal's times use that clock too, so changing this
// machine's clock does not affect decisions.
func (a *Agent) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}

// after is certainly later than a given time of GitHub's, whose times are cut to seconds. Zero stays zero.
func after(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(time.Second)
}

// failures are the latest failed acts on a pull request since a time on GitHub's clock, oldest first. Argument
// most bounds their number.
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

// maxTold bounds how many failed attempts a fix is told about.
const maxTold = 3

// Tried describes the latest fixes that were not pushed.
func (a *Agent) Tried(pr forge.PullRequest) (all []string) {
	for _, e := range a.failures(pr, time.Time{}, maxTold) {
		if e.Act == string(decide.Fix) {
			all = append(all, fmt.Sprintf("A session on %s was not pushed: %s", verdict.Short(e.SHA), e.Outcome.Detail))
		}
	}
	return all
}

// startOfDay is the midnight before a time, in this machine's time zone.
func startOfDay(t time.Time) time.Time {
	year, month, day := t.Local().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.Local)
}

// heads remembers which head each open pull request had at the last look.
type heads struct {
	mu   sync.Mutex
	last map[forge.Ref]sighting
}

// sighting is a head, and when it replaced another one (at, zero for the first head). unknown is since when
// GitHub has been computing whether it merges, zero once it has. awaits is what the head waits for its
// reviewer to do, awaited since when. given is the act on it that was given up last.
type sighting struct {
	sha                  string
	at, unknown, awaited time.Time
	awaits               string
	given                decide.Kind
}

// recall is what is known about the present head. A new head counts as seen now. All times are by GitHub's
// clock.
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

// note stores the present head of an open pull request and the decision on it: what it waits for its reviewer
// to do, and the next act. If that act differs from the one that was given up, the pull request has moved on.
func (h *heads) note(pr forge.PullRequest, f pull.Facts, action decide.Action) {
	if !pr.Open {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = map[forge.Ref]sighting{}
	}
	last := h.recallLocked(pr, f.Now)
	if last.awaits != action.Awaits {
		last.awaits, last.awaited = action.Awaits, time.Time{}
		if action.Awaits != "" {
			last.awaited = f.Now
		}
	}
	if retried := action.Kind == decide.Wait && f.Past.RetryIn > 0; last.given != action.Kind && !retried {
		last.given = ""
	}
	h.last[pr.Ref] = last
}

// gaveUp records that an act was overtaken. It reports whether the act just before was of the same kind and
// was overtaken too: then, as far as GitHub shows, the pull request did not move on.
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

// forget drops a closed pull request.
func (h *heads) forget(ref forge.Ref) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.last, ref)
}

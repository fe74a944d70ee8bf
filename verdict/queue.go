package verdict

import "time"

// inQueue is why nothing is to be done with what waits in a merge queue.
const inQueue = "it is in the merge queue"

// takeBack is a, unless that means that the agent would not put into the merge queue now
// what it has put there. What people put there is theirs.
func (s State) takeBack(a Action) Action {
	if !s.InQueue || !s.Enqueued || a.Kind == Skip || a.Reason == inQueue {
		return a
	}
	return s.retry(Dequeue, "it is in the merge queue, and is to be merged no more: "+a.Reason)
}

// How long what is to come by itself may take, counted from when the agents last began afresh
// or anything of the pull request last changed, its last review included: what the base branch asks for, the checks that
// have begun, and the first sign of any check.
const (
	rulePatience  = 3 * time.Hour
	checkPatience = 24 * time.Hour
	signPatience  = 10 * time.Minute
)

// left is what is left of a patience; it is not positive when that is over.
func (s State) left(patience time.Duration) time.Duration { return patience - s.waited() }

// waited is how long nothing has happened.
func (s State) waited() time.Duration {
	since := s.Since()
	if s.TouchedAt.After(since) {
		since = s.TouchedAt
	}
	for _, o := range s.Opinions {
		if o.SHA == s.Head && o.At.After(since) {
			since = o.At
		}
	}
	return max(0, s.Now.Sub(since))
}

// computing is how soon to look again at what GitHub computes: the longer it takes, the
// later.
func (s State) computing() time.Duration { return min(max(recheck, s.waited()/10), seldom) }

// await waits for what comes by itself, and calls a person when that takes too long.
func (s State) await(patience time.Duration, reason, late string) Action {
	left := s.left(patience)
	if left <= 0 {
		return s.escalate(late)
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: reason, Recheck: left}
}

// forAuthor ends what is said of a pull request that people merge, before the reason.
const forAuthor = "waits for its author to merge it: "

// unchecked is for a head that no check has reported on, though one is asked for: its
// author is told, and may be told that the agent leaves merging to them anyway.
func (s State) unchecked() Action {
	why := s.Manual
	if why == "" {
		why = "no check has reported on it, and merge.require_checks is on in the agent's configuration"
	}
	left := s.left(signPatience)
	switch {
	case left > 0:
		return Action{Kind: Wait, SHA: s.Head, Reason: "no check has reported on this head", Recheck: left}
	case s.Told:
		return s.act(Wait, "it is approved and "+forAuthor+why)
	}
	return s.retry(Tell, "it is approved, and "+forAuthor+why)
}

// refused reports whether the last attempt to put this head into the merge queue failed.
func (s State) refused() bool { return s.Queue && s.Failed == Merge && s.Attempts > 0 }

// waitForRules is for a head that is approved and green, and that the base branch's rules
// do not let in: a required check may not even have begun to report. A merge queue judges
// by itself, and is asked again now and then.
func (s State) waitForRules() Action {
	left := s.left(rulePatience)
	switch {
	case left <= 0:
		return s.escalate("it is approved and green, and the base branch's rules do not let it in: a required check or review is missing")
	case s.Queue && s.RetryIn <= 0:
		return s.act(Merge, "it is approved and green, and the merge queue may take it by now")
	case s.Queue:
		left = min(left, s.RetryIn)
	}
	return Action{Kind: Wait, SHA: s.Head, Recheck: left, Reason: "it is approved, and a check or a review is missing that the base branch asks for"}
}

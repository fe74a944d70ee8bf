package decide

import "fmt"

// inQueue is why nothing is done about a pull request in a merge queue. inQueueLong is why a person is called
// to it.
const (
	inQueue     = "it is in the merge queue"
	inQueueLong = "it has been in the merge queue for a day"
)

// queued waits for the merge queue, and calls a person when that takes too long.
func (s State) queued() Action {
	left := queuePatience - s.Now.Sub(latest(s.EnqueuedAt, s.Since()))
	if !s.EnqueuedAt.IsZero() && left <= 0 {
		return s.escalate(inQueueLong)
	}
	return Action{Kind: Wait, SHA: s.Head, Reason: inQueue, Recheck: max(left, 0)}
}

// refused reports whether the last attempt to put this head into the merge queue failed.
func (s State) refused() bool { return s.Queue && s.Failed == Merge && s.Attempts > 0 }

// waitForRules is the action for an approved and green head that the rules of the base branch block: a
// required check may not even have started. A merge queue decides for itself, so the agent asks it again from
// time to time.
func (s State) waitForRules() Action {
	left := s.left(rulePatience)
	switch {
	case left <= 0:
		return s.escalate("it is approved and green, but the base branch's rules block the merge: " + s.barring())
	case s.Queue && s.RetryIn <= 0:
		return s.act(Merge, "it is approved and green, and the merge queue may accept it by now")
	case s.Queue:
		left = min(left, s.RetryIn)
	}
	return Action{Kind: Wait, SHA: s.Head, Recheck: left,
		Reason: "it is approved, but " + s.absent("a check or a review is missing that the base branch requires")}
}

// absent names the checks that have not begun and that the base branch is known to require; without any it returns none.
func (s State) absent(none string) string {
	by := ", which the rules of " + s.BaseBranch + " require"
	return named(s.Absent, "has not begun"+by, "have not begun"+by, none)
}

// barring says what the rules of the base branch may miss, as far as one can tell: GitHub does not show all rules.
func (s State) barring() string {
	missing := s.absent("a required check or review is missing")
	if s.Conversations > 0 {
		missing += fmt.Sprintf(", or the rules require resolved conversations, of which %d are open", s.Conversations)
	}
	return missing
}

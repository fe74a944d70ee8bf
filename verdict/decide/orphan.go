package decide

import (
	"fmt"
	"time"

	"touchstone/verdict"
)

// orphanPatience is how long after GitHub closed a pull request with its base a person is still
// called to it: who left it closed for longer has seen that.
const orphanPatience = 7 * 24 * time.Hour

// isOpen is for a pull request that is closed. If a person closed it, no person is called.
func (s State) isOpen() outcome {
	switch {
	case s.Open:
		return met
	case s.orphan():
		return unmet(verdict.TurnPerson, s.escalate(fmt.Sprintf("GitHub closed it because its base branch %s was deleted: "+
			"make %s again and reopen it, or open another pull request of its branch", s.BaseBranch, s.BaseBranch)))
	case !s.Orphaned.IsZero():
		return unmet(verdict.TurnPerson, s.act(Done, fmt.Sprintf("GitHub closed it because its base branch %s was deleted", s.BaseBranch)))
	}
	return unmet(verdict.TurnNobody, s.act(Done, "the pull request is closed"))
}

// orphan reports whether the author's agent has yet to call a person to a pull request that lost
// its base, which it looked after until then.
func (s State) orphan() bool {
	looked := s.Role == Author && verdict.SameLogin(s.Author, s.Self) && s.Requested && !s.Held && s.stopped() == ""
	return looked && s.EscalatedAt.Before(s.Orphaned) && s.Now.Sub(s.Orphaned) < orphanPatience
}

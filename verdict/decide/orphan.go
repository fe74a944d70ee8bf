package decide

import (
	"fmt"
	"time"

	"touchstone/verdict"
)

// orphanPatience is how long a person is still called after GitHub closed a pull request because its base was
// deleted. After that, somebody has seen it and left it closed.
const orphanPatience = 7 * 24 * time.Hour

// isOpen is unmet if the pull request is closed. If a person closed it, no person is called.
func (s State) isOpen() outcome {
	switch {
	case s.Open:
		return met
	case s.orphan():
		return unmet(verdict.TurnPerson, s.escalate(fmt.Sprintf("GitHub closed it because its base branch %s was deleted: "+
			"restore %s and reopen it, or open another pull request of its branch", s.BaseBranch, s.BaseBranch)))
	case !s.Orphaned.IsZero():
		return unmet(verdict.TurnPerson, s.act(Done, fmt.Sprintf("GitHub closed it because its base branch %s was deleted", s.BaseBranch)))
	}
	return unmet(verdict.TurnNobody, s.act(Done, "the pull request is closed"))
}

// orphan reports whether the author's agent must still call a person to a pull request that it looked after
// until GitHub closed it for lack of a base.
func (s State) orphan() bool {
	looked := s.Role == Author && verdict.SameLogin(s.Author, s.Self) && s.Requested && s.HoldLabel == "" && s.stopped() == ""
	return looked && s.EscalatedAt.Before(s.Orphaned) && s.Now.Sub(s.Orphaned) < orphanPatience
}

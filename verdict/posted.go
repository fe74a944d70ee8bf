package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Posted is a review with a record, as GitHub shows it.
type Posted struct {
	By     string // who posted it
	Author string // the pull request's author
	SHA    string // the commit that the review is on
	State  string // such as APPROVED, in any case
	// Edited says that its text was changed later, EditedAt says when; zero if that is not known.
	Edited   bool
	EditedAt time.Time
}

// Doubt says why a review's record is not believed, apart from its signature; empty if nothing speaks against
// it.
func (p Posted) Doubt(record Record, reviewers []string) string {
	says := map[Verdict]string{Approve: "APPROVED", RequestChanges: "CHANGES_REQUESTED"}[record.Verdict]
	switch {
	case SameLogin(p.By, p.Author):
		return p.By + " is the author of the pull request"
	case !ListsLogin(reviewers, p.By):
		return p.By + " is not one of the reviewers"
	case p.Edited && !p.EditedAt.IsZero():
		return "it was edited after it was posted, at " + Stamp(p.EditedAt)
	case p.Edited:
		return "it was edited after it was posted"
	case strings.EqualFold(p.State, "DISMISSED"):
		return "it was dismissed"
	case record.Head != p.SHA:
		return fmt.Sprintf("it is about %s, while GitHub has it on %s", Short(record.Head), Short(p.SHA))
	case !strings.EqualFold(p.State, says):
		return fmt.Sprintf("it says %s, while GitHub has it as %s", record.Verdict, strings.ToUpper(p.State))
	}
	return ""
}

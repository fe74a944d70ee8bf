package daemon

import (
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/trust"
)

// refuse writes down which orders and approvals their authors may not give now, and finds out of
// which that was written down before. A word counts by the right that its author had when it was
// given: GitHub does not tell when a login got a right, but an agent that reads a word before
// knows. Rights that cannot be seen say nothing.
func (a *Agent) refuse(pr forge.PullRequest, f *pull.Facts) (err error) {
	var words []string
	for _, c := range pull.CommentsOf(pr, a.Config(), *f) {
		if may := f.May[c.By]; may != forge.Unseen && c.Overreaches() {
			words = append(words, trust.CommentWord(c.ID))
		}
	}
	for _, r := range pr.Reviews {
		if r.ByPerson && r.State == forge.Approved && !r.CanPush {
			words = append(words, trust.ReviewWord(r.ID))
		}
	}
	if !a.onlooks {
		f.Refused, err = a.Trust.Refuse(pr.DatabaseID, words)
		return err
	}
	if f.Refused, err = a.Trust.Refuse(pr.DatabaseID, nil); err == nil {
		for _, word := range words {
			f.Refused[word] = true
		}
	}
	return err
}

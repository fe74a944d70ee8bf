package worker

import (
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/trust"
)

// refuse records the orders and approvals that their authors may not give now, and returns those that were
// recorded before. An order or approval counts by the permission that its author had when it was given.
// GitHub does not say when a login got a permission, but an agent that read the word before that knows.
// Permissions that cannot be seen prove nothing.
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

package forge

import "touchstone/verdict"

// Opinion is a review in the decision's terms. Whether the base was rewritten since is
// left open.
func (r SubmittedReview) Opinion() verdict.Opinion {
	o := verdict.Opinion{
		By: r.Author.Login, SHA: r.SHA, State: r.State, Edited: r.EditedAt != nil, At: r.SubmittedAt, Person: r.ByPerson, CanPush: r.CanPush,
	}
	if record, err := verdict.ParseRecord(r.Body); err == nil {
		o.Record = &record
	}
	return o
}

package audit

import (
	"touchstone/agent/forge"
	"touchstone/agent/trust"
	"touchstone/verdict"
)

// Recorded returns the rounds of a pull request whose records are believed, oldest first, and their last
// ledger, which says what became of the findings of all these rounds. Gone counts the reviewers' reviews
// whose commit GitHub no longer has.
func Recorded(pr forge.PullRequest, reviewers []string, book *trust.Book) (rounds []Round, last verdict.Ledger, gone int) {
	c := Chain{Reviewers: reviewers}
	c.addReviews(pr, book)
	for _, r := range c.Rounds {
		switch {
		case r.believed():
			rounds = append(rounds, r)
		case r.SHA == "" && c.listed(r.By):
			gone++
		}
	}
	return rounds, c.Findings, gone
}

package pull

import (
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// Of several machines that act as one login, the first to claim a head gets the session on it. It claims the
// head with a pending status whose link ends in the machine's mark. GitHub keeps all statuses in order, so
// each machine sees whose claim was first. The holder renews its claim while it works; the claim of a dead
// machine is not renewed and expires.
const (
	ClaimLease = 10 * time.Minute
	ClaimMark  = "#touchstone-"
)

// fixedElsewhere returns until when a machine of the pull request's author has the session on the head,
// according to the latest status; zero if none has.
func fixedElsewhere(pr forge.PullRequest) (until time.Time) {
	for _, c := range pr.Statuses {
		if Claimant(pr.Author.Login, c, forge.FixContext) != "" {
			until = c.At.Add(ClaimLease)
		}
	}
	return until
}

// Claimant returns the machine for which a login's status claims a head; empty if the status is not a claim.
func Claimant(login string, c forge.Check, context string) string {
	if c.Name != context || c.State != forge.CheckPending || !verdict.SameLogin(c.By.Login, login) {
		return ""
	}
	_, mark, _ := strings.Cut(c.URL, ClaimMark)
	return mark
}

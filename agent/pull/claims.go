package pull

import (
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// Of several machines that act as one login, the first that says so has the session on a head: it
// claims the head by a pending status, whose link ends in the machine's mark. GitHub keeps all
// statuses in their order, so that each machine sees whose claim was first. The holder renews it
// while it works; a claim that is not renewed, by a machine that has died, ends by itself.
const (
	ClaimLease = 10 * time.Minute
	ClaimMark  = "#touchstone-"
)

// FixedElsewhere is until when a machine of its author has the session on the head, as far as the last status
// tells; zero if none has.
func FixedElsewhere(pr forge.PullRequest) (until time.Time) {
	for _, c := range pr.Statuses {
		if Claimant(pr.Author.Login, c, forge.FixContext) != "" {
			until = c.At.Add(ClaimLease)
		}
	}
	return until
}

// Claimant is the machine that a status of a login claims a head for; empty if it is no claim.
func Claimant(login string, c forge.Check, context string) string {
	if c.Name != context || c.State != forge.CheckPending || !verdict.SameLogin(c.By.Login, login) {
		return ""
	}
	_, mark, _ := strings.Cut(c.URL, ClaimMark)
	return mark
}

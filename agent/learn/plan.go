package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/forge"
	"touchstone/agent/trust"
	"touchstone/verdict"
)

// Round is a recorded round that can be replayed.
type Round struct {
	Pull   forge.PullRequest
	Record verdict.Record
	// Last is the latest ledger, with the status of the round's findings.
	Last verdict.Ledger
}

// name returns the name of the round for people.
func (r Round) name() string { return fmt.Sprintf("%s round %d", r.Pull.Ref, r.Record.Round) }

// Plan is a replay that has not begun.
type Plan struct {
	Since time.Time
	// Rounds are the rounds to replay, the latest first.
	Rounds []Round
	// Carried counts approvals that were carried over without a session, which cannot be replayed; Gone
	// counts rounds whose commit GitHub no longer has; Older counts rounds beyond Most; Unread counts those of
	// pull requests that are gone or hold more than is read.
	Carried, Gone, Older, Unread int
	// BudgetUSD bounds the total cost of all sessions, in US dollars.
	BudgetUSD float64
	// Most bounds the number of rounds.
	Most int
}

// Reader reads pull requests.
type Reader interface {
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
}

// Find finds the rounds to replay in past pull requests. It uses the reviewers' records that the book trusts.
func (p *Plan) Find(ctx context.Context, read Reader, past []forge.Past, reviewers []string, book *trust.Book) error {
	for _, old := range past {
		wanted := p.wanted(old.Reviews)
		if wanted == 0 {
			continue
		}
		if len(p.Rounds) == p.Most {
			p.Older += wanted // not read further, since there are many
			continue
		}
		pr, err := read.PullRequest(ctx, old.Ref)
		if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrUnreadable) {
			p.Unread += wanted
			continue
		}
		if err != nil {
			return err
		}
		rounds, last, gone := audit.Recorded(pr, reviewers, book)
		p.Gone += gone
		for _, r := range slices.Backward(rounds) {
			switch {
			case r.At.Before(p.Since):
			case r.Record.Engine == "":
				p.Carried++
			case len(p.Rounds) == p.Most:
				p.Older++
			default:
				p.Rounds = append(p.Rounds, Round{pr, r.Record, last})
			}
		}
	}
	return nil
}

// wanted counts the reviews that are rounds within the time span, by any login.
func (p *Plan) wanted(reviews []forge.SubmittedReview) (n int) {
	for _, r := range reviews {
		if _, err := verdict.ParseRecord(r.Body); err == nil && !r.SubmittedAt.Before(p.Since) {
			n++
		}
	}
	return n
}

// String describes the replay in sentences.
func (p Plan) String() string {
	var cost float64
	pulls := map[forge.Ref]bool{}
	for _, r := range p.Rounds {
		cost += r.Record.CostUSD
		pulls[r.Pull.Ref] = true
	}
	said := []string{
		fmt.Sprintf("%s of %s to replay, recorded at $%.2f.",
			verdict.Amount(len(p.Rounds), "round", "rounds"), verdict.Amount(len(pulls), "pull request", "pull requests"), cost),
		fmt.Sprintf("The sessions may cost $%.2f together; the request that exceeds this is the last one.", p.BudgetUSD),
	}
	left := func(n int, why string) {
		if n > 0 {
			said = append(said, fmt.Sprintf("Left out: %s %s.", verdict.Amount(n, "round", "rounds"), why))
		}
	}
	left(p.Carried, "that approved without a session")
	left(p.Gone, "whose commit GitHub no longer has")
	left(p.Unread, "in pull requests that are gone or hold more than is read")
	left(p.Older, fmt.Sprintf("beyond the %d latest", p.Most))
	return strings.Join(said, "\n")
}

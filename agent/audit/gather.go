package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Reader reads from GitHub.
type Reader interface {
	PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error)
	Commits(ctx context.Context, ref forge.Ref) ([]forge.Commit, error)
	Incidents(ctx context.Context, ref forge.Ref) ([]forge.Incident, error)
	pull.OrderReader
}

// Settings are the inputs that GitHub does not show.
type Settings struct {
	Reviewers []string      // logins whose records are believed
	Rights    config.Rights // the rights that orders require
	Trust     *trust.Book   // decides whose records and commands are believed
	// State returns the state on which the agents decide about a pull request.
	State func(ctx context.Context, pr forge.PullRequest) (decide.State, error)
}

// Gather collects what GitHub records of a pull request.
func Gather(ctx context.Context, read Reader, ref forge.Ref, settings Settings) (Chain, error) {
	pr, err := read.PullRequest(ctx, ref)
	if err != nil {
		return Chain{}, err
	}
	commits, err := read.Commits(ctx, ref)
	if err != nil {
		return Chain{}, err
	}
	incidents, err := read.Incidents(ctx, ref)
	if err != nil {
		return Chain{}, err
	}
	c := Chain{
		PullRequest: ref.String(), URL: pr.URL, Title: pr.Title, Author: pr.Author.Login, CreatedAt: pr.CreatedAt, State: "open",
		Head: pr.Head.SHA, Base: pr.Base.SHA, BaseBranch: pr.Base.Name, Reviewers: settings.Reviewers,
		Missing: []string{}, Warnings: []string{}, Commits: []Commit{}, Rounds: []Round{}, Opinions: []Opinion{},
		Findings: []verdict.Entry{}, Holds: []verdict.Hold{}, Orders: []Order{}, Labels: []Labelling{}, Incidents: []Incident{},
		Checks: []Check{},
	}
	c.addCommits(pr, commits, settings.Trust)
	c.addReviews(pr, settings.Trust)
	if pr.Merged { // a merge also closes the pull request
		incidents = slices.DeleteFunc(incidents, func(in forge.Incident) bool {
			return in.Kind == forge.Closed && pr.MergedAt != nil && !in.At.Before(*pr.MergedAt)
		})
	}
	c.addIncidents(incidents)
	if err := c.addOrders(ctx, read, pr, settings); err != nil {
		return Chain{}, err
	}
	for _, l := range pr.Labelled {
		c.Labels = append(c.Labels, Labelling{Label: l.Label, Added: l.Added, By: l.By.Login, At: l.At})
	}
	for _, check := range pr.Checks {
		c.Checks = append(c.Checks, Check{Name: check.Name, State: check.State, Required: check.Required, URL: check.URL})
	}
	switch {
	case pr.Merged:
		c.State = "merged"
		c.Merge = &verdict.Merge{
			SHA: pr.MergeSHA, By: pr.MergedBy.Login, OpenedAt: pr.CreatedAt, Head: c.Head, Approvals: []verdict.Approval{}, Passed: []string{},
		}
		if pr.MergedAt != nil {
			c.Merge.At = *pr.MergedAt
		}
	case !pr.Open:
		c.State = "closed"
	}
	s, err := settings.State(ctx, pr)
	switch {
	case errors.Is(err, forge.ErrForbidden) && c.Merge != nil:
		c.miss("cannot tell what the merge lacked: %v", err)
		c.Merge.Lacked = c.Missing
		return c, nil
	case errors.Is(err, forge.ErrForbidden):
		c.miss("cannot tell what blocks the merge: %v", err)
		return c, nil
	case err != nil:
		return Chain{}, err
	}
	c.conclude(s)
	return c, nil
}

// addCommits lists the commits, with the cost and time that those of the author's agent report.
func (c *Chain) addCommits(pr forge.PullRequest, commits []forge.Commit, book *trust.Book) {
	costs := map[string]verdict.Cost{} // each commit of a fix reports the cost of the whole fix so far
	for _, commit := range commits {
		subject, _, _ := strings.Cut(commit.Message, "\n")
		repair, _ := verdict.ParseRepair(commit.Message)
		switch {
		case repair.Cost == (verdict.Cost{}):
		case !book.Made(pr, repair):
			c.warn("the cost that %s states is ignored: it is not signed with the key of %s's agent", verdict.Short(commit.SHA), c.Author)
		case repair.Cost.USD >= costs[repair.Reviewed].USD:
			costs[repair.Reviewed] = repair.Cost
		}
		c.Commits = append(c.Commits, Commit{
			SHA: commit.SHA, By: cmp.Or(commit.Login, commit.Name), At: commit.At, Subject: subject, Fixes: repair.Findings,
			Disputes: repair.Disputed,
		})
	}
	for _, cost := range costs {
		c.FixCostUSD += cost.USD
		c.FixDuration += cost.Time
	}
}

// addIncidents lists the incidents and warns of lost traces: a reviewed commit that was replaced by a force
// push, a deleted comment.
func (c *Chain) addIncidents(incidents []forge.Incident) {
	for _, in := range incidents {
		c.Incidents = append(c.Incidents, Incident{
			Kind: in.Kind, By: in.By.Login, At: in.At, Before: in.Before, After: in.After, Review: in.Review, Reason: in.Reason,
		})
		switch in.Kind {
		case forge.HeadForcePushed:
			for _, r := range c.Rounds {
				if r.SHA == in.Before {
					c.warn("%s force-pushed over %s, which round %d had reviewed, with %s, %s", in.By.Login, verdict.Short(in.Before), r.Record.Round,
						verdict.Short(in.After), verdict.Stamp(in.At))
				}
			}
		case forge.CommentDeleted:
			c.warn("%s deleted a comment by %s, %s", in.By.Login, in.Before, verdict.Stamp(in.At))
		}
	}
}

// addReviews separates reviews with a record from those without, and believed records from the others.
func (c *Chain) addReviews(pr forge.PullRequest, book *trust.Book) {
	for _, r := range pr.Reviews {
		record, err := verdict.ParseRecord(r.Body)
		if err != nil {
			c.Opinions = append(c.Opinions, Opinion{
				Review: r.ID, URL: r.URL, By: r.Author.Login, Bot: r.Author.Bot, CanPush: r.CanPush, At: r.SubmittedAt, SHA: r.SHA, State: r.State,
				Reply: r.State == forge.Commented && r.Body == "",
			})
			if c.listed(r.Author.Login) && r.EditedAt != nil {
				c.warn("the review %s by %s was edited after it was posted and contains no record now", r.URL, r.Author.Login)
			}
			continue
		}
		round := Round{
			Review: r.ID, URL: r.URL, By: r.Author.Login, At: r.SubmittedAt, EditedAt: r.EditedAt, SHA: r.SHA, State: r.State, Record: record,
		}
		if round.Doubt = cmp.Or(c.doubt(pr, r, record), book.Opinion(pr, r, c.Reviewers).Doubt); round.Doubt != "" {
			c.warn("the record in the review %s is not trusted: %s", r.URL, round.Doubt)
		} else {
			c.CostUSD += record.CostUSD
			c.Tokens += record.Usage.Total()
			c.Duration += record.Duration
			c.Findings, c.Holds = append([]verdict.Entry{}, record.Ledger...), append([]verdict.Hold{}, record.Holds...)
		}
		c.Rounds = append(c.Rounds, round)
	}
}

// doubt says why a record is not believed, or returns "" if it is.
func (c *Chain) doubt(pr forge.PullRequest, r forge.SubmittedReview, record verdict.Record) string {
	posted := verdict.Posted{By: r.Author.Login, Author: pr.Author.Login, SHA: r.SHA, State: r.State, Edited: r.EditedAt != nil}
	if posted.Edited {
		posted.EditedAt = *r.EditedAt
	}
	return posted.Doubt(record, c.Reviewers)
}

// addOrders lists the commands that people gave the agents, with the permission of each author. It includes
// comments that another login edited or deleted.
func (c *Chain) addOrders(ctx context.Context, read Reader, pr forge.PullRequest, settings Settings) (err error) {
	f := pull.NewFacts()
	if f.Refused, err = settings.Trust.Refused(pr.DatabaseID); err != nil {
		return err
	}
	if err := f.Ask(ctx, read, pr); err != nil {
		return err
	}
	var known verdict.Ledger
	for _, r := range c.Rounds {
		known = append(known, r.Record.Ledger...)
	}
	for _, comment := range pr.AllComments() {
		order, ok := verdict.ParseCommand(comment.Body)
		if !comment.ByPerson || !ok && !comment.EditedByAnother() {
			continue
		}
		given := f.Comment(pr, settings.Rights, comment)
		counted, unclear := verdict.Orders([]verdict.Comment{given}, c.Reviewers), ""
		for _, u := range verdict.Misunderstood([]verdict.Comment{given}, c.Reviewers, known) {
			unclear = u.Why
		}
		switch {
		case len(counted) > 0 && counted[0].Removed != "":
			order = counted[0]
			c.warn("the order %s by %s was edited at %s by %s; the text from before counts: /touchstone stop", comment.URL, comment.Author.Login,
				verdict.Stamp(*comment.EditedAt), order.Removed)
		case !ok:
			continue
		case comment.EditedAt != nil:
			c.warn("the order %s by %s was edited at %s", comment.URL, comment.Author.Login, verdict.Stamp(*comment.EditedAt))
		}
		c.Orders = append(c.Orders, Order{
			URL: comment.URL, By: comment.Author.Login, At: comment.CreatedAt, Edited: comment.EditedAt, Verb: string(order.Verb),
			Finding: order.Finding,
			Reason:  order.Reason, May: string(f.May[comment.Author.Login]), Counts: len(counted) > 0 && unclear == "", Unclear: unclear,
		})
	}
	for _, d := range pr.Deleted {
		if d.By.Is(d.Author) || !d.ByPerson {
			continue
		}
		for _, stop := range verdict.Orders([]verdict.Comment{f.Deletion(d)}, c.Reviewers) {
			c.Orders = append(c.Orders, Order{
				URL: pr.URL, By: stop.By, At: stop.At, Verb: string(stop.Verb), May: string(f.May[d.Author.Login]), Counts: true,
				Reason: "deleted by " + d.By.Login + ", and may have been this order",
			})
		}
	}
	return nil
}

func (c *Chain) listed(login string) bool { return verdict.ListsLogin(c.Reviewers, login) }

func (c *Chain) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

func (c *Chain) miss(format string, args ...any) {
	c.Missing = append(c.Missing, fmt.Sprintf(format, args...))
}

package decide

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/verdict"
)

// Signal is the state of a commit status, in GitHub's words.
type Signal string

// The signals that agents set.
const (
	Pending Signal = "pending"
	Success Signal = "success"
	Failure Signal = "failure"
)

// Status is the line that tells people the state of a head, as the agent of a role sees it: what the agent
// does about the first unmet condition, or who it waits for. The zero value is no status.
type Status struct {
	Signal Signal
	// Text can quote other people's names and words.
	Text string
	// Review is GitHub's id of the review that it is about; 0 for none.
	Review int64
}

// status describes an action. A pull request that is closed, or none of the agent's business, has no status.
func (s State) status(a Action) Status {
	switch {
	case !s.Open || !s.known() || a.Kind == Skip:
		return Status{}
	case s.Role == Reviewer:
		return s.reviewStatus(a)
	case s.Role == Author:
		return s.fixStatus(a)
	}
	return Status{}
}

// reviewStatus is a success only while all reviewers' words on the present head and base are approvals.
func (s State) reviewStatus(a Action) Status {
	i := s.own()
	status := Status{Signal: Pending}
	if i >= 0 {
		status.Review = s.Opinions[i].Review
	}
	switch {
	case a.Kind == Review:
		status.Text = fmt.Sprintf("reviewing, round %d", s.lastRound()+1)
	case a.Kind == Lift:
		status.Text = "approving it on a person's word"
	case a.Condition != Merged:
		status.Text = s.waiting(a)
	case s.Opinions[i].Record.Verdict != verdict.Approve:
		status.Signal, status.Text = Failure, "changes requested, round "+s.found(*s.Opinions[i].Record)
	case s.listed(s.Self) && s.stance() != approves:
		status.Text = fmt.Sprintf("approved by %s, round %d; not by all reviewers", s.Self, s.Opinions[i].Record.Round)
	default:
		status.Signal, status.Text = Success, fmt.Sprintf("approved, round %d", s.Opinions[i].Record.Round)
	}
	return status
}

// found is the round of a record, with its findings that stand.
func (s State) found(r verdict.Record) string {
	text := fmt.Sprint(r.Round)
	if counts := Found(s.withOrders(r).Outstanding()); counts != "" {
		text += ": " + counts
	}
	return text
}

// fixStatus is a success while only the merge is left to do, and a failure while a person is needed.
func (s State) fixStatus(a Action) Status {
	status := Status{Signal: Pending, Text: s.waiting(a)}
	for _, i := range s.Counting() {
		status.Review = s.Opinions[i].Review
	}
	switch {
	case a.Kind == Fix:
		status.Text = fmt.Sprintf("fixing, round %d: %s", max(1, s.lastRound()), a.Reason)
	case a.Kind == Apply:
		status.Text = fmt.Sprintf("applying %s of the review", verdict.Amount(len(a.Record.Edits), "suggestion", "suggestions"))
	case a.Kind == Merge:
		status.Signal, status.Text = Success, "approved and green: merging it"
	case a.Kind == Escalate, a.Turn == verdict.TurnPerson && s.NeedsHuman:
		status.Signal = Failure
	}
	return status
}

// waiting says whose turn it is, and why.
func (s State) waiting(a Action) string {
	return verdict.Waiting(a.On, strings.TrimPrefix(strings.TrimPrefix(a.Reason, "it waits for a person"), ": "))
}

// party says who an action waits for. If a person must let a head pass, those are the people whose review is
// requested; GitHub requests the code owners by itself
// (https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners).
func (s State) party(a Action) verdict.Party {
	on := verdict.Party{Turn: a.Turn}
	switch {
	case a.Turn == verdict.TurnAuthor:
		on.Logins = []string{s.Author}
	case a.Turn == verdict.TurnReviewer && s.Role == Reviewer:
		on.Logins = []string{s.Self}
	case a.Turn == verdict.TurnReviewer:
		on.Logins = s.Reviewers
	case a.Turn != verdict.TurnPerson:
	case a.Condition == goesOn:
		order, _ := verdict.LastOrder(s.Orders, verdict.Stop, verdict.Resume)
		on.Logins = s.people(order.By)
	case a.Condition == noObjection:
		objector, _ := s.objector()
		on.Logins = s.people(objector)
	case s.holds() != "":
		if on.Logins = s.people(s.Asking...); len(on.Logins) == 0 {
			on.Not = s.Author
		}
	}
	return on
}

// people are the given logins without the author's and the agents'.
func (s State) people(logins ...string) []string {
	return slices.DeleteFunc(slices.Clone(logins), func(login string) bool {
		return login == "" || verdict.SameLogin(login, s.Author) || verdict.SameLogin(login, s.Self) || s.listed(login)
	})
}

func (s State) listed(login string) bool { return verdict.ListsLogin(s.Reviewers, login) }

// lastRound is the number of the last round in a reviewer's record, 0 for none.
func (s State) lastRound() int {
	last := 0
	for _, o := range s.Opinions {
		if !o.void() && (s.trusts(o.By) || verdict.SameLogin(o.By, s.Self)) {
			last = max(last, o.Record.Round)
		}
	}
	return last
}

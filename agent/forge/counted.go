package forge

import (
	"context"

	"touchstone/verdict"
)

// Counted says whether GitHub has recently counted a login's approvals.
type Counted struct {
	// Known says that a pull request shows it. Then Counts says whether an approval counted, and Number is
	// that pull request.
	Known, Counts bool
	Number        int
}

// Counted looks, among the 50 most recently changed pull requests into a repository's default branch, for one
// that shows whether GitHub counts an approval by a login. For an App's approval, GitHub documents no rule
// (https://docs.github.com/graphql/reference/enums#pullrequestreviewdecision).
func (c *Client) Counted(ctx context.Context, repo Repo, rules Rules, login string) (Counted, error) {
	if rules.Approvals == 0 {
		return Counted{}, nil // there is nothing to count
	}
	op := "look for reviews of " + login + " in " + repo.String()
	variables := repo.variables()
	variables["base"] = rules.Branch
	found, err := readRepository[struct{ PullRequests connection[decidedNode] }](ctx, c, op, countedQuery, variables)
	if err != nil {
		return Counted{}, err
	}
	for _, pull := range found.PullRequests.Nodes {
		if counts, known := pull.counts(rules, login); known {
			return Counted{Known: true, Counts: counts, Number: pull.Number}, nil
		}
	}
	return Counted{}, nil
}

type decidedNode struct {
	Number                   int
	HeadRefOid               string
	ReviewDecision           string
	LatestOpinionatedReviews connection[struct {
		State  string
		Author *actorNode
		Commit *oidNode
	}]
}

// counts reports whether an approval by a login counted here. That is known if the approval is of the head
// and decides: there are enough approvals with it and too few without it.
func (n decidedNode) counts(rules Rules, login string) (counts, known bool) {
	ours, others := false, 0
	for _, r := range n.LatestOpinionatedReviews.Nodes {
		switch {
		case r.State != "APPROVED":
			return false, false
		case verdict.SameLogin(r.Author.user().Login, login):
			ours = r.Commit.sha() == n.HeadRefOid
		default:
			others++
		}
	}
	if !ours || others >= rules.Approvals {
		return false, false
	}
	switch n.ReviewDecision {
	case "APPROVED":
		return true, true
	case "REVIEW_REQUIRED": // a missing approval by an owner also leads to this
		return false, others+1 >= rules.Approvals && !rules.CodeOwners
	}
	return false, false
}

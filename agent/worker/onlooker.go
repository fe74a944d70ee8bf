package worker

import (
	"context"
	"slices"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/trust"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Onlooker works out the state of a pull request for people who only look at it: as its author's agent sees
// it, from GitHub alone. It does not know what agents remember, nor what needs a clone.
type Onlooker struct {
	Read   Reader
	Config config.Config
	Trust  *trust.Book
}

// State is the state of a pull request. For a merged one it is the state at the time of the merge, as far as
// GitHub still has it: a condition whose facts GitHub no longer has counts as met.
func (o Onlooker) State(ctx context.Context, pr forge.PullRequest) (decide.State, error) {
	open := pr.Open || pr.Merged
	if pr.Merged {
		pr = asMerged(pr)
	}
	pr.Open = true
	pr.Viewer, pr.ViewerPermission = pr.Author.Login, "" // the onlooker's own permissions do not matter
	a := &Agent{
		Role: decide.Author, Config: func() config.Config { return o.Config }, Read: o.Read, Trust: o.Trust, ByHand: pr.Merged, onlooks: true,
	}
	f, err := a.gather(ctx, onlooking{o.Read}, pr)
	if err != nil {
		return decide.State{}, err
	}
	s := pull.StateOf(pr, a.Role, o.Config, f)
	s.Open = open
	return s, nil
}

// asMerged is a merged pull request as it was when it was merged: without what was said later, and with the
// merge commit as its base.
func asMerged(pr forge.PullRequest) forge.PullRequest {
	late := func(at time.Time) bool { return pr.MergedAt != nil && at.After(*pr.MergedAt) }
	pr.Reviews = slices.DeleteFunc(slices.Clone(pr.Reviews), func(r forge.SubmittedReview) bool { return late(r.SubmittedAt) })
	pr.Comments = slices.DeleteFunc(slices.Clone(pr.Comments), func(c forge.Comment) bool { return late(c.CreatedAt) })
	pr.Deleted = slices.DeleteFunc(slices.Clone(pr.Deleted), func(d forge.Deletion) bool { return late(d.At) })
	pr.Base.SHA = pr.MergeSHA
	pr.Draft, pr.InQueue, pr.Labels, pr.SameBranch = false, false, nil, ""
	pr.Mergeable, pr.Behind, pr.Blocked = forge.MergeableClean, false, false
	return pr
}

// onlooking knows what GitHub knows.
type onlooking struct{ pull.Source }

// Makes returns true: to find out what merging a head makes, a clone would be needed.
func (onlooking) Makes(context.Context, forge.PullRequest, verdict.Record) (bool, error) {
	return true, nil
}

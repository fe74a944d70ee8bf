package daemon

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

// Onlooker tells those who only look at a pull request where it stands: as its author's agent sees
// it, from GitHub alone. What agents remember, and what takes a clone, an onlooker does not know.
type Onlooker struct {
	Read   Reader
	Config config.Config
	Trust  *trust.Book
}

// State is all that is true of a pull request, or an error. Of one that is merged it is what was
// true then, as far as GitHub keeps that: a condition of which GitHub keeps nothing counts as met.
func (o Onlooker) State(ctx context.Context, pr forge.PullRequest) (decide.State, error) {
	open := pr.Open || pr.Merged
	if pr.Merged {
		pr = asMerged(pr)
	}
	pr.Open = true
	pr.Viewer, pr.ViewerPermission = pr.Author.Login, "" // what the onlooker may do is no matter
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

// asMerged is a merged pull request as it was when that was done: without what was said since, and
// onto the merge itself.
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

// onlooking knows what GitHub does.
type onlooking struct{ pull.Source }

// Makes is true: what merging a head makes takes a clone.
func (onlooking) Makes(context.Context, forge.PullRequest, verdict.Record) (bool, error) {
	return true, nil
}

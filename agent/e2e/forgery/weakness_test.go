package forgery

import (
	"context"
	"slices"

	"touchstone/agent/daemon"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/agent/merger"
	"touchstone/verdict/decide"
)

// seeing has an agent see something else than what GitHub says of a pull request.
func seeing(as func(*forge.PullRequest)) func(decide.Role, *daemon.Agent) {
	return func(_ decide.Role, a *daemon.Agent) {
		a.Read = distorted{a.Read, as}
		a.Merger.Read = distortedMerger{a.Merger.Read, as}
	}
}

type distorted struct {
	daemon.Reader
	as func(*forge.PullRequest)
}

func (d distorted) PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error) {
	pr, err := d.Reader.PullRequest(ctx, ref)
	d.as(&pr)
	return pr, err
}

type distortedMerger struct {
	merger.Reader
	as func(*forge.PullRequest)
}

func (d distortedMerger) PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error) {
	pr, err := d.Reader.PullRequest(ctx, ref)
	d.as(&pr)
	return pr, err
}

// everybodyMay has everybody be an administrator.
func everybodyMay(_ decide.Role, a *daemon.Agent) { a.Read = generous{a.Read} }

type generous struct{ daemon.Reader }

func (generous) Permission(context.Context, forge.Repo, string) (forge.Permission, error) {
	return "admin", nil
}

// everybodyIsAPerson has Apps be people who may do all.
func everybodyIsAPerson(role decide.Role, a *daemon.Agent) {
	everybodyMay(role, a)
	seeing(func(pr *forge.PullRequest) {
		for i := range pr.Comments {
			pr.Comments[i].ByPerson = true
		}
	})(role, a)
}

// The weaknesses that lie in what an agent sees.
var (
	everybodyPushes = seeing(func(pr *forge.PullRequest) {
		for i := range pr.Reviews {
			pr.Reviews[i].CanPush = true
		}
	})
	nobodySpeaks  = seeing(func(pr *forge.PullRequest) { pr.Comments = nil })
	nobodyObjects = seeing(func(pr *forge.PullRequest) {
		pr.Reviews = slices.DeleteFunc(pr.Reviews, func(r forge.SubmittedReview) bool { return r.Author.Login == arena.Person })
	})
	nothingIsLabelled = seeing(func(pr *forge.PullRequest) { pr.Labels = nil })
	allIsGreen        = seeing(func(pr *forge.PullRequest) {
		for i := range pr.Checks {
			pr.Checks[i].State = forge.CheckSuccess
		}
	})
	nothingIsDismissed = seeing(func(pr *forge.PullRequest) {
		for i := range pr.Reviews {
			if r := &pr.Reviews[i]; r.State == forge.Dismissed {
				r.State = forge.Approved
			}
		}
	})
)

// decideOnce has the merger take its first decision for the last.
func decideOnce(_ decide.Role, a *daemon.Agent) {
	a.Merger.Decider = func() merger.Decide {
		return func(_ context.Context, pr forge.PullRequest) (decide.Action, bool, error) {
			return decide.Action{Kind: decide.Merge, SHA: pr.Head.SHA}, true, nil
		}
	}
}

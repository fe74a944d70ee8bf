package forgery

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/forge"
	"touchstone/agent/merger"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// seeing makes an agent see a pull request that differs from GitHub's.
func seeing(as func(*forge.PullRequest)) func(decide.Role, *worker.Agent) {
	return func(_ decide.Role, a *worker.Agent) {
		a.Read = distorted{a.Read, as}
		a.Merger.Read = distortedMerger{a.Merger.Read, as}
	}
}

type distorted struct {
	worker.Reader
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

// everybodyMay makes everybody an administrator.
func everybodyMay(_ decide.Role, a *worker.Agent) { a.Read = generous{a.Read} }

type generous struct{ worker.Reader }

func (generous) Permission(context.Context, forge.Repo, string) (forge.Permission, error) {
	return "admin", nil
}

// everybodyIsAPerson makes Apps people who may do everything.
func everybodyIsAPerson(role decide.Role, a *worker.Agent) {
	everybodyMay(role, a)
	seeing(func(pr *forge.PullRequest) {
		for i := range pr.Comments {
			pr.Comments[i].ByPerson = true
		}
	})(role, a)
}

// The weaknesses in what an agent sees.
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

// decideOnce makes the merger treat its first decision as the last.
func decideOnce(_ decide.Role, a *worker.Agent) {
	a.Merger.Decider = func() merger.Decide {
		return func(_ context.Context, pr forge.PullRequest) (decide.Action, bool, error) {
			return decide.Action{Kind: decide.Merge, SHA: pr.Head.SHA}, true, nil
		}
	}
}

// nothingIsSigned makes an agent believe every record, like the unsigned records of earlier versions.
func nothingIsSigned(role decide.Role, a *worker.Agent) {
	a.Trust.Settings = func() (map[string][]string, time.Time) { return nil, time.Now().AddDate(100, 0, 0) }
	seeing(func(pr *forge.PullRequest) {
		for i := range pr.Reviews {
			if record, err := verdict.ParseRecord(pr.Reviews[i].Body); err == nil {
				pr.Reviews[i].Body, _ = record.Seal(verdict.Signer{}) // it was sealed before
			}
		}
	})(role, a)
}

// nothingIsEdited makes an agent believe every record, treat none as edited, and not look again before it
// pushes.
func nothingIsEdited(role decide.Role, a *worker.Agent) {
	nothingIsSigned(role, a)
	if a.Author != nil {
		a.Author.Unwanted = nil
	}
	seeing(func(pr *forge.PullRequest) {
		for i := range pr.Reviews {
			pr.Reviews[i].EditedAt, pr.Reviews[i].EditedBy = nil, forge.User{}
		}
	})(role, a)
}

// allAreOneAccount makes all logins belong to one account.
var allAreOneAccount = seeing(func(pr *forge.PullRequest) {
	for i := range pr.Reviews {
		pr.Reviews[i].Author.ID = 1
	}
})

// allTreesAreAlike gives an author's agent a git that sees no difference between trees.
func allTreesAreAlike(t *testing.T) func(decide.Role, *worker.Agent) {
	if runtime.GOOS == "windows" {
		t.Skip("the git that sees no difference is a shell script, which Windows does not run")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "git")
	enginetest.Program(t, path, "#!/bin/sh\nfor a; do [ \"$a\" = diff-tree ] && exit 0; done\nexec '"+git+"' \"$@\"\n")
	return func(role decide.Role, a *worker.Agent) {
		if role == decide.Author {
			a.Worktrees.Git = path
		}
	}
}

// nothingIsRewritten makes every history contain every commit.
func nothingIsRewritten(_ decide.Role, a *worker.Agent) { a.Read = whole{a.Read} }

type whole struct{ worker.Reader }

func (whole) Contains(context.Context, forge.Repo, string, string) (bool, error) { return true, nil }

// nobodyWrote makes the author of every pull request somebody who does nothing else.
func nobodyWrote(_ decide.Role, a *worker.Agent) { a.Read = unwritten{a.Read} }

type unwritten struct{ worker.Reader }

func (unwritten) Writers(context.Context, forge.PullRequest) ([]string, error) {
	return []string{"nobody"}, nil
}

// nothingIsShown makes an agent write no commit statuses.
func nothingIsShown(_ decide.Role, a *worker.Agent) { a.Report = nil }

// allIsShownAsApproved makes an agent's statuses say that it approves, whatever it decides.
func allIsShownAsApproved(_ decide.Role, a *worker.Agent) { a.Report = flattering{a.Report} }

type flattering struct{ worker.Reporter }

func (f flattering) Report(ctx context.Context, repo forge.Repo, sha string, status forge.CommitStatus) error {
	status.State = forge.CheckSuccess
	return f.Reporter.Report(ctx, repo, sha, status)
}

// everybodyIsCalledToAll makes an agent treat every closed pull request as one that lost its base.
var everybodyIsCalledToAll = seeing(func(pr *forge.PullRequest) {
	if !pr.Open {
		pr.Orphaned = pr.UpdatedAt
	}
})

// nothingIsRefused makes an agent forget which words it has refused.
func nothingIsRefused(role decide.Role, a *worker.Agent) {
	seeing(func(pr *forge.PullRequest) { _ = a.Trust.Forget(pr.DatabaseID) })(role, a) // forgotten at the next look, if not at this
}

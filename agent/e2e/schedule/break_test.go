package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/author"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/forge"
	"touchstone/agent/reviewer"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// TestBreaksAreSeen breaks the agents deliberately, one promise at a time, and runs schedules until one of them
// reports the break. Otherwise nobody would know whether their silence means anything.
func TestBreaksAreSeen(t *testing.T) {
	t.Parallel()
	from := rand.IntN(*every)
	t.Logf("promise %d and each %d on; -every 1 takes all", from, *every)
	for i, tc := range []struct {
		promise string
		meddle  func(*Stage, decide.Role, *worker.Agent)
		want    string
	}{
		{"only what was reviewed is merged", rereadApprovals, "was merged and never approved"},
		{"what is held is merged with a person alone", imaginePerson, "was merged without the person"},
		{"a head is reviewed once", postTwice, "was reviewed 2 times"},
		{"nothing is merged over an objection", hearNobody, "over a person's objection"},
		{"people stop the agents", heedNobody, "although a person stopped them"},
		{"the label stops the agents", heedNobody, "although it waits for a person"},
		{"no other branch is pushed to", pushElsewhere(t), "somebody made the branch stray"},
		{"nobody's commit is lost", pushByForce(t), "is not in the branch any more"},
		{"what people took back is not merged", forgetDismissals, "was merged and never approved"},
		{"what was approved for one base is not merged into another", seeOneBase, "was merged into"},
		{"statuses say what is decided", loseStatuses, "is decided"},
		{"every pull request comes to an end", labelNothing, "stuck: "},
		{"a stranger who takes over a login decides nothing", believeLogins, "stuck: "},
	} {
		if i%*every != from {
			continue
		}
		t.Run(tc.promise, func(t *testing.T) {
			t.Parallel()
			told := func(r Result) bool {
				return strings.Contains(strings.Join(r.Violations, "\n")+"\nstuck: "+r.Stuck+"\n", tc.want) && (tc.want != "stuck: " || r.Stuck != "")
			}
			err := arena.Within(t.Context(), t.TempDir(), func(ctx context.Context, a *arena.Arena) error {
				stage, err := NewStage(ctx, a, t.TempDir())
				if err != nil {
					return err
				}
				stage.meddle = tc.meddle
				const enough = 500
				for seed := range uint64(enough) {
					result, err := stage.Run(ctx, seed)
					if err != nil || told(result) {
						t.Logf("seed %d tells", seed)
						return err
					}
				}
				return fmt.Errorf("%d schedules, and none says %q", enough, tc.want)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// rereadApprovals makes the agents treat every review as a review of the current head and its merge, whoever
// signed it. It also sets the record's tree, because the comparison of trees would stop such a review otherwise.
func rereadApprovals(s *Stage, _ decide.Role, a *worker.Agent) {
	a.Trust, a.Author.Trust, a.Reviewer.Trust = nil, nil, nil
	seeing(a, func(pr forge.PullRequest) forge.PullRequest {
		tree, err := s.Bare(pr.Ref.Repo).MergeTree(context.Background(), pr.Base.SHA, pr.Head.SHA)
		for i := range pr.Reviews {
			r := &pr.Reviews[i]
			record, unread := verdict.ParseRecord(r.Body)
			if err != nil || unread != nil {
				continue
			}
			record.Head, r.SHA, record.Base, record.Tree = pr.Head.SHA, pr.Head.SHA, pr.Base.SHA, tree
			r.Body, _ = record.Seal(verdict.Signer{}) // it was sealed before
		}
		return pr
	})
}

// seeing makes an agent see a pull request that differs from GitHub's, at each look.
func seeing(a *worker.Agent, as func(forge.PullRequest) forge.PullRequest) {
	d := distorted{a.Read, as}
	a.Read, a.Merger.Read = d, d
	a.Author.Read, a.Reviewer.Read = distortedAuthor{a.Author.Read, d}, distortedReviewer{a.Reviewer.Read, d}
}

type distorted struct {
	worker.Reader
	as func(forge.PullRequest) forge.PullRequest
}

func (d distorted) PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error) {
	pr, err := d.Reader.PullRequest(ctx, ref)
	return d.as(pr), err
}

type distortedAuthor struct {
	author.Reader
	by distorted
}

func (d distortedAuthor) PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error) {
	return d.by.PullRequest(ctx, ref)
}

type distortedReviewer struct {
	reviewer.Reader
	by distorted
}

func (d distortedReviewer) PullRequest(ctx context.Context, ref forge.Ref) (forge.PullRequest, error) {
	return d.by.PullRequest(ctx, ref)
}

// imaginePerson makes the agents see a person's approval of every head.
func imaginePerson(_ *Stage, _ decide.Role, a *worker.Agent) { seeing(a, imagine) }

func imagine(pr forge.PullRequest) forge.PullRequest {
	pr.Reviews = append(pr.Reviews, forge.SubmittedReview{
		Author: forge.User{Login: "nobody"}, ByPerson: true, CanPush: true, State: forge.Approved, SHA: pr.Head.SHA,
	})
	return pr
}

// loseStatuses makes the agents believe that they wrote every status that does not say success.
func loseStatuses(_ *Stage, _ decide.Role, a *worker.Agent) { a.Report = losing{a.Report} }

type losing struct{ worker.Reporter }

func (l losing) Report(ctx context.Context, repo forge.Repo, sha string, status forge.CommitStatus) error {
	if status.State != forge.CheckSuccess {
		return nil
	}
	return l.Reporter.Report(ctx, repo, sha, status)
}

// hearNobody makes the agents see no person's review.
func hearNobody(_ *Stage, _ decide.Role, a *worker.Agent) {
	seeing(a, func(pr forge.PullRequest) forge.PullRequest {
		pr.Reviews = slices.DeleteFunc(pr.Reviews, func(r forge.SubmittedReview) bool { return r.Author.Login == arena.Person })
		return pr
	})
}

// forgetDismissals makes the agents treat dismissed reviews as approvals.
func forgetDismissals(_ *Stage, _ decide.Role, a *worker.Agent) {
	seeing(a, func(pr forge.PullRequest) forge.PullRequest {
		for i := range pr.Reviews {
			if r := &pr.Reviews[i]; r.State == forge.Dismissed {
				r.State = forge.Approved
			}
		}
		return pr
	})
}

// seeOneBase makes the author's agents see main, with its current commit, as the base of every pull request.
// Changing the name alone would not be enough, because the commit of another branch is not on main.
func seeOneBase(s *Stage, role decide.Role, a *worker.Agent) {
	if role != decide.Author {
		return
	}
	seeing(a, func(pr forge.PullRequest) forge.PullRequest {
		if refs, err := s.Bare(pr.Ref.Repo).Refs(); err == nil {
			pr.Base.Name, pr.Base.SHA = "main", refs["refs/heads/main"]
		}
		return pr
	})
}

// believeLogins makes the agents treat everybody as an administrator.
func believeLogins(_ *Stage, _ decide.Role, a *worker.Agent) {
	seeing(a, func(pr forge.PullRequest) forge.PullRequest {
		for i := range pr.Reviews {
			pr.Reviews[i].CanPush = true
		}
		return pr
	})
	a.Read = believing{a.Read}
}

type believing struct{ worker.Reader }

func (believing) Permission(context.Context, forge.Repo, string) (forge.Permission, error) {
	return "admin", nil
}

// heedNobody makes the agents see no label and no comment.
func heedNobody(_ *Stage, _ decide.Role, a *worker.Agent) {
	seeing(a, func(pr forge.PullRequest) forge.PullRequest {
		pr.Labels, pr.Comments = nil, nil
		return pr
	})
}

// postTwice makes the reviewer post each review twice, and withdraw none.
func postTwice(_ *Stage, _ decide.Role, a *worker.Agent) {
	a.Reviewer.Post, a.Reviewer.Withdraw = twice{a.Reviewer.Post}, kept{}
}

type kept struct{}

func (kept) DismissReview(context.Context, forge.Ref, int64, string) error { return nil }

type twice struct{ reviewer.Poster }

func (p twice) PostReview(ctx context.Context, ref forge.Ref, r forge.Review) (forge.Posted, error) {
	if _, err := p.Poster.PostReview(ctx, ref, r); err != nil {
		return forge.Posted{}, err
	}
	return p.Poster.PostReview(ctx, ref, r)
}

// pushByForce gives the author's agent a git that force-pushes. The agent sees the pull request as it was at the
// look before.
func pushByForce(t *testing.T) func(*Stage, decide.Role, *worker.Agent) {
	path := gitThat(t, `push) set -- "$@" push --force ;;`)
	return func(_ *Stage, role decide.Role, a *worker.Agent) {
		if role != decide.Author {
			return
		}
		a.Worktrees.Git = path
		var last forge.PullRequest
		seeing(a, func(pr forge.PullRequest) forge.PullRequest {
			before := last
			if last = pr; before.Open {
				return before
			}
			return pr
		})
	}
}

// pushElsewhere gives the author's agent a git that pushes to another branch.
func pushElsewhere(t *testing.T) func(*Stage, decide.Role, *worker.Agent) {
	path := gitThat(t, `*:refs/heads/topic) set -- "$@" "${a%topic}stray" ;;`)
	return func(_ *Stage, role decide.Role, a *worker.Agent) {
		if role == decide.Author {
			a.Worktrees.Git = path
		}
	}
}

// gitThat returns a git that treats some arguments differently: cases are those of a shell script.
func gitThat(t *testing.T, cases string) string {
	if runtime.GOOS == "windows" {
		t.Skip("the git that does otherwise is a shell script, which Windows does not run")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "git")
	script := `#!/bin/sh
for a; do
	shift
	case "$a" in
	` + cases + `
	*) set -- "$@" "$a" ;;
	esac
done
exec '` + git + `' "$@"
`
	enginetest.Program(t, path, script)
	return path
}

// labelNothing makes the agents call people without the label that the agents look for.
func labelNothing(_ *Stage, _ decide.Role, a *worker.Agent) { a.Caller = unlabelled{a.Caller} }

type unlabelled struct{ worker.Caller }

func (unlabelled) AddLabel(context.Context, forge.Ref, string) error { return nil }

package worker

import (
	"context"
	"fmt"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// gather reads the facts, and stores nothing: that is remember's. Most pull requests need no further request.
func (a *Agent) gather(ctx context.Context, read pull.Knowledge, pr forge.PullRequest) (pull.Facts, error) {
	f := pull.NewFacts()
	f.Now = a.now()
	f.Trust, f.Checks.Author, f.ByHand, f.Elsewhere = a.Trust, pr.Author.Login, a.ByHand, a.elsewhere(pr)
	if !pr.Open && pr.Orphaned.IsZero() {
		return f, nil
	}
	if err := f.Ask(ctx, read, pr); err != nil {
		return f, err
	}
	if err := a.refuse(pr, &f); err != nil {
		return f, err
	}
	since := pull.Since(pr, a.Config(), f)
	f.Past = a.past(pr, since)
	if !pr.Open { // the only thing left to do is to call a person
		return f, nil
	}
	for _, base := range pull.CallBases(pr) {
		if err := f.Compare(ctx, read, pr, base); err != nil {
			return f, err
		}
	}
	var approved time.Time
	against := "" // the base that it was approved against
	for _, r := range pr.Reviews {
		record, err := verdict.ParseRecord(r.Body)
		if err != nil || r.SHA != pr.Head.SHA || r.State == forge.Dismissed || !a.counts(pr, r.Author.Login) {
			continue
		}
		if r.State == forge.Approved && record.BaseBranch == pr.Base.Name {
			approved, against = r.SubmittedAt, record.Base
		}
		if err := f.Compare(ctx, read, pr, record.Base); err != nil {
			return f, err
		}
		if r.State != forge.Approved || r.EditedAt != nil || record.BaseBranch != pr.Base.Name || f.Rebased[record.Base] {
			continue
		}
		same, err := read.Makes(ctx, pr, record)
		if err != nil {
			return f, err
		}
		f.Outdated[r.ID] = !same
	}
	f.Past.Queued = pull.Dropped(pr, since, approved)
	f.Enqueued = pr.InQueue && a.merged(pr, pr.Enqueued)
	if approved.IsZero() && !a.onlooks || a.Role != decide.Author {
		return f, nil
	}
	repository, left, err := pull.SettingsOf(ctx, read, pr)
	if err != nil {
		return f, err
	}
	f.Checks.Named = repository.Merge.Checks
	if f.Manual, err = a.manual(ctx, read, pr, repository, left, a.takenOut(pr, approved, since)); err != nil {
		return f, err
	}
	if err = f.Expect(ctx, read, pr, a.earlier(pr)); err != nil {
		return f, err
	}
	return f, f.Inherited(ctx, read, pr, against)
}

// earlier is the head that was reviewed before the present one, or "".
func (a *Agent) earlier(pr forge.PullRequest) (sha string) {
	for _, r := range pr.Reviews {
		if a.counts(pr, r.Author.Login) && r.SHA != "" && r.SHA != pr.Head.SHA {
			sha = r.SHA
		}
	}
	return sha
}

// takenOut is the person who took a head out of a merge queue after its approval, if nobody has ordered the
// agents to go on since; "" if no person did. This login may also be used by a person: what this machine's
// agent took out itself is in its journal.
func (a *Agent) takenOut(pr forge.PullRequest, approved, since time.Time) string {
	for _, out := range pr.Dequeued {
		if pull.ByPerson(out.By) && !out.At.Before(approved) && out.At.After(since) && !a.did(pr, decide.Dequeue, out) {
			return out.By.Login
		}
	}
	return ""
}

// Orders are people's orders, as far as they may give them.
func (a *Agent) Orders(ctx context.Context, pr forge.PullRequest) ([]verdict.Command, error) {
	f := pull.NewFacts()
	err := f.Ask(ctx, a.Read, pr)
	if err == nil {
		err = a.refuse(pr, &f)
	}
	return verdict.Orders(pull.CommentsOf(pr, a.Config(), f), a.Config().Reviewers), err
}

// counts reports whether the records under a login are the agents'.
func (a *Agent) counts(pr forge.PullRequest, login string) bool {
	return verdict.SameLogin(login, pr.Viewer) || verdict.ListsLogin(a.Config().Reviewers, login)
}

// manual says why the author must merge an approved pull request of this login, according to the
// configuration, the base branch, and the person who took it out of a merge queue. It is empty if the agent
// merges. Argument left is the reason if the repository's settings cannot be read.
func (a *Agent) manual(ctx context.Context, read pull.Source, pr forge.PullRequest, repository config.Repository, left decide.Left,
	takenOutBy string) (decide.Left, error) {
	switch {
	case a.ByHand:
		return decide.Left{}, nil
	case !a.Config().Merge.Auto:
		return decide.Left{Topic: "setting", Why: "merge.auto is off in the agent's configuration"}, nil
	case pull.Labelled(pr, a.Config().Labels.Manual):
		return decide.Left{Topic: "label", Why: "the label " + a.Config().Labels.Manual + " says so"}, nil
	case pr.Fork && !a.Config().Merge.Forks:
		return decide.Left{Topic: "fork", Why: "it comes from a fork, and merge.forks is off in the agent's configuration"}, nil
	case pr.Stacked != 0:
		return decide.Left{Topic: "stacked", Why: fmt.Sprintf("its base %s is the branch of another pull request, #%d",
			pr.Base.Name, pr.Stacked)}, nil
	case takenOutBy != "":
		return decide.Left{Topic: "queue", OneHead: true, Why: takenOutBy + " took it out of the merge queue"}, nil
	case pr.ViewerPermission == "read" || pr.ViewerPermission == "triage":
		return decide.Left{Topic: "rights", Why: pr.Viewer + " may not merge into this repository"}, nil
	case left.Why != "":
		return left, nil
	}
	return pull.LeftByRepository(ctx, read, pr, repository)
}

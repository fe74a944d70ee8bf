package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/trust"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// facts are what a decision may need besides the pull request as it was read.
type facts struct {
	// now is the present by GitHub's clock.
	now time.Time
	// trust says whose records are believed.
	trust *trust.Book
	// elsewhere is until when another machine of this login has the session on the head.
	elsewhere time.Time
	// may is what those may do here who gave an order.
	may map[string]forge.Permission
	// written is what the authors of comments wrote that another login edited since, by the
	// comment's node.
	written map[string][]string
	// rebased are the commits of the base, reviewed against, that it no longer holds.
	rebased map[string]bool
	// writers are the logins that had a hand in it, where that was asked for; nil where it is
	// not known.
	writers []string
	// refused are the words that an agent has seen while their authors might not give them.
	refused map[string]bool
	// outdated are the approvals of a change that merging the head no longer makes, by review.
	outdated map[int64]bool
	// manual is why its author has to merge it, or blank.
	manual decide.Left
	// checks is how the checks are counted. Unbegun are those that reported on an earlier head
	// or on the base and not on this head, unproved is one of them that failed on the earlier
	// head, silent one of them whose source has passed nothing on this head.
	checks           checks
	unbegun          []string
	unproved, silent string
	// baseFails is a check of the head that fails on its base too, baseFailed one that did when
	// the head was approved.
	baseFails, baseFailed string
	// commits are those of the pull request, where they were read.
	commits []forge.Commit
	// enqueued says that this machine put the head into the merge queue that it waits in.
	enqueued bool
	// byHand says that its author merges by hand, now.
	byHand bool
	// unread is why not all of that was read, or nil.
	unread error
	past   history
}

func newFacts() facts {
	return facts{may: map[string]forge.Permission{}, written: map[string][]string{}, rebased: map[string]bool{}, outdated: map[int64]bool{}}
}

// gather reads the facts. Most pull requests need no further request.
func (a *Agent) gather(ctx context.Context, read Knowledge, pr forge.PullRequest) (facts, error) {
	f := newFacts()
	f.now = a.now()
	f.trust, f.checks.author, f.byHand, f.elsewhere = a.Trust, pr.Author.Login, a.ByHand, a.elsewhere(pr)
	if !pr.Open && pr.Orphaned.IsZero() {
		return f, nil
	}
	if err := f.ask(ctx, read, pr); err != nil {
		return f, err
	}
	a.tellBlind(ctx, pr, f)
	if err := a.Trust.Meet(pr, a.Config().Reviewers); err != nil {
		return f, err
	}
	if err := a.refuse(pr, &f); err != nil {
		return f, err
	}
	if !pr.Open { // all that is left to do is to call a person
		f.past = a.past(pr, stateOf(pr, a.Role, a.Config(), f).Since())
		return f, nil
	}
	for _, base := range callBases(pr) {
		if err := f.compare(ctx, read, pr, base); err != nil {
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
		if r.State == forge.Approved {
			approved, against = r.SubmittedAt, record.Base
		}
		if err := f.compare(ctx, read, pr, record.Base); err != nil {
			return f, err
		}
		if r.State != forge.Approved || r.EditedAt != nil || record.BaseBranch != pr.Base.Name || f.rebased[record.Base] {
			continue
		}
		same, err := read.Makes(ctx, pr, record)
		if err != nil {
			return f, err
		}
		f.outdated[r.ID] = !same
	}
	since := stateOf(pr, a.Role, a.Config(), f).Since()
	f.past = a.past(pr, since)
	f.past.queued = dropped(pr, since, approved)
	f.enqueued = pr.InQueue && a.merged(pr, pr.Enqueued)
	if approved.IsZero() && !a.onlooks || a.Role != decide.Author {
		return f, nil
	}
	repository, left, err := settingsOf(ctx, read, pr)
	if err != nil {
		return f, err
	}
	f.checks.named = repository.Merge.Checks
	if f.manual, err = a.manual(ctx, read, pr, repository, left, a.takenOut(pr, approved, since)); err != nil {
		return f, err
	}
	if err = f.expect(ctx, read, pr, a.earlier(pr)); err != nil {
		return f, err
	}
	return f, f.inherited(ctx, read, pr, against)
}

// expect finds out which checks an approved head should have, after those of its base and of an
// earlier head, if there is one.
func (f *facts) expect(ctx context.Context, read Facts, pr forge.PullRequest, earlier string) (err error) {
	if pr.Base.SHA != "" {
		if f.checks.base, err = read.BaseChecks(ctx, pr.Ref.Repo, pr.Base.SHA); err != nil {
			return err
		}
	}
	var before []forge.Check
	if earlier != "" {
		if before, err = read.ChecksOf(ctx, pr.Ref.Repo, earlier); err != nil {
			return err
		}
	}
	f.unbegun, f.silent = f.checks.missing(pr.Checks, before)
	for _, c := range before {
		if c.State == forge.CheckFailure && slices.Contains(f.unbegun, c.Name) {
			f.unproved = c.Name
		}
	}
	return nil
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

// dropped counts how often a merge queue gave the present head back: since it was approved,
// and since the agents last began afresh.
func dropped(pr forge.PullRequest, since, approved time.Time) (n int) {
	for _, out := range pr.Dequeued {
		if !byPerson(out.By) && out.At.After(since) && !out.At.Before(approved) {
			n++
		}
	}
	return n
}

// takenOut is the person who took what was approved at a moment out of a merge queue, and
// has not had the agents begin afresh since; "" if no person did. This login is a person's too:
// what this machine's agent took out itself is in its journal.
func (a *Agent) takenOut(pr forge.PullRequest, approved, since time.Time) string {
	for _, out := range pr.Dequeued {
		if byPerson(out.By) && !out.At.Before(approved) && out.At.After(since) && !a.did(pr, decide.Dequeue, out) {
			return out.By.Login
		}
	}
	return ""
}

func byPerson(u forge.User) bool { return !u.Bot && u.Login != "ghost" }

// Orders are what people have ordered, as far as they may.
func (a *Agent) Orders(ctx context.Context, pr forge.PullRequest) ([]verdict.Command, error) {
	f := newFacts()
	err := f.ask(ctx, a.Read, pr)
	if err == nil {
		err = a.refuse(pr, &f)
	}
	return verdict.Orders(commentsOf(pr, a.Config(), f), a.Config().Reviewers), err
}

// ask reads the rights of those who gave an order or may have, what they wrote before another
// login edited it, and who wrote or pushed a part of the pull request.
func (f *facts) ask(ctx context.Context, read Facts, pr forge.PullRequest) error {
	may := func(login string) (err error) {
		if _, known := f.may[login]; !known {
			f.may[login], err = read.Permission(ctx, pr.Ref.Repo, login)
		}
		return err
	}
	for _, c := range pr.Said() {
		if !c.ByPerson || !c.EditedByAnother() && !verdict.MeantAsOrder(c.Body) {
			continue
		}
		if err := may(c.Author.Login); err != nil {
			return err
		}
		if !c.EditedByAnother() || !c.MayOrder(f.may[c.Author.Login]) {
			continue
		}
		revisions, err := read.Revisions(ctx, pr.Ref.Repo, c.Node)
		if err != nil {
			return err
		}
		for _, r := range revisions {
			if r.By.Is(c.Author) {
				f.written[c.Node] = append(f.written[c.Node], r.Text)
			}
		}
	}
	for _, d := range pr.Deleted {
		if d.ByPerson && !d.By.Is(d.Author) {
			if err := may(d.Author.Login); err != nil {
				return err
			}
		}
	}
	return f.askWriters(ctx, read, pr)
}

// askWriters reads who wrote or pushed a part of a pull request that a person wants to let
// pass. Where GitHub cannot tell, no login counts as independent.
func (f *facts) askWriters(ctx context.Context, read Facts, pr forge.PullRequest) (err error) {
	held, approved := false, false
	for _, r := range pr.Reviews {
		if r.SHA != pr.Head.SHA {
			continue
		}
		record, err := verdict.ParseRecord(r.Body)
		held = held || err == nil && len(record.Holds) > 0
		approved = approved || err != nil && r.State == forge.Approved
	}
	ordered := slices.ContainsFunc(pr.Comments, func(c forge.Comment) bool {
		return c.ByPerson && c.EditedAt == nil && f.may[c.Author.Login].CanWrite() && verdict.LetsPass(c.Body)
	})
	if !ordered && !(held && approved) {
		return nil
	}
	f.writers, err = read.Writers(ctx, pr)
	if errors.Is(err, forge.ErrUnreadable) || errors.Is(err, forge.ErrForbidden) || errors.Is(err, forge.ErrNotFound) {
		f.writers, err = nil, nil
	}
	return err
}

// independent reports whether a login is known to have had no hand in a pull request, nor to
// have opened it.
func (f facts) independent(pr forge.PullRequest, login string) bool {
	return len(f.writers) > 0 && !verdict.ListsLogin(f.writers, login) && !verdict.SameLogin(pr.Author.Login, login)
}

// tellBlind tells the log, once for each repository, that orders are not followed there since
// GitHub does not show who may give them.
func (a *Agent) tellBlind(ctx context.Context, pr forge.PullRequest, f facts) {
	for login, may := range f.may {
		if may != forge.Unseen {
			continue
		}
		if _, told := a.blind.LoadOrStore(pr.Ref.Repo, true); !told {
			zerolog.Ctx(ctx).Warn().Str("login", login).Stringer("repo", pr.Ref.Repo).
				Msg("GitHub does not show what this login may do, so that of its orders only /touchstone stop is heeded; let the agent's login push " +
					"to the repository, since only such may see it")
		}
	}
}

// counts reports whether the records of a login are the agents' own.
func (a *Agent) counts(pr forge.PullRequest, login string) bool {
	return verdict.SameLogin(login, pr.Viewer) || verdict.ListsLogin(a.Config().Reviewers, login)
}

// compare finds out whether the base branch still holds a commit that it once had
// as its tip. Where it does not, it was rewritten: what came to it before the
// review, and so was no part of it, could come with the merge.
func (f facts) compare(ctx context.Context, read Facts, pr forge.PullRequest, base string) error {
	if _, known := f.rebased[base]; known || base == pr.Base.SHA {
		return nil
	}
	if base == "" || pr.Base.SHA == "" {
		f.rebased[base] = true
		return nil
	}
	holds, err := read.Contains(ctx, pr.Ref.Repo, pr.Base.SHA, base)
	if err != nil && !errors.Is(err, forge.ErrNotFound) {
		return err
	}
	f.rebased[base] = !holds
	return nil
}

// manual says why an approved pull request of this login's is its author's to
// merge, as the configuration, the base branch and the person who took it out of a merge
// queue have it, or nothing. Left says so where the repository's settings cannot be read.
func (a *Agent) manual(ctx context.Context, read Facts, pr forge.PullRequest, repository config.Repository, left decide.Left,
	takenOutBy string) (decide.Left, error) {
	switch {
	case a.ByHand:
		return decide.Left{}, nil
	case !a.Config().Merge.Auto:
		return decide.Left{Topic: "setting", Why: "merge.auto is off in the agent's configuration"}, nil
	case labelled(pr, a.Config().Labels.Manual):
		return decide.Left{Topic: "label", Why: "the label " + a.Config().Labels.Manual + " says so"}, nil
	case pr.Fork && !a.Config().Merge.Forks:
		return decide.Left{Topic: "fork", Why: "it comes from a fork, and merge.forks is off in the agent's configuration"}, nil
	case pr.Stacked != 0:
		return decide.Left{Topic: "stacked", Why: fmt.Sprintf("its base %s is the branch of #%d, and not one that more is merged into",
			pr.Base.Name, pr.Stacked)}, nil
	case takenOutBy != "":
		return decide.Left{Topic: "queue", OneHead: true, Why: takenOutBy + " took it out of the merge queue"}, nil
	case pr.ViewerPermission == "read" || pr.ViewerPermission == "triage":
		return decide.Left{Topic: "rights", Why: pr.Viewer + " may not merge into this repository"}, nil
	case left.Why != "":
		return left, nil
	}
	return leftByRepository(ctx, read, pr, repository)
}

// RepositoryReader reads a repository's own settings, and what they are about.
type RepositoryReader interface {
	File(ctx context.Context, repo forge.Repo, rev, path string) ([]byte, error)
	ChangedPaths(ctx context.Context, ref forge.Ref) ([]string, error)
}

// settingsOf are the repository's settings on the base branch. Left says why a pull request is
// left to its author where they cannot be read.
func settingsOf(ctx context.Context, read RepositoryReader, pr forge.PullRequest) (config.Repository, decide.Left, error) {
	text, err := read.File(ctx, pr.Ref.Repo, pr.Base.SHA, config.RepositoryPath)
	switch {
	case errors.Is(err, forge.ErrNotFound):
		return config.DefaultRepository(), decide.Left{}, nil
	case err != nil && !errors.Is(err, forge.ErrUnreadable):
		return config.Repository{}, decide.Left{}, err
	}
	repository := config.Repository{}
	if err == nil {
		repository, err = config.ParseRepository(text)
	}
	if err != nil {
		return repository, decide.Left{Topic: "unreadable", Why: fmt.Sprintf("%s cannot be read (%v)", config.RepositoryPath, err)}, nil
	}
	return repository, decide.Left{}, nil
}

func leftByRepository(ctx context.Context, read RepositoryReader, pr forge.PullRequest, repository config.Repository) (decide.Left, error) {
	switch {
	case !repository.Merge.Auto:
		return decide.Left{Topic: "repository", Why: "merge.auto is off in " + config.RepositoryPath}, nil
	case repository.Merge.Manual.String() == "":
		return decide.Left{}, nil
	}
	paths, err := read.ChangedPaths(ctx, pr.Ref)
	switch {
	case errors.Is(err, forge.ErrUnreadable):
		return decide.Left{Topic: "paths", Why: fmt.Sprintf("it changes more files than GitHub lists, and merge.manual in %s may name one of "+
			"them", config.RepositoryPath)}, nil
	case err != nil:
		return decide.Left{}, err
	}
	change := guidelines.Change{Title: pr.Title, Body: pr.Body, Branch: pr.Head.Name, Labels: pr.Labels}
	for _, path := range paths {
		change.Files = append(change.Files, guidelines.File{Path: path, Truncated: true})
	}
	if applies, why := repository.Merge.Manual.Applies(change); applies {
		return decide.Left{Topic: "paths", Why: fmt.Sprintf("merge.manual in %s names %s", config.RepositoryPath, why)}, nil
	}
	return decide.Left{}, nil
}

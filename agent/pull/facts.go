package pull

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/trust"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Facts are what a decision may need in addition to the pull request as read.
type Facts struct {
	// Now is the present time by GitHub's clock.
	Now time.Time
	// Trust says whose records are trusted.
	Trust *trust.Book
	// Elsewhere is until when another machine of this login has the session on the head.
	Elsewhere time.Time
	// May holds the permissions of those who gave an order.
	May map[string]forge.Permission
	// written holds the original texts of comments that another login edited, by the comment's node.
	written map[string][]string
	// Rebased are commits of the base that were reviewed against and that the base no longer contains.
	Rebased map[string]bool
	// writers are the logins that contributed to the pull request, if that was asked for; nil if unknown.
	writers []string
	// Refused are the words that an agent saw while their authors lacked the permission to give them.
	Refused map[string]bool
	// Outdated are the approvals of a change that merging the head no longer makes, by review.
	Outdated map[int64]bool
	// Manual is why the author has to merge the pull request, or blank.
	Manual decide.Left
	// Checks determines how the checks are counted. unbegun are checks that reported on an earlier head or on
	// the base and not on this head; failedBefore is one of them that failed on the earlier head; silent is
	// one of them whose source has passed nothing on this head.
	Checks               Checks
	unbegun              []string
	failedBefore, silent string
	// required are the checks that rulesets require of a head whose merge they block.
	required []string
	// baseFails is a check of the head that also fails on its base; baseFailed is one that did when the head
	// was approved.
	baseFails, baseFailed string
	// Commits are the commits of the pull request, if they were read.
	Commits []forge.Commit
	// Enqueued says that this machine put the head into the merge queue in which it waits.
	Enqueued bool
	// ByHand says that the author merges by hand, now.
	ByHand bool
	// Unread is why not everything was read, or nil.
	Unread error
	// Past is this machine's memory.
	Past decide.History
}

// NewFacts returns the facts before any request.
func NewFacts() Facts {
	return Facts{May: map[string]forge.Permission{}, written: map[string][]string{}, Rebased: map[string]bool{}, Outdated: map[int64]bool{}}
}

// Expect finds out which checks an approved head should have, based on its base and an earlier head, if there
// is one.
func (f *Facts) Expect(ctx context.Context, read Source, pr forge.PullRequest, earlier string) (err error) {
	if pr.Base.SHA != "" {
		if f.Checks.Base, err = read.BaseChecks(ctx, pr.Ref.Repo, pr.Base.SHA); err != nil {
			return err
		}
	}
	if pr.Blocked {
		if f.required, err = read.RequiredChecks(ctx, pr.Ref.Repo, pr.Base.Name); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(pr.Checks, f.Checks.covers) {
		history, err := read.StatusHistory(ctx, pr)
		if err != nil {
			return err
		}
		f.Checks.Covered = slices.DeleteFunc(history, f.Checks.byAuthor)
	}
	var before []forge.Check
	if earlier != "" {
		if before, err = read.ChecksOf(ctx, pr.Ref.Repo, earlier); err != nil {
			return err
		}
	}
	f.unbegun, f.silent = f.Checks.missing(pr.Checks, before)
	for _, c := range before {
		if c.State == forge.CheckFailure && slices.Contains(f.unbegun, c.Name) {
			f.failedBefore = c.Name
		}
	}
	return nil
}

// Dropped counts how often a merge queue removed the present head since it was approved and since the agents
// last started over.
func Dropped(pr forge.PullRequest, since, approved time.Time) (n int) {
	for _, out := range pr.Dequeued {
		if !ByPerson(out.By) && out.At.After(since) && !out.At.Before(approved) {
			n++
		}
	}
	return n
}

// ByPerson reports whether a login is a person's; ghost stands for deleted accounts.
func ByPerson(u forge.User) bool { return !u.Bot && u.Login != verdict.DeletedLogin }

// Ask reads the permissions of those who gave an order or may have, what they wrote before another login
// edited it, and who wrote or pushed a part of the pull request.
func (f *Facts) Ask(ctx context.Context, read OrderReader, pr forge.PullRequest) error {
	may := func(login string) error { return f.askRights(ctx, read, pr, login) }
	for _, c := range pr.AllComments() {
		if !c.ByPerson || !c.EditedByAnother() && !verdict.MeantAsOrder(c.Body) {
			continue
		}
		if err := may(c.Author.Login); err != nil {
			return err
		}
		if !c.EditedByAnother() || !c.MayOrder(f.May[c.Author.Login]) {
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

// askRights reads a login's permission, unless it is known.
func (f *Facts) askRights(ctx context.Context, read OrderReader, pr forge.PullRequest, login string) (err error) {
	if _, known := f.May[login]; !known {
		f.May[login], err = read.Permission(ctx, pr.Ref.Repo, login)
	}
	return err
}

// mayLetPass returns those of some logins that are known to have push permission, which is required to let
// pass what is held for a person.
func (f Facts) mayLetPass(logins []string) []string {
	return slices.DeleteFunc(slices.Clone(logins), func(login string) bool {
		return verdict.IsApp(login) || !f.May[login].CanWrite()
	})
}

// askWriters reads the permissions of people whose review is requested on a pull request that is held for a
// person, and who wrote or pushed a part of one that a person wants to let pass. If GitHub cannot tell, no
// login counts as independent.
func (f *Facts) askWriters(ctx context.Context, read OrderReader, pr forge.PullRequest) (err error) {
	held, approved := false, false
	for _, r := range pr.Reviews {
		if r.SHA != pr.Head.SHA {
			continue
		}
		record, err := verdict.ParseRecord(r.Body)
		held = held || err == nil && len(record.Holds) > 0
		approved = approved || err != nil && r.State == forge.Approved
	}
	for _, login := range pr.Requested {
		if held && !verdict.SameLogin(login, pr.Viewer) {
			if err := f.askRights(ctx, read, pr, login); err != nil {
				return err
			}
		}
	}
	ordered := slices.ContainsFunc(pr.Comments, func(c forge.Comment) bool {
		return c.ByPerson && c.EditedAt == nil && f.May[c.Author.Login].CanWrite() && verdict.LetsPass(c.Body)
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

// independent reports whether a login is known to have neither contributed to a pull request nor opened it.
func (f Facts) independent(pr forge.PullRequest, login string) bool {
	return len(f.writers) > 0 && !verdict.ListsLogin(f.writers, login) && !verdict.SameLogin(pr.Author.Login, login)
}

// Compare finds out whether the base branch still contains a commit that was once its tip. If not, the branch
// was rewritten: commits that were on it before the review, and so were not reviewed, could come with the
// merge.
func (f Facts) Compare(ctx context.Context, read Source, pr forge.PullRequest, base string) error {
	if _, known := f.Rebased[base]; known || base == pr.Base.SHA {
		return nil
	}
	if base == "" || pr.Base.SHA == "" {
		f.Rebased[base] = true
		return nil
	}
	holds, err := read.Contains(ctx, pr.Ref.Repo, pr.Base.SHA, base)
	if err != nil && !errors.Is(err, forge.ErrNotFound) {
		return err
	}
	f.Rebased[base] = !holds
	return nil
}

// RepositoryReader reads a repository's own settings, and what they apply to.
type RepositoryReader interface {
	File(ctx context.Context, repo forge.Repo, rev, path string) ([]byte, error)
	Files(ctx context.Context, repo forge.Repo, rev, dir string) ([]string, error)
	ChangedPaths(ctx context.Context, ref forge.Ref) ([]string, error)
}

// SettingsOf returns the repository's settings on the base branch. If they cannot be read, left says why the
// pull request is left to its author.
func SettingsOf(ctx context.Context, read RepositoryReader, pr forge.PullRequest) (config.Repository, decide.Left, error) {
	text, err := read.File(ctx, pr.Ref.Repo, pr.Base.SHA, config.RepositoryPath)
	if errors.Is(err, forge.ErrNotFound) { // as it also is behind a link in the directory's place
		_, err = read.Files(ctx, pr.Ref.Repo, pr.Base.SHA, config.RepositoryDir)
		if err == nil || errors.Is(err, forge.ErrNotFound) {
			return config.DefaultRepository(), decide.Left{}, nil
		}
	}
	if err != nil && !errors.Is(err, forge.ErrUnreadable) {
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

// LeftByRepository returns why the repository's settings leave a pull request to its author, if they do.
func LeftByRepository(ctx context.Context, read RepositoryReader, pr forge.PullRequest, repository config.Repository) (decide.Left, error) {
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

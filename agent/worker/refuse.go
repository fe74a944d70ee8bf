package worker

import (
	"context"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/trust"
)

// refuse adds to the facts the orders and approvals that their authors may not give now, and those that were
// recorded before. An order or approval counts by the permission that its author had when it was given.
// GitHub does not say when a login got a permission, but an agent that read the word before that knows.
// Permissions that cannot be seen prove nothing.
func (a *Agent) refuse(pr forge.PullRequest, f *pull.Facts) error {
	refused, err := a.Trust.Refused(pr.DatabaseID)
	if err != nil {
		return err
	}
	for _, c := range pull.CommentsOf(pr, a.Config(), *f) {
		if may := f.May[c.By]; may != forge.Unseen && c.Overreaches() {
			refused[trust.CommentWord(c.ID)] = true
		}
	}
	for _, r := range pr.Reviews {
		if r.ByPerson && r.State == forge.Approved && !r.CanPush {
			refused[trust.ReviewWord(r.ID)] = true
		}
	}
	f.Refused = refused
	return nil
}

// remember stores what a newly read pull request showed about its reviewers and about words that do not count.
// It does nothing for a pull request of which gather read no more.
func (a *Agent) remember(ctx context.Context, pr forge.PullRequest, f pull.Facts) error {
	a.warnBlind(ctx, pr, f)
	if f.Refused == nil {
		return nil
	}
	if err := a.Trust.Meet(pr, a.Config().Reviewers); err != nil {
		return err
	}
	return a.Trust.Refuse(pr.DatabaseID, f.Refused)
}

// warnBlind logs, once for each repository, that orders are not followed there because GitHub does not show
// who may give them.
func (a *Agent) warnBlind(ctx context.Context, pr forge.PullRequest, f pull.Facts) {
	for login, may := range f.May {
		if may != forge.Unseen {
			continue
		}
		if _, warned := a.blind.LoadOrStore(pr.Ref.Repo, true); !warned {
			zerolog.Ctx(ctx).Warn().Str("login", login).Stringer("repo", pr.Ref.Repo).
				Msg("GitHub does not show what this login may do, so of its orders only /touchstone stop is followed; give the agent's login write " +
					"access to the repository, which it needs to see others' rights")
		}
	}
}

package worker

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/pause"
)

const (
	// claimRenewal is the interval at which the holder of a claim renews it. The renewals show other machines
	// of its login that it is alive, so that they can take over soon after it has died.
	claimRenewal = 3 * time.Minute
	// maxRenewals is the greatest number of renewals, enough for twelve hours. With maxShown, three attempts
	// on a head stay below GitHub's limit of 1,000 statuses per commit and context.
	maxRenewals = 240
)

// machine identifies this machine among those of its login, by the key that it signs with. It is empty if
// this process claims nothing, as a single command does.
func (a *Agent) machine() string {
	if a.Journal == nil || a.Report == nil || a.Key == nil {
		return ""
	}
	public, _ := a.Key.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:6])
}

// elsewhere is until when another machine has claimed the session on the head, according to the last status; zero
// if none does.
func (a *Agent) elsewhere(pr forge.PullRequest) (until time.Time) {
	own := a.machine()
	for _, c := range pr.Statuses {
		if mark := pull.Claimant(pr.Viewer, c, contexts[a.Role]); own != "" && mark != "" && mark != own {
			until = c.At.Add(pull.ClaimLease)
		}
	}
	return until
}

// holder is the machine that claimed a head first, among the claims that are valid. The statuses are in the
// order in which they were written. A status of this login that is no claim ends the claim before it.
func holder(pr forge.PullRequest, statuses []forge.Check, context string, now time.Time) (mark string) {
	var last time.Time
	for _, c := range statuses {
		if c.Name != context || !verdict.SameLogin(c.By.Login, pr.Viewer) {
			continue
		}
		switch by := pull.Claimant(pr.Viewer, c, context); {
		case by == "":
			mark = ""
		case mark == "" || mark == by || c.At.Sub(last) >= pull.ClaimLease:
			mark, last = by, c.At
		}
	}
	if now.Sub(last) >= pull.ClaimLease {
		return ""
	}
	return mark
}

// claim makes this machine the only one with a session on the head, until the returned function is called.
// The error is ErrMovedOn if another machine has one. If statuses cannot be written or read, this machine
// goes on: two sessions cost more than one, but no session would mean no review.
func (a *Agent) claim(ctx context.Context, pr forge.PullRequest, action decide.Action) (release func(), err error) {
	own := a.machine()
	if own == "" {
		return func() {}, nil
	}
	status := a.status(pr, action)
	status.State = forge.CheckPending
	write := func(mark string) error {
		status.URL = a.page(pr) + pull.ClaimMark + mark
		return a.Report.Report(ctx, pr.Ref.Repo, pr.Head.SHA, status)
	}
	mark, err := a.holder(ctx, pr)
	if err == nil && mark == "" {
		if err = write(own); err == nil {
			mark, err = a.holder(ctx, pr)
		}
	}
	if err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("cannot tell other machines of this login that this one is working on it")
	}
	if err == nil && mark != "" && mark != own {
		// The latest status shows who has claimed the session.
		if err := write(mark); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Msg("cannot show that another machine of this login is working on it")
		}
		return nil, fmt.Errorf("%w: another machine of %s is working on it", ErrMovedOn, a.Login)
	}
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for range maxRenewals {
			if !pause.For(ctx, claimRenewal) {
				return
			}
			if err := write(own); err != nil {
				zerolog.Ctx(ctx).Debug().Err(err).Msg("cannot renew the claim of this machine")
			}
		}
	})
	return func() { cancel(); renewing.Wait() }, nil
}

// holder asks GitHub which machine holds the head.
func (a *Agent) holder(ctx context.Context, pr forge.PullRequest) (mark string, err error) {
	statuses, err := a.Report.Reported(ctx, pr.Ref.Repo, pr.Head.SHA)
	return holder(pr, statuses, contexts[a.Role], a.now()), err
}

package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Of several machines that act as one login, the first that says so has the session on a head: it
// claims the head by a pending status, whose link ends in the machine's mark. GitHub keeps all
// statuses in their order, so that each machine sees whose claim was first. The holder renews it
// while it works; a claim that is not renewed, by a machine that has died, ends by itself.
const (
	claimLease   = 10 * time.Minute
	claimRenewal = 3 * time.Minute
	claimMark    = "#touchstone-"
)

// machine marks this machine among those of its login, by the key that it signs with; empty if it
// claims nothing, as a single command does.
func (a *Agent) machine() string {
	if a.Journal == nil || a.Report == nil || a.Key == nil {
		return ""
	}
	public, _ := a.Key.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:6])
}

// claimant is the machine that a status of a login claims a head for; empty if it is no claim.
func claimant(login string, c forge.Check, context string) string {
	if c.Name != context || c.State != forge.CheckPending || !verdict.SameLogin(c.By.Login, login) {
		return ""
	}
	_, mark, _ := strings.Cut(c.URL, claimMark)
	return mark
}

// elsewhere is until when another machine has the session on the head, as far as the last status
// tells; zero if none has.
func (a *Agent) elsewhere(pr forge.PullRequest) (until time.Time) {
	own := a.machine()
	for _, c := range pr.Statuses {
		if mark := claimant(pr.Viewer, c, contexts[a.Role]); own != "" && mark != "" && mark != own {
			until = c.At.Add(claimLease)
		}
	}
	return until
}

// fixing is until when a machine of its author has the session on the head, as far as the last status
// tells; zero if none has.
func fixing(pr forge.PullRequest) (until time.Time) {
	for _, c := range pr.Statuses {
		if claimant(pr.Author.Login, c, forge.FixContext) != "" {
			until = c.At.Add(claimLease)
		}
	}
	return until
}

// holder is the machine that claimed a head first, of those whose claims hold. The statuses of this
// login are in their order; one that is no claim ends the claim before it.
func holder(pr forge.PullRequest, statuses []forge.Check, context string, now time.Time) (mark string) {
	var last time.Time
	for _, c := range statuses {
		if c.Name != context || !verdict.SameLogin(c.By.Login, pr.Viewer) {
			continue
		}
		switch by := claimant(pr.Viewer, c, context); {
		case by == "":
			mark = ""
		case mark == "" || mark == by || c.At.Sub(last) >= claimLease:
			mark, last = by, c.At
		}
	}
	if now.Sub(last) >= claimLease {
		return ""
	}
	return mark
}

// claim has this machine alone hold a session on the head, until the returned function is called.
// The error, errMovedOn, is that another one does. Where statuses cannot be written or read, this
// machine goes on: two sessions cost more than one, and none costs the review.
func (a *Agent) claim(ctx context.Context, pr forge.PullRequest, action decide.Action) (release func(), err error) {
	own := a.machine()
	if own == "" {
		return func() {}, nil
	}
	status := a.status(pr, action)
	status.State = forge.CheckPending
	write := func(mark string) error {
		status.URL = a.page(pr) + claimMark + mark
		return a.Report.Report(ctx, pr.Ref.Repo, pr.Head.SHA, status)
	}
	mark, err := a.holder(ctx, pr)
	if err == nil && mark == "" {
		if err = write(own); err == nil {
			mark, err = a.holder(ctx, pr)
		}
	}
	if err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("another machine of this login does not know that this one is at work")
	}
	if err == nil && mark != "" && mark != own {
		// What is seen last is whose session it is.
		if err := write(mark); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Msg("the claim of another machine of this login is not shown")
		}
		return nil, fmt.Errorf("%w: another machine of %s is at it", errMovedOn, a.Login)
	}
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for sleep(ctx, claimRenewal, nil) {
			if err := write(own); err != nil {
				zerolog.Ctx(ctx).Debug().Err(err).Msg("the claim of this machine is not renewed")
			}
		}
	})
	return func() { cancel(); renewing.Wait() }, nil
}

// holder asks GitHub for the machine that holds the head.
func (a *Agent) holder(ctx context.Context, pr forge.PullRequest) (mark string, err error) {
	statuses, err := a.Report.Reported(ctx, pr.Ref.Repo, pr.Head.SHA)
	return holder(pr, statuses, contexts[a.Role], a.now()), err
}

package worker

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// Reporter writes commit statuses, and reads all statuses of a commit, oldest first.
type Reporter interface {
	Reported(ctx context.Context, repo forge.Repo, sha string) ([]forge.Check, error)
	Report(ctx context.Context, repo forge.Repo, sha string, status forge.CommitStatus) error
}

// contexts are the names of the statuses that the agents of each role write.
var contexts = map[decide.Role]string{decide.Reviewer: forge.ReviewContext, decide.Author: forge.FixContext}

// maxShown bounds the statuses that one process writes on one head. It is far below GitHub's limit of 1,000
// per commit and context (https://docs.github.com/rest/commits/statuses).
const maxShown = 100

// maxTakenBack bounds how often one process rewrites a status of one head because another login posted a
// success under its name.
const maxTakenBack = 10

// settling is how long a status by another machine of this login is left as it is.
const settling = time.Minute

// shown is what this machine has written in the status of a head.
type shown struct {
	sha       string
	last      forge.CommitStatus
	writes    int
	takenBack int
}

// statuses remembers the status of each open pull request, and the repositories for which the log already
// says that statuses cannot be written there.
type statuses struct {
	mu      sync.Mutex
	last    map[forge.Ref]shown
	refused map[forge.Repo]bool
}

// Show shows people a decision on the pull request, in a commit status of its head. It writes once for each
// change. If the status cannot be written, that is logged, and the agent goes on.
func (a *Agent) Show(ctx context.Context, pr forge.PullRequest, action decide.Action) {
	if a.Report == nil || action.Status == (decide.Status{}) || action.SHA != pr.Head.SHA {
		return
	}
	status := a.status(pr, action)
	if !a.statuses.changes(pr, status, a.Config().Reviewers, a.now()) {
		return
	}
	err := a.Report.Report(ctx, pr.Ref.Repo, pr.Head.SHA, status)
	log := zerolog.Ctx(ctx)
	switch {
	case err == nil:
	case errors.Is(err, forge.ErrForbidden), errors.Is(err, forge.ErrNotFound):
		if a.statuses.refuses(pr.Ref.Repo) {
			log.Warn().Err(err).Stringer("repo", pr.Ref.Repo).Msg("this token may not write commit statuses, so pull requests do not show " +
				"what the agent does; everything else works")
		}
	default:
		a.statuses.failed(pr.Ref)
		log.Debug().Err(err).Msg("cannot show on the pull request what the agent does now")
	}
}

// status is the commit status for a decision. For an act with a session it is also a claim.
func (a *Agent) status(pr forge.PullRequest, action decide.Action) forge.CommitStatus {
	status := forge.CommitStatus{
		Context: contexts[a.Role], State: forge.CheckState(action.Status.Signal), Description: forge.OneLine(action.Status.Text),
		URL: a.page(pr),
	}
	for _, r := range pr.Reviews {
		if r.ID == action.Status.Review && status.URL == pr.URL {
			status.URL = r.URL
		}
	}
	if own := a.machine(); own != "" && status.State == forge.CheckPending && (action.Kind == decide.Review || action.Kind == decide.Fix) {
		status.URL = a.page(pr) + pull.ClaimMark + own
	}
	return status
}

// page is the pull request's page on the relay, if others can reach the relay; otherwise it is GitHub's page.
func (a *Agent) page(pr forge.PullRequest) string {
	relay, err := url.Parse(a.Config().Relay.URL)
	if err != nil || relay.Scheme != "https" {
		return pr.URL
	}
	return relay.JoinPath("pulls", pr.Ref.Repo.Owner, pr.Ref.Repo.Name, strconv.Itoa(pr.Ref.Number)).String()
}

// changes reports whether a status differs from the last one of this login on the head, and records it. A status
// other than success also does if GitHub shows a success in its place by a login that is no reviewer: a
// rule of the base may require that status. Other statuses of others under the name are ignored.
func (s *statuses) changes(pr forge.PullRequest, status forge.CommitStatus, reviewers []string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last, s.refused = map[forge.Ref]shown{}, map[forge.Repo]bool{}
	}
	head := s.last[pr.Ref]
	if head.sha != pr.Head.SHA {
		head = shown{sha: pr.Head.SHA}
	}
	same := head.last.State == status.State && head.last.Description == status.Description
	for _, c := range pr.Statuses {
		switch {
		case c.Name != status.Context:
			continue
		case !verdict.SameLogin(c.By.Login, pr.Viewer):
			forged := c.State == forge.CheckSuccess && status.State != forge.CheckSuccess && !verdict.ListsLogin(reviewers, c.By.Login)
			if forged && head.takenBack < maxTakenBack {
				head.takenBack++
				same = false
			}
			continue
		}
		// Another machine of this login may have written it, or have written something else and be gone.
		there := c.State == status.State && c.Summary == status.Description
		same = there || same && now.Sub(c.At) < settling
	}
	due := !same && head.writes < maxShown
	if head.last = status; due {
		head.writes++
	}
	s.last[pr.Ref] = head
	return due
}

// failed records that the last status was not written and must be written again.
func (s *statuses) failed(ref forge.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := s.last[ref]
	head.last = forge.CommitStatus{}
	s.last[ref] = head
}

// refuses records that a repository rejects statuses by this token, and reports whether that is new.
func (s *statuses) refuses(repo forge.Repo) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = !s.refused[repo]
	s.refused[repo] = true
	return first
}

// forget drops a closed pull request.
func (s *statuses) forget(ref forge.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, ref)
}

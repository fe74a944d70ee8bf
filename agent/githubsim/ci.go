package githubsim

import (
	"context"
	"fmt"
	"os"
	"slices"
)

// CIName is the name of the check run of Config.CI.
const CIName = "ci"

// CIResult is the result of a run of Config.CI.
type CIResult struct {
	// Conclusion is GitHub's: success, failure, neutral, cancelled, skipped,
	// timed_out or action_required.
	Conclusion string
	// Summary is one line for people; Log is the output behind it: the log of a job, which the check run itself
	// does not show.
	Summary, Log string
}

// maxLog limits the log that a job keeps, in bytes. It keeps the end, because a log says there what went wrong.
const maxLog = 1 << 20

// tested records that CI, if there is any, passed on the default branch of a new repository.
func (s *Sim) tested(r *repo) {
	sha := r.refs["refs/heads/"+r.defaultBranch]
	if s.cfg.CI == nil || sha == "" {
		return
	}
	cs := s.suite(r, sha, r.defaultBranch, nil)
	cs.runs = append(cs.runs, &checkRun{id: s.id(), suite: cs, name: CIName, status: "completed", conclusion: "success", started: s.Now(),
		completed: s.Now()})
}

// startCI starts the check suite of a new head, once per commit. As on GitHub, its check run appears a moment
// later.
func (s *Sim) startCI(p *pull) {
	r, sha := p.repo, p.headSHA
	if s.cfg.CI == nil || slices.ContainsFunc(r.suites, func(cs *checkSuite) bool { return cs.sha == sha && cs.app == nil }) {
		return
	}
	cs := s.suite(r, sha, p.headRef, nil)
	run := &checkRun{id: s.id(), suite: cs, name: CIName, status: "queued", started: s.Now()}
	s.emitSuite(p.author, cs, "requested")
	by := p.author
	s.lanes.do(fmt.Sprintf("ci %d", run.id), func(ctx context.Context) {
		s.mu.Lock()
		cs.runs = append(cs.runs, run)
		s.emitCheckRun(by, run, "created")
		s.mu.Unlock()
		select {
		case s.ciSlots <- struct{}{}:
			defer func() { <-s.ciSlots }()
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		run.status = "in_progress"
		s.mu.Unlock()
		result := s.runCI(ctx, r, sha)
		s.mu.Lock()
		defer s.mu.Unlock()
		run.title, run.summary, run.log = CIName+": "+result.Conclusion, result.Summary, result.Log[max(0, len(result.Log)-maxLog):]
		s.complete(by, run, result.Conclusion)
	})
}

// runCI checks the commit out and runs Config.CI on it.
func (s *Sim) runCI(ctx context.Context, r *repo, sha string) CIResult {
	dir, err := os.MkdirTemp(s.cfg.Dir, ".ci-")
	if err != nil {
		return CIResult{Conclusion: "failure", Summary: "make a checkout: " + err.Error()}
	}
	defer os.RemoveAll(dir)
	if err := r.git.Checkout(ctx, sha, dir); err != nil {
		return CIResult{Conclusion: "failure", Summary: "check out: " + err.Error()}
	}
	return s.cfg.CI(ctx, r.fullName(), sha, dir)
}

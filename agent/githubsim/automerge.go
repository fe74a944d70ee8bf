package githubsim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"touchstone/agent/githubsim/graphql"
	"touchstone/worktree/steps"
)

// autoMerge is an account's request that GitHub merges as soon as the base's rules allow it.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
type autoMerge struct {
	by     *account
	method string
	at     time.Time
}

func (c *call) enableAutoMergeMutation(input args) fields {
	p := c.pullToMerge(input)
	if c.sim.protects(p) == nil {
		fail(graphql.Unprocessable("Pull request is in clean status"))
	}
	p.auto = &autoMerge{by: c.user, method: strings.ToLower(input.Text("mergeMethod")), at: c.sim.Now()}
	return fields{"actor": c.actor(c.user), "pullRequest": c.pullNode(p)}
}

// pullToMerge is the open pull request that the input of a mutation names, if the caller may have it merged at that head, as a step.
func (c *call) pullToMerge(input args) *pull {
	p, expected := c.pullOf(input.Text("pullRequestId")), input.Text("expectedHeadOid")
	switch {
	case !p.repo.canWrite(c.user):
		fail(c.forbidden())
	case p.closed || p.draft:
		fail(graphql.Unprocessable("Pull request is closed or still a draft"))
	case expected != "" && expected != p.headSHA:
		fail(graphql.Unprocessable("Head branch was modified. Review and try the merge again."))
	}
	return p
}

// autoMergeNode renders the request for auto-merge; null if there is none.
func (c *call) autoMergeNode(p *pull) node {
	if p.auto == nil {
		return nil
	}
	return &graphql.Object{Type: "AutoMergeRequest", Fields: fields{
		"enabledBy": c.actor(p.auto.by), "enabledAt": stamp(p.auto.at), "mergeMethod": strings.ToUpper(p.auto.method),
		"pullRequest": field(func() any { return c.pullNode(p) }),
	}}
}

// autoMerges merges the pull requests with auto-merge that the base's rules now allow. The caller holds the
// lock.
func (s *Sim) autoMerges(r *repo) {
	for _, p := range r.sortedPulls() {
		if p.auto == nil || p.closed {
			continue
		}
		s.lanes.do(fmt.Sprintf("auto-merge %d", p.id), func(ctx context.Context) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if p.auto == nil || p.closed || p.draft || s.protects(p) != nil {
				return
			}
			// A merge that fails is retried at the next change.
			_ = steps.Try(func() { s.merge(ctx, p, p.auto.by, p.auto.method, p.ownMessage()) })
		})
	}
}

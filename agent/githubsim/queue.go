package githubsim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/agent/githubsim/bare"
	"touchstone/agent/githubsim/graphql"
	"touchstone/worktree/steps"
)

// queueEntry is a place in the merge queue of a branch.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
type queueEntry struct {
	id int64
	by *account
	at time.Time
}

// inQueue returns the pull requests in the repository's merge queues, the first to merge first.
func (r *repo) inQueue() []*pull {
	out := slices.DeleteFunc(r.sortedPulls(), func(p *pull) bool { return p.queued == nil })
	slices.SortStableFunc(out, func(a, b *pull) int { return int(a.queued.id - b.queued.id) })
	return out
}

func (c *call) enqueueMutation(input args) fields {
	p := c.pullToMerge(input)
	if !p.repo.Protected[p.baseRef].MergeQueue {
		fail(graphql.Unprocessable("The base branch has no merge queue"))
	}
	if err := c.sim.protects(p); err != nil {
		fail(graphql.Unprocessable(err.Error()))
	}
	if p.queued == nil {
		p.queued = &queueEntry{id: c.sim.id(), by: c.user, at: c.sim.Now()}
		c.sim.emitPull(c.ctx, p, c.user, "enqueued", nil)
		c.sim.workQueue(p.repo)
	}
	return fields{"mergeQueueEntry": c.queueNode(p)}
}

// queueNode renders a pull request's place in the merge queue; null if it is in none.
func (c *call) queueNode(p *pull) node {
	if p.queued == nil {
		return nil
	}
	return &graphql.Object{Type: "MergeQueueEntry", Fields: fields{
		"id": nodeID("MQE", p.queued.id), "position": slices.Index(p.repo.inQueue(), p) + 1, "enqueuedAt": stamp(p.queued.at),
		"enqueuer": c.actor(p.queued.by), "state": "QUEUED", "pullRequest": field(func() any { return c.pullNode(p) }),
	}}
}

// queueBot is the account that removes pull requests from merge queues, merged or not mergeable.
var queueBot = &account{User: User{Login: "github-merge-queue", App: true}, id: 1}

// workQueue merges the queued pull requests one after the other, unless a fault holds the queue.
func (s *Sim) workQueue(r *repo) {
	s.lanes.do(fmt.Sprintf("queue %d", r.id), func(ctx context.Context) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, p := range r.inQueue() {
			if s.faults.HoldMergeQueue {
				return
			}
			if s.protects(p) != nil {
				s.dequeue(ctx, p, queueBot, "CI_FAILURE")
			} else if steps.Try(func() { s.merge(ctx, p, p.queued.by, "squash", p.ownMessage()) }) != nil {
				s.dequeue(ctx, p, queueBot, "MERGE_CONFLICT")
			}
		}
	})
}

func (c *call) dequeueMutation(input args) fields {
	p := c.pullOf(input.Text("id"))
	switch {
	case !p.repo.canWrite(c.user):
		fail(c.forbidden())
	case p.queued == nil:
		fail(graphql.Unprocessable("Pull request is not in the merge queue"))
	}
	c.sim.dequeue(c.ctx, p, c.user, "MANUAL")
	return fields{}
}

// dequeue removes a pull request from its queue, if it is in one.
func (s *Sim) dequeue(ctx context.Context, p *pull, by *account, reason string) {
	if p.queued != nil {
		enqueuer := p.queued.by
		p.queued = nil
		p.happened("RemovedFromMergeQueueEvent", by, func(c *call) fields { return fields{"enqueuer": c.actor(enqueuer), "reason": reason} })
		s.emitPull(ctx, p, by, "dequeued", object{"reason": reason})
	}
}

// updateRefsMutation deletes branches, each only if it is at the expected commit.
func (c *call) updateRefsMutation(input args) fields {
	id := input.Text("repositoryId")
	visible := func(r *repo) bool { return nodeID("R", r.id) == id && r.permission(c.user) != "none" }
	r := must(find(c.sim.repos, visible), noNode(id))
	if !r.canWrite(c.user) {
		fail(c.forbidden())
	}
	for _, item := range input.List("refUpdates") {
		update, _ := item.(map[string]any)
		name, _ := update["name"].(string)
		before, _ := update["beforeOid"].(string)
		switch {
		case update["afterOid"] != bare.ZeroSHA || !strings.HasPrefix(name, "refs/heads/"):
			fail(graphql.Unprocessable("The simulator only deletes branches this way"))
		case before == "" || r.refs[name] != before:
			fail(graphql.Unprocessable(fmt.Sprintf("Reference update of %s failed: it is not at the expected commit", name)))
		}
		steps.Must(r.git.UpdateRef(c.ctx, name, "", before))
	}
	c.sim.noticeRefs(c.ctx, r, c.user)
	return fields{}
}

package githubsim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/agent/githubsim/bare"
	"touchstone/worktree/steps"
)

// noticeRefs compares the refs on disk with those of the last call, and does what GitHub does about each
// difference, as a step. The caller holds the lock.
func (s *Sim) noticeRefs(ctx context.Context, r *repo, by *account) {
	before, after := r.refs, steps.Got(r.git.Refs())
	r.refs = after
	all := maps.Clone(after)
	maps.Copy(all, before)
	for _, ref := range slices.Sorted(maps.Keys(all)) {
		branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
		if isBranch && before[ref] != after[ref] {
			s.branchMoved(ctx, r, by, branch, before[ref], after[ref])
		}
	}
}

// branchMoved notifies the hooks of the push, and updates the pull requests from and into the branch.
func (s *Sim) branchMoved(ctx context.Context, r *repo, by *account, branch, before, after string) {
	s.active(r, by, branch, before, after)
	s.emitPush(ctx, r, by, branch, before, after)
	for _, target := range s.repos {
		for _, p := range target.sortedPulls() {
			if p.closed {
				continue
			}
			if p.headRepo == r && p.headRef == branch {
				s.headMoved(ctx, p, by, after)
			} else if target == r && p.baseRef == branch {
				p.forcePushed("BaseRefForcePushedEvent", r, by, before, after)
				s.baseMoved(ctx, p, by)
			}
		}
	}
}

// headMoved updates a pull request after a push to its head; a deleted head closes it.
func (s *Sim) headMoved(ctx context.Context, p *pull, by *account, after string) {
	if after == "" {
		s.closePull(ctx, p, by)
		return
	}
	s.dequeue(ctx, p, by, "MANUAL")
	before := p.headSHA
	p.forcePushed("HeadRefForcePushedEvent", p.headRepo, by, before, after)
	p.baseSHA = p.base()
	s.takeHead(ctx, p, after)
	s.emitPull(ctx, p, by, "synchronize", object{"before": before, "after": after})
	s.newHead(p)
}

// baseMoved repeats the trial merge, unless the base now contains the head, which means that a push merged the
// pull request. A deleted base closes it, and its timeline shows the deletion before the closing.
func (s *Sim) baseMoved(ctx context.Context, p *pull, by *account) {
	if p.base() == "" {
		p.happened("BaseRefDeletedEvent", by, nil)
		s.closePull(ctx, p, by)
		return
	}
	if p.repo.git.Contains(p.base(), p.headSHA) {
		s.markMerged(ctx, p, by, p.headSHA)
		return
	}
	s.tryMerge(p)
}

// takeHead sets the head of a pull request, and its refs/pull/N/head, to a commit.
func (s *Sim) takeHead(ctx context.Context, p *pull, sha string) {
	if p.crossRepo() {
		steps.Must(p.repo.git.Fetch(ctx, p.headRepo.git, sha))
	}
	p.headSHA = sha
	steps.Must(p.repo.setRef(fmt.Sprintf("refs/pull/%d/head", p.number), sha))
}

// setRef moves one of the simulator's own refs, whatever its current commit is.
func (r *repo) setRef(ref, sha string) error {
	if err := r.git.PutRef(ref, sha); err != nil {
		return err
	}
	r.refs[ref] = sha
	return nil
}

// newHead starts what GitHub computes for a head: mergeability and checks.
func (s *Sim) newHead(p *pull) {
	s.tryMerge(p)
	s.startCI(p)
}

// tryMerge queues a trial merge of the head into the base.
func (s *Sim) tryMerge(p *pull) {
	s.lanes.do(fmt.Sprintf("merge %d", p.id), func(ctx context.Context) {
		s.mu.Lock()
		m := mergeability{base: p.base(), head: p.headSHA}
		wanted := !p.closed && m.base != "" && (p.mergeability.base != m.base || p.mergeability.head != m.head)
		s.mu.Unlock()
		if !wanted {
			return
		}
		var err error
		if m.tree, err = p.repo.git.MergeTree(ctx, m.base, m.head); err != nil {
			return // unrelated histories, or ctx ended: mergeability stays unknown
		}
		if m.tree != "" {
			ident := "GitHub <noreply@example.com>"
			message := fmt.Sprintf("Merge %s into %s", m.head, m.base)
			if m.commit, err = p.repo.git.CommitTree(m.tree, ident, ident, message, m.base, m.head); err != nil {
				return
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if m.base != p.base() || m.head != p.headSHA {
			return // the push that moved it has queued another trial
		}
		if m.commit != "" && p.repo.setRef(fmt.Sprintf("refs/pull/%d/merge", p.number), m.commit) != nil {
			return
		}
		p.mergeability = m
	})
}

// mergeable reports whether the head merges cleanly, and whether that is known yet.
func (s *Sim) mergeable(p *pull) (mergeable, known bool) {
	known = !p.closed && p.mergeability.head == p.headSHA && p.mergeability.base == p.base()
	return known && p.mergeability.tree != "", known
}

// maxPushCommits is the maximum number of commits that a push event lists.
const maxPushCommits = 20

func (s *Sim) emitPush(ctx context.Context, r *repo, by *account, branch, before, after string) {
	if !slices.ContainsFunc(s.listeners(r), func(h *hook) bool { return h.wants("push") }) {
		return
	}
	var commits []bare.Commit
	if after != "" {
		commits = steps.Got(r.git.Between(before, after))
		commits = commits[max(0, len(commits)-maxPushCommits):]
	}
	list := make([]object, 0, len(commits))
	for _, cm := range commits {
		rendered := s.renderSimpleCommit(r, cm)
		changed := steps.Got(r.git.Changed(ctx, cm.SHA))
		rendered["added"], rendered["removed"], rendered["modified"] = changed["A"], changed["D"], changed["M"]
		list = append(list, rendered)
	}
	payload := object{
		"ref": "refs/heads/" + branch, "before": cmp.Or(before, bare.ZeroSHA), "after": cmp.Or(after, bare.ZeroSHA),
		"created": before == "", "deleted": after == "",
		"forced": before != "" && after != "" && !r.git.Contains(after, before), "base_ref": nil,
		"compare": s.url + "/" + r.fullName() + "/compare/" + before + "..." + after,
		"commits": list, "head_commit": nil, "pusher": object{"name": by.Login, "email": orNull(by.Email)},
	}
	if len(list) > 0 {
		payload["head_commit"] = list[len(list)-1]
	}
	s.emit(r, by, "push", "", payload)
}

// renderSimpleCommit renders a commit as in push and check_suite events.
func (s *Sim) renderSimpleCommit(r *repo, cm bare.Commit) object {
	return object{
		"id": cm.SHA, "tree_id": cm.Tree, "distinct": true, "message": cm.Message, "timestamp": stamp(cm.Committer.When),
		"url":       s.url + "/" + r.fullName() + "/commit/" + cm.SHA,
		"author":    object{"name": cm.Author.Name, "email": cm.Author.Email},
		"committer": object{"name": cm.Committer.Name, "email": cm.Committer.Email},
	}
}

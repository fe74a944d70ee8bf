package githubsim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"touchstone/agent/githubsim/bare"
	"touchstone/worktree/steps"
)

// GitHub's limits on the files of a comparison, and of a pull request.
// https://docs.github.com/en/repositories/creating-and-managing-repositories/repository-limits
const (
	maxDiffFiles = 300
	maxFiles     = 3000
)

func (c *call) listPulls() reply {
	state := cmp.Or(c.r.URL.Query().Get("state"), "open")
	out := slices.DeleteFunc(c.repo.sortedPulls(), func(p *pull) bool { return state != "all" && p.state() != state })
	slices.Reverse(out)
	return ok(each(page(c, out), c.sim.renderPull))
}

func (c *call) createPull() reply {
	in := struct {
		Title, Body, Head, Base string
		Draft                   bool
		Maintainer              *bool `json:"maintainer_can_modify"`
	}{}
	c.decode(&in)
	headRepo, headRef := c.repo, in.Head
	if owner, ref, forked := strings.Cut(in.Head, ":"); forked {
		headRef = ref
		if headRepo = c.sim.headRepo(c.repo, owner); headRepo == nil {
			return fail(invalid("PullRequest", "head", "invalid"))
		}
	}
	base, head := c.repo.refs["refs/heads/"+in.Base], headRepo.refs["refs/heads/"+headRef]
	if !headRepo.canWrite(c.user) {
		return fail(errNotFound)
	}
	for _, field := range [][2]string{{"title", in.Title}, {"base", base}, {"head", head}} {
		if field[1] == "" {
			return fail(invalid("PullRequest", field[0], "invalid"))
		}
	}
	for _, p := range c.repo.pulls {
		if !p.closed && p.headRepo == headRepo && p.headRef == headRef && p.baseRef == in.Base {
			return fail(pullProblem("A pull request already exists for %s:%s.", headRepo.Owner, headRef))
		}
	}
	p := &pull{
		id: c.sim.id(), number: c.repo.lastNumber + 1, repo: c.repo, headRepo: headRepo, title: in.Title, body: in.Body,
		author: c.user, draft: in.Draft, maintainerCanModify: headRepo != c.repo && (in.Maintainer == nil || *in.Maintainer),
		baseRef: in.Base, headRef: headRef, baseSHA: base, created: c.sim.Now(), updated: c.sim.Now(),
	}
	c.sim.takeHead(c.ctx, p, head)
	diff, err := c.repo.git.Compare(c.ctx, base, head)
	if err != nil || len(diff.Commits) == 0 {
		return fail(pullProblem("No commits between %s and %s", in.Base, headRef))
	}
	c.repo.lastNumber = p.number
	c.repo.pulls[p.number] = p
	c.sim.emitPull(c.ctx, p, c.user, "opened", nil)
	c.sim.newHead(p)
	return created(steps.Got(c.sim.renderFullPull(c.ctx, p)))
}

func pullProblem(format string, args ...any) error {
	return unprocessable(object{"resource": "PullRequest", "code": "custom", "message": fmt.Sprintf(format, args...)})
}

// headRepo finds the repository of owner from which a pull request to r may come.
func (s *Sim) headRepo(r *repo, owner string) *repo {
	return find(s.repos, func(other *repo) bool {
		return strings.EqualFold(other.Owner, owner) && (other == r || other.parent == r)
	})
}

func (c *call) getPull() reply {
	full := steps.Got(c.sim.renderFullPull(c.ctx, c.pull))
	if spendFault(&c.sim.faults.NullMergeable) {
		full["mergeable"], full["rebaseable"], full["mergeable_state"] = nil, nil, "unknown"
	}
	return ok(full)
}

// renderFullPull renders a pull request as in GET, with the computed fields.
func (s *Sim) renderFullPull(ctx context.Context, p *pull) (object, error) {
	diff, err := p.repo.git.Compare(ctx, p.baseSHA, p.headSHA)
	if err != nil {
		return nil, err
	}
	out := s.renderPull(p)
	inline := 0
	for _, rv := range p.reviews {
		inline += len(rv.comments)
	}
	out["merged"], out["mergeable"], out["rebaseable"] = p.merged, nil, nil
	if mergeable, known := s.mergeable(p); known {
		out["mergeable"], out["rebaseable"] = mergeable, mergeable
	}
	out["mergeable_state"] = strings.ToLower(s.mergeState(p))
	out["merged_by"], out["maintainer_can_modify"] = s.renderUser(p.mergedBy), p.maintainerCanModify
	out["comments"], out["review_comments"], out["commits"] = len(p.comments), inline, len(diff.Commits)
	out["additions"], out["deletions"], out["changed_files"] = diff.Additions, diff.Deletions, len(diff.Files)
	return out, nil
}

func (c *call) updatePull() reply {
	var in struct {
		Title, Body, State, Base *string
	}
	c.decode(&in)
	p := c.pull
	c.needWriteUnless(p.author)
	if in.State != nil && *in.State != p.state() {
		switch {
		case *in.State == "closed":
			c.sim.closePull(c.ctx, p, c.user)
		case p.merged || p.base() == "" || p.headRepo.refs["refs/heads/"+p.headRef] == "":
			return fail(invalid("PullRequest", "state", "invalid"))
		default:
			c.reopen()
		}
	}
	steps.Must(c.editPull(in.Title, in.Body, in.Base))
	return ok(steps.Got(c.sim.renderFullPull(c.ctx, p)))
}

// reopen reopens a pull request with the current head, which may have moved meanwhile, as a step.
func (c *call) reopen() {
	p := c.pull
	p.closed, p.closedAt, p.baseSHA = false, time.Time{}, p.base()
	c.sim.takeHead(c.ctx, p, p.headRepo.refs["refs/heads/"+p.headRef])
	p.happened("ReopenedEvent", c.user, nil)
	c.sim.emitPull(c.ctx, p, c.user, "reopened", nil)
	c.sim.newHead(p)
}

// editPull changes what is given and differs, and sends one event for all changes.
func (c *call) editPull(title, body, base *string) error {
	p, changes := c.pull, object{}
	if title != nil && *title != p.title {
		changes["title"] = object{"from": p.title}
		p.title = *title
	}
	if body != nil && *body != p.body {
		changes["body"] = object{"from": p.body}
		p.body = *body
	}
	if base != nil && *base != p.baseRef {
		sha := c.repo.refs["refs/heads/"+*base]
		switch {
		case p.closed:
			return pullProblem("Cannot change the base branch of a closed pull request.")
		case sha == "":
			return invalid("PullRequest", "base", "invalid")
		}
		changes["base"] = object{"ref": object{"from": p.baseRef}, "sha": object{"from": p.baseSHA}}
		from := p.baseRef
		p.happened("BaseRefChangedEvent", c.user, func(*call) fields { return fields{"previousRefName": from, "currentRefName": *base} })
		p.baseRef, p.baseSHA = *base, sha
		c.sim.tryMerge(p)
	}
	if len(changes) > 0 {
		c.sim.emitPull(c.ctx, p, c.user, "edited", object{"changes": changes})
	}
	return nil
}

// closePull closes a pull request, merged or not.
func (s *Sim) closePull(ctx context.Context, p *pull, by *account) {
	taker, reason := by, "MANUAL"
	if p.merged {
		taker, reason = queueBot, "MERGE"
	}
	p.closed, p.closedAt = true, s.Now()
	p.happened("ClosedEvent", by, nil)
	s.dequeue(ctx, p, taker, reason)
	s.emitPull(ctx, p, by, "closed", nil)
}

// setDraft makes a pull request a draft, or marks it as ready for review.
func (s *Sim) setDraft(ctx context.Context, p *pull, by *account, draft bool) {
	if p.draft == draft {
		return
	}
	p.draft = draft
	action, kind := "ready_for_review", "ReadyForReviewEvent"
	if draft {
		action, kind = "converted_to_draft", "ConvertToDraftEvent"
	}
	p.happened(kind, by, nil)
	s.emitPull(ctx, p, by, action, nil)
}

// emitPull sends a pull_request event, and sets the time of the pull request's last update.
func (s *Sim) emitPull(ctx context.Context, p *pull, by *account, action string, extra object) {
	p.updated = s.Now()
	full, err := s.renderFullPull(ctx, p)
	if err != nil {
		full = s.renderPull(p) // unrelated histories after a force push
	}
	payload := object{"number": p.number, "pull_request": full}
	maps.Copy(payload, extra)
	s.emit(p.repo, by, "pull_request", action, payload)
}

func (c *call) pullFiles() reply {
	diff := steps.Got(c.repo.git.Compare(c.ctx, c.pull.baseSHA, c.pull.headSHA))
	return ok(each(page(c, diff.Files[:min(len(diff.Files), maxFiles)]), func(f bare.File) object { return c.renderFile(f, c.pull.headSHA) }))
}

func (c *call) renderFile(f bare.File, head string) object {
	html := c.sim.url + "/" + c.repo.fullName()
	out := object{
		"sha": f.Blob, "filename": f.Path, "status": f.Status, "additions": f.Additions, "deletions": f.Deletions,
		"changes": f.Additions + f.Deletions, "blob_url": html + "/blob/" + head + "/" + f.Path,
		"raw_url":      html + "/raw/" + head + "/" + f.Path,
		"contents_url": c.sim.api("/repos/%s/contents/%s?ref=%s", c.repo.fullName(), f.Path, head),
	}
	if f.Patch != "" {
		out["patch"] = f.Patch
	}
	if f.Previous != "" {
		out["previous_filename"] = f.Previous
	}
	return out
}

func (c *call) pullCommits() reply {
	diff := steps.Got(c.repo.git.Compare(c.ctx, c.pull.baseSHA, c.pull.headSHA))
	return ok(each(page(c, diff.Commits[:min(len(diff.Commits), 250)]), c.renderCommit))
}

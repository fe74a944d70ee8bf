package githubsim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"touchstone/worktree/steps"
)

// GitHub's messages, which clients match on.
// https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
var (
	errHeadModified  = refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	errBaseModified  = refuse(http.StatusMethodNotAllowed, "Base branch was modified. Review and try the merge again.")
	errNotMergeable  = refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	errStillDraft    = refuse(http.StatusMethodNotAllowed, "Pull Request is still a draft")
	errNoSquash      = refuse(http.StatusMethodNotAllowed, "Squash merges are not allowed on this repository.")
	errBehind        = refuse(http.StatusMethodNotAllowed, "Head branch is out of date. Review and try the merge again.")
	errQueueOnly     = refuse(http.StatusMethodNotAllowed, "Changes must be made through the merge queue")
	errUnknownMethod = invalid("PullRequest", "merge_method", "invalid")
)

func (c *call) mergePull() reply {
	var in struct {
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		SHA     string `json:"sha"`
		Method  string `json:"merge_method"`
	}
	c.decode(&in)
	p := c.pull
	c.sim.moveBeforeMerge(c.ctx, p)
	switch {
	case p.closed:
		return fail(errNotMergeable)
	case in.SHA != "" && in.SHA != p.headSHA:
		return fail(errHeadModified)
	case p.draft:
		return fail(errStillDraft)
	case in.Method == "squash" && p.repo.NoSquash:
		return fail(errNoSquash)
	case p.repo.Protected[p.baseRef].MergeQueue:
		return fail(errQueueOnly)
	}
	steps.Must(c.sim.protects(p))
	title, message := in.Title, in.Message
	if title == "" {
		title = fmt.Sprintf("%s (#%d)", p.title, p.number)
		if in.Method == "merge" || in.Method == "" {
			title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.number, p.headRepo.Owner, p.headRef)
		}
	}
	sha := c.sim.merge(c.ctx, p, c.user, in.Method, title+"\n\n"+message)
	return ok(object{"sha": sha, "merged": true, "message": "Pull Request successfully merged"})
}

// merge moves the base to the merge's result, and returns that commit, as a step.
func (s *Sim) merge(ctx context.Context, p *pull, by *account, method, message string) string {
	sha := s.mergeCommit(ctx, p, by, method, message)
	if err := p.repo.git.UpdateRef(ctx, "refs/heads/"+p.baseRef, sha, p.base()); err != nil {
		// Another push came first; notice it before reporting the conflict.
		s.noticeRefs(ctx, p.repo, by)
		fail(errBaseModified)
	}
	s.markMerged(ctx, p, by, sha)
	s.noticeRefs(ctx, p.repo, by)
	if p.repo.DeleteMerged && !p.crossRepo() {
		s.deleteMerged(ctx, p, by)
	}
	return sha
}

// deleteMerged deletes the branch of a merged pull request, as GitHub does automatically and on its pages: pull
// requests into that branch get the merged pull request's base as their new base. Deleting a branch by git or
// by the API closes them instead.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/proposing-changes-to-your-work-with-pull-requests/about-branches
func (s *Sim) deleteMerged(ctx context.Context, merged *pull, by *account) {
	for _, p := range merged.repo.sortedPulls() {
		if !p.closed && p.baseRef == merged.headRef {
			s.followBase(p, by, merged.baseRef)
			p.baseSHA = p.base()
			p.happened("BaseRefDeletedEvent", by, nil)
			s.emitPull(ctx, p, by, "edited", object{"changes": object{"base": object{"ref": object{"from": merged.headRef},
				"sha": object{"from": merged.headSHA}}}})
			s.tryMerge(p)
		}
	}
	if err := merged.repo.git.UpdateRef(ctx, "refs/heads/"+merged.headRef, "", merged.headSHA); err != nil {
		return // the branch has moved on, and stays
	}
	s.noticeRefs(ctx, merged.repo, by)
}

// followBase changes the base branch of a pull request automatically.
func (s *Sim) followBase(p *pull, by *account, base string) {
	from := p.baseRef
	p.happened("AutomaticBaseChangeSucceededEvent", by, func(*call) fields { return fields{"oldBase": from, "newBase": base} })
	p.baseRef = base
}

// mergeCommit creates the commit to which the base will move, as a step.
func (s *Sim) mergeCommit(ctx context.Context, p *pull, by *account, method, message string) (sha string) {
	git, base, message := p.repo.git, p.base(), strings.TrimSpace(message)
	tree := p.mergeability.tree
	if _, known := s.mergeable(p); !known {
		tree = steps.Got(git.MergeTree(ctx, base, p.headSHA))
	}
	if tree == "" {
		fail(errNotMergeable)
	}
	const github = "GitHub <noreply@example.com>"
	switch method {
	case "", "merge":
		sha = steps.Got(git.CommitTree(tree, by.ident(), github, message, base, p.headSHA))
	case "squash":
		sha = steps.Got(git.CommitTree(tree, p.author.ident(), github, message, base))
	default:
		fail(errUnknownMethod)
	}
	return sha
}

// ownMessage is the message of a merge that GitHub does by itself.
func (p *pull) ownMessage() string { return fmt.Sprintf("%s (#%d)\n\n%s", p.title, p.number, p.body) }

// markMerged closes a pull request as merged by the commit sha.
func (s *Sim) markMerged(ctx context.Context, p *pull, by *account, sha string) {
	p.merged, p.mergedBy, p.mergedAt, p.mergeSHA = true, by, s.Now(), sha
	s.closePull(ctx, p, by)
}

// protects returns the refusal of the base branch's protection, if any.
func (s *Sim) protects(p *pull) error {
	rule, ok := p.repo.Protected[p.baseRef]
	if !ok {
		return nil
	}
	approvals, owned := 0, len(rule.CodeOwners) == 0
	for reviewer, rv := range p.opinions() {
		if !p.repo.canWrite(reviewer) || rule.PeopleOnly && reviewer.App {
			continue
		}
		if rv.state == "CHANGES_REQUESTED" && (rule.Approvals > 0 || len(rule.CodeOwners) > 0) {
			return refuse(http.StatusMethodNotAllowed, "Changes have been requested by reviewers with write access.")
		}
		approvals++
		owned = owned || rv.state == "APPROVED" && slices.Contains(rule.CodeOwners, reviewer.Login)
	}
	if approvals < rule.Approvals {
		return refuse(http.StatusMethodNotAllowed, "At least %d approving review is required by reviewers with write access.", rule.Approvals)
	}
	if !owned {
		return refuse(http.StatusMethodNotAllowed, "Waiting on code owner review from %s.", strings.Join(rule.CodeOwners, " or "))
	}
	for _, name := range rule.RequiredChecks {
		if !p.repo.checkPasses(p.headSHA, name) {
			return refuse(http.StatusMethodNotAllowed, "Required status check %q is expected.", name)
		}
	}
	if rule.Strict && !p.repo.git.Contains(p.headSHA, p.base()) {
		return errBehind
	}
	return nil
}

// mergeState returns GraphQL's MergeStateStatus; REST shows it in lower case.
func (s *Sim) mergeState(p *pull) string {
	mergeable, known := s.mergeable(p)
	if !known {
		return "UNKNOWN"
	}
	if !mergeable {
		return "DIRTY"
	}
	if p.draft {
		return "DRAFT"
	}
	switch err := s.protects(p); err {
	case nil:
	case errBehind:
		return "BEHIND"
	default:
		return "BLOCKED"
	}
	if state := p.repo.rollup(p.headSHA); state != "" && state != "SUCCESS" {
		return "UNSTABLE"
	}
	return "CLEAN"
}

// updateBranch merges the base into the head, like the button on GitHub's page.
func (c *call) updateBranch() reply {
	var in struct {
		Expected string `json:"expected_head_sha"`
	}
	c.decode(&in)
	p := c.pull
	if in.Expected != "" && in.Expected != p.headSHA {
		return fail(refuse(http.StatusUnprocessableEntity, "expected head sha didn’t match current head ref."))
	}
	if !c.sim.mayPush(p.headRepo, c.user) {
		return fail(refuse(http.StatusForbidden, "You do not have write access to the head branch."))
	}
	if p.repo.git.Contains(p.headSHA, p.base()) {
		return fail(refuse(http.StatusUnprocessableEntity, "There are no new commits on the base branch."))
	}
	tree, err := p.repo.git.MergeTree(c.ctx, p.base(), p.headSHA)
	if err != nil || tree == "" {
		return fail(refuse(http.StatusUnprocessableEntity, "merge conflict between base and head"))
	}
	message := fmt.Sprintf("Merge branch '%s' into %s", p.baseRef, p.headRef)
	sha := steps.Got(p.repo.git.CommitTree(tree, c.user.ident(), c.user.ident(), message, p.headSHA, p.base()))
	if p.crossRepo() {
		steps.Must(p.headRepo.git.Fetch(c.ctx, p.repo.git, sha))
	}
	steps.Must(p.headRepo.git.UpdateRef(c.ctx, "refs/heads/"+p.headRef, sha, p.headSHA))
	c.sim.noticeRefs(c.ctx, p.headRepo, c.user)
	return reply{status: http.StatusAccepted,
		body: object{"message": "Updating pull request branch.", "url": c.sim.api("/repos/%s/pulls/%d", p.repo.fullName(), p.number)}}
}

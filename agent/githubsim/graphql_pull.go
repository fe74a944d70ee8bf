package githubsim

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"touchstone/agent/githubsim/bare"
	"touchstone/agent/githubsim/graphql"
	"touchstone/worktree/steps"
)

func (c *call) pullNode(p *pull) node {
	if p == nil {
		return nil
	}
	s, r := c.sim, p.repo
	html := fmt.Sprintf("%s/%s/pull/%d", s.url, r.fullName(), p.number)
	return &graphql.Object{Type: "PullRequest", Fields: fields{
		"id": nodeID("PR", p.id), "databaseId": p.id, "fullDatabaseId": idText(p.id), "number": p.number, "title": p.title,
		"body": p.body, "url": html, "state": pullState(p), "isDraft": p.draft, "merged": p.merged, "closed": p.closed,
		"maintainerCanModify": p.maintainerCanModify, "isCrossRepository": p.crossRepo(), "isInMergeQueue": p.queued != nil,
		"isMergeQueueEnabled": r.Protected[p.baseRef].MergeQueue,
		"author":              c.actor(p.author), "mergedBy": c.actor(p.mergedBy), "headRefName": p.headRef, "headRefOid": p.headSHA,
		"baseRefName": p.baseRef, "baseRefOid": p.baseSHA, "createdAt": stamp(p.created), "updatedAt": stamp(p.updated),
		"closedAt": stamp(p.closedAt), "mergedAt": stamp(p.mergedAt), "repository": c.repoNode(r), "headRepository": c.repoNode(p.headRepo),
		"headRef":          field(func() any { return c.refNode(p.headRepo, p.headRef) }),
		"baseRef":          field(func() any { return c.refNode(r, p.baseRef) }),
		"mergeQueueEntry":  field(func() any { return c.queueNode(p) }),
		"autoMergeRequest": field(func() any { return c.autoMergeNode(p) }),
		"mergeCommit": field(func() any {
			if !p.merged {
				return nil
			}
			return c.commitNode(r, p.mergeSHA)
		}),
		"mergeable":        field(func() any { return c.mergeableState(p) }),
		"mergeStateStatus": field(func() any { return s.mergeState(p) }),
		"reviewDecision":   field(func() any { return reviewDecision(p) }),
		"labels":           graphql.Connection("LabelConnection", each(p.labels, labelNode)),
		"reviewRequests": graphql.Connection("ReviewRequestConnection", each(p.requested, func(a *account) node {
			return &graphql.Object{Type: "ReviewRequest", Fields: fields{"id": nodeID("RR", a.id), "requestedReviewer": c.actor(a)}}
		})),
		"latestOpinionatedReviews": listed("PullRequestReviewConnection", func(args) []node {
			opinions := p.opinions()
			latest := slices.DeleteFunc(slices.Clone(p.reviews), func(rv *review) bool { return opinions[rv.author] != rv })
			return each(latest, c.reviewNode)
		}),
		"reviews": listed("PullRequestReviewConnection", func(a args) []node {
			wanted := a.List("states")
			return each(slices.DeleteFunc(c.visibleReviews(p), func(rv *review) bool {
				return len(wanted) > 0 && !slices.Contains(wanted, any(rv.state))
			}), c.reviewNode)
		}),
		"comments": graphql.Connection("IssueCommentConnection", each(p.comments, c.commentNode)),
		"reviewThreads": listed("PullRequestReviewThreadConnection", func(args) []node {
			return each(c.visibleThreads(p), c.threadNode)
		}),
		"timelineItems": listed("PullRequestTimelineItemsConnection", func(a args) []node {
			return c.timeline(p, a.List("itemTypes"))
		}),
		"closingIssuesReferences": listed("IssueConnection", func(args) []node { return each(p.closes(), c.issueNode) }),
		"commits": listed("PullRequestCommitConnection", func(args) []node {
			return each(steps.Got(p.repo.git.Compare(c.ctx, p.baseSHA, p.headSHA)).Commits, func(cm bare.Commit) node {
				return &graphql.Object{Type: "PullRequestCommit", Fields: fields{"id": "PRC_" + cm.SHA, "commit": c.commitNode(p.repo, cm.SHA)}}
			})
		}),
	}}
}

// mergeableState returns GraphQL's MergeableState.
func (c *call) mergeableState(p *pull) string {
	mergeable, known := c.sim.mergeable(p)
	switch {
	case !known || spendFault(&c.sim.faults.NullMergeable):
		return "UNKNOWN"
	case mergeable:
		return "MERGEABLE"
	}
	return "CONFLICTING"
}

// reviewDecision returns the result of the reviews; null if there is no requirement and no review.
func reviewDecision(p *pull) any {
	decision, approvals := any(nil), 0
	rule := p.repo.Protected[p.baseRef]
	for reviewer, rv := range p.opinions() {
		switch {
		case rv.state == "CHANGES_REQUESTED":
			return rv.state
		case p.repo.canWrite(reviewer) && !(rule.PeopleOnly && reviewer.App):
			approvals++
		}
		decision = rv.state
	}
	switch {
	case rule.Approvals > approvals:
		return "REVIEW_REQUIRED"
	case rule.Approvals > 0:
		return "APPROVED"
	}
	return decision
}

func (c *call) reviewNode(rv *review) node {
	p := rv.pull
	edit := rv.lastEdit()
	return &graphql.Object{Type: "PullRequestReview", Fields: fields{
		"id": nodeID("PRR", rv.id), "databaseId": rv.id, "fullDatabaseId": idText(rv.id), "author": c.actor(rv.author),
		"authorAssociation": p.repo.association(rv.author), "authorCanPushToRepository": p.repo.canWrite(rv.author),
		"state": rv.state, "body": rv.body, "createdAt": stamp(rv.created), "submittedAt": stamp(rv.submitted),
		"lastEditedAt": stamp(edit.at), "editor": c.actor(edit.by),
		"userContentEdits": c.editConnection(rv.revisions),
		"commit":           field(func() any { return c.commitNode(p.repo, rv.commit) }),
		"url":              fmt.Sprintf("%s/%s/pull/%d#pullrequestreview-%d", c.sim.url, p.repo.fullName(), p.number, rv.id),
		"comments":         graphql.Connection("PullRequestReviewCommentConnection", each(rv.comments, c.reviewCommentNode)),
	}}
}

func (c *call) commentNode(cm *comment) node {
	p := cm.pull
	edit := cm.lastEdit()
	return &graphql.Object{Type: "IssueComment", Fields: fields{
		"id": nodeID("IC", cm.id), "databaseId": cm.id, "fullDatabaseId": idText(cm.id), "author": c.actor(cm.author),
		"authorAssociation": p.repo.association(cm.author), "body": cm.body, "createdAt": stamp(cm.created),
		"updatedAt": stamp(cmp.Or(edit.at, cm.created)), "lastEditedAt": stamp(edit.at), "editor": c.actor(edit.by),
		"userContentEdits": c.editConnection(cm.revisions), "isMinimized": false,
		"url": fmt.Sprintf("%s/%s/pull/%d#issuecomment-%d", c.sim.url, p.repo.fullName(), p.number, cm.id),
	}}
}

// coAuthor matches the trailer that names another author of a commit
// (https://docs.github.com/en/pull-requests/committing-changes-to-your-project/creating-and-editing-commits/creating-a-commit-with-multiple-authors).
var coAuthor = regexp.MustCompile(`(?im)^Co-authored-by: (.+) <(.+)>$`)

// commitAuthors lists a commit's author and the co-authors in its message.
func (c *call) commitAuthors(cm bare.Commit) []node {
	list := []node{c.gitActor(cm.Author.Name, cm.Author.Email)}
	for _, m := range coAuthor.FindAllStringSubmatch(cm.Message, -1) {
		list = append(list, c.gitActor(m[1], m[2]))
	}
	return list
}

func (c *call) gitActor(name, email string) node {
	return &graphql.Object{Type: "GitActor", Fields: fields{"name": name, "email": email, "user": c.userNode(c.sim.accountOf(email), "User")}}
}

func (c *call) commitNode(r *repo, sha string) node {
	read := func(get func(bare.Commit) any) graphql.Resolver {
		return field(func() any { return get(steps.Got(r.git.Commit(sha))) })
	}
	return &graphql.Object{Type: "Commit", Fields: fields{
		"id": "C_" + sha, "oid": sha, "abbreviatedOid": sha[:7], "url": c.sim.url + "/" + r.fullName() + "/commit/" + sha,
		"message":         read(func(cm bare.Commit) any { return cm.Message }),
		"messageHeadline": read(func(cm bare.Commit) any { first, _, _ := strings.Cut(cm.Message, "\n"); return first }),
		"committedDate":   read(func(cm bare.Commit) any { return stamp(cm.Committer.When) }),
		"authoredDate":    read(func(cm bare.Commit) any { return stamp(cm.Author.When) }),
		"authors":         listed("GitActorConnection", func(args) []node { return c.commitAuthors(steps.Got(r.git.Commit(sha))) }),
		"committer":       read(func(cm bare.Commit) any { return c.gitActor(cm.Committer.Name, cm.Committer.Email) }),
		"checkSuites": listed("CheckSuiteConnection", func(args) []node {
			return each(slices.DeleteFunc(slices.Clone(r.suites), func(cs *checkSuite) bool { return cs.sha != sha }), c.suiteNode)
		}),
		"history":                listed("CommitHistoryConnection", func(args) []node { return c.history(r, sha) }),
		"associatedPullRequests": c.pullConnection(r, func(p *pull) bool { return p.mergeSHA == sha || p.headSHA == sha }),
		"statusCheckRollup": field(func() any {
			if r.rollup(sha) == "" {
				return nil
			}
			return c.rollupNode(r, sha)
		}),
	}}
}

// history lists a commit and its ancestors by first parents, at most as many as a page can hold.
func (c *call) history(r *repo, sha string) (list []node) {
	for sha != "" && len(list) < 100 {
		list = append(list, c.commitNode(r, sha))
		parents := steps.Got(r.git.Commit(sha)).Parents
		if sha = ""; len(parents) > 0 {
			sha = parents[0]
		}
	}
	return list
}

func (c *call) rollupNode(r *repo, sha string) node {
	contexts := each(r.runs(sha), c.checkRunNode)
	for _, st := range r.latestStatuses(sha) {
		contexts = append(contexts, &graphql.Object{Type: "StatusContext", Fields: fields{
			"id": nodeID("SC", st.id), "context": st.context, "state": strings.ToUpper(st.state), "targetUrl": orNull(st.targetURL),
			"description": orNull(st.description), "createdAt": st.created.Format(time.RFC3339), "creator": c.actor(st.creator),
			"isRequired": requiredField(r, st.context),
		}})
	}
	return &graphql.Object{Type: "StatusCheckRollup", Fields: fields{
		"id": "SCR_" + sha, "state": r.rollup(sha), "contexts": graphql.Connection("StatusCheckRollupContextConnection", contexts),
	}}
}

func (c *call) checkRunNode(run *checkRun) node {
	rest := c.sim.renderCheckRun(run)
	upper := func(text string) any { return orNull(strings.ToUpper(text)) }
	return &graphql.Object{Type: "CheckRun", Fields: fields{
		"id": nodeID("CR", run.id), "databaseId": run.id, "name": run.name, "status": upper(run.status),
		"conclusion": upper(run.conclusion), "detailsUrl": rest["details_url"], "url": rest["html_url"],
		"title": orNull(run.title), "summary": orNull(run.summary), "text": orNull(run.text),
		"startedAt": stamp(run.started), "completedAt": stamp(run.completed), "isRequired": requiredField(run.suite.repo, run.name),
		"checkSuite": c.suiteNode(run.suite),
	}}
}

func (c *call) suiteNode(cs *checkSuite) node {
	app := c.sim.renderApp(cs.app)
	return &graphql.Object{Type: "CheckSuite", Fields: fields{
		"id": nodeID("CS", cs.id), "databaseId": cs.id, "status": strings.ToUpper(cs.status()),
		"conclusion": orNull(strings.ToUpper(cs.conclusion())),
		"createdAt":  stamp(cs.created),
		"branch":     c.refNode(cs.repo, cs.branch),
		"creator":    nil, // only Apps report
		"checkRuns": field(func() any {
			return &graphql.Object{Type: "CheckRunConnection", Fields: fields{"totalCount": len(cs.runs)}}
		}),
		"workflowRun": nil, // it runs no workflows
		"url":         fmt.Sprintf("%s/%s/commit/%s/checks?check_suite_id=%d", c.sim.url, cs.repo.fullName(), cs.sha, cs.id),
		"app": &graphql.Object{Type: "App",
			Fields: fields{"id": app["node_id"], "databaseId": app["id"], "slug": app["slug"], "name": app["name"]}},
	}}
}

// requiredField reports whether the base branch of the pull request in the arguments requires the check.
func requiredField(r *repo, name string) graphql.Resolver {
	return fieldOf(func(a args) any {
		number, _ := a.Int("pullRequestNumber") // there is no pull request 0
		p := must(r.pulls[number], errors.New("a pull request ID or pull request number is required"))
		return slices.Contains(r.Protected[p.baseRef].RequiredChecks, name)
	})
}

package githubsim

import (
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"touchstone/agent/githubsim/graphql"
	"touchstone/agent/githubsim/spec"
	"touchstone/worktree/steps"
)

type (
	node   = *graphql.Object
	fields = map[string]any
	args   = graphql.Args
)

// graphQL answers a query or mutation. A field that the schema has and the simulator lacks is an error that
// names it.
func (c *call) graphQL() reply {
	schema := steps.Got(spec.GraphQL())
	var req graphql.Request
	c.decode(&req)
	query := &graphql.Object{Type: "Query", Fields: fields{
		"viewer":     field(func() any { return c.userNode(c.user, "User") }),
		"repository": fieldOf(c.repositoryField),
		"node":       fieldOf(func(a args) any { return c.nodeByID(a.Text("id")) }),
	}}
	mutations := &graphql.Object{Type: "Mutation", Fields: fields{
		"markPullRequestReadyForReview": mutation("MarkPullRequestReadyForReviewPayload", c.draftMutation(false)),
		"convertPullRequestToDraft":     mutation("ConvertPullRequestToDraftPayload", c.draftMutation(true)),
		"resolveReviewThread":           mutation("ResolveReviewThreadPayload", c.resolveMutation("resolved", c.user)),
		"enqueuePullRequest":            mutation("EnqueuePullRequestPayload", c.enqueueMutation),
		"dequeuePullRequest":            mutation("DequeuePullRequestPayload", c.dequeueMutation),
		"enablePullRequestAutoMerge":    mutation("EnablePullRequestAutoMergePayload", c.enableAutoMergeMutation),
		"updateRefs":                    mutation("UpdateRefsPayload", c.updateRefsMutation),
		"unresolveReviewThread":         mutation("UnresolveReviewThreadPayload", c.resolveMutation("unresolved", nil)),
	}}
	return reply{status: http.StatusOK, body: graphql.Execute(schema, query, mutations, req)}
}

// mutation makes a resolver from the steps that do the mutation and return the other fields of its payload.
func mutation(payload string, run func(input args) fields) graphql.Resolver {
	return fieldOf(func(a args) any {
		input, _ := a["input"].(map[string]any)
		out := run(input)
		out["clientMutationId"] = input["clientMutationId"]
		return &graphql.Object{Type: payload, Fields: out}
	})
}

// fieldOf makes a resolver from a row of steps.
func fieldOf(value func(args) any) graphql.Resolver {
	return func(a args) (out any, err error) {
		err = steps.Try(func() { out = value(a) })
		return out, err
	}
}

// field is fieldOf for a value that needs no arguments.
func field(value func() any) graphql.Resolver { return fieldOf(func(args) any { return value() }) }

// listed makes a resolver of a connection type from the steps that list its nodes.
func listed(typeName string, list func(args) []node) graphql.Resolver {
	return fieldOf(func(a args) any { return steps.Got(graphql.Connection(typeName, list(a))(a)) })
}

// userNode renders a User, or a Bot for an app. The kind "User" is for fields such as viewer, which the schema
// types as User for apps too.
func (c *call) userNode(a *account, kind string) node {
	if a == nil || a.deleted {
		return nil
	}
	switch {
	case kind != "":
	case a.App:
		kind = "Bot"
	case a.Mannequin:
		kind = "Mannequin"
	default:
		kind = "User"
	}
	login := a.Login
	if kind == "Bot" { // GraphQL names bots without the suffix
		login = strings.TrimSuffix(login, "[bot]")
	}
	return &graphql.Object{Type: kind, Fields: fields{
		"login": login, "id": nodeID("U", a.id), "databaseId": a.id, "name": orNull(a.Name), "email": a.Email,
		"url": c.sim.url + "/" + a.Login, "avatarUrl": c.sim.url + "/avatars/" + a.Login,
	}}
}

func (c *call) actor(a *account) node { return c.userNode(a, "") }

func (c *call) repositoryField(a args) any {
	name := a.Text("owner") + "/" + a.Text("name")
	r := c.sim.findRepo(name)
	if r == nil && a["followRenames"] != false {
		r = c.sim.moved[strings.ToLower(name)]
	}
	if r == nil || r.permission(c.user) == "none" || r.Private && !c.given.covers(r) {
		steps.Must(graphql.NotFound("Could not resolve to a Repository with the name '%s'.", name))
	}
	return c.repoNode(r)
}

func noNode(id string) error {
	return graphql.NotFound("Could not resolve to a node with the global id of '%s'", id)
}

func (c *call) forbidden() error {
	return graphql.Forbidden(c.user.Login + " does not have the correct permissions to execute this mutation")
}

func (c *call) repoNode(r *repo) node {
	return &graphql.Object{Type: "Repository", Fields: fields{
		"id": nodeID("R", r.id), "databaseId": r.id, "name": r.Name, "nameWithOwner": r.fullName(),
		"url": c.sim.url + "/" + r.fullName(), "isArchived": false, "isFork": r.parent != nil, "isPrivate": r.Private,
		"viewerPermission": strings.ToUpper(r.permission(c.user)), "squashMergeAllowed": !r.NoSquash,
		"defaultBranchRef": field(func() any { return c.refNode(r, r.defaultBranch) }),
		"pullRequest": fieldOf(func(a args) any {
			number, _ := a.Int("number")
			return c.pullNode(must(r.pulls[number], graphql.NotFound("Could not resolve to a PullRequest with the number of %d.", number)))
		}),
		"pullRequests": c.pullConnection(r, func(*pull) bool { return true }),
		"object": fieldOf(func(a args) any {
			if _, err := r.git.Commit(a.Text("oid")); err != nil {
				return nil
			}
			return c.commitNode(r, a.Text("oid"))
		}),
		"ref": fieldOf(func(a args) any { return c.refNode(r, strings.TrimPrefix(a.Text("qualifiedName"), "refs/heads/")) }),
	}}
}

// refNode renders a branch; null if it does not exist.
func (c *call) refNode(r *repo, branch string) any {
	sha := r.refs["refs/heads/"+branch]
	if sha == "" {
		return nil
	}
	return &graphql.Object{Type: "Ref", Fields: fields{
		"id": "REF_" + branch, "name": branch, "prefix": "refs/heads/", "target": c.commitNode(r, sha),
		"refUpdateRule":          ruleNode(r.Protected, branch),
		"associatedPullRequests": c.pullConnection(r, func(p *pull) bool { return p.headRepo == r && p.headRef == branch }),
	}}
}

// ruleNode renders what a branch's protection shows to those who may not change it; null if there is none.
func ruleNode(protected map[string]Protection, branch string) node {
	rule, ok := protected[branch]
	if !ok || rule.Ruleset {
		return nil
	}
	return &graphql.Object{Type: "RefUpdateRule", Fields: fields{
		"pattern": branch, "requiredApprovingReviewCount": rule.Approvals, "requiredStatusCheckContexts": rule.RequiredChecks,
		"requiresCodeOwnerReviews": len(rule.CodeOwners) > 0,
	}}
}

// pullConnection lists the pull requests of a repository for which among is true and that match the arguments.
func (c *call) pullConnection(r *repo, among func(*pull) bool) graphql.Resolver {
	return listed("PullRequestConnection", func(a args) []node {
		states, base := a.List("states"), a.Text("baseRefName")
		list := slices.DeleteFunc(r.sortedPulls(), func(p *pull) bool {
			wanted := len(states) == 0 || slices.Contains(states, any(pullState(p)))
			return !wanted || !among(p) || base != "" && base != p.baseRef
		})
		order, _ := a["orderBy"].(map[string]any)
		if order["field"] == "UPDATED_AT" {
			slices.SortStableFunc(list, func(a, b *pull) int { return a.updated.Compare(b.updated) })
		}
		if order["direction"] == "DESC" {
			slices.Reverse(list)
		}
		return each(list, c.pullNode)
	})
}

func pullState(p *pull) string {
	if p.merged {
		return "MERGED"
	}
	return strings.ToUpper(p.state())
}

// visiblePulls yields the pull requests of all repositories that the caller may see.
func (c *call) visiblePulls() iter.Seq[*pull] {
	return func(yield func(*pull) bool) {
		for _, r := range c.sim.repos {
			if r.permission(c.user) == "none" {
				continue
			}
			for _, p := range r.pulls {
				if !yield(p) {
					return
				}
			}
		}
	}
}

func (c *call) pullByID(id string) *pull {
	for p := range c.visiblePulls() {
		if nodeID("PR", p.id) == id {
			return p
		}
	}
	return nil
}

// pullOf is pullByID as a step of a mutation.
func (c *call) pullOf(id string) *pull { return must(c.pullByID(id), noNode(id)) }

// draftMutation marks a pull request as a draft or as ready for review.
func (c *call) draftMutation(draft bool) func(args) fields {
	return func(input args) fields {
		p := c.pullOf(input.Text("pullRequestId"))
		if p.author != c.user && !p.repo.canWrite(c.user) {
			steps.Fail("%s does not have permission to change this pull request", c.user.Login)
		}
		c.sim.setDraft(c.ctx, p, c.user, draft)
		return fields{"pullRequest": c.pullNode(p)}
	}
}

// idText formats an id as the schema's BigInt.
func idText(id int64) string { return strconv.FormatInt(id, 10) }

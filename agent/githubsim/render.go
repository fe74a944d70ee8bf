package githubsim

import (
	"cmp"
	"fmt"
	"time"
)

// api returns the URL of a REST resource.
func (s *Sim) api(format string, args ...any) string {
	return s.url + "/api/v3" + fmt.Sprintf(format, args...)
}

// nodeID returns a GraphQL node id.
func nodeID(kind string, id int64) string { return fmt.Sprintf("%s_%d", kind, id) }

func (s *Sim) renderUser(a *account) object {
	if a == nil {
		return nil
	}
	kind := "User"
	switch {
	case a.App:
		kind = "Bot"
	case a.Mannequin:
		kind = "Mannequin"
	}
	return s.renderOwner(a.Login, a.id, kind)
}

func (s *Sim) renderOwner(login string, id int64, kind string) object {
	u := s.api("/users/%s", login)
	return object{
		"login": login, "id": id, "node_id": nodeID("U", id), "type": kind, "site_admin": false,
		"avatar_url": s.url + "/avatars/" + login, "gravatar_id": "", "url": u, "html_url": s.url + "/" + login,
		"events_url": u + "/events{/privacy}", "followers_url": u + "/followers",
		"following_url": u + "/following{/other_user}", "gists_url": u + "/gists{/gist_id}",
		"organizations_url": u + "/orgs", "received_events_url": u + "/received_events",
		"repos_url": u + "/repos", "starred_url": u + "/starred{/owner}{/repo}", "subscriptions_url": u + "/subscriptions",
	}
}

// renderProfile renders the longer form of a user, as in /user.
func (s *Sim) renderProfile(a *account) object {
	out := s.renderUser(a)
	for _, name := range []string{"bio", "company", "hireable", "location"} {
		out[name] = nil
	}
	for _, name := range []string{"followers", "following", "public_gists", "public_repos"} {
		out[name] = 0
	}
	out["user_view_type"] = "public"
	out["name"], out["email"], out["blog"] = orNull(a.Name), orNull(a.Email), ""
	out["created_at"], out["updated_at"] = "2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"
	return out
}

// renderOwnerOf renders an owner of repositories: an account, or else an organization.
func (s *Sim) renderOwnerOf(login string) object {
	if a := s.findAccount(login); a != nil {
		return s.renderUser(a)
	}
	return s.renderOwner(login, s.organization(login).id, "Organization")
}

// repoURLs are the fields of a repository whose value is its own URL with a suffix.
var repoURLs = map[string]string{
	"archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}",
	"branches_url": "/branches{/branch}", "collaborators_url": "/collaborators{/collaborator}",
	"comments_url": "/comments{/number}", "commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}",
	"contents_url": "/contents/{+path}", "contributors_url": "/contributors", "deployments_url": "/deployments",
	"downloads_url": "/downloads", "events_url": "/events", "forks_url": "/forks", "git_commits_url": "/git/commits{/sha}",
	"git_refs_url": "/git/refs{/sha}", "git_tags_url": "/git/tags{/sha}", "hooks_url": "/hooks",
	"issue_comment_url": "/issues/comments{/number}", "issue_events_url": "/issues/events{/number}",
	"issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}", "labels_url": "/labels{/name}",
	"languages_url": "/languages", "merges_url": "/merges", "milestones_url": "/milestones{/number}",
	"notifications_url": "/notifications{?since,all,participating}", "pulls_url": "/pulls{/number}",
	"releases_url": "/releases{/id}", "stargazers_url": "/stargazers", "statuses_url": "/statuses/{sha}",
	"subscribers_url": "/subscribers", "subscription_url": "/subscription", "tags_url": "/tags", "teams_url": "/teams",
	"trees_url": "/git/trees{/sha}", "url": "",
}

func (s *Sim) renderRepo(r *repo) object {
	self, html := s.api("/repos/%s", r.fullName()), s.url+"/"+r.fullName()
	out := object{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.Name, "full_name": r.fullName(), "owner": s.renderOwnerOf(r.Owner),
		"private": r.Private, "visibility": "public", "html_url": html, "description": nil, "fork": r.parent != nil,
		"clone_url": html + ".git", "git_url": html + ".git", "ssh_url": html + ".git", "svn_url": html,
		"mirror_url": nil, "homepage": nil, "language": nil, "license": nil, "topics": []string{},
		"default_branch": r.defaultBranch, "archived": false, "disabled": false, "is_template": false,
		"allow_forking": true, "web_commit_signoff_required": false, "size": 0, "forks": 0, "forks_count": 0,
		"stargazers_count": 0, "watchers": 0, "watchers_count": 0, "network_count": 0, "subscribers_count": 0,
		"has_issues": true, "has_projects": false, "has_downloads": false, "has_wiki": false, "has_pages": false,
		"has_discussions": false, "created_at": stamp(r.created), "updated_at": stamp(r.created), "pushed_at": stamp(r.created),
	}
	if r.Private {
		out["visibility"] = "private"
	}
	open := 0
	for _, p := range r.pulls {
		if !p.closed {
			open++
		}
	}
	out["open_issues"], out["open_issues_count"] = open, open
	for name, rest := range repoURLs {
		out[name] = self + rest
	}
	return out
}

func (c *call) renderRepoFor() object {
	out := c.sim.renderRepo(c.repo)
	out["permissions"] = c.repo.rights(c.user)
	out["allow_squash_merge"], out["allow_merge_commit"], out["allow_rebase_merge"] = !c.repo.NoSquash, true, true
	out["allow_auto_merge"], out["delete_branch_on_merge"] = false, false
	return out
}

func (s *Sim) renderLabel(l *label) object {
	return object{
		"id": l.id, "node_id": nodeID("LA", l.id), "url": s.api("/repos/%s/labels/%s", l.repo.fullName(), l.name),
		"name": l.name, "color": l.color, "default": false, "description": nil,
	}
}

func link(href string) object { return object{"href": href} }

// renderPull renders a pull request as in lists and most webhooks.
func (s *Sim) renderPull(p *pull) object {
	r := p.repo
	self := s.api("/repos/%s/pulls/%d", r.fullName(), p.number)
	issue := s.api("/repos/%s/issues/%d", r.fullName(), p.number)
	html := fmt.Sprintf("%s/%s/pull/%d", s.url, r.fullName(), p.number)
	statuses := s.api("/repos/%s/statuses/%s", r.fullName(), p.headSHA)
	reviewComment := s.api("/repos/%s/pulls/comments{/number}", r.fullName())
	end := func(of *repo, ref, sha string) object {
		repo := s.renderRepo(of)
		return object{"label": of.Owner + ":" + ref, "ref": ref, "sha": sha, "user": repo["owner"], "repo": repo}
	}
	merge := orNull(p.mergeSHA)
	if !p.merged && p.mergeability.head == p.headSHA {
		merge = orNull(p.mergeability.commit)
	}
	return object{
		"id": p.id, "node_id": nodeID("PR", p.id), "number": p.number, "state": p.state(), "locked": false,
		"title": p.title, "body": orNull(p.body), "user": s.renderUser(p.author), "draft": p.draft,
		"author_association": p.repo.association(p.author), "active_lock_reason": nil, "auto_merge": nil,
		"assignee": nil, "assignees": []object{}, "milestone": nil, "requested_teams": []object{},
		"labels":              each(p.labels, s.renderLabel),
		"requested_reviewers": each(p.requested, s.renderUser),
		"head":                end(p.headRepo, p.headRef, p.headSHA), "base": end(r, p.baseRef, p.baseSHA),
		"created_at": stamp(p.created), "updated_at": stamp(p.updated), "closed_at": stamp(p.closedAt),
		"merged_at": stamp(p.mergedAt), "merge_commit_sha": merge, "url": self, "html_url": html, "issue_url": issue,
		"diff_url": html + ".diff", "patch_url": html + ".patch", "commits_url": self + "/commits",
		"review_comments_url": self + "/comments", "review_comment_url": reviewComment,
		"comments_url": issue + "/comments", "statuses_url": statuses,
		"_links": object{
			"self": link(self), "html": link(html), "issue": link(issue), "comments": link(issue + "/comments"),
			"review_comments": link(self + "/comments"), "review_comment": link(reviewComment),
			"commits": link(self + "/commits"), "statuses": link(statuses),
		},
	}
}

// association returns a user's relation to the repository.
func (r *repo) association(a *account) string {
	if a.Mannequin {
		return "MANNEQUIN"
	}
	switch r.permission(a) {
	case "admin":
		return "OWNER"
	case "maintain", "write", "triage":
		return "COLLABORATOR"
	}
	return "NONE"
}

func (s *Sim) renderReview(rv *review) object {
	p := rv.pull
	html := fmt.Sprintf("%s/%s/pull/%d#pullrequestreview-%d", s.url, p.repo.fullName(), p.number, rv.id)
	pullURL := s.api("/repos/%s/pulls/%d", p.repo.fullName(), p.number)
	out := object{
		"id": rv.id, "node_id": nodeID("PRR", rv.id), "user": s.renderUser(rv.author), "body": rv.body,
		"state": rv.state, "commit_id": rv.commit, "html_url": html, "pull_request_url": pullURL,
		"author_association": p.repo.association(rv.author),
		"_links":             object{"html": link(html), "pull_request": link(pullURL)},
	}
	if !rv.submitted.IsZero() {
		out["submitted_at"] = stamp(rv.submitted)
	}
	return out
}

func (s *Sim) renderReviewComment(rc *reviewComment) object {
	p := rc.review.pull
	self := s.api("/repos/%s/pulls/comments/%d", p.repo.fullName(), rc.id)
	html := fmt.Sprintf("%s/%s/pull/%d#discussion_r%d", s.url, p.repo.fullName(), p.number, rc.id)
	pullURL := s.api("/repos/%s/pulls/%d", p.repo.fullName(), p.number)
	out := object{
		"id": rc.id, "node_id": nodeID("PRRC", rc.id), "pull_request_review_id": rc.review.id, "diff_hunk": rc.hunk,
		"path": rc.path, "commit_id": rc.commit, "original_commit_id": rc.commit, "user": s.renderUser(rc.author),
		"body": rc.body, "created_at": rc.created.Format(time.RFC3339), "updated_at": rc.created.Format(time.RFC3339),
		"html_url": html, "url": self, "pull_request_url": pullURL, "author_association": p.repo.association(rc.author),
		"position": rc.position, "original_position": rc.position, "line": rc.line, "original_line": rc.line,
		"reactions": noReactions(self), "side": rc.side, "start_line": nil, "original_start_line": nil, "start_side": nil, "subject_type": "line",
		"_links": object{"self": link(self), "html": link(html), "pull_request": link(pullURL)},
	}
	if rc.replyTo != nil {
		out["in_reply_to_id"] = rc.replyTo.id
	}
	if rc.startLine != 0 {
		out["start_line"], out["original_start_line"], out["start_side"] = rc.startLine, rc.startLine, rc.startSide
	}
	return out
}

// noReactions renders the reactions summary of something without reactions.
func noReactions(of string) object {
	out := object{"url": of + "/reactions", "total_count": 0}
	for _, name := range []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"} {
		out[name] = 0
	}
	return out
}

func (s *Sim) renderComment(cm *comment) object {
	p := cm.pull
	issue := s.api("/repos/%s/issues/%d", p.repo.fullName(), p.number)
	self := s.api("/repos/%s/issues/comments/%d", p.repo.fullName(), cm.id)
	return object{
		"id": cm.id, "node_id": nodeID("IC", cm.id), "body": cm.body, "user": s.renderUser(cm.author),
		"url": self, "reactions": noReactions(self),
		"html_url":  fmt.Sprintf("%s/%s/pull/%d#issuecomment-%d", s.url, p.repo.fullName(), p.number, cm.id),
		"issue_url": issue, "author_association": p.repo.association(cm.author), "performed_via_github_app": nil,
		"created_at": stamp(cm.created), "updated_at": stamp(cmp.Or(cm.lastEdit().at, cm.created)),
	}
}

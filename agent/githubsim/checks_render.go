package githubsim

import (
	"cmp"

	"touchstone/agent/githubsim/bare"
	"touchstone/worktree/steps"
)

// renderApp renders the GitHub App behind a check. Without one it renders the simulator's own CI, which poses
// as GitHub Actions.
func (s *Sim) renderApp(app *account) object {
	slug, id := "github-actions", int64(15368)
	owner := s.renderOwner("github", 9919, "Organization")
	if app != nil {
		slug, id, owner = app.slug(), app.number(), s.renderUser(app)
	}
	permissions, events := map[string]string{"checks": "write", "metadata": "read"}, []string{"check_run", "check_suite"}
	if app != nil && app.registered != nil {
		permissions, events = app.registered.Permissions, app.registered.Events
		owner = s.renderOwnerOf(cmp.Or(app.registered.organization, s.accounts[0].Login))
	}
	return object{
		"id": id, "slug": slug, "node_id": nodeID("A", id), "owner": owner, "name": slug, "description": "",
		"external_url": s.url + "/apps/" + slug, "html_url": s.url + "/apps/" + slug,
		"created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
		"permissions": permissions, "events": events,
	}
}

func (s *Sim) renderCheckRun(run *checkRun) object {
	r := run.suite.repo
	self := s.api("/repos/%s/check-runs/%d", r.fullName(), run.id)
	html := s.url + "/" + r.fullName() + "/runs/" + nodeID("CR", run.id)
	return object{
		"id": run.id, "node_id": nodeID("CR", run.id), "head_sha": run.suite.sha, "external_id": run.externalID,
		"name": run.name, "url": self, "html_url": html, "details_url": cmp.Or(run.detailsURL, html), "status": run.status,
		"conclusion": orNull(run.conclusion), "started_at": stamp(run.started), "completed_at": stamp(run.completed),
		"output": object{"title": orNull(run.title), "summary": orNull(run.summary), "text": orNull(run.text),
			"annotations_count": len(run.annotations), "annotations_url": self + "/annotations"},
		"check_suite": s.renderSuite(run.suite), "app": s.renderApp(run.suite.app),
		"pull_requests": s.suitePulls(run.suite),
	}
}

func (s *Sim) renderSuite(cs *checkSuite) object {
	r := cs.repo
	self := s.api("/repos/%s/check-suites/%d", r.fullName(), cs.id)
	return object{
		"id": cs.id, "node_id": nodeID("CS", cs.id), "head_branch": orNull(cs.branch), "head_sha": cs.sha,
		"status": cs.status(), "conclusion": orNull(cs.conclusion()), "url": self, "before": bare.ZeroSHA, "after": cs.sha,
		"created_at": stamp(cs.created), "updated_at": stamp(cs.updated), "app": s.renderApp(cs.app),
		"pull_requests": s.suitePulls(cs), "latest_check_runs_count": len(cs.runs), "check_runs_url": self + "/check-runs",
		"head_commit": s.renderSimpleCommit(r, cs.commit),
	}
}

// suitePulls returns the open pull requests with this head.
func (s *Sim) suitePulls(cs *checkSuite) []object {
	out := []object{}
	end := func(of *repo, ref, sha string) object {
		return object{"ref": ref, "sha": sha, "repo": object{"id": of.id, "url": s.api("/repos/%s", of.fullName()), "name": of.Name}}
	}
	for _, p := range cs.repo.sortedPulls() {
		if p.headSHA == cs.sha && !p.closed && !p.crossRepo() {
			out = append(out, object{
				"id": p.id, "number": p.number, "url": s.api("/repos/%s/pulls/%d", cs.repo.fullName(), p.number),
				"head": end(p.headRepo, p.headRef, p.headSHA), "base": end(cs.repo, p.baseRef, p.baseSHA),
			})
		}
	}
	return out
}

func (s *Sim) renderStatus(st *status) object {
	return object{
		"id": st.id, "node_id": nodeID("SC", st.id), "state": st.state, "context": st.context,
		"description": orNull(st.description), "target_url": orNull(st.targetURL),
		"avatar_url": s.url + "/avatars/" + st.creator.Login,
		"url":        s.api("/repos/%s/statuses/%s", st.repo.fullName(), st.sha),
		"created_at": stamp(st.created), "updated_at": stamp(st.created),
	}
}

// emitStatus sends a status event with the commit that the status is about.
func (c *call) emitStatus(st *status) {
	cm := steps.Got(c.repo.git.Commit(st.sha))
	c.sim.emit(c.repo, c.user, "status", "", object{
		"id": st.id, "sha": st.sha, "name": c.repo.fullName(), "context": st.context, "state": st.state,
		"description": orNull(st.description), "target_url": orNull(st.targetURL),
		"avatar_url": c.sim.url + "/avatars/" + c.user.Login, "commit": c.renderCommit(cm),
		"branches": []object{}, "created_at": stamp(st.created), "updated_at": stamp(st.created),
	})
}

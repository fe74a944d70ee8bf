package githubsim

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"

	"touchstone/worktree/steps"
)

// suite finds or creates the check suite of an app for a commit, as a step.
func (s *Sim) suite(r *repo, sha, branch string, app *account) *checkSuite {
	if cs := find(r.suites, func(cs *checkSuite) bool { return cs.sha == sha && cs.app == app }); cs != nil {
		return cs
	}
	cm := steps.Got(r.git.Commit(sha))
	cs := &checkSuite{id: s.id(), repo: r, sha: sha, commit: cm, branch: branch, app: app, created: s.Now(), updated: s.Now()}
	r.suites = append(r.suites, cs)
	return cs
}

// run finds a check run by its id; nil if there is none.
func (r *repo) run(id int64) (run *checkRun) {
	for _, cs := range r.suites {
		run = cmp.Or(run, find(cs.runs, func(run *checkRun) bool { return run.id == id }))
	}
	return run
}

// runs returns the check runs of a commit, the oldest first.
func (r *repo) runs(sha string) []*checkRun {
	var out []*checkRun
	for _, cs := range r.suites {
		if cs.sha == sha {
			out = append(out, cs.runs...)
		}
	}
	return out
}

// latestStatuses returns the last status of each context of a commit.
func (r *repo) latestStatuses(sha string) []*status {
	var out []*status
	for _, st := range slices.Backward(r.statuses) {
		if st.sha == sha && !slices.ContainsFunc(out, func(o *status) bool { return o.context == st.context }) {
			out = append(out, st)
		}
	}
	return out
}

// checkPasses reports whether the newest check run or status of a name passes.
func (r *repo) checkPasses(sha, name string) bool {
	for _, run := range slices.Backward(r.runs(sha)) {
		if run.name == name {
			return run.status == "completed" && passing(run.conclusion)
		}
	}
	for _, st := range r.latestStatuses(sha) {
		if st.context == name {
			return st.state == "success"
		}
	}
	return false
}

// rollup returns GraphQL's StatusState of a commit; "" without checks and statuses.
func (r *repo) rollup(sha string) string {
	out := ""
	worse := func(state string) {
		order := []string{"", "SUCCESS", "PENDING", "ERROR", "FAILURE"}
		if slices.Index(order, state) > slices.Index(order, out) {
			out = state
		}
	}
	for _, run := range r.runs(sha) {
		switch {
		case run.status != "completed":
			worse("PENDING")
		case passing(run.conclusion):
			worse("SUCCESS")
		default:
			worse("FAILURE")
		}
	}
	for _, st := range r.latestStatuses(sha) {
		worse(map[string]string{"success": "SUCCESS", "pending": "PENDING", "error": "ERROR", "failure": "FAILURE"}[st.state])
	}
	return out
}

// resolve finds the commit for a SHA, a branch or a full ref.
func (c *call) resolve(ref string) (string, error) {
	for _, sha := range []string{c.repo.refs["refs/heads/"+ref], ref} {
		if plumbing.IsHash(sha) {
			if _, err := c.repo.git.Commit(sha); err == nil {
				return sha, nil
			}
		}
	}
	sha, err := c.repo.git.Run(c.ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return "", refuse(http.StatusUnprocessableEntity, "No commit found for SHA: %s", ref)
	}
	return sha, nil
}

func (c *call) listCheckRuns(sha string) reply {
	query := c.r.URL.Query()
	runs := slices.DeleteFunc(c.repo.runs(sha), func(run *checkRun) bool {
		return query.Get("check_name") != "" && query.Get("check_name") != run.name ||
			query.Get("status") != "" && query.Get("status") != run.status
	})
	return ok(object{"total_count": len(runs), "check_runs": each(page(c, runs), c.sim.renderCheckRun)})
}

type checkRunInput struct {
	Name       string `json:"name"`
	HeadSHA    string `json:"head_sha"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	DetailsURL string `json:"details_url"`
	ExternalID string `json:"external_id"`
	Output     *struct {
		Title, Summary, Text string
		Annotations          []annotation
	}
}

func (c *call) createCheckRun() reply {
	var in checkRunInput
	c.decode(&in)
	if !c.user.App {
		return fail(refuse(http.StatusForbidden, "You must authenticate via a GitHub App."))
	}
	if in.Name == "" {
		return fail(invalid("CheckRun", "name", "missing_field"))
	}
	sha := steps.Got(c.resolve(in.HeadSHA))
	cs := c.sim.suite(c.repo, sha, "", c.user)
	run := &checkRun{id: c.sim.id(), suite: cs, name: in.Name, status: "queued", started: c.sim.Now()}
	cs.runs = append(cs.runs, run)
	c.sim.emitCheckRun(c.user, run, "created")
	c.fillCheckRun(run, in)
	return created(c.sim.renderCheckRun(run))
}

// fillCheckRun applies an app's input; completing the run sends the events for it.
func (c *call) fillCheckRun(run *checkRun, in checkRunInput) {
	run.status = cmp.Or(in.Status, run.status)
	run.detailsURL, run.externalID = cmp.Or(in.DetailsURL, run.detailsURL), cmp.Or(in.ExternalID, run.externalID)
	if in.Output != nil {
		run.title, run.summary, run.text = in.Output.Title, in.Output.Summary, in.Output.Text
		run.annotations = append(run.annotations, in.Output.Annotations...)
	}
	if in.Conclusion != "" {
		c.sim.complete(c.user, run, in.Conclusion)
	}
}

// checkRun finds the check run that the path names.
func (c *call) checkRun() *checkRun { return must(c.repo.run(c.id("run")), errNotFound) }

// complete completes a check run, and its suite if it was the last.
func (s *Sim) complete(by *account, run *checkRun, conclusion string) {
	run.status, run.conclusion, run.completed = "completed", conclusion, s.Now()
	run.suite.updated = s.Now()
	s.emitCheckRun(by, run, "completed")
	if run.suite.status() == "completed" {
		s.emitSuite(by, run.suite, "completed")
	}
}

func (s *Sim) emitCheckRun(by *account, run *checkRun, action string) {
	s.emit(run.suite.repo, by, "check_run", action, object{"check_run": s.renderCheckRun(run)})
}

func (s *Sim) emitSuite(by *account, cs *checkSuite, action string) {
	s.emit(cs.repo, by, "check_suite", action, object{"check_suite": s.renderSuite(cs)})
}

func (c *call) combinedStatus(sha string) reply {
	latest, state := c.repo.latestStatuses(sha), "success"
	for _, st := range latest {
		if st.state == "failure" || st.state == "error" {
			state = "failure"
		} else if st.state == "pending" && state == "success" {
			state = "pending"
		}
	}
	if len(latest) == 0 {
		state = "pending"
	}
	self := c.sim.api("/repos/%s/commits/%s", c.repo.fullName(), sha)
	return ok(object{
		"state": state, "sha": sha, "total_count": len(latest), "statuses": each(page(c, latest), c.sim.renderStatus),
		"repository": c.sim.renderRepo(c.repo), "commit_url": self, "url": self + "/status",
	})
}

// listStatuses lists all statuses of a commit, the newest first.
func (c *call) listStatuses(sha string) reply {
	var all []*status
	for _, st := range slices.Backward(c.repo.statuses) {
		if st.sha == sha {
			all = append(all, st)
		}
	}
	return ok(each(page(c, all), func(st *status) object {
		out := c.sim.renderStatus(st)
		out["creator"] = c.sim.renderUser(st.creator)
		return out
	}))
}

// The maximum length of a status's description in characters, and the maximum number of statuses of one commit
// and context (https://docs.github.com/rest/commits/statuses#create-a-commit-status).
const (
	maxDescription = 140
	maxStatuses    = 1000
)

func (c *call) createStatus() reply {
	var in struct {
		State, Description, Context string
		TargetURL                   string `json:"target_url"`
	}
	c.decode(&in)
	sha := steps.Got(c.resolve(c.r.PathValue("sha")))
	if !slices.Contains([]string{"error", "failure", "pending", "success"}, in.State) {
		return fail(invalid("Status", "state", "inclusion"))
	}
	if utf8.RuneCountInString(in.Description) > maxDescription {
		return fail(refuse(http.StatusUnprocessableEntity, "Validation Failed: description is too long (maximum is %d characters)",
			maxDescription))
	}
	if strings.ContainsFunc(in.Description, func(r rune) bool { return r > '\uFFFF' }) {
		return fail(refuse(http.StatusUnprocessableEntity, "Validation Failed: description doesn't accept 4-byte Unicode"))
	}
	same := 0
	for _, st := range c.repo.statuses {
		if st.sha == sha && st.context == cmp.Or(in.Context, "default") {
			same++
		}
	}
	if same >= maxStatuses {
		return fail(refuse(http.StatusUnprocessableEntity, "This SHA and context has reached the maximum number of statuses."))
	}
	st := &status{
		id: c.sim.id(), repo: c.repo, sha: sha, context: cmp.Or(in.Context, "default"), state: in.State, description: in.Description,
		targetURL: in.TargetURL, creator: c.user, created: c.sim.Now(),
	}
	c.repo.statuses = append(c.repo.statuses, st)
	c.emitStatus(st)
	out := c.sim.renderStatus(st)
	out["creator"] = c.sim.renderUser(c.user)
	return created(out)
}

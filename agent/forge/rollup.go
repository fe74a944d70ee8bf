package forge

import (
	"context"
	"slices"
	"strings"
	"time"
)

type commitNode struct {
	Oid               string
	CheckSuites       connection[suiteNode]                     // of each App that may report on it
	StatusCheckRollup *struct{ Contexts connection[checkNode] } // null if nothing has reported
}

func (n *pullRequestNode) commit() commitNode {
	if len(n.Commits.Nodes) == 0 {
		return commitNode{}
	}
	return n.Commits.Nodes[0].Commit
}

// contexts are the checks and statuses; none if nothing has reported.
func (n commitNode) contexts() connection[checkNode] {
	if n.StatusCheckRollup == nil {
		return connection[checkNode]{}
	}
	return n.StatusCheckRollup.Contexts
}

// checkNode is the union of a check run and a commit status.
type checkNode struct {
	Typename                               string `json:"__typename"`
	Name, Status, Conclusion, DetailsURL   string
	Title                                  string
	Context, State, TargetURL, Description string
	StartedAt, CompletedAt, CreatedAt      time.Time // zero where null
	IsRequired                             bool
	CheckSuite                             *struct {
		App *struct {
			DatabaseID int64
			Slug       string
		}
		originNode
	}
	Creator *actorNode
}

// originNode is what is known about the start of a check suite.
type originNode struct {
	Branch      struct{ Name string } // null if it is gone, or a fork's
	Creator     *actorNode            // who started the run
	WorkflowRun *struct {
		RunNumber int64
		Event     string
		Workflow  *struct{ ID string }
	}
}

// workflow names what started a run of a workflow, and number is the run's; empty and zero if that is not known, or if
// the run has inputs of its own. The branch is a part of it, since the same head may have a pull request from another branch
// or a fork, with another base. GitHub names no branch of a fork: there, the login that started the run stands for it.
// Elsewhere the login is no part: a maintainer's edit of the title repeats the author's run.
func (n originNode) workflow() (name string, number int64) {
	run := n.WorkflowRun
	if run == nil || run.Workflow == nil || strings.HasSuffix(run.Event, "_dispatch") {
		return "", 0
	}
	from := n.Branch.Name
	if from == "" {
		from = "@" + n.Creator.user().Login
	}
	return strings.Join([]string{run.Workflow.ID, run.Event, from}, " "), run.RunNumber
}

// checks are the checks of a commit, without those that have one of the agents' names.
func (n commitNode) checks() []Check {
	return slices.DeleteFunc(n.reported(), func(c Check) bool { return OwnContext(c.Name) })
}

// statuses are the commit statuses that have one of the agents' names.
func (n commitNode) statuses() []Check {
	return slices.DeleteFunc(n.reported(), func(c Check) bool { return c.Kind != Status || !OwnContext(c.Name) })
}

func (n commitNode) reported() []Check {
	var all []Check
	for _, c := range n.contexts().Nodes {
		if c.Typename == "StatusContext" {
			all = append(all, Check{
				Name: c.Context, By: c.Creator.user(), Kind: Status, State: statusState(c.State), Required: c.IsRequired, URL: c.TargetURL,
				Summary: c.Description, At: c.CreatedAt,
			})
			continue
		}
		check := Check{Name: c.Name, Kind: CheckRun, State: runState(c.Status, c.Conclusion), Required: c.IsRequired, URL: c.DetailsURL,
			Summary: c.Title, At: c.StartedAt}
		if c.CompletedAt.After(c.StartedAt) {
			check.At = c.CompletedAt
		}
		if c.CheckSuite != nil && c.CheckSuite.App != nil {
			check.App, check.AppID = c.CheckSuite.App.Slug, c.CheckSuite.App.DatabaseID
		}
		if c.CheckSuite != nil {
			check.workflow, check.run = c.CheckSuite.workflow()
		}
		if check.workflow != "" {
			check.began = c.StartedAt
		}
		all = append(all, check)
	}
	return all
}

// current are the checks without those that a later run of the same workflow repeated, as when the title was
// edited: GitHub keeps listing them, although only the later ones count for a merge.
func current(all []Check) []Check {
	return slices.DeleteFunc(slices.Clone(all), func(c Check) bool {
		return slices.ContainsFunc(all, func(other Check) bool { return repeats(all, other, c) })
	})
}

// repeats reports whether a check is of a later run than an earlier one of the same name, and stands for it. It does
// not if the earlier run was started again since, nor if the later run skipped a job of that name: that may be the one
// that failed.
func repeats(all []Check, later, earlier Check) bool {
	again := earlier.workflow != "" && later.workflow == earlier.workflow && later.run > earlier.run && later.Name == earlier.Name
	return again && !earlier.began.IsZero() && !later.began.Before(earlier.began) && !slices.ContainsFunc(all, func(c Check) bool {
		ignored := c.State == CheckSkipped || c.State == CheckNeutral
		return ignored && c.workflow == later.workflow && c.run == later.run && c.Name == later.Name
	})
}

// suiteNode is what one App reports on a commit; for GitHub Actions, it is one run of a workflow.
type suiteNode struct {
	Status, Conclusion, URL string
	CreatedAt               time.Time
	App                     *struct{ Slug string }
	CheckRuns               *struct{ TotalCount int }
	originNode
}

// stillborn reports whether it is a run that ended badly before its first job, as one that waits for its turn does when
// another run takes it, and that no later run of these suites repeats. One that skipped all its jobs repeats none.
func (n suiteNode) stillborn(suites []suiteNode) bool {
	badly := slices.Contains([]string{"cancelled", "failure", "timed_out", "stale"}, strings.ToLower(n.Conclusion))
	workflow, run := n.workflow()
	return badly && n.CheckRuns != nil && n.CheckRuns.TotalCount == 0 && !slices.ContainsFunc(suites, func(other suiteNode) bool {
		again, later := other.workflow()
		ran := !slices.Contains([]string{"skipped", "neutral"}, strings.ToLower(other.Conclusion))
		return ran && workflow != "" && again == workflow && later > run
	})
}

// unlisted is a check for what the runs of GitHub's workflows show but no listed check does: a run has
// started but its first or next job has not, a run waits for a person's approval, could not start, or ended badly
// before its first job.
// Other Apps get a suite for each commit, whether they ever report or not, so their suites prove nothing
// (https://docs.github.com/rest/guides/using-the-rest-api-to-interact-with-checks#about-check-suites).
func unlisted(listed []Check, suites []suiteNode) []Check {
	if slices.ContainsFunc(listed, func(c Check) bool { return c.App == Actions && c.State == CheckPending }) {
		return nil
	}
	for _, suite := range suites {
		if suite.App == nil || suite.App.Slug != Actions {
			continue
		}
		check := Check{Name: "GitHub Actions", App: Actions, Kind: CheckRun, State: CheckActionRequired, URL: suite.URL, At: suite.CreatedAt}
		switch {
		case !strings.EqualFold(suite.Status, "completed"):
			check.State, check.Summary = CheckPending, "a workflow has started, but its next job has not"
		case strings.EqualFold(suite.Conclusion, "action_required"):
			check.Summary = "a workflow waits for someone to approve its run: see " + suite.URL
		case strings.EqualFold(suite.Conclusion, "startup_failure"):
			check.Summary = "a workflow could not start, for instance because its file is invalid: see " + suite.URL
		case suite.stillborn(suites):
			check.Summary = "a workflow ended as " + strings.ToLower(suite.Conclusion) + " before its first job: see " + suite.URL +
				", correct its file if that is invalid, or run it again"
		default:
			continue
		}
		return []Check{check}
	}
	return nil
}

// ChecksOf lists the check runs and commit statuses that have reported on a commit, including unfinished
// ones, with name, source, kind and state. One that GitHub no longer has has no name. Of more than 2,000 it
// lists the first ones.
func (c *Client) ChecksOf(ctx context.Context, repo Repo, sha string) ([]Check, error) {
	var all []Check
	variables := repo.variables()
	variables["oid"] = sha
	for range maxRestPages {
		found, err := readRepository[struct{ Object *commitNode }](ctx, c, "read which checks reported on "+sha+" in "+repo.String(),
			checksQuery, variables)
		if err != nil {
			return nil, err
		}
		if found.Object == nil || found.Object.StatusCheckRollup == nil {
			return current(all), nil
		}
		all = append(all, found.Object.checks()...)
		if !found.Object.contexts().PageInfo.advance(variables, "after") {
			return current(all), nil
		}
	}
	return current(all), nil
}

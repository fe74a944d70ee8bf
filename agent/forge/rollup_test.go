package forge

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// ranAt is a finished job of a run of a workflow, and ranFor one whose run began in the minute of its number.
func ranAt(began, conclusion, workflow, event string, number int) string {
	of := "null"
	if workflow != "" {
		of = fmt.Sprintf(`{"runNumber":%d,"event":%q,"workflow":{"id":%q}}`, number, event, workflow)
	}
	return fmt.Sprintf(`{"__typename":"CheckRun","name":"title","status":"COMPLETED","conclusion":%q,"startedAt":%s,"checkSuite":`+
		`{"app":{"databaseId":1,"slug":"github-actions"},"workflowRun":%s}}`, conclusion, began, of)
}

func ranFor(conclusion, workflow, event string, number int) string {
	return ranAt(fmt.Sprintf(`"2026-01-02T03:%02d:00Z"`, number), conclusion, workflow, event, number)
}

// pageWith is a page of a pull request with other checks.
func pageWith(contexts string) string {
	before, rest, _ := strings.Cut(page("abc", then, noComments), `"statusCheckRollup"`)
	_, after, _ := strings.Cut(rest, `"endCursor":"c"}}}`)
	return before + contexts + after
}

// TestALaterRunOfAWorkflowReplacesTheEarlierOne checks that a failure counts no longer once another run of the
// same workflow repeated the job, and that neither a job of the same name elsewhere nor an older result replaces it.
func TestALaterRunOfAWorkflowReplacesTheEarlierOne(t *testing.T) {
	failed := ranFor("FAILURE", "W1", "pull_request", 7)
	for name, tc := range map[string]struct {
		later string
		want  []CheckState
	}{
		"a later run passed":          {ranFor("SUCCESS", "W1", "pull_request", 8), []CheckState{CheckSuccess}},
		"an earlier run passed":       {ranFor("SUCCESS", "W1", "pull_request", 6), []CheckState{CheckFailure}},
		"a later run was cancelled":   {ranFor("CANCELLED", "W1", "pull_request", 8), []CheckState{CheckCancelled}},
		"a later run skipped the job": {ranFor("SKIPPED", "W1", "pull_request", 8), []CheckState{CheckFailure, CheckSkipped}},
		"a later run ignored the job": {ranFor("NEUTRAL", "W1", "pull_request", 8), []CheckState{CheckFailure, CheckNeutral}},
		"a later run skipped a job of that name": {ranFor("SUCCESS", "W1", "pull_request", 8) + "," + ranFor("SKIPPED", "W1", "pull_request", 8),
			[]CheckState{CheckFailure, CheckSuccess, CheckSkipped}},
		"the earlier run was started again": {ranAt(`"2026-01-02T03:06:00Z"`, "SUCCESS", "W1", "pull_request", 8),
			[]CheckState{CheckFailure, CheckSuccess}},
		"nobody knows when the earlier run started": {ranAt("null", "FAILURE", "W1", "pull_request", 6) + "," +
			ranFor("SUCCESS", "W1", "pull_request", 8), []CheckState{CheckFailure, CheckSuccess}},
		"another job of the same run": {ranFor("SUCCESS", "W1", "pull_request", 7), []CheckState{CheckFailure, CheckSuccess}},
		"the run of another workflow": {ranFor("SUCCESS", "W2", "pull_request", 8), []CheckState{CheckFailure, CheckSuccess}},
		"the run for another event":   {ranFor("SUCCESS", "W1", "push", 8), []CheckState{CheckFailure, CheckSuccess}},
		"the run has inputs of its own": {strings.ReplaceAll(ranFor("FAILURE", "W1", "X", 9)+","+ranFor("SUCCESS", "W1", "X", 10), "X",
			"workflow_dispatch"), []CheckState{CheckFailure, CheckFailure, CheckSuccess}},
		"a workflow that is not known":  {ranFor("SUCCESS", "", "", 8), []CheckState{CheckFailure, CheckSuccess}},
		"GitHub lists the later before": {"", []CheckState{CheckSuccess}},
	} {
		nodes := failed + "," + tc.later
		if tc.later == "" {
			nodes = ranFor("SUCCESS", "W1", "pull_request", 8) + "," + failed
		}
		contexts := `"statusCheckRollup":{"contexts":{"nodes":[` + nodes + `],"pageInfo":{"hasNextPage":false}}}`
		c := client(t, func(r *http.Request) (*http.Response, error) {
			question, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			if strings.Contains(string(question), "query ChecksOf") {
				// A token without access to Actions sees no runs of workflows, and all the rest.
				return answer(200, `{"data":{"repository":{"object":{`+contexts+`}}},"errors":[{"type":"FORBIDDEN","message":"no","path":`+
					`["repository","object","statusCheckRollup","contexts","nodes",0,"checkSuite","workflowRun"]}]}`), nil
			}
			return answer(200, pageWith(contexts)), nil
		})
		pr, err := c.PullRequest(t.Context(), pull)
		of, errOf := c.ChecksOf(t.Context(), pull.Repo, "abc")
		if err != nil || errOf != nil {
			t.Fatalf("%s: %v, %v", name, err, errOf)
		}
		for _, checks := range [][]Check{pr.Checks, of} {
			var got []CheckState
			for _, check := range checks {
				got = append(got, check.State)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: the checks are %v; want %v", name, got, tc.want)
			}
		}
	}
}

// TestTheRunForAnotherPullRequestReplacesNothing checks that a run counts beside the earlier one if it may be for
// another pull request of the same head, with another base: of the same branch, even if that one is closed again, or
// of another branch, or of another fork, whose branches GitHub does not name. Whoever starts the run of a branch repeats
// it: a maintainer may edit the title.
func TestTheRunForAnotherPullRequestReplacesNothing(t *testing.T) {
	other := func(closed string) string {
		return `{"number":13,"closedAt":` + closed + `,"repository":{"nameWithOwner":"acme/app"}}`
	}
	const own = `{"number":12,"closedAt":null,"repository":{"nameWithOwner":"Acme/App"}}`
	by := func(login, branch string) string { return `"creator":{"login":"` + login + `"},"branch":` + branch }
	const topic = `{"name":"topic"}`
	for name, tc := range map[string]struct {
		pulls, earlier, later string // the pull requests of the branch, and the origins of the two runs
		more                  bool
		want                  int
	}{
		"none":                             {own, by("alice", topic), by("alice", topic), false, 1},
		"none, and a maintainer repeats":   {own, by("alice", topic), by("walter", topic), false, 1},
		"open":                             {own + "," + other("null"), by("alice", topic), by("alice", topic), false, 2},
		"closed since":                     {own + "," + other(`"2026-01-02T03:05:00Z"`), by("alice", topic), by("alice", topic), false, 2},
		"closed before this one was there": {other(`"2026-01-02T03:04:00Z"`) + "," + own, by("alice", topic), by("alice", topic), false, 1},
		"more than are listed":             {own, by("alice", topic), by("alice", topic), true, 2},
		"of another branch":                {own, by("alice", topic), by("alice", `{"name":"other"}`), false, 2},
		"of a branch that is gone":         {own, by("alice", topic), by("alice", "null"), false, 2},
		"none, and the branch is a fork's": {own, by("alice", "null"), by("alice", "null"), false, 1},
		"unknown, for the fork is gone":    {"", by("alice", "null"), by("alice", "null"), false, 2},
		"of another fork":                  {own, by("alice", "null"), by("mallory", "null"), false, 2},
	} {
		of := func(check, origin string) string {
			return strings.Replace(check, `"workflowRun"`, origin+`,"workflowRun"`, 1)
		}
		contexts := `"statusCheckRollup":{"contexts":{"nodes":[` + of(ranFor("FAILURE", "W1", "pull_request", 7), tc.earlier) + "," +
			of(ranFor("SUCCESS", "W1", "pull_request", 8), tc.later) + `],"pageInfo":{"hasNextPage":false}}}`
		c := client(t, func(*http.Request) (*http.Response, error) {
			head := fmt.Sprintf(`"headRef":{"pulls":{"nodes":[%s],"pageInfo":{"hasPreviousPage":%t}}}`, tc.pulls, tc.more)
			if tc.pulls == "" {
				head = `"headRef":null`
			}
			return answer(200, strings.Replace(pageWith(contexts), `"headRef":{}`, head, 1)), nil
		})
		if pr, err := c.PullRequest(t.Context(), pull); err != nil || len(pr.Checks) != tc.want {
			t.Errorf("beside a pull request that is %s the checks are %+v, %v; want %d", name, pr.Checks, err, tc.want)
		}
	}
}

package forge

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestALaterRunOfAWorkflowReplacesTheEarlierOne checks that a failure counts no longer once another run of the
// same workflow repeated the job, and that neither a job of the same name elsewhere nor an older result replaces it.
func TestALaterRunOfAWorkflowReplacesTheEarlierOne(t *testing.T) {
	startedAt := func(minute, conclusion, workflow, event string, number int) string {
		of := "null"
		if workflow != "" {
			of = fmt.Sprintf(`{"runNumber":%d,"event":%q,"workflow":{"id":%q}}`, number, event, workflow)
		}
		return fmt.Sprintf(`{"__typename":"CheckRun","name":"title","status":"COMPLETED","conclusion":%q,"startedAt":%s,"checkSuite":`+
			`{"app":{"databaseId":1,"slug":"github-actions"},"workflowRun":%s}}`, conclusion, minute, of)
	}
	run := func(conclusion, workflow, event string, number int) string {
		return startedAt(fmt.Sprintf(`"2026-01-02T03:%02d:00Z"`, number), conclusion, workflow, event, number)
	}
	failed := run("FAILURE", "W1", "pull_request", 7)
	for name, tc := range map[string]struct {
		later string
		want  []CheckState
	}{
		"a later run passed":          {run("SUCCESS", "W1", "pull_request", 8), []CheckState{CheckSuccess}},
		"an earlier run passed":       {run("SUCCESS", "W1", "pull_request", 6), []CheckState{CheckFailure}},
		"a later run was cancelled":   {run("CANCELLED", "W1", "pull_request", 8), []CheckState{CheckCancelled}},
		"a later run skipped the job": {run("SKIPPED", "W1", "pull_request", 8), []CheckState{CheckFailure, CheckSkipped}},
		"a later run ignored the job": {run("NEUTRAL", "W1", "pull_request", 8), []CheckState{CheckFailure, CheckNeutral}},
		"a later run skipped a job of that name": {run("SUCCESS", "W1", "pull_request", 8) + "," + run("SKIPPED", "W1", "pull_request", 8),
			[]CheckState{CheckFailure, CheckSuccess, CheckSkipped}},
		"the earlier run was started again": {startedAt(`"2026-01-02T03:06:00Z"`, "SUCCESS", "W1", "pull_request", 8),
			[]CheckState{CheckFailure, CheckSuccess}},
		"nobody knows when the earlier run started": {startedAt("null", "FAILURE", "W1", "pull_request", 6) + "," +
			run("SUCCESS", "W1", "pull_request", 8), []CheckState{CheckFailure, CheckSuccess}},
		"another job of the same run":   {run("SUCCESS", "W1", "pull_request", 7), []CheckState{CheckFailure, CheckSuccess}},
		"the run of another workflow":   {run("SUCCESS", "W2", "pull_request", 8), []CheckState{CheckFailure, CheckSuccess}},
		"the run for another event":     {run("SUCCESS", "W1", "push", 8), []CheckState{CheckFailure, CheckSuccess}},
		"a workflow that is not known":  {run("SUCCESS", "", "", 8), []CheckState{CheckFailure, CheckSuccess}},
		"GitHub lists the later before": {"", []CheckState{CheckSuccess}},
	} {
		nodes := failed + "," + tc.later
		if tc.later == "" {
			nodes = run("SUCCESS", "W1", "pull_request", 8) + "," + failed
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
			before, rest, _ := strings.Cut(page("abc", then, noComments), `"statusCheckRollup"`)
			_, after, _ := strings.Cut(rest, `"endCursor":"c"}}}`)
			return answer(200, before+contexts+after), nil
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

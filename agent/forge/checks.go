package forge

import (
	"context"
	"strings"

	"github.com/google/go-github/v66/github"
)

const (
	maxSummaryBytes = 16 << 10
	maxTextBytes    = 32 << 10
)

func lower(s string) string { return strings.ToLower(s) }

// runState reads a check run's status and conclusion, in either case: GraphQL shouts, REST does not.
func runState(status, conclusion string) CheckState {
	if lower(status) != "completed" {
		return CheckPending
	}
	switch state := CheckState(lower(conclusion)); state {
	case CheckSuccess, CheckNeutral, CheckSkipped, CheckCancelled, CheckActionRequired:
		return state
	}
	return CheckFailure
}

// statusState reads a commit status; "expected" is a required one that has not reported yet.
func statusState(state string) CheckState {
	switch lower(state) {
	case "success":
		return CheckSuccess
	case "pending", "expected":
		return CheckPending
	}
	return CheckFailure
}

// FailedChecks returns the check runs and commit statuses of a commit that have ended and did not pass, whether they
// failed, were cancelled, ran out of time or wait for a person, with what they reported.
func (c *Client) FailedChecks(ctx context.Context, repo Repo, sha string) ([]FailedCheck, error) {
	op := "read the failed checks of " + sha + " in " + repo.String()
	var failed []FailedCheck
	list := &github.ListCheckRunsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for range maxRestPages {
		page, response, err := c.rest.Checks.ListCheckRunsForRef(ctx, repo.Owner, repo.Name, sha, list)
		if err != nil {
			return nil, c.failed(op, err)
		}
		for _, run := range page.CheckRuns {
			switch runState(run.GetStatus(), run.GetConclusion()) {
			case CheckPending, CheckSuccess, CheckNeutral, CheckSkipped:
			default:
				failed = append(failed, failedRun(run))
			}
		}
		if response.NextPage == 0 {
			statuses, err := c.failedStatuses(ctx, repo, sha)
			return append(failed, statuses...), c.failed(op, err)
		}
		list.Page = response.NextPage
	}
	return nil, &Error{Op: op, Message: "there are more check runs than this program reads"}
}

func failedRun(run *github.CheckRun) FailedCheck {
	output := run.GetOutput()
	said := strings.TrimSpace(output.GetTitle() + "\n" + output.GetSummary())
	return FailedCheck{
		Name: run.GetName(), URL: run.GetDetailsURL(),
		Summary: strings.TrimSpace("It ended as " + run.GetConclusion() + ".\n" + cut(said, maxSummaryBytes)),
		Text:    cut(output.GetText(), maxTextBytes),
	}
}

func (c *Client) failedStatuses(ctx context.Context, repo Repo, sha string) ([]FailedCheck, error) {
	var failed []FailedCheck
	list := &github.ListOptions{PerPage: 100}
	for range maxRestPages {
		combined, response, err := c.rest.Repositories.GetCombinedStatus(ctx, repo.Owner, repo.Name, sha, list)
		if err != nil {
			return nil, err
		}
		for _, status := range combined.Statuses {
			if statusState(status.GetState()) == CheckFailure {
				failed = append(failed, FailedCheck{Name: status.GetContext(), URL: status.GetTargetURL(), Summary: cut(status.GetDescription(), maxSummaryBytes)})
			}
		}
		if response.NextPage == 0 {
			return failed, nil
		}
		list.Page = response.NextPage
	}
	return nil, &Error{Message: "there are more commit statuses than this program reads"}
}

// cut shortens a text to its end, where logs say what went wrong, and says so.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = "[the beginning is left out]\n"
	return mark + strings.ToValidUTF8(text[len(text)-limit+len(mark):], "")
}

package forge

import (
	"context"
	"strings"

	"github.com/google/go-github/v66/github"
)

const (
	maxAnnotations  = 50 // of one check run
	maxSummaryBytes = 16 << 10
	maxTextBytes    = 32 << 10
	maxRemarkBytes  = 4 << 10
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

// FailedChecks returns the check runs and commit statuses of a commit that ended in failure, with what they reported.
// Texts are cut to the bounds of FailedCheck, and of each check run the first 50 annotations are read.
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
			if runState(run.GetStatus(), run.GetConclusion()) != CheckFailure {
				continue
			}
			check, err := c.failedRun(ctx, repo, run)
			if err != nil {
				return nil, c.failed(op, err)
			}
			failed = append(failed, check)
		}
		if response.NextPage == 0 {
			statuses, err := c.failedStatuses(ctx, repo, sha)
			return append(failed, statuses...), c.failed(op, err)
		}
		list.Page = response.NextPage
	}
	return nil, &Error{Op: op, Message: "there are more check runs than this program reads"}
}

func (c *Client) failedRun(ctx context.Context, repo Repo, run *github.CheckRun) (FailedCheck, error) {
	output := run.GetOutput()
	summary := strings.TrimSpace(output.GetTitle() + "\n" + output.GetSummary())
	check := FailedCheck{
		Name: run.GetName(), URL: run.GetDetailsURL(),
		Summary: cut(summary, maxSummaryBytes), Text: cut(output.GetText(), maxTextBytes),
	}
	if output.GetAnnotationsCount() == 0 {
		return check, nil
	}
	remarks, _, err := c.rest.Checks.ListCheckRunAnnotations(ctx, repo.Owner, repo.Name, run.GetID(), &github.ListOptions{PerPage: maxAnnotations})
	for _, remark := range remarks {
		check.Annotations = append(check.Annotations, Annotation{
			Path: remark.GetPath(), Line: remark.GetEndLine(), Level: remark.GetAnnotationLevel(),
			Message: cut(remark.GetMessage(), maxRemarkBytes),
		})
	}
	return check, err
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

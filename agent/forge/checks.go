package forge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v66/github"
)

const (
	maxSummaryBytes = 16 << 10
	maxTextBytes    = 32 << 10
	maxNotesBytes   = 8 << 10
	maxNotes        = 50       // annotations that are read of one check run
	maxNoted        = 20       // check runs whose annotations are read
	maxLogs         = 5        // jobs whose logs are read
	maxLogsBytes    = 64 << 10 // of all those logs together
)

// Actions is the app behind GitHub Actions, whose check runs are jobs with logs.
const Actions = "github-actions"

// runState interprets a check run's status and conclusion, in any case: GraphQL uses upper case, REST lower
// case.
func runState(status, conclusion string) CheckState {
	if !strings.EqualFold(status, "completed") {
		return CheckPending
	}
	switch state := CheckState(strings.ToLower(conclusion)); state {
	case CheckSuccess, CheckNeutral, CheckSkipped, CheckCancelled, CheckActionRequired, CheckStartupFailure, CheckStale:
		return state
	}
	return CheckFailure
}

// statusState interprets a commit status. "expected" is a required status that has not reported yet.
func statusState(state string) CheckState {
	switch strings.ToLower(state) {
	case "success":
		return CheckSuccess
	case "pending", "expected":
		return CheckPending
	}
	return CheckFailure
}

// FailedChecks returns the check runs and commit statuses of a commit that have ended without success, and
// what they reported: they failed, were cancelled, timed out, or wait for a person. For the first five of
// them that are jobs of GitHub Actions, Text has the end of the log, or the reason why it cannot be read,
// which is no error.
func (c *Client) FailedChecks(ctx context.Context, repo Repo, sha string) ([]FailedCheck, error) {
	op := "read the failed checks of " + sha + " in " + repo.String()
	runs, err := c.failedRuns(ctx, repo, sha)
	if err != nil {
		return nil, c.failed(op, err)
	}
	jobs := 0
	for _, run := range runs {
		if run.GetApp().GetSlug() == Actions {
			jobs = min(jobs+1, maxLogs)
		}
	}
	var failed []FailedCheck
	logs, noted := 0, 0
	for _, run := range runs {
		check := failedRun(run)
		if run.GetOutput().GetAnnotationsCount() > 0 && noted < maxNoted {
			noted++
			notes, err := c.annotations(ctx, repo, run.GetID())
			if err != nil {
				return nil, c.failed(op, err)
			}
			check.Text = strings.TrimSpace(notes + "\n" + check.Text)
		}
		if run.GetApp().GetSlug() == Actions && logs < maxLogs {
			logs++
			check.Text = strings.TrimSpace(check.Text + "\n" + c.jobLog(ctx, repo, run.GetID(), maxLogsBytes/jobs))
		}
		failed = append(failed, check)
	}
	statuses, err := c.failedStatuses(ctx, repo, sha)
	return append(failed, statuses...), c.failed(op, err)
}

func (c *Client) failedRuns(ctx context.Context, repo Repo, sha string) ([]*github.CheckRun, error) {
	all, whole, err := readAll(func(page *github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
		list := &github.ListCheckRunsOptions{ListOptions: *page}
		runs, response, err := c.rest.Checks.ListCheckRunsForRef(ctx, repo.Owner, repo.Name, sha, list)
		if err != nil {
			return nil, response, err
		}
		return runs.CheckRuns, response, nil
	})
	if err == nil && !whole {
		err = &Error{Message: "there are more check runs than this program reads"}
	}
	return slices.DeleteFunc(all, func(run *github.CheckRun) bool {
		state := runState(run.GetStatus(), run.GetConclusion())
		return OwnContext(run.GetName()) || slices.Contains([]CheckState{CheckPending, CheckSuccess, CheckNeutral, CheckSkipped}, state)
	}), err
}

func failedRun(run *github.CheckRun) FailedCheck {
	output := run.GetOutput()
	said := strings.TrimSpace(output.GetTitle() + "\n" + output.GetSummary())
	return FailedCheck{
		Name:    run.GetName(),
		Summary: strings.TrimSpace("It ended as " + run.GetConclusion() + ".\n" + Tail(said, maxSummaryBytes)),
		Text:    Tail(output.GetText(), maxTextBytes),
	}
}

// annotations reads what a check run says about single lines, as one line of text each.
func (c *Client) annotations(ctx context.Context, repo Repo, run int64) (string, error) {
	page, _, err := c.rest.Checks.ListCheckRunAnnotations(ctx, repo.Owner, repo.Name, run, &github.ListOptions{PerPage: maxNotes})
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, a := range page {
		message := strings.TrimSpace(a.GetTitle() + " " + a.GetMessage())
		fmt.Fprintf(&text, "%s:%d: %s: %s\n", a.GetPath(), a.GetStartLine(), a.GetAnnotationLevel(), message)
	}
	return Tail(text.String(), maxNotesBytes), nil
}

func (c *Client) failedStatuses(ctx context.Context, repo Repo, sha string) ([]FailedCheck, error) {
	all, whole, err := readAll(func(page *github.ListOptions) ([]*github.RepoStatus, *github.Response, error) {
		combined, response, err := c.rest.Repositories.GetCombinedStatus(ctx, repo.Owner, repo.Name, sha, page)
		if err != nil {
			return nil, response, err
		}
		return combined.Statuses, response, nil
	})
	switch {
	case err != nil:
		return nil, err
	case !whole:
		return nil, &Error{Message: "there are more commit statuses than this program reads"}
	}
	var failed []FailedCheck
	for _, status := range all {
		if statusState(status.GetState()) == CheckFailure && !OwnContext(status.GetContext()) {
			failed = append(failed, FailedCheck{Name: status.GetContext(), Summary: Tail(status.GetDescription(), maxSummaryBytes)})
		}
	}
	return failed, nil
}

const leftOut = "[the beginning is left out]\n"

// Tail shortens a text to its end of at most limit bytes and says so, since logs say at the end what went wrong.
func Tail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return leftOut + strings.ToValidUTF8(text[len(text)-limit+len(leftOut):], "")
}

package projection_test

import (
	"slices"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
)

// job is a check run of a workflow, minutes after it all began.
func job(minutes int, id, suite int64, app, conclusion string) event.Event {
	at := began.Add(time.Duration(minutes) * time.Minute)
	return happened(minutes, "check_run", "completed", 0, object{"check_run": object{"id": id, "name": "build", "head_sha": "c1",
		"status": "completed", "conclusion": conclusion, "started_at": at, "completed_at": at, "check_suite": object{"id": suite},
		"app": object{"slug": app}}})
}

// workflow is a run of a workflow, whose jobs are in a check suite.
func workflow(id, suite int64, on string) event.Event {
	return happened(2, "workflow_run", "requested", 0, object{"workflow_run": object{"workflow_id": id, "check_suite_id": suite,
		"head_sha": "c1", "event": on}})
}

// TestJobsOfOneNameInTwoWorkflowsBothCount checks that the run of one workflow does not hide that another
// one's job of the same name failed, and that a workflow that runs again replaces its earlier run.
func TestJobsOfOneNameInTwoWorkflowsBothCount(t *testing.T) {
	t.Parallel()
	const actions = "github-actions"
	one5, two6 := workflow(1, 50, "pull_request"), workflow(2, 60, "pull_request")
	status := happened(4, "status", "", 0, object{"id": 9, "sha": "c1", "context": "build", "state": "failure", "updated_at": began})
	for name, tc := range map[string]struct {
		events []event.Event
		ci     string
		checks int
	}{
		"the earlier one failed": {[]event.Event{one5, two6, job(2, 5, 50, actions, "failure"), job(3, 6, 60, actions, "success")}, "failure", 2},
		"the later one failed":   {[]event.Event{one5, two6, job(2, 5, 50, actions, "success"), job(3, 6, 60, actions, "failure")}, "failure", 2},
		"its job was run again": {[]event.Event{one5, two6, job(2, 5, 50, actions, "failure"), job(3, 6, 60, actions, "success"),
			job(4, 7, 50, actions, "success")}, "success", 2},
		"the workflow ran again": {[]event.Event{one5, workflow(1, 60, "pull_request"), job(2, 5, 50, actions, "failure"),
			job(3, 6, 60, actions, "success")}, "success", 1},
		"the workflow ran again, and skipped it": {[]event.Event{one5, workflow(1, 60, "pull_request"), job(2, 5, 50, actions, "failure"),
			job(3, 6, 60, actions, "skipped")}, "failure", 2},
		"it ran for another reason": {[]event.Event{one5, workflow(1, 60, "push"), job(2, 5, 50, actions, "failure"),
			job(3, 6, 60, actions, "success")}, "failure", 2},
		"it ran by hand twice": {[]event.Event{workflow(1, 50, "workflow_dispatch"), workflow(1, 60, "workflow_dispatch"),
			job(2, 5, 50, actions, "failure"), job(3, 6, 60, actions, "success")}, "failure", 2},
		"the workflows are not known": {[]event.Event{job(2, 5, 50, actions, "failure"), job(3, 6, 60, actions, "success")}, "success", 1},
		"another App's":               {[]event.Event{job(2, 5, 50, "ci", "failure"), job(3, 6, 60, actions, "success")}, "failure", 2},
		"a status":                    {[]event.Event{job(2, 5, 50, actions, "success"), status}, "failure", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				l := newLog(t)
				l.append(opened(1, "c1"))
				l.append(tc.events...)
				p := l.project(l.file(), "judge")
				list, _, err := p.Pulls(t.Context(), projection.PullQuery{Limit: 10})
				if err != nil || len(list) != 1 || list[0].CI != tc.ci {
					t.Errorf("the board has %+v, %v, want CI %s", list, err, tc.ci)
				}
				d, _, err := p.Pull(t.Context(), event.Filter{}, "acme/app", 1)
				if err != nil || len(d.Checks) != tc.checks || d.Checks[0].Name != "build" {
					t.Errorf("the checks are %+v, %v", d.Checks, err)
				}
				slices.Reverse(tc.events) // GitHub's events may come in another order
			}
		})
	}
}

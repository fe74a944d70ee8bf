package projection_test

import (
	"fmt"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
)

// TestTheNewestReviewsAndHeadsCount checks that a pull request with more reviews and heads than are kept shows
// the last verdict and the checks of its head. Each reply to a comment on a line is a review at GitHub.
func TestTheNewestReviewsAndHeadsCount(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.append(opened(1, "c0"))
	const many = 510
	for i := range many {
		review := object{"id": 100 + i, "state": "commented", "user": object{"login": "alice"}, "commit_id": "c0",
			"submitted_at": began.Add(time.Duration(i) * time.Minute)}
		now := pull(i, 1, fmt.Sprintf("c%d", i), nil)
		l.append(happened(i, "pull_request", "synchronize", 1, object{"pull_request": now}),
			happened(i, "pull_request_review", "submitted", 1, object{"review": review, "pull_request": now}))
	}
	review := object{"id": 9000, "state": "approved", "user": object{"login": "judge"}, "commit_id": "last",
		"body": body(record(verdict.Approve, "last"), verdict.Signer{}), "submitted_at": began.Add((many + 1) * time.Minute)}
	last := pull(many, 1, "last", nil)
	l.append(happened(many, "pull_request", "synchronize", 1, object{"pull_request": last}),
		happened(many+1, "pull_request_review", "submitted", 1, object{"review": review, "pull_request": last}),
		checked(many+2, "last", "failure"))
	s := one(t, l.project(l.file(), "judge"))
	if s.Verdict != verdict.Approve || s.CI != "failure" || s.Turn != verdict.TurnAuthor {
		t.Errorf("the verdict is %q, CI %q, and the turn %q: %s", s.Verdict, s.CI, s.Turn, s.Reason)
	}
}

// TestNoFailingCheckIsLost checks that the page tells of a failing check and of a running one however many others passed
// before or after.
func TestNoFailingCheckIsLost(t *testing.T) {
	t.Parallel()
	const many = 310
	for name, tc := range map[string]struct {
		before, after int // checks that pass before and after the one
		status        string
		ci            string
	}{
		"failing last":  {many, 0, "failure", "failure"},
		"failing first": {0, many, "failure", "failure"},
		"running last":  {many, 0, "pending", "pending"},
		"all pass":      {many, many, "success", "success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog(t)
			l.append(opened(1, "c1"))
			reported := func(i int, state string) {
				l.append(happened(i, "status", "", 0, object{"id": i, "sha": "c1", "context": fmt.Sprintf("check-%d", i), "state": state,
					"updated_at": began.Add(time.Duration(i) * time.Minute)}))
			}
			for i := range tc.before {
				reported(i+1, "success")
			}
			reported(many+1, tc.status)
			for i := range tc.after {
				reported(many+2+i, "success")
			}
			p := l.project(l.file(), "judge")
			if s := one(t, p); s.CI != tc.ci {
				t.Errorf("CI is %s, want %s", s.CI, tc.ci)
			}
			if d, _, err := p.Pull(t.Context(), event.Filter{}, "acme/app", 1); err != nil || len(d.Checks) != 300 {
				t.Errorf("%d checks are kept, %v", len(d.Checks), err)
			}
		})
	}
}

// A comment on a pull request that ended before the log begins, as people write them months later, does not show
// it as open.
func TestACommentAloneShowsNoPullRequest(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.append(happened(0, "issue_comment", "created", 7, object{"comment": object{"body": "Thanks!"},
		"issue": object{"number": 7, "title": "Old", "state": "closed", "pull_request": object{"merged_at": began}}}))
	p := l.project(l.file(), "judge")
	if list, _, err := p.Pulls(t.Context(), projection.PullQuery{State: "all", Limit: 10}); err != nil || len(list) != 0 {
		t.Errorf("the board shows %+v, %v", list, err)
	}
	l.append(opened(7, "aaa"))
	p.Await(t.Context())
	d, known, err := p.Pull(t.Context(), event.Filter{}, "acme/app", 7)
	if err != nil || !known || d.Author != "alice" || len(d.Events) != 2 {
		t.Errorf("once more is known, %+v, %v, %v", d, known, err)
	}
}

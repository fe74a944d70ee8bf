package projection_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
)

// in is an event as it comes from a repository of another name.
func in(repo string, e event.Event) event.Event {
	e.Repo = repo
	return e
}

// edited is a pull request's event minutes after it was opened.
func edited(minutes, number int) event.Event {
	return happened(minutes, "pull_request", "edited", number, object{"pull_request": pull(minutes, number, "aaa", nil)})
}

func deleted(minutes int) event.Event { return happened(minutes, "repository", "deleted", 0, object{}) }

// TestPullRequestsOfARepositoryThatIsGoneEnd checks that none of them stays open for ever on the board after its
// repository was deleted, renamed or transferred, and that none is lost.
func TestPullRequestsOfARepositoryThatIsGoneEnd(t *testing.T) {
	t.Parallel()
	merged := happened(1, "pull_request", "closed", 2, object{"pull_request": pull(1, 2, "bbb",
		object{"state": "closed", "closed_at": began.Add(time.Minute), "merged_at": began.Add(time.Minute)})})
	for name, tc := range map[string]struct {
		events []event.Event
		open   string
		states map[string]string // of the others, with the reasons
	}{
		"deleted": {[]event.Event{opened(1, "aaa"), merged, in("acme/web", opened(7, "ccc")), deleted(5)},
			"[acme/web#7]", map[string]string{"acme/app#1": "closed: the repository was deleted", "acme/app#2": "merged: merged"}},
		"deleted, and a late event": {[]event.Event{opened(1, "aaa"), deleted(5), edited(4, 1)},
			"[]", map[string]string{"acme/app#1": "closed: the repository was deleted"}},
		"restored": {[]event.Event{opened(1, "aaa"), deleted(5), edited(9, 1)}, "[acme/app#1]", nil},
		"renamed, and silent since": {[]event.Event{opened(1, "aaa"), in("acme/new", happened(5, "repository", "renamed", 0, object{}))},
			"[acme/app#1]", nil},
		"renamed": {[]event.Event{opened(1, "aaa"), opened(3, "ccc"), in("acme/new", edited(5, 1))},
			"[acme/app#3 acme/new#1]", map[string]string{"acme/app#1": "closed: its repository has another name now"}},
		"renamed, and a late event": {[]event.Event{opened(1, "aaa"), in("acme/new", edited(5, 1)), edited(4, 1)},
			"[acme/new#1]", map[string]string{"acme/app#1": "closed: its repository has another name now"}},
		"renamed, and the first event comes late": {[]event.Event{in("acme/new", edited(5, 1)), opened(1, "aaa")},
			"[acme/new#1]", map[string]string{"acme/app#1": "closed: its repository has another name now"}},
		"renamed back": {[]event.Event{opened(1, "aaa"), in("acme/new", edited(5, 1)), edited(9, 1)},
			"[acme/app#1]", map[string]string{"acme/new#1": "closed: its repository has another name now"}},
	} {
		for _, together := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, in one transaction: %v", name, together), func(t *testing.T) {
				t.Parallel()
				l := newLog(t)
				var p *projection.Projection
				if together {
					l.append(tc.events...)
					p = l.project(l.file(), "judge")
				} else {
					p = l.project(l.file(), "judge")
					for _, e := range tc.events {
						l.append(e)
						p.Await(t.Context())
					}
				}
				list, _, err := p.Pulls(t.Context(), projection.PullQuery{State: "all", Limit: 10})
				if err != nil {
					t.Fatal(err)
				}
				open, ended := []string{}, map[string]string{}
				for _, s := range list {
					if name := fmt.Sprintf("%s#%d", s.Repo, s.Number); s.State == "open" {
						open = append(open, name)
					} else {
						ended[name] = s.State + ": " + s.Reason
					}
				}
				slices.Sort(open) // those that wait equally long come in any order
				if fmt.Sprint(open) != tc.open || len(ended) != len(tc.states) {
					t.Errorf("%v are open, want %s; ended are %v", open, tc.open, ended)
				}
				for name, want := range tc.states {
					if ended[name] != want {
						t.Errorf("%s is %q, want %q", name, ended[name], want)
					}
				}
			})
		}
	}
}

// TestARenamedRepositorysPullRequestsKeepTheirRounds checks that the review and the checks of a head still count after
// its repository was renamed, and twice, while the figures of days count them once.
func TestARenamedRepositorysPullRequestsKeepTheirRounds(t *testing.T) {
	t.Parallel()
	approval := reviewed(10, 1, "submitted", "judge", "approved", "aaa", body(record(verdict.Approve, "aaa"), verdict.Signer{}))
	for _, together := range []bool{true, false} {
		l := newLog(t)
		p := l.project(l.file(), "judge")
		for _, e := range []event.Event{opened(1, "aaa"), checked(2, "aaa", "success"), approval, in("acme/new", edited(15, 1)),
			in("acme/newer", edited(20, 1)), in("acme/newer", checked(21, "aaa", "failure"))} {
			l.append(e)
			if !together {
				p.Await(t.Context())
			}
		}
		p.Await(t.Context())
		for repo, ci := range map[string]string{"acme/app": "success", "acme/new": "success", "acme/newer": "failure"} {
			d, known, err := p.Pull(t.Context(), event.Filter{}, repo, 1)
			if err != nil || !known {
				t.Fatal(repo, known, err)
			}
			if d.Round != 1 || d.Verdict != verdict.Approve || len(d.Rounds) != 1 || d.CI != ci || d.CostUSD != 0.5 {
				t.Errorf("%s is in round %d, %q, with %d rounds for %v USD and CI %s, want %s", repo, d.Round, d.Verdict, len(d.Rounds), d.CostUSD,
					d.CI, ci)
			}
			if repo == "acme/newer" && d.Turn != verdict.TurnAuthor {
				t.Errorf("it is the turn of the %s: %s", d.Turn, d.Reason)
			}
		}
		trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, began)
		if err != nil || len(trends) != 1 || trends[0].Rounds != 1 || trends[0].CostUSD != 0.5 {
			t.Errorf("the day's figures are %+v, %v", trends, err)
		}
	}
}

// TestARenamedRepositorysPullRequestsAreCountedOnce checks that the day on which a pull request was opened counts it, and
// its first review, once, under whatever names of its repository the log tells of it, in whatever order.
func TestARenamedRepositorysPullRequestsAreCountedOnce(t *testing.T) {
	t.Parallel()
	review := func(minutes int) event.Event {
		return happened(minutes, "pull_request_review", "submitted", 1, object{"pull_request": pull(0, 1, "aaa", nil), "review": object{
			"id": minutes, "body": body(record(verdict.Approve, "aaa"), verdict.Signer{}), "state": "approved", "commit_id": "aaa",
			"user": object{"login": "judge"}, "submitted_at": began.Add(time.Duration(minutes) * time.Minute)}})
	}
	merged := happened(4, "pull_request", "closed", 1, object{"pull_request": pull(4, 1, "aaa",
		object{"state": "closed", "closed_at": began.Add(4 * time.Minute), "merged_at": began.Add(4 * time.Minute)})})
	labelled := happened(9, "pull_request", "labeled", 1, object{"pull_request": pull(9, 1, "aaa",
		object{"state": "closed", "closed_at": began.Add(4 * time.Minute), "merged_at": began.Add(4 * time.Minute)})})
	for name, tc := range map[string]struct {
		events []event.Event
		first  []float64 // the seconds until the first review
		merged int
	}{
		"renamed":                    {[]event.Event{opened(1, "aaa"), in("acme/new", edited(5, 1))}, nil, 0},
		"renamed twice":              {[]event.Event{opened(1, "aaa"), in("acme/new", edited(5, 1)), in("acme/newer", edited(7, 1))}, nil, 0},
		"renamed back":               {[]event.Event{opened(1, "aaa"), in("acme/new", edited(5, 1)), edited(9, 1)}, nil, 0},
		"the first event comes late": {[]event.Event{in("acme/new", edited(5, 1)), opened(1, "aaa")}, nil, 0},
		"reviewed before": {
			[]event.Event{opened(1, "aaa"), review(2), in("acme/new", edited(5, 1)), in("acme/new", review(8))}, []float64{120}, 0},
		"reviewed since": {
			[]event.Event{opened(1, "aaa"), in("acme/new", edited(5, 1)), in("acme/new", review(8))}, []float64{480}, 0},
		"merged since":  {[]event.Event{opened(1, "aaa"), in("acme/new", merged)}, nil, 1},
		"merged before": {[]event.Event{opened(1, "aaa"), merged, in("acme/new", labelled)}, nil, 1},
	} {
		for _, together := range []bool{true, false} {
			l := newLog(t)
			p := l.project(l.file(), "judge")
			for _, e := range tc.events {
				l.append(e)
				if !together {
					p.Await(t.Context())
				}
			}
			p.Await(t.Context())
			trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, began)
			if err != nil || len(trends) != 1 || trends[0].Opened != 1 || trends[0].Merged != tc.merged {
				t.Fatalf("%s: the day's figures are %+v, %v", name, trends, err)
			}
			if got := trends[0].FirstReview; (got != nil) != (tc.first != nil) || got != nil && (got.P50 != tc.first[0] || got.P90 != tc.first[0]) {
				t.Errorf("%s: the first review came after %+v seconds, want %v", name, got, tc.first)
			}
		}
	}
}

// TestANewRepositoryOfAnOldNameHasItsOwnPullRequests checks that a pull request of a repository that was created under
// the name of a deleted or renamed one is not taken for the earlier one of its number, which was merged.
func TestANewRepositoryOfAnOldNameHasItsOwnPullRequests(t *testing.T) {
	t.Parallel()
	at := func(minutes int, action string, more object) event.Event {
		return happened(minutes, "pull_request", action, 1, object{"pull_request": pull(minutes, 1, "aaa", more)})
	}
	approval := reviewed(10, 1, "submitted", "judge", "approved", "aaa", body(record(verdict.Approve, "aaa"), verdict.Signer{}))
	merged := at(12, "closed", object{"state": "closed", "merged_at": began.Add(12 * time.Minute)})
	again := at(20, "opened", object{"id": 7001, "head": object{"sha": "bbb", "ref": "other"}, "created_at": began.Add(20 * time.Minute)})
	for name, events := range map[string][]event.Event{
		"in order": {opened(1, "aaa"), approval, merged, again}, "the first come late": {again, opened(1, "aaa"), approval, merged},
	} {
		l := newLog(t)
		l.append(events...)
		p := l.project(l.file(), "judge")
		if s := one(t, p); s.State != "open" || s.Head != "bbb" || s.Round != 0 || s.CostUSD != 0 || s.Turn != verdict.TurnReviewer {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

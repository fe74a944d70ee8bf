package projection_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/relay/internal/sqlite"
	"touchstone/verdict"
)

// A day's figures and the lists of pull requests behind them agree with the events. A pull request that is
// written again, even by another run of the relay, counts once.
func TestFiguresOfADayAreThoseOfItsPullRequests(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	path := filepath.Join(t.TempDir(), "page")
	labelled := happened(12+24*60, "pull_request", "labeled", 2, object{"label": object{"name": "needs-human"},
		"pull_request": pull(12+24*60, 2, "ddd", object{"labels": []object{{"name": "needs-human"}}})})
	for _, e := range append(append(story(), story()...), opened(2, "ddd"), labelled, labelled) {
		session(t, store, path, []event.Event{e}, func(*projection.Projection, *log) {})
	}
	session(t, store, path, nil, func(p *projection.Projection, _ *log) {
		trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, began.AddDate(0, 0, 1))
		if err != nil || len(trends) != 2 {
			t.Fatalf("trends %+v, %v", trends, err)
		}
		first, second := trends[0], trends[1]
		if first.Opened != 2 || first.Merged != 1 || first.Closed != 0 || first.Rounds != 2 || first.Findings != 1 || first.CostUSD != 1 ||
			first.Tokens != 20 || first.Escalations != 1 || second.Escalations != 1 || second.Opened+second.Rounds != 0 {
			t.Errorf("trends %+v", trends)
		}
		for _, c := range []struct {
			moment projection.Moment
			day    int
			want   []int
		}{
			{projection.Opened, 0, []int{2, 1}}, {projection.Opened, 1, nil}, {projection.Answered, 0, []int{1}}, {projection.Reviewed, 0, []int{1}},
			{projection.Found, 0, []int{1}}, {projection.Escalated, 0, []int{1}}, {projection.Escalated, 1, []int{2}},
			{projection.Merged, 0, []int{1}}, {projection.Unattended, 0, nil},
		} {
			from := began.Truncate(24*time.Hour).AddDate(0, 0, c.day)
			q := projection.PullQuery{State: "all", Moment: c.moment, From: from, To: from.AddDate(0, 0, 1), Limit: 9}
			list, _, err := p.Pulls(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, s := range list {
				got = append(got, s.Number)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s on day %d: %v, want %v", c.moment, c.day, got, c.want)
			}
		}
	})
}

// Of more buckets than trends have, the oldest are left out: those of today are the ones that people look for.
func TestLongTrendsEndToday(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	const days = 800
	found := reviewed(days*24*60, 2, "submitted", "judge", "changes_requested", "ccc",
		body(record(verdict.RequestChanges, "ccc"), verdict.Signer{}))
	found.Payload = bytes.Replace(found.Payload, []byte(began.Add(10*time.Minute).Format(time.RFC3339)),
		[]byte(began.AddDate(0, 0, days).Format(time.RFC3339)), 1)
	l.append(opened(1, "aaa"), later(days, 2), found)
	p, now := l.project(l.file(), "judge"), began.AddDate(0, 0, days)
	trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, now)
	if n := len(trends); err != nil || n != 750 || trends[n-1].Start != projection.Day.Start(now) || trends[n-1].Opened != 1 {
		t.Errorf("%d buckets, of which the last is not today's: %v", n, err)
	}
	rules, err := p.RuleTrends(t.Context(), projection.RuleQuery{Rule: "security/S2", Bucket: projection.Day}, began, now)
	if n := len(rules); err != nil || n != 750 || rules[n-1].Start != projection.Day.Start(now) || rules[n-1].Fired != 1 {
		t.Errorf("%d buckets of a rule, of which the last is not today's: %v", n, err)
	}
	weeks, err := p.Trends(t.Context(), event.Filter{}, "", projection.Week, began, now)
	if n := len(weeks); err != nil || n != days/7+1 || weeks[0].Opened != 1 || weeks[n-1].Opened != 1 {
		t.Errorf("%d weeks, %v", n, err)
	}
}

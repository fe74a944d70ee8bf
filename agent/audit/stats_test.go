package audit_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/forge"
	"touchstone/verdict"
)

var monday = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *time.Time {
	t := monday.Add(d)
	return &t
}

// round is a review with a record, as GitHub has it.
func round(t *testing.T, login string, n int, after time.Duration, v verdict.Verdict, ledger verdict.Ledger) forge.SubmittedReview {
	t.Helper()
	r := verdict.Record{
		Verdict: v, Head: "abc", BaseBranch: "main", Round: n, Ledger: ledger, CostUSD: 0.5, Duration: time.Duration(n) * time.Minute,
		Usage: verdict.Usage{Input: 10, CacheWrite: 10, CacheRead: 80, Output: 25}, Merged: n - 1, Dropped: 2,
	}
	if v == verdict.Approve && n == 2 {
		r.Lifted = &verdict.Word{By: "walter", At: monday}
	}
	seal, err := r.Seal(verdict.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	state := map[verdict.Verdict]string{verdict.Approve: forge.Approved, verdict.RequestChanges: forge.ChangesRequested}[v]
	return forge.SubmittedReview{Author: forge.User{Login: login}, State: state, Body: "The review.\n\n" + seal, SHA: "abc",
		SubmittedAt: monday.Add(after)}
}

func TestStatisticsCountPullRequestsRoundsAndFindings(t *testing.T) {
	repo := forge.Repo{Owner: "acme", Name: "app"}
	past := []forge.Past{
		{
			Ref: forge.Ref{Repo: repo, Number: 4}, Author: forge.User{Login: "alice"}, CreatedAt: monday, MergedAt: at(20 * time.Minute),
			ClosedAt: at(20 * time.Minute),
			Reviews: []forge.SubmittedReview{
				round(t, "judge", 1, time.Minute, verdict.RequestChanges, verdict.Ledger{finding}),
				{Author: forge.User{Login: "walter"}, State: forge.Approved, Body: "Fine.", SubmittedAt: monday},
				round(t, "judge", 2, 2*time.Minute, verdict.Approve, verdict.Ledger{as(verdict.Verified)}),
			},
			Labelled: []forge.Labelling{{Label: "Needs-Human", Added: true, At: monday}, {Label: "needs-human", At: monday}},
		},
		{
			Ref: forge.Ref{Repo: repo, Number: 3}, Author: forge.User{Login: "alice"}, CreatedAt: monday, MergedAt: at(5 * time.Minute),
			ClosedAt: at(5 * time.Minute),
			Reviews: []forge.SubmittedReview{
				round(t, "judge", 1, 3*time.Minute, verdict.Approve, nil),
				round(t, "walter", 1, 3*time.Minute, verdict.Approve, verdict.Ledger{finding}), // nobody's reviewer
			},
			Labelled: []forge.Labelling{{Label: "needs-human", Added: true, At: monday.Add(-48 * time.Hour)}},
		},
		{Ref: forge.Ref{Repo: repo, Number: 2}, Open: true, CreatedAt: monday.Add(-72 * time.Hour), Cut: true, Reviews: []forge.SubmittedReview{
			round(t, "judge", 1, -48*time.Hour, verdict.RequestChanges, verdict.Ledger{finding}), // before
		}},
		{Ref: forge.Ref{Repo: repo, Number: 1}, ClosedAt: at(time.Minute), CreatedAt: monday},
		{Ref: forge.Ref{Repo: repo, Number: 9}, MergedAt: at(-48 * time.Hour), ClosedAt: at(-48 * time.Hour)}, // somebody commented on it since
	}
	got := audit.Count(past, monday.Add(-24*time.Hour), []string{"JUDGE"}, "needs-human")
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var numbers map[string]any
	if err := json.Unmarshal(data, &numbers); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"repositories": []any{"acme/app"}, "pull_requests": 4., "merged": 2., "closed": 1., "open": 1., "partial": true,
		"median_to_merge_ns": float64(5 * time.Minute), "merged_within_10m": 0.5, "merged_within_30m": 1.,
		"median_rounds": 1., "mean_rounds": 1.5, "most_rounds": 2., "reviews": 3., "cost_usd": 1.5, "tokens": 375., "cache_share": 0.8,
		"median_review_ns": float64(time.Minute), "share_without_person": 0., "escalated": 1., "lifted": 1.,
		"to_merge_ns": map[string]any{"p50": float64(5 * time.Minute), "p90": float64(20 * time.Minute), "p99": float64(20 * time.Minute)},
		"review_ns":   map[string]any{"p50": float64(time.Minute), "p90": float64(2 * time.Minute), "p99": float64(2 * time.Minute)},
		"findings":    map[string]any{"Security": map[string]any{"critical": 2.}}, "fates": map[string]any{"open": 1., "verified": 1.},
		"rules": map[string]any{"security/S1": 2.}, "findings_merged": 1., "findings_dropped": 6.,
	} {
		if !reflect.DeepEqual(numbers[name], want) {
			t.Errorf("%s is %v; want %v", name, numbers[name], want)
		}
	}
	var text strings.Builder
	if err := got.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"4: 2 merged, 1 closed, 1 open", "median 5m0s; 50 % within 10 minutes, 100 % within 30", "median 1, mean 1.5, at most 2",
		"$1.50, 375 tokens, 80 %",
		"[Security]       2: 2 critical", "1 open, 1 verified", "2 security/S1", "1 merged into others, 6 dropped",
		"choose a shorter period", "1; let pass by a person: 1; merged without one: 0 %",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, text.String())
		}
	}
}

func TestStatsWithoutPullRequests(t *testing.T) {
	var text strings.Builder
	if err := audit.Count(nil, monday, nil, "needs-human").Write(&text); err != nil || !strings.Contains(text.String(), "0: 0 merged") ||
		strings.Count(text.String(), "\n") != 2 {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

// A share of the merged pull requests is not said while none is merged.
func TestStatsWithoutAMerge(t *testing.T) {
	var text strings.Builder
	open := []forge.Past{{Ref: forge.Ref{Number: 1}, Open: true, CreatedAt: monday}}
	err := audit.Count(open, monday, nil, "needs-human").Write(&text)
	if err != nil || !strings.Contains(text.String(), "let pass by a person: 0\n") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}

package audit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/forge"
	"touchstone/verdict"
)

// TestGroupsTellTheSameNumbersApart: each review counts for its own model and tier alone, each finding for the model
// that found it first, and the cost of a rule is that of the rule's own statistics.
func TestGroupsTellTheSameNumbersApart(t *testing.T) {
	t.Parallel()
	review := func(n int, model, tier string, took time.Duration, v verdict.Verdict, ledger verdict.Ledger) forge.SubmittedReview {
		seal, err := verdict.Record{
			Verdict: v, Head: "abc", Round: n, Ledger: ledger, CostUSD: 1, Duration: took, Engine: "claude", Model: model, Tier: tier,
		}.Seal(verdict.Signer{})
		if err != nil {
			t.Fatal(err)
		}
		state := map[verdict.Verdict]string{verdict.Approve: forge.Approved, verdict.RequestChanges: forge.ChangesRequested}[v]
		return forge.SubmittedReview{Author: forge.User{Login: "judge"}, State: state, Body: seal, SHA: "abc", SubmittedAt: monday}
	}
	entry := func(id, rule string, status verdict.Status, first, last int) verdict.Entry {
		return verdict.Entry{ID: id, Rule: rule, Status: status, Severity: verdict.Major, Dimension: verdict.Security, First: first, Last: last}
	}
	pull := func(repo string, merged time.Duration, reviews ...forge.SubmittedReview) forge.Past {
		ref := forge.Ref{Repo: forge.Repo{Owner: "acme", Name: repo}, Number: 1}
		return forge.Past{Ref: ref, CreatedAt: monday, MergedAt: at(merged), ClosedAt: at(merged), Reviews: reviews}
	}
	s1, t1 := entry("0000000a", "security/S1", verdict.Open, 1, 1), entry("0000000b", "test/T1", verdict.Verified, 2, 2)
	settled := s1
	settled.Status = verdict.Verified
	app := pull("app", time.Minute,
		review(1, "opus", "full", time.Minute, verdict.RequestChanges, verdict.Ledger{s1}),
		review(2, "sonnet", "full", 3*time.Minute, verdict.Approve, verdict.Ledger{settled, t1}))
	web := pull("web", time.Hour, review(1, "opus", "lite", 2*time.Minute, verdict.Approve, nil))
	web.Labelled = []forge.Labelling{{Label: "needs-human", Added: true, At: monday}}
	old := pull("old", -48*time.Hour, review(1, "haiku", "trivial", time.Minute, verdict.Approve, nil))
	past := []forge.Past{app, web, old}
	since := monday.Add(-time.Hour)
	rows := audit.Rows(past, since, []string{"judge"}, nil)
	groups := func(by audit.By) map[string]audit.Group {
		all := map[string]audit.Group{}
		for _, g := range audit.CountBy(by, past, since, []string{"judge"}, "needs-human", rows).Groups {
			all[g.Name] = g
		}
		return all
	}
	models := groups(audit.ByModel)
	opus, sonnet := models["claude opus"], models["claude sonnet"]
	took := audit.Spread{P50: time.Minute, P90: 2 * time.Minute, P99: 2 * time.Minute}
	if len(models) != 2 || opus.PullRequests != 2 || opus.Reviews != 2 || opus.CostUSD != 2 || opus.WithoutPerson != 0.5 ||
		*opus.Took != took ||
		opus.Rules["security/S1"] != 1 || opus.Rules["test/T1"] != 0 || opus.ToMerge.P90 != time.Hour {
		t.Errorf("by model, opus has %+v", opus)
	}
	if sonnet.Reviews != 1 || sonnet.WithoutPerson != 1 || sonnet.Rules["test/T1"] != 1 || len(sonnet.Rules) != 1 {
		t.Errorf("by model, sonnet has %+v", sonnet)
	}
	if tiers := groups(audit.ByTier); len(tiers) != 2 || tiers["full"].Reviews != 2 || tiers["lite"].CostUSD != 1 {
		t.Errorf("by tier: %+v", tiers)
	}
	if repos := groups(audit.ByRepo); len(repos) != 2 || repos["acme/app"].Reviews != 2 || repos["acme/web"].WithoutPerson != 0 {
		t.Errorf("by repository: %+v", repos)
	}
	rules := groups(audit.ByRule)
	for _, row := range rows.Rows {
		g := rules[row.Rule]
		if g.CostUSD != row.CostUSD || g.Fates[verdict.Verified] != row.Outcomes[verdict.Verified] ||
			g.PullRequests != 1 || g.Reviews != 1 {
			t.Errorf("%s: %+v, by its own statistics %+v", row.Rule, g, row.Tally)
		}
	}
	var text strings.Builder
	if err := audit.CountBy(audit.ByModel, past, since, []string{"judge"}, "needs-human", rows).Write(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	want := strings.Fields("claude opus 2 2 50 % 1m0s 1h0m0s 1h0m0s 2 1m0s 2m0s 2m0s 1 $2.00")
	if len(lines) != 3 || !slices.Equal(strings.Fields(lines[1]), want) {
		t.Errorf("the text is\n%s", text.String())
	}
}

// TestPercentilesAreByTheNearestRank of a hundred reviews.
func TestPercentilesAreByTheNearestRank(t *testing.T) {
	t.Parallel()
	var past []forge.Past
	for i := range 100 {
		merged := at(time.Duration(i+1) * time.Second)
		past = append(past, forge.Past{CreatedAt: monday, MergedAt: merged, ClosedAt: merged})
	}
	got := audit.Count(past, monday, nil, "needs-human")
	want := audit.Spread{P50: 50 * time.Second, P90: 90 * time.Second, P99: 99 * time.Second}
	if *got.ToMerge != want || got.Took != nil || got.WithoutPerson != 1 {
		t.Errorf("%+v, %v, %v", *got.ToMerge, got.Took, got.WithoutPerson)
	}
}

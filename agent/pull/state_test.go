package pull

import (
	"strings"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func TestEachAnswerOfGitHubOnMergingHasItsState(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pr   forge.PullRequest
		want decide.Mergeable
	}{
		{forge.PullRequest{Mergeable: forge.MergeableClean}, decide.MergeableClean},
		{forge.PullRequest{Mergeable: forge.MergeableClean, Behind: true}, decide.MergeableBehind},
		{forge.PullRequest{Mergeable: forge.MergeableClean, Blocked: true}, decide.MergeableBlocked},
		{forge.PullRequest{Mergeable: forge.MergeableConflicting}, decide.MergeableDirty},
		{forge.PullRequest{Mergeable: forge.MergeableConflicting, Behind: true}, decide.MergeableDirty},
		{forge.PullRequest{Mergeable: forge.MergeableConflicting, Blocked: true}, decide.MergeableDirty},
		{forge.PullRequest{Mergeable: forge.MergeableUnknown}, decide.MergeableUnknown},
		{forge.PullRequest{Mergeable: forge.MergeableUnknown, Behind: true, Blocked: true}, decide.MergeableUnknown},
		{forge.PullRequest{}, decide.MergeableUnknown},
	} {
		if got := mergeable(tc.pr); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.pr, got, tc.want)
		}
	}
}

func sealed(t *testing.T, r verdict.Record) string {
	t.Helper()
	seal, err := r.Seal(verdict.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	return "Text.\n\n" + seal
}

func TestAReviewIsWantedByRequestOrAnEarlierReview(t *testing.T) {
	t.Parallel()
	const sha = "0123456789012345678901234567890123456789"
	record := sealed(t, verdict.Record{Verdict: verdict.Approve, Head: sha, Round: 1})
	review := func(login, body string) []forge.SubmittedReview {
		return []forge.SubmittedReview{{Author: forge.User{Login: login}, Body: body, SHA: sha, State: forge.Approved}}
	}
	for name, tc := range map[string]struct {
		pr   forge.PullRequest
		all  bool
		want bool
	}{
		"nobody asked":                  {pr: forge.PullRequest{}},
		"asked":                         {pr: forge.PullRequest{Requested: []string{"walter", "Judge"}}, want: true},
		"somebody else is":              {pr: forge.PullRequest{Requested: []string{"walter"}}},
		"all are":                       {all: true, want: true},
		"reviewed before":               {pr: forge.PullRequest{Reviews: review("Judge", record)}, want: true},
		"reviewed before by a person":   {pr: forge.PullRequest{Reviews: review("judge", "Fine by me.")}},
		"reviewed before by another":    {pr: forge.PullRequest{Reviews: review("walter", record)}},
		"a request next to its reviews": {pr: forge.PullRequest{Requested: []string{"judge"}, Reviews: review("walter", record)}, want: true},
	} {
		cfg := config.Default()
		if tc.all {
			cfg.Review = config.ReviewAll
		}
		tc.pr.Viewer = "judge"
		if got := StateOf(tc.pr, decide.Reviewer, cfg, Facts{}).Requested; got != tc.want {
			t.Errorf("%s: requested is %v", name, got)
		}
	}
}

func TestStateCarriesLabelsAndHistory(t *testing.T) {
	t.Parallel()
	edited := time.Now()
	s := StateOf(forge.PullRequest{
		Viewer: "alice", Labels: []string{"Needs-Human", "touchstone-hold"},
		Reviews: []forge.SubmittedReview{{Author: forge.User{Login: "judge"}, State: forge.Dismissed, EditedAt: &edited}},
	}, decide.Author, config.Default(), Facts{
		Manual: decide.Left{Why: "by hand"}, Past: decide.History{Attempts: 2, RetryIn: time.Minute},
	})
	if !s.NeedsHuman || s.HoldLabel != "touchstone-hold" || s.Attempts != 2 || s.RetryIn != time.Minute || s.Manual.Why != "by hand" ||
		!s.RequireChecks || s.MaxRounds != 15 {
		t.Errorf("the state is %+v", s)
	}
	if len(s.Opinions) != 1 || !s.Opinions[0].Edited || s.Opinions[0].Record != nil || s.Opinions[0].State != "DISMISSED" {
		t.Errorf("the opinions are %+v", s.Opinions)
	}
}

func TestOnlyAnInsidersMarkIsACall(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	const mark = "<!-- touchstone:escalation v1 0123456 -->"
	comment := func(login, body string, after time.Duration) forge.Comment {
		return forge.Comment{Author: forge.User{Login: login}, Body: body, CreatedAt: at.Add(after)}
	}
	for name, tc := range map[string]struct {
		comments []forge.Comment
		want     time.Time
	}{
		"never":                 {nil, time.Time{}},
		"once":                  {[]forge.Comment{comment("Judge", "Text.\n"+mark, 0)}, at},
		"the latest counts":     {[]forge.Comment{comment("judge", mark, time.Hour), comment("judge", mark, 0)}, at.Add(time.Hour)},
		"by somebody else":      {[]forge.Comment{comment("walter", mark, 0)}, time.Time{}},
		"quoted in a sentence":  {[]forge.Comment{comment("judge", "It said "+mark, 0)}, time.Time{}},
		"a comment of its own":  {[]forge.Comment{comment("judge", "Hello.", 0)}, time.Time{}},
		"a mark without commit": {[]forge.Comment{comment("judge", "<!-- touchstone:escalation v1 x -->", 0)}, time.Time{}},
	} {
		pr := forge.PullRequest{Viewer: "judge", Comments: tc.comments, Labels: []string{"Needs-Human"}}
		if got := escalatedAt(pr, "needs-human"); !got.Equal(tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// A call is to a head and a base: it says nothing of another one, nor does a comment that
// somebody changed since.
func TestACallIsToOneHeadAndBase(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	const head, base, other = "0123456789", "ba5e0123456", "0ddba5e0123"
	now := forge.PullRequest{Viewer: "judge", Head: forge.Branch{SHA: head}, Base: forge.Branch{Name: "feat/a-->b", SHA: base}}
	for name, tc := range map[string]struct {
		change func(pr *forge.PullRequest, c *forge.Comment)
		counts bool
	}{
		"as it was made":             {func(*forge.PullRequest, *forge.Comment) {}, true},
		"the base has moved on":      {func(pr *forge.PullRequest, _ *forge.Comment) { pr.Base.SHA = "c0ffee" }, true},
		"another head":               {func(pr *forge.PullRequest, _ *forge.Comment) { pr.Head.SHA = "c0ffee" }, false},
		"another base":               {func(pr *forge.PullRequest, _ *forge.Comment) { pr.Base.Name = "main" }, false},
		"to another base and back":   {func(pr *forge.PullRequest, _ *forge.Comment) { pr.BaseReplaced = at.Add(time.Minute) }, false},
		"in the second of the base":  {func(pr *forge.PullRequest, _ *forge.Comment) { pr.BaseReplaced = at }, false},
		"since the base is this one": {func(pr *forge.PullRequest, _ *forge.Comment) { pr.BaseReplaced = at.Add(-time.Second) }, true},
		"edited":                     {func(_ *forge.PullRequest, c *forge.Comment) { c.EditedAt = &at }, false},
		"by an earlier version": {func(_ *forge.PullRequest, c *forge.Comment) {
			c.Body = "<!-- touchstone:escalation v1 " + head + " -->"
		}, true},
		"at a commit that was rewritten": {func(_ *forge.PullRequest, c *forge.Comment) { c.Body = strings.Replace(c.Body, base, other, 1) },
			false},
		"earlier, and since another base": {func(pr *forge.PullRequest, c *forge.Comment) {
			c.Body, pr.BaseReplaced = "<!-- touchstone:escalation v1 "+head+" -->", at
		}, false},
		"with a branch that cannot be one": {func(_ *forge.PullRequest, c *forge.Comment) { c.Body = strings.Replace(c.Body, "feat", "%zz", 1) },
			false},
	} {
		pr, c := now, forge.Comment{Author: forge.User{Login: "judge"}, Body: CallOf(now).Mark(), CreatedAt: at}
		tc.change(&pr, &c)
		pr.Comments, pr.Labels = []forge.Comment{c}, []string{"needs-human"}
		if got := !CalledAt(pr, "needs-human", map[string]bool{other: true}).IsZero(); got != tc.counts {
			t.Errorf("%s: counts %v, want %v", name, got, tc.counts)
		}
	}
}

// TestACallCountsOnceItHasItsLabel checks that a call needs both its comment and its label: the comment alone
// stops nobody.
func TestACallCountsOnceItHasItsLabel(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	event := func(label string, added bool, after time.Duration) forge.Labelling {
		return forge.Labelling{Label: label, Added: added, At: at.Add(after)}
	}
	for name, tc := range map[string]struct {
		labels []string
		events []forge.Labelling
		counts bool
	}{
		"never labelled": {nil, nil, false},
		"labelled":       {[]string{"Needs-Human"}, []forge.Labelling{event("Needs-Human", true, 0)}, true},
		"labelled, and taken off": {nil, []forge.Labelling{event("needs-human", true, 0), event("needs-human", false, time.Hour)},
			true},
		"labelled before, and taken off": {nil,
			[]forge.Labelling{event("needs-human", true, -time.Hour), event("needs-human", false, time.Hour)}, true},
		"taken off before": {nil,
			[]forge.Labelling{event("needs-human", true, -time.Hour), event("needs-human", false, -time.Minute)}, false},
		"taken off in the very same second": {nil, []forge.Labelling{event("needs-human", true, -time.Hour), event("needs-human", false, 0)},
			false},
		"another label": {[]string{"docs"}, []forge.Labelling{event("docs", true, 0)}, false},
	} {
		pr := forge.PullRequest{
			Viewer: "judge", Head: forge.Branch{SHA: "0123456"}, Labels: tc.labels, Labelled: tc.events,
			Comments: []forge.Comment{{Author: forge.User{Login: "judge"}, Body: "Text.\n<!-- touchstone:escalation v1 0123456 -->", CreatedAt: at}},
		}
		for what, got := range map[string]bool{"the call": !escalatedAt(pr, "needs-human").IsZero(),
			"the call to this head": !CalledAt(pr, "needs-human", nil).IsZero(), "the whole call": !HalfCalled(pr, "needs-human", false)} {
			if got != tc.counts {
				t.Errorf("%s: %s counts: %v", name, what, got)
			}
		}
	}
}

// TestADaysEndTakesOffTheLabelOfItsOwnCall checks that a label stays if another call, its owner or another
// person added it.
func TestADaysEndTakesOffTheLabelOfItsOwnCall(t *testing.T) {
	t.Parallel()
	called := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	midnight := called.Add(12 * time.Hour)
	call := forge.Comment{Author: forge.User{Login: "Alice"}, CreatedAt: called,
		Body: "Text.\n<!-- touchstone:rest v1 0123456 until " + midnight.Format(time.RFC3339) + " -->"}
	label := func(login string, added bool, after time.Duration) forge.Labelling {
		return forge.Labelling{Label: "Needs-Human", Added: added, By: forge.User{Login: login}, At: called.Add(after)}
	}
	own := label("alice", true, time.Second)
	for name, tc := range map[string]struct {
		now      time.Time
		labelled []forge.Labelling
		later    string // another comment by the same login, before the label
		want     bool
	}{
		"on the same day":           {midnight.Add(-time.Second), []forge.Labelling{own}, "", false},
		"at midnight":               {midnight, []forge.Labelling{own}, "", true},
		"for good since":            {midnight, []forge.Labelling{own}, "<!-- touchstone:escalation v1 0123456 -->", false},
		"without a label":           {midnight, nil, "", false},
		"labelled by somebody else": {midnight, []forge.Labelling{label("walter", true, time.Second)}, "", false},
		"labelled before the call":  {midnight, []forge.Labelling{label("alice", true, -time.Second)}, "", false},
		"taken off, and put on by its owner": {midnight,
			[]forge.Labelling{own, label("bob", false, time.Hour), label("alice", true, 2*time.Hour)}, "", false},
	} {
		pr := forge.PullRequest{Viewer: "alice", Comments: []forge.Comment{call}, Labelled: tc.labelled, Labels: []string{"needs-human"}}
		if tc.later != "" {
			pr.Comments = append(pr.Comments, forge.Comment{Author: call.Author, CreatedAt: called, Body: tc.later})
		}
		if got := rested(pr, "needs-human", tc.now); got != tc.want {
			t.Errorf("%s: over %v, want %v", name, got, tc.want)
		}
	}
}

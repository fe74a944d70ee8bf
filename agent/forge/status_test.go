package forge_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
)

func TestTheAgentsOwnStatusesAreNoChecks(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "code\n"})
	ref := g.Open("topic")
	head := g.Read(loopback.Judge, ref).Head.SHA
	judge := g.Client(loopback.Judge)
	long := strings.Repeat("ä", 200) + "\nmore"
	for _, s := range []forge.CommitStatus{
		{Context: forge.ReviewContext, State: forge.CheckFailure, Description: "changes requested, round 1: 1 major",
			URL: "https://example.org/review"},
		{Context: forge.FixContext, State: forge.CheckPending, Description: long},
	} {
		if err := forge.NewReporter(judge).Report(t.Context(), ref.Repo, head, s); err != nil {
			t.Fatal(err)
		}
	}
	// Others can report under the agents' names, as a status or as a check run, in any case.
	g.Call(loopback.Root, http.MethodPost, "statuses/"+head, map[string]string{"context": "Touchstone/Review", "state": "success"}, nil)
	g.Call(loopback.Root, http.MethodPost, "statuses/"+head, map[string]string{"context": "build", "state": "success"}, nil)
	pr := g.Read(loopback.Judge, ref)
	if len(pr.Checks) != 1 || pr.Checks[0].Name != "build" {
		t.Errorf("checks %+v", pr.Checks)
	}
	var own []string
	slices.SortFunc(pr.Statuses, func(a, b forge.Check) int { return strings.Compare(a.Summary, b.Summary) })
	for _, s := range pr.Statuses {
		own = append(own, s.By.Login+" "+s.Name+" "+string(s.State)+" "+s.Summary)
	}
	want := "root Touchstone/Review success |judge touchstone/review failure changes requested, round 1: 1 major|judge touchstone/fix " +
		"pending " + strings.Repeat("ä", 139) + "…"
	if got := strings.Join(own, "|"); got != want {
		t.Errorf("own statuses %q; want %q", got, want)
	}
	if failed, err := judge.FailedChecks(t.Context(), ref.Repo, head); err != nil || len(failed) != 0 {
		t.Errorf("failed checks %+v, %v", failed, err)
	}
	if all, err := judge.ChecksOf(t.Context(), ref.Repo, head); err != nil || len(all) != 1 {
		t.Errorf("checks of the head %+v, %v", all, err)
	}
	if base, err := judge.BaseChecks(t.Context(), ref.Repo, head); err != nil || len(base.Expected) != 1 || len(base.Sources) != 1 {
		t.Errorf("checks of a base with those statuses %+v, %v", base, err)
	}
}

// TestAStatusQuotesAnyName checks that GitHub takes a description with a name that it would refuse there.
func TestAStatusQuotesAnyName(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "code\n"})
	ref := g.Open("topic")
	said := forge.CommitStatus{Context: forge.FixContext, State: forge.CheckPending, Description: "the check \"🧪 tests ✓\" failed\x00"}
	head := g.Read(loopback.Judge, ref).Head.SHA
	if err := forge.NewReporter(g.Client(loopback.Judge)).Report(t.Context(), ref.Repo, head, said); err != nil {
		t.Fatal(err)
	}
	if all := g.Read(loopback.Judge, ref).Statuses; len(all) != 1 || all[0].Summary != "the check \"\uFFFD tests ✓\" failed\uFFFD" {
		t.Errorf("it shows %+v", all)
	}
}

// TestNoNumberOfStatusesHidesOne checks that a status beneath more statuses than are read is not reported as
// missing.
func TestNoNumberOfStatusesHidesOne(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "code\n"})
	ref := g.Open("topic")
	pr := g.Read(loopback.Judge, ref)
	report := func(name, state string) {
		g.Call(loopback.Root, http.MethodPost, "statuses/"+pr.Head.SHA, map[string]string{"context": name, "state": state}, nil)
	}
	report("build", "failure")
	for i := range 1999 { // of one name GitHub takes 1,000
		report([]string{"one", "other"}[i%2], "success")
	}
	all, err := g.Client(loopback.Judge).StatusHistory(t.Context(), pr)
	if err != nil || len(all) != 2000 || all[1999].State != forge.CheckFailure || all[0].State != forge.CheckSuccess {
		t.Fatalf("%d statuses, %v", len(all), err)
	}
	report("build", "success")
	if _, err := g.Client(loopback.Judge).StatusHistory(t.Context(), pr); !errors.Is(err, forge.ErrUnreadable) {
		t.Errorf("one more than are read: %v", err)
	}
}

func TestWhetherStatusesMayBeWrittenShows(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	if err := forge.NewReporter(g.Client(loopback.Judge)).CanReport(t.Context(), loopback.Repo); err != nil {
		t.Errorf("judge may write: %v", err)
	}
	if err := forge.NewReporter(g.Client(loopback.Stranger)).CanReport(t.Context(), loopback.Repo); !errors.Is(err, forge.ErrForbidden) {
		t.Errorf("a stranger may not write: %v", err)
	}
}

package audit_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/audit"
	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
)

func TestOrdersNameWhoGaveThemAndWhetherTheyCount(t *testing.T) {
	w := start(t)
	w.comment(loopback.Person, "/touchstone waive 0a1b2c3d It is only a test.\nAnd so on.")
	w.comment(loopback.Person, "Thanks!")
	w.comment(loopback.Person, "/touchstone dance")
	w.comment(loopback.Root, "/touchstone stop")
	chain, text := w.why()
	if len(chain.Orders) != 2 {
		t.Fatalf("orders %+v; want two", chain.Orders)
	}
	// To waive takes the right to maintain.
	if o := chain.Orders[0]; o.By != loopback.Person || o.Verb != "waive" || o.Finding != "0a1b2c3d" || o.Reason != "It is only a test." ||
		o.May != "write" || o.Counts || o.At.IsZero() {
		t.Errorf("the first order is %+v", o)
	}
	if o := chain.Orders[1]; o.By != loopback.Root || o.Verb != "stop" || o.May != "admin" || !o.Counts {
		t.Errorf("the second order is %+v", o)
	}
	for _, want := range []string{"walter (write)  IGNORED  /touchstone waive  0a1b2c3d  It is only a test.",
		"root has stopped the agents here"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	w.comment(loopback.Root, "/touchstone waive 0badcafe It is only a test.")
	chain, text = w.why()
	if o := chain.Orders[2]; o.Counts || !strings.Contains(o.Unclear, "No finding here has the id") || !strings.Contains(text, o.Unclear) {
		t.Errorf("an order about no finding is %+v in\n%s", o, text)
	}
	w.comment(loopback.Person, "/touchstone resume")
	if _, text := w.why(); strings.Contains(text, "has stopped the agents") {
		t.Error("it is resumed:\n" + text)
	}
}

// TestStopCountsWhereRightsAreHidden checks that orders are listed even if GitHub hides the rights, and that
// an order to stop then counts.
func TestStopCountsWhereRightsAreHidden(t *testing.T) {
	w := start(t)
	for _, body := range []string{"/touchstone stop", "/touchstone resume"} {
		w.comment(loopback.Person, body)
	}
	w.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/permission") {
			return githubsim.Fault{Status: http.StatusNotFound}
		}
		return githubsim.Fault{}
	})
	chain, text := w.why()
	if len(chain.Orders) != 2 || !chain.Orders[0].Counts || chain.Orders[1].Counts || !strings.Contains(text, "walter (not visible)") {
		t.Errorf("orders %+v in\n%s", chain.Orders, text)
	}
}

// An order counts here if it counts for the agents.
func TestConfiguredRightsDecideWhichOrdersCount(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding}})
	for _, body := range []string{"/touchstone waive 0a1b2c3d It is only a test.", "/touchstone break-glass It burns."} {
		for _, login := range []string{loopback.Person, loopback.Root} {
			w.comment(login, body)
		}
	}
	w.Read(loopback.Root, w.ref)
	for rights, want := range map[config.Rights][]bool{
		{Waive: config.RightMaintain, BreakGlass: config.RightMaintain}: {false, true, false, true},
		{Waive: config.RightWrite, BreakGlass: config.RightAdmin}:       {true, true, false, true},
		{Waive: config.RightAdmin, BreakGlass: config.RightWrite}:       {false, true, true, true},
	} {
		cfg := settings()
		cfg.Rights = rights
		client := w.Client(loopback.Person)
		chain, err := audit.Gather(t.Context(), client, w.ref, asks(client, cfg))
		if err != nil {
			t.Fatal(err)
		}
		var counted []bool
		for _, o := range chain.Orders {
			counted = append(counted, o.Counts)
		}
		if !slices.Equal(counted, want) {
			t.Errorf("with %+v, these count: %v, want %v", rights, counted, want)
		}
	}
}

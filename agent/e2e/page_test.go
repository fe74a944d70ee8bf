package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/compose"
	"touchstone/agent/forge"
	"touchstone/agent/worker"
	"touchstone/relay/client"
	"touchstone/relay/server"
	"touchstone/verdict"
)

// happening is an event as the relay's API lists it.
type happening struct {
	Type, Action, Text string
	At                 time.Time
}

// detail is what the relay's API tells of a pull request.
func (w *world) detail(ref forge.Ref) (d struct {
	Merge  *verdict.Merge
	Events []happening // newest first
}) {
	w.t.Helper()
	relay := client.Client{URL: w.relay.url, Token: w.relay.token}
	w.must(relay.Get(w.Ctx, fmt.Sprintf("api/v1/pulls/%s/%d", ref.Repo, ref.Number), nil, &d))
	return d
}

// showPage has the relay show a page.
func (w *world) showPage() {
	w.t.Helper()
	w.relay.stop()
	w.relay.page = &server.Page{File: filepath.Join(w.t.TempDir(), "page.db"), Reviewers: []string{reviewer}, GitHub: []string{"github"}}
	w.startRelay()
}

// Each head shows whose turn it is within seconds, by the times at which the relay received both events. The
// reasons for the merge are the same on the page, which has only the log, and in the terminal, which asks
// GitHub.
func TestThePullRequestThePageAndTheTerminalTellTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoDefects())
	w.showPage()
	w.startBoth()
	ref := w.openBad(false)
	w.finished(ref, 2)

	m := w.agents["author"]
	read, err := compose.Client(m.cfg)
	w.must(err)
	chain, err := audit.Gather(t.Context(), read, ref, audit.Settings{
		Reviewers: m.cfg.Reviewers, Rights: m.cfg.Rights, State: worker.Onlooker{Read: read, Config: m.cfg}.State,
	})
	w.must(err)
	w.until("the page tells what the terminal does", func() bool {
		told := w.detail(ref).Merge
		return told != nil && slices.Equal(told.Evidence(), chain.Merge.Evidence())
	})
	if proofs := chain.Merge.Evidence(); len(proofs) != 3 || slices.ContainsFunc(proofs, func(p verdict.Proof) bool { return p.Lacks }) {
		t.Errorf("the evidence is %+v", proofs)
	}

	events := w.detail(ref).Events
	slices.Reverse(events)
	var took []time.Duration
	for i, e := range events {
		if e.Type != "pull_request" || e.Action != "opened" && e.Action != "synchronize" {
			continue
		}
		said := slices.IndexFunc(events[i:], func(e happening) bool { return strings.HasPrefix(e.Text, "touchstone/review: pending, reviewing") })
		if said < 0 {
			t.Fatalf("no status followed %s:\n%+v", e.Action, events)
		}
		took = append(took, events[i+said].At.Sub(e.At))
	}
	// A machine that does something else for a while makes one late, but not all.
	if len(took) != 2 || slices.Min(took) > 5*time.Second {
		t.Errorf("the statuses of the heads came after %s", took)
	}
}

package audit_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/audit"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/verdict"
)

func TestChainOfAMergeNamesItsReviewsFixesAndCost(t *testing.T) {
	w := start(t)
	first := w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding},
		CostUSD: 0.25, Usage: verdict.Usage{Input: 10, Output: 5}, Duration: time.Minute})
	fix := w.Commit("topic", "Make it safe\n\nTouchstone-Round: 1\nTouchstone-Findings: 0a1b2c3d, 4e5f6071\n",
		map[string]string{"code.txt": "safe()\n"})
	second := w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 2, Ledger: verdict.Ledger{as(verdict.Verified)},
		CostUSD: 0.5, Usage: verdict.Usage{CacheRead: 85}, Duration: time.Minute})
	w.status("success")
	sha := w.merge()

	chain, text := w.why()
	if chain.State != "merged" || chain.Merge == nil || chain.Merge.SHA != sha || chain.Merge.By != loopback.Author || chain.Head != fix ||
		chain.Approved != 2 {
		t.Errorf("state %s, head %s, approved in round %d, %+v", chain.State, chain.Head, chain.Approved, chain.Merge)
	}
	if len(chain.Missing) != 0 || len(chain.Warnings) != 0 {
		t.Errorf("missing %q, warnings %q", chain.Missing, chain.Warnings)
	}
	if len(chain.Rounds) != 2 || chain.Rounds[0].Review != first.ID || chain.Rounds[1].Review != second.ID ||
		chain.Rounds[1].Record.Guidelines != "1a2b3c" || chain.Rounds[0].SHA == chain.Rounds[1].SHA {
		t.Errorf("rounds %+v", chain.Rounds)
	}
	if len(chain.Findings) != 1 || chain.Findings[0].Status != verdict.Verified {
		t.Errorf("findings %+v", chain.Findings)
	}
	if len(chain.Commits) != 2 || chain.Commits[1].SHA != fix || !slices.Equal(chain.Commits[1].Fixes, []string{"0a1b2c3d", "4e5f6071"}) ||
		chain.Commits[0].Subject != "Change code" {
		t.Errorf("commits %+v", chain.Commits)
	}
	if len(chain.Incidents) != 0 {
		t.Errorf("the merge itself is among the incidents: %+v", chain.Incidents)
	}
	if chain.CostUSD != 0.75 || chain.Tokens != 100 || chain.Duration != 2*time.Minute {
		t.Errorf("cost %f, %d tokens, %s", chain.CostUSD, chain.Tokens, chain.Duration)
	}
	for _, want := range []string{
		"Merged as " + sha[:7] + " by alice", fix[:7] + " was approved by judge in round 2: " +
			second.URL, "0a1b2c3d  verified  critical  Security  security/S1",
		"(fixes 0a1b2c3d, 4e5f6071)", "guidelines 1a2b3c", "build  success",
		"Cost: $0.75, 100 tokens and 2m0s of sessions; rounds that count: 2 of 2",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	data, err := json.Marshal(chain)
	if err != nil || strings.Contains(string(data), "null") {
		t.Errorf("as JSON, %v: %s", err, data)
	}
}

func TestChainSaysWhatBecameOfFindingsThatAreNotListed(t *testing.T) {
	t.Parallel()
	w := start(t)
	r := verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Ledger: verdict.Ledger{finding}, Merged: 2, Dropped: 3,
		NotListed: []verdict.NotListed{
			{Severity: verdict.Major, Rule: "test/T1", Path: "code.txt", Line: 3, Claim: "It is\x1b[2J untested.", Reason: "it repeats 0a1b2c3d",
				Into: "0a1b2c3d"},
			{Severity: verdict.Nit, Rule: "doc/D1", Claim: "It is long.", Reason: "it quotes no code"},
		}}
	w.review(loopback.Judge, r)
	r.NotListed = []verdict.NotListed{{Rule: "doc/D2", Claim: "Nobody's."}}
	w.review(loopback.Person, r)
	chain, text := w.why()
	if len(chain.Rounds[0].Record.NotListed) != 2 {
		t.Errorf("%+v", chain.Rounds[0].Record)
	}
	_, section, _ := strings.Cut(text, "Findings that are not listed, and why\n")
	section, _, _ = strings.Cut(section, "\n\n")
	for _, want := range []string{"round 1  merged into 0a1b2c3d", "code.txt:3", "untested. (it repeats 0a1b2c3d)", "dropped",
		"It is long. (it quotes no code)", "3 more, which its record only counts"} {
		if !strings.Contains(section, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(section, "Nobody's") || strings.Contains(text, "\x1b") {
		t.Errorf("it shows a record that does not count, or steers the terminal:\n%s", text)
	}
}

func TestIncidentsAreListedInOrder(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Commit("release", "Release", map[string]string{"release.txt": "1\n"})
	posted := w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 1})
	w.dismiss(posted.ID, "Look\nagain.")
	for _, change := range []map[string]string{{"state": "closed"}, {"state": "open"}, {"base": "release"}} {
		w.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", w.ref.Number), change, nil)
	}
	old := w.Read(loopback.Root, w.ref).Head.SHA
	w.force("rewritten")
	chain, text := w.why()
	var kinds []forge.IncidentKind
	for _, in := range chain.Incidents {
		if kinds = append(kinds, in.Kind); in.By == "" || in.At.IsZero() {
			t.Errorf("nobody did %+v, or at no time", in)
		}
	}
	if want := []forge.IncidentKind{forge.ReviewDismissed, forge.Closed, forge.Reopened, forge.BaseChanged,
		forge.HeadForcePushed}; !slices.Equal(kinds, want) {
		t.Errorf("incidents %v, want %v", kinds, want)
	}
	for _, want := range []string{
		fmt.Sprintf("root    dismissed review %d, which said APPROVED:", posted.ID), "  Look again.\n", "alice   closed it\n",
		"alice   reopened it\n",
		"alice   changed the base from main to release\n", "walter  force-pushed the head, from " + old[:7] + " to " + chain.Head[:7] + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

func TestCostOfFixesIsReadFromTheirTrailers(t *testing.T) {
	t.Parallel()
	w := start(t)
	repair := verdict.Repair{
		Reviewed: strings.Repeat("a", 40), Findings: []string{"0a1b2c3d"}, Disputed: []string{"4e5f6a7b It is tested."},
		Cost: verdict.Cost{USD: 0.5, Time: 90 * time.Second},
	}
	w.Commit("topic", "Apply the review\n\n"+repair.Trailers(), map[string]string{"code.txt": "safe()\n"})
	chain, text := w.why()
	if last := chain.Commits[len(chain.Commits)-1]; chain.FixCostUSD != 0.5 || chain.FixDuration != 90*time.Second ||
		!slices.Equal(last.Fixes, repair.Findings) || !slices.Equal(last.Disputes, repair.Disputed) {
		t.Errorf("%v and %v, the fix is %+v", chain.FixCostUSD, chain.FixDuration, last)
	}
	for _, want := range []string{"(fixes 0a1b2c3d) (disputes 4e5f6a7b It is tested.)", "The fixes, as their commits say: $0.50 and 1m30s\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

// TestHoldsNameTheirPlace checks that a hold is shown with its place.
func TestHoldsNameTheirPlace(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1, Holds: []verdict.Hold{
		{Kind: verdict.QualityBar, Rule: "test/T1", Path: "code.txt", Line: 5, Detail: "A test is skipped."},
		{Kind: verdict.HiddenText, Detail: "In the description."},
	}})
	_, text := w.why()
	for _, want := range []string{"code.txt:5 ", "the change as a whole  In the description."} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
}

func TestControlCharactersNeverReachTheTerminal(t *testing.T) {
	var text strings.Builder
	chain := audit.Chain{
		Title: "\x1b]0;owned\a \u202egnp.exe\nMissing: nothing", Commits: []audit.Commit{{Subject: "a\tb\x9b31m", By: "\u200bx"}},
		Missing: []string{"the check \"\x1b[2J\" is pending"}, Findings: []verdict.Entry{{Claim: "\r\x1b[1A", Rule: "\x00"}},
	}
	if err := chain.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, r := range text.String() {
		if r != '\n' && (r < ' ' || r == 0x9b || r == '\u202e' || r == '\u200b') {
			t.Fatalf("%q reaches the terminal:\n%q", r, text.String())
		}
	}
	if strings.Contains(text.String(), "\nMissing") {
		t.Error("a title makes a line of its own")
	}
}

func TestTheRoundsOfAFindingAreSaid(t *testing.T) {
	var text strings.Builder
	chain := audit.Chain{Findings: []verdict.Entry{{Claim: "once", First: 2, Last: 2}, {Claim: "again", First: 1, Last: 3}}}
	if err := chain.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`round 2 +once`, `rounds 1 to 3 +again`} {
		if !regexp.MustCompile(want).MatchString(text.String()) {
			t.Errorf("%s is not in\n%s", want, text.String())
		}
	}
}

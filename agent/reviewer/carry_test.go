package reviewer_test

import (
	"fmt"
	"net/http"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// TestApprovalIsNotCarriedOverWhatSpeaksAgainstIt: the change and the rules are as
// they were approved, and only the base was merged in. What code holds or finds by
// now, and a person who took the approval back, have the head examined again.
func TestApprovalIsNotCarriedOverWhatSpeaksAgainstIt(t *testing.T) {
	t.Parallel()
	base := map[string]string{"README.md": "one\n", "other.txt": "one\n", "app/parse.go": "package app\n\nfunc Parse() {}\n"}
	for name, tc := range map[string]struct {
		meanwhile func(g *loopback.GitHub, ref forge.Ref, approved forge.SubmittedReview)
		rule      string // of what code finds
		hold      verdict.HoldKind
		carried   bool
	}{
		"nothing": {
			meanwhile: func(*loopback.GitHub, forge.Ref, forge.SubmittedReview) {},
			carried:   true,
		},
		"a description that hides a text": {
			meanwhile: func(g *loopback.GitHub, ref forge.Ref, _ forge.SubmittedReview) {
				g.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", ref.Number), map[string]any{"body": "It is\u2060good."}, nil)
			},
			hold: verdict.HiddenText,
		},
		"a guide of the base that the change makes stale": {
			meanwhile: func(g *loopback.GitHub, _ forge.Ref, _ forge.SubmittedReview) {
				g.Commit("main", "Guide", map[string]string{"AGENTS.md": "# Guide\n\nThe parser is in `app/parse.go`.\n"})
			},
			rule: "doc/D9",
		},
		"another machine's objection of the same round": {
			meanwhile: func(g *loopback.GitHub, ref forge.Ref, _ forge.SubmittedReview) {
				unsafe := finding(3)
				unsafe.Path, unsafe.Quote = "app/read.go", "func Read() {}"
				g.Reviewed(ref, verdict.RequestChanges, unsafe)
			},
			rule: "security/S3",
		},
		"a person who dismissed it": {
			meanwhile: func(g *loopback.GitHub, ref forge.Ref, approved forge.SubmittedReview) {
				g.Call(loopback.Person, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d/dismissals", ref.Number, approved.ID),
					map[string]any{"message": "Look again.", "event": "DISMISS"}, nil)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, base, map[string]string{"app/parse.go": "", "app/read.go": "package app\n\nfunc Read() {}\n"})
			first, pr := review(t, g, ref)
			if first.Record.Verdict != verdict.Approve {
				t.Fatalf("the first round ends in %s, %+v, %+v", first.Record.Verdict, first.Record.Ledger, first.Record.Holds)
			}
			tc.meanwhile(g, ref, pr.Reviews[0])
			g.Commit("main", "Go on", map[string]string{"other.txt": "two\n"})
			mergeBase(g, ref)
			asked := 0
			r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
				asked++
				return answering()(r)
			})
			if !tc.carried {
				_, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{Allowance: verdict.Allowance{NoModel: true}})
				if err == nil || asked > 0 {
					t.Errorf("where none may be begun, %d turns end in %v", asked, err)
				}
			}
			out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{Allowance: verdict.Allowance{NoModel: tc.carried}})
			if err != nil || out.Carried != tc.carried || (asked == 0) != tc.carried {
				t.Fatalf("carried: %v, after %d turns, %v", out.Carried, asked, err)
			}
			want := verdict.Approve
			if tc.hold != "" || tc.rule != "" {
				want = verdict.RequestChanges
			}
			if v, _, ok := reviewer.Standing(g.Read(loopback.Judge, ref)); !ok || v != want {
				t.Errorf("standing: %s, %v", v, ok)
			}
			if held := out.Record.Holds; tc.hold != "" && (len(held) != 1 || held[0].Kind != tc.hold) {
				t.Errorf("held by %+v", held)
			}
			if found := out.Record.Ledger; tc.rule != "" && (len(found) != 1 || found[0].Rule != tc.rule) {
				t.Errorf("found %+v", found)
			}
		})
	}
}

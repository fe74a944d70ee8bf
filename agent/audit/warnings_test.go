package audit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/verdict"
)

func TestTamperingIsWarnedOf(t *testing.T) {
	approved := verdict.Record{Verdict: verdict.Approve, Round: 1}
	for name, test := range map[string]struct {
		happens func(w *world)
		want    string
	}{
		"a review that was edited": {func(w *world) {
			posted := w.review(loopback.Judge, verdict.Record{Verdict: verdict.Approve, Round: 1, Ledger: verdict.Ledger{finding}})
			body := w.Read(loopback.Judge, w.ref).Reviews[0].Body
			w.Call(loopback.Judge, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d", w.ref.Number, posted.ID),
				map[string]string{"body": strings.Replace(body, `"open"`, `"waived"`, 1)}, nil)
		}, "it was edited after it was posted, at "},
		"a record that was edited away": {func(w *world) {
			posted := w.review(loopback.Judge, approved)
			w.Call(loopback.Judge, http.MethodPut, fmt.Sprintf("pulls/%d/reviews/%d", w.ref.Number, posted.ID), map[string]string{"body": "Fine."},
				nil)
		}, "was edited after it was posted and contains no record now"},
		"somebody else's record": {func(w *world) { w.review(loopback.Person, approved) }, "walter is not one of the reviewers"},
		"a record about another commit": {func(w *world) { r := approved; r.Head = strings.Repeat("0", 40); w.review(loopback.Judge, r) },
			"it is about 0000000, while GitHub has it on "},
		"a review that was dismissed": {func(w *world) {
			posted := w.review(loopback.Judge, approved)
			w.dismiss(posted.ID, "No.")
		}, "it was dismissed"},
		"an order that was edited": {func(w *world) {
			order := w.comment(loopback.Person, "/touchstone stop")
			w.Call(loopback.Root, http.MethodPatch, fmt.Sprintf("issues/comments/%d", order),
				map[string]string{"body": "/touchstone waive 0a1b2c3d It is fine."}, nil)
		}, "by walter was edited at "},
		"a reviewed commit that was pushed away": {func(w *world) {
			w.review(loopback.Judge, verdict.Record{Verdict: verdict.RequestChanges, Round: 1})
			w.force("rewritten")
		}, ", which round 1 had reviewed, with "},
		"a comment that was deleted": {func(w *world) {
			order := w.comment(loopback.Person, "/touchstone stop")
			w.Call(loopback.Root, http.MethodDelete, fmt.Sprintf("issues/comments/%d", order), nil, nil)
		}, "root deleted a comment by walter, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			test.happens(w)
			chain, text := w.why()
			if len(chain.Warnings) != 1 || !strings.Contains(chain.Warnings[0], test.want) ||
				!strings.Contains(text, "Inconsistencies:\n  - "+chain.Warnings[0]) {
				t.Errorf("warnings %q; want one that says %q, and the text too:\n%s", chain.Warnings, test.want, text)
			}
			if chain.Approved != 0 || len(chain.Findings) != 0 || chain.CostUSD != 0 {
				t.Errorf("approved in round %d, findings %v", chain.Approved, chain.Findings)
			}
		})
	}
}

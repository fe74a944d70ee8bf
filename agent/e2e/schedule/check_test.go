package schedule

import (
	"slices"
	"testing"

	"touchstone/verdict"
)

// TestViolationsAreSeen: the schedules of this package come out well, so this is
// what tells that they could come out otherwise.
func TestViolationsAreSeen(t *testing.T) {
	const head, other = "0123456789", "abcdef0123"
	by := func(login, state, sha string, record *verdict.Record) review {
		r := review{State: state, CommitID: sha}
		r.User.Login = login
		if record != nil {
			seal, err := record.Seal()
			if err != nil {
				t.Fatal(err)
			}
			r.Body = "Read.\n\n" + seal
		}
		return r
	}
	approve := func(sha string) *verdict.Record { return &verdict.Record{Verdict: verdict.Approve, Head: sha} }
	object := &verdict.Record{Verdict: verdict.RequestChanges, Head: head, Holds: []verdict.Hold{{Kind: verdict.QualityBar}}}
	for name, tc := range map[string]struct {
		reviews []review
		want    []string
	}{
		"approved and merged": {[]review{by("judge", "APPROVED", head, approve(head))}, nil},
		"merged on an approval of another head": {[]review{by("judge", "APPROVED", other, approve(other))},
			[]string{"0123456 was merged and never approved"}},
		"merged on a record of another head": {[]review{by("judge", "APPROVED", head, approve(other))},
			[]string{"0123456 was merged and never approved"}},
		"held and let pass": {[]review{by("judge", "CHANGES_REQUESTED", head, object), by("walter", "APPROVED", head, nil),
			by("judge", "APPROVED", head, &verdict.Record{Verdict: verdict.Approve, Head: head, Holds: object.Holds, Lifted: &verdict.Word{By: "walter"}})}, nil},
		"held, and let pass at another head": {[]review{by("walter", "APPROVED", other, nil),
			by("judge", "APPROVED", head, &verdict.Record{Verdict: verdict.Approve, Head: head, Holds: object.Holds, Lifted: &verdict.Word{By: "walter"}})},
			[]string{"0123456 was merged without the person that it was held for"}},
		"reviewed twice": {[]review{by("judge", "APPROVED", head, approve(head)), by("judge", "APPROVED", head, approve(head))},
			[]string{"0123456 was reviewed 2 times"}},
		"a review without a record": {[]review{by("judge", "APPROVED", head, approve(head)), by("judge", "COMMENTED", head, nil)},
			[]string{"a review of 0123456 has no record: " + verdict.ErrNoRecord.Error()}},
	} {
		w := &world{result: &Result{}}
		w.checkReviews(tc.reviews)
		w.checkMerge(head, tc.reviews)
		if !slices.Equal(w.result.Violations, tc.want) {
			t.Errorf("%s: %q, want %q", name, w.result.Violations, tc.want)
		}
	}
}

package decide

import (
	"fmt"
	"slices"

	"touchstone/verdict"
)

// Unapplied is the topic for an approved head to which the edits of its nits could not be applied.
const Unapplied = "nits"

// nitsApplied is about an approved head whose review proposes edits for its nits. The author's agent applies
// them once. Whatever comes of that never blocks the merge.
func (s State) nitsApplied() outcome {
	approval := s.solePlain()
	if approval == nil || s.green().state != Met || !s.Nits || !s.mayApply() {
		return notApplicable
	}
	edits := approval.Applicable(s.withOrders(*approval))
	discussed := func(e verdict.Edit) bool { return slices.Contains(s.Discussed, e.Finding) }
	if slices.ContainsFunc(edits, discussed) {
		return notApplicable
	}
	return metIf(len(edits) == 0, verdict.TurnAuthor, func() Action {
		what := "the suggestion of a nit"
		if n := len(edits); n > 1 {
			what = fmt.Sprintf("the suggestions of %d nits", n)
		}
		a := s.act(Apply, "it is approved, and "+what+" can be applied before it is merged")
		record := *approval
		record.Edits = edits
		a.Record = &record
		return a
	})
}

// solePlain is the approval of this head if it is plain and the only review that counts, else nil: another
// reviewer would have to review again after the edits.
func (s State) solePlain() *verdict.Record {
	counting := s.Counting()
	if s.stance() != approves || len(counting) != 1 {
		return nil
	}
	if r := s.Opinions[counting[0]].Record; r.Plain() {
		return r
	}
	return nil
}

// mayApply reports whether the head can still be merged after an edit: the agent may push to the branch and
// merge it, nothing has failed on this head, and no person's approval of this very commit would be lost.
func (s State) mayApply() bool {
	switch {
	case s.Manual.Why != "", s.Fork, s.Shared, s.SameBranch != "", s.InQueue, s.putBack():
		return false
	case !slices.Contains([]Mergeable{MergeableClean, MergeableBehind, MergeableBlocked}, s.Mergeable):
		return false
	case len(s.Unclear) > 0, s.Attempts > 0, s.NitsTried, s.noticed(Left{Topic: Unapplied, OneHead: true}):
		return false
	}
	return !slices.ContainsFunc(s.Opinions, func(o Opinion) bool { return o.State == "APPROVED" && o.SHA == s.Head && !s.isAgent(o) })
}

// putBack reports whether somebody put the branch back to a head that was reviewed before: what came after it, such as
// applied suggestions, is not wanted. The last force push may have left an older commit, on which the head was pushed.
func (s State) putBack() bool {
	return !s.Forced.At.IsZero() && slices.ContainsFunc(s.Opinions, func(o Opinion) bool {
		return o.SHA == s.Head && !o.At.After(s.Forced.At)
	})
}

package decide

import (
	"fmt"
	"slices"

	"touchstone/verdict"
)

// Unapplied is the topic of an approved head to which what its nits propose could not be applied.
const Unapplied = "nits"

// nitsApplied is for an approved head whose review proposes edits for its nits. Its author's agent
// applies them once; what becomes of that never keeps the head from being merged.
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

// solePlain is the approval of this head where one reviewer's counts alone and is plain: another
// reviewer would have to read again what that one proposed. Nil where that is not so.
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

// mayApply reports whether an edit of this head can go on to its merge: the agent may push to the
// branch and merge it, nothing has failed on this head, and no person's approval of this very
// commit would be lost.
func (s State) mayApply() bool {
	switch {
	case s.Manual.Why != "", s.Fork, s.Shared, s.SameBranch != "", s.InQueue:
		return false
	case !slices.Contains([]Mergeable{MergeableClean, MergeableBehind, MergeableBlocked}, s.Mergeable):
		return false
	case len(s.Unclear) > 0, s.Attempts > 0, s.NitsTried, s.noticed(Left{Topic: Unapplied, OneHead: true}):
		return false
	}
	return !slices.ContainsFunc(s.Opinions, func(o Opinion) bool { return o.State == "APPROVED" && o.SHA == s.Head && !s.isAgent(o) })
}

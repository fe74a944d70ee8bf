package reviewer

import (
	"cmp"
	"context"

	"touchstone/agent/reviewer/change"
	"touchstone/agent/reviewer/suspect"
	"touchstone/verdict"
	"touchstone/verdict/guard"
)

// edits are the edits that the nits of an approval propose: suggestions that replace whole lines of the head.
// The author's agent may apply them, and the approval is then carried over to the result without a session.
// So they only include edits that would not need another review.
func (s Subject) edits(ctx context.Context, j verdict.Judgement) []verdict.Edit {
	if j.Verdict != verdict.Approve || s.Head == "" {
		return nil
	}
	shownAt, merge, head := s.places(ctx), s.at(ctx, s.Diff.Head), s.at(ctx, s.Head)
	var all []verdict.Edit
	for _, f := range j.Answer.Findings {
		if f.Severity != verdict.Nit {
			continue
		}
		at := shownAt(f)
		text, ok := replacement(f, at.anchor, merge)
		if !ok || !s.appliable(at.path, text) {
			continue
		}
		content, err := head(at.path)
		if err != nil {
			continue
		}
		e, ok := verdict.NewEdit(f.ID, at.path, cmp.Or(at.start, at.line), at.line, text, content)
		if _, err := verdict.Edited(at.path, content, append(all, e)); ok && err == nil {
			all = append(all, e)
		}
	}
	return all
}

// appliable reports whether a text may be put into a file without another review: the guard does not check
// that file, GitHub shows the text as a suggestion, and redaction leaves it unchanged.
func (s Subject) appliable(path, text string) bool {
	if change.Spell(path) != path || guard.Gates(path) || order.MatchString(text) {
		return false
	}
	if clean := s.Signer.Clean; clean != nil && clean(text) != text {
		return false
	}
	holds, evidence := suspect.Look([]suspect.Text{{Form: suspect.Code, Path: path, Line: 1, Text: text}})
	return len(holds)+len(evidence) == 0
}

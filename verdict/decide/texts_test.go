package decide

import (
	"strings"
	"testing"

	"touchstone/verdict"
)

// about is a settled review that objects to texts of the pull request's alone, by their names; "" is a file.
func about(texts ...string) Opinion {
	o := says("alice", head, verdict.RequestChanges)
	o.Record.Settled, o.Record.Ledger = true, nil
	for i, text := range texts {
		e := verdict.Entry{ID: strings.Repeat(string(rune('a'+i)), 8), Status: verdict.Open, Severity: verdict.Major,
			Dimension: verdict.AIAntipattern, Text: text, Claim: "It is untrue."}
		if text == "" {
			e.Path = "a.go"
		}
		o.Record.Ledger = append(o.Record.Ledger, e)
	}
	return o
}

// No session on the files can edit a title: its author is told at once what to do, once, and what is edited is reviewed.
func TestWhatOnlyTheAuthorCanEditCostsNoSession(t *testing.T) {
	objects := func(change func(*State, *Opinion), texts ...string) func(*State) {
		return func(s *State) {
			o := about(texts...)
			change(s, &o)
			s.Opinions = []Opinion{o}
		}
	}
	as := func(*State, *Opinion) {}
	const description = "edit the description, which is all that blocks it (finding aaaaaaaa): It is untrue"
	runNext(t, ready, []nextCase{
		{"the description", objects(as, "description"), Tell, description},
		{"title and messages", objects(as, "title", "commit messages"), Tell, "edit the title and reword the commit messages, and push, which"},
		{"of a fork", objects(func(s *State, _ *Opinion) { s.Fork = true }, "description"), Tell, description},
		{"told before", objects(func(s *State, _ *Opinion) { s.Notices = []Notice{{Topic: Texts, SHA: head}} }, "description"), Wait,
			"its author has to edit the description"},
		{"told of an older head", objects(func(s *State, _ *Opinion) { s.Notices = []Notice{{Topic: Texts, SHA: older}} }, "description"), Tell,
			description},
		{"edited since", objects(func(_ *State, o *Opinion) { o.Restated = true }, "description"), Wait, "is about to judge it again"},
		{"code besides", objects(as, "description", ""), Fix, "requests changes"},
		{"a nit on code besides", objects(func(_ *State, o *Opinion) { o.Record.Ledger[1].Severity = verdict.Nit }, "description", ""), Tell,
			description},
		{"a recurrence action, which a fix can declare", objects(func(_ *State, o *Opinion) {
			o.Record.Ledger[0].Dimension = verdict.Recurrence
		}, "description"), Fix, "requests changes"},
		{"a check failed", objects(func(s *State, _ *Opinion) { s.Checks = ChecksFailed }, "description"), Fix, "requests changes"},
		{"a conflict", objects(func(s *State, _ *Opinion) { s.Mergeable = MergeableDirty }, "description"), Fix, ""},
		{"a review that doubts itself", objects(func(_ *State, o *Opinion) { o.Record.Settled = false }, "description"), Fix, "requests changes"},
		{"waived", objects(func(_ *State, o *Opinion) { o.Record.Ledger[0].Status = verdict.Waived }, "description"), Escalate,
			"names nothing"},
	})
}

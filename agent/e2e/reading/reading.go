// Package reading is how made-up models do what a prompt asks of every session: a review
// counts a file as examined only if a tool was called for its patch, approves only if
// all evidence is answered, and closes what a fix claims to have repaired only if the session
// says how; a fix claims what its session says of each finding. It stores nothing.
package reading

import (
	"regexp"

	"touchstone/agent/engine"
	"touchstone/verdict"
)

var patch = regexp.MustCompile(`(?m)^  patch: (.+)$`)

// Patches tells a session's listener, if there is one, of a call for each patch that a
// prompt lists.
func Patches(request engine.Request, prompt string) {
	if request.Progress == nil {
		return
	}
	for _, m := range patch.FindAllStringSubmatch(prompt, -1) {
		request.Progress(engine.Progress{Kind: engine.ProgressTool, Text: "Read", Target: m[1]})
	}
}

var evidence = regexp.MustCompile(`(?m)^- (E\d+) `)

// Refuted says of each piece of evidence that a prompt lists that it is nothing.
func Refuted(prompt string) (all []verdict.Refuted) {
	for _, m := range evidence.FindAllStringSubmatch(prompt, -1) {
		all = append(all, verdict.Refuted{Evidence: m[1], Reason: "It is nothing here."})
	}
	return all
}

var claimed = regexp.MustCompile(`(?m)^- ([0-9a-f]{8}) claimed-fixed \[`)

// Gone says of each finding that a prompt lists as repaired that it is gone; one that is
// found again stays all the same.
func Gone(prompt string) (all []verdict.Gone) {
	for _, m := range claimed.FindAllStringSubmatch(prompt, -1) {
		all = append(all, verdict.Gone{ID: m[1], How: "The code was read."})
	}
	return all
}

var due = regexp.MustCompile(`(?m)^## ([0-9a-f]{8})$`)

// Repaired says of each finding that an author's prompt lists that it is repaired.
func Repaired(prompt string) string {
	text := ""
	for _, m := range due.FindAllStringSubmatch(prompt, -1) {
		text += "Repaired " + m[1] + ": The code does not do that any more.\n"
	}
	return text
}

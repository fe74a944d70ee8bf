// Package reading is how made-up models do what a prompt asks of every session: a review
// counts a file as examined only if a tool was called for its patch, approves only if
// all evidence is answered, and closes what a fix claims to have repaired only if the session
// says how; a fix claims what its session says of each finding. It stores nothing.
package reading

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

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

var runLine = regexp.MustCompile(`(?m)^<!-- RUN:\S+ -->$`)

// Upheld is the answer to a prompt that asks to refute a finding, which it does not; ok is false
// for any other prompt.
func Upheld(prompt string) (text string, ok bool) {
	return checked(prompt, verdict.Check{Outcome: verdict.Upheld, Reason: "It is so."})
}

// Refutes is the answer to such a prompt that refutes the finding by code.
func Refutes(prompt, path, quote string) (text string, ok bool) {
	return checked(prompt, verdict.Check{Outcome: verdict.Overruled, Reason: "It is not so.", Path: path, Quote: quote})
}

func checked(prompt string, c verdict.Check) (text string, ok bool) {
	if !strings.Contains(prompt, "\n# The finding\n") || !strings.Contains(prompt, verdict.CheckMarker(verdict.Overruled)) {
		return "", false
	}
	lines := runLine.FindAllString(prompt, -1)
	// Texts can be encoded.
	data, _ := json.Marshal(c)
	return fmt.Sprintf("```%s\n%s\n```\n%s\n%s\n", verdict.Fence, data, lines[len(lines)-1], verdict.CheckMarker(c.Outcome)), true
}

var evidence = regexp.MustCompile(`(?m)^- (E\d+) `)

// Refuted says of each piece of evidence that a prompt lists that it is nothing.
func Refuted(prompt string) (all []verdict.Refutation) {
	for _, m := range evidence.FindAllStringSubmatch(prompt, -1) {
		all = append(all, verdict.Refutation{Evidence: m[1], Reason: "It is nothing here."})
	}
	return all
}

var standing = regexp.MustCompile(`(?m)^- ([0-9a-f]{8}) (?:open|claimed-fixed|disputed|regressed) \[`)

// Gone says of each finding that a prompt lists and that stands that it is gone; one that is
// found again stays all the same.
func Gone(prompt string) (all []verdict.Gone) {
	for _, m := range standing.FindAllStringSubmatch(prompt, -1) {
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

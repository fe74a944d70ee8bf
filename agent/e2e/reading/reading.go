// Package reading helps fake models to do what a prompt requires of every session. A review counts a file as
// examined only if a tool was called for its patch, approves only if all evidence is answered, and closes a
// finding that a fix claims to have repaired only if the session says how. A fix claims what its session says
// about each finding. The package stores nothing.
package reading

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"touchstone/agent/engine"
	"touchstone/verdict"
)

// Model is an engine that answers each turn by calling a function.
type Model func(ctx context.Context, request engine.Request, prompt string) (engine.Result, error)

// Name returns the engine's name.
func (Model) Name() string { return "model" }

// Probe always succeeds.
func (Model) Probe(context.Context) (engine.Version, error) { return engine.Version{}, nil }

// Open opens a session.
func (m Model) Open(_ context.Context, request engine.Request) (engine.Session, error) {
	return session{m, request}, nil
}

type session struct {
	model   Model
	request engine.Request
}

func (s session) Ask(ctx context.Context, prompt string) (engine.Result, error) {
	return s.model(ctx, s.request, prompt)
}

func (session) Close() error { return nil }

var patch = regexp.MustCompile(`(?m)^  patch: (.+)$`)

// Listed returns the paths of the patches that a prompt lists.
func Listed(prompt string) (paths []string) {
	for _, m := range patch.FindAllStringSubmatch(prompt, -1) {
		paths = append(paths, m[1])
	}
	return paths
}

// Patches reports a tool call for each patch that a prompt lists to the session's listener, if there is one.
func Patches(request engine.Request, prompt string) {
	if request.Progress == nil {
		return
	}
	for _, path := range Listed(prompt) {
		request.Progress(engine.Progress{Kind: engine.ProgressTool, Text: "Read", Target: path})
	}
}

var fileLine = regexp.MustCompile(`(?m)^- (.+) \([a-z-]+ \+\d+ -\d+\)$`)

// Review returns an answer with these findings that covers all dimensions and every file that a prompt lists,
// and refutes all evidence.
func Review(prompt, summary string, findings ...verdict.Finding) verdict.Answer {
	a := verdict.Answer{Summary: summary, Findings: append([]verdict.Finding{}, findings...), Refuted: Refuted(prompt), Gone: Gone(prompt)}
	for _, d := range verdict.Dimensions() {
		a.Dimensions = append(a.Dimensions, verdict.Examined{Dimension: d, Examined: "all of it"})
	}
	_, list, first := strings.Cut(prompt, "\n# Changed files\n")
	if list, _, _ = strings.Cut(list, "\n# "); !first { // a later turn lists its files without that heading
		list = prompt
	}
	for _, m := range fileLine.FindAllStringSubmatch(list, -1) {
		a.Files = append(a.Files, m[1])
	}
	return a
}

// Answer returns the text of a review in the required form.
func Answer(prompt string, a verdict.Answer, v verdict.Verdict) string {
	return InForm(prompt, a, verdict.Marker(v))
}

var runLine = regexp.MustCompile(`<!-- RUN:\S+ -->`)

// InForm returns the text of any answer in the required form: its data, the nonce of the prompt, and a closing
// line unless marker is empty. The nonce is the prompt's last one, because it comes after all quoted text.
func InForm(prompt string, answer any, marker string) string {
	nonce := ""
	if all := runLine.FindAllString(prompt, -1); len(all) > 0 {
		nonce = all[len(all)-1]
	}
	data, err := json.Marshal(answer)
	if err != nil {
		panic(err) // it consists of strings
	}
	return strings.TrimSpace(fmt.Sprintf("```%s\n%s\n```\n%s\n%s", verdict.Fence, data, nonce, marker)) + "\n"
}

// Upheld returns the answer that upholds the finding of a prompt that asks to refute it; ok is false for any
// other prompt.
func Upheld(prompt string) (text string, ok bool) {
	return checked(prompt, verdict.Check{Outcome: verdict.Upheld, Reason: "It is so."})
}

// Refutes returns the answer to such a prompt that refutes the finding with a quote of code.
func Refutes(prompt, path, quote string) (text string, ok bool) {
	return checked(prompt, verdict.Check{Outcome: verdict.Overruled, Reason: "It is not so.", Path: path, Quote: quote})
}

// Lowers returns the answer to such a prompt that calls the finding true but minor, with a quote of code.
func Lowers(prompt, path, quote string) (text string, ok bool) {
	return checked(prompt, verdict.Check{Outcome: verdict.Lowered, Reason: "Nobody meets it.", Path: path, Quote: quote})
}

func checked(prompt string, c verdict.Check) (text string, ok bool) {
	if !strings.Contains(prompt, "\n# The finding\n") || !strings.Contains(prompt, verdict.CheckMarker(verdict.Overruled)) {
		return "", false
	}
	return InForm(prompt, c, verdict.CheckMarker(c.Outcome)), true
}

// Asked reports whether a prompt asks what an approval's text names beside its lists.
func Asked(prompt string) bool {
	return strings.Contains(prompt, "\n# The text of the review\n") && strings.Contains(prompt, verdict.ReadMarker)
}

// Names returns the answer to such a prompt that names these passages; ok is false for any other prompt.
func Names(prompt string, passages ...verdict.Passage) (text string, ok bool) {
	named := map[string]any{"named": append([]verdict.Passage{}, passages...)}
	return InForm(prompt, named, verdict.ReadMarker), Asked(prompt)
}

var evidence = regexp.MustCompile(`(?m)^- (E\d+) `)

// Refuted dismisses each piece of evidence that a prompt lists.
func Refuted(prompt string) (all []verdict.Refutation) {
	for _, m := range evidence.FindAllStringSubmatch(prompt, -1) {
		all = append(all, verdict.Refutation{Evidence: m[1], Reason: "It is nothing here."})
	}
	return all
}

var standing = regexp.MustCompile(`(?m)^- ([0-9a-f]{8}) (?:open|claimed-fixed|disputed|regressed) \[`)

// Gone declares each standing finding that a prompt lists as gone; a finding that is found again stays
// nevertheless.
func Gone(prompt string) (all []verdict.Gone) {
	for _, m := range standing.FindAllStringSubmatch(prompt, -1) {
		all = append(all, verdict.Gone{ID: m[1], How: "The code was read."})
	}
	return all
}

var due = regexp.MustCompile(`(?m)^## ([0-9a-f]{8})$`)

// Repaired declares each finding that an author's prompt lists as repaired.
func Repaired(prompt string) string {
	text := ""
	for _, m := range due.FindAllStringSubmatch(prompt, -1) {
		text += "Repaired " + m[1] + ": The code does not do that any more.\n"
	}
	return text
}

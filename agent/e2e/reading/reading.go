// Package reading is how made-up models open what a prompt tells them to open: a review
// counts a file as examined only if a tool was called for its patch. It stores nothing.
package reading

import (
	"regexp"

	"touchstone/agent/engine"
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

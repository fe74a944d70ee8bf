package e2e

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine/enginetest"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/await"
)

// TestClaudeClosesTheLoop runs the loop with the real claude CLI in both
// roles. Only the provider behind it is scripted: it reads the patch and edits
// the file through the CLI's own tools.
func TestClaudeClosesTheLoop(t *testing.T) {
	cli := enginetest.CLI(t, "claude")
	w := newWorld(t, twoDefects())
	provider := enginetest.NewThinker(t, func(_ int, call enginetest.Call) enginetest.Turn { return w.think(string(call.Body)) })
	t.Setenv("ANTHROPIC_BASE_URL", provider.URL)
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-api03-a-key-of-no-account")
	for _, m := range w.agents {
		m.cfg.Engine.Command, m.cfg.Engine.IdleTimeout = []string{cli}, config.Duration(await.Patience)
	}
	w.startBoth()
	w.finished(w.openBad(false), 2)
	if got := w.file("main", "store/search.go"); strings.Contains(got, "unsafe()") {
		t.Errorf("main still holds the defect:\n%s", got)
	}
}

var (
	runLine   = regexp.MustCompile(`<!-- RUN:[A-Z0-9]+ -->`)
	patchLine = regexp.MustCompile(`patch: (\S+\.patch)`)
)

// think is the next turn of a model that sees the whole conversation.
func (w *world) think(body string) enginetest.Turn {
	var request struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal([]byte(body), &request); err != nil || len(request.Messages) == 0 {
		return enginetest.Turn{Text: []string{"There is nothing to answer."}}
	}
	prompt := text(request.Messages[0].Content)
	if upheld, ok := reading.Upheld(prompt); ok {
		return enginetest.Turn{Text: []string{upheld}}
	}
	used := strings.Count(body, `"tool_use_id"`)
	file := filepath.Join(w.agents[decide.Author].cfg.StateDir, "worktrees", owner, repo.Name, "1-author", "store", "search.go")
	run := runLine.FindString(prompt)
	switch {
	case run == "" && used == 0:
		return enginetest.Turn{Tool: "Read", Input: map[string]any{"file_path": file}}
	case run == "" && used == 1:
		return enginetest.Turn{Tool: "Edit", Input: map[string]any{"file_path": file, "old_string": "unsafe()", "new_string": "safe()"}}
	case run == "":
		return enginetest.Turn{Text: []string{"Called safe() instead."}}
	case used == 0:
		return enginetest.Turn{Text: []string{"## [Graph]\n\n"}, Tool: "Read",
			Input: map[string]any{"file_path": patchLine.FindStringSubmatch(prompt)[1]}}
	}
	var read strings.Builder // after which the CLI may tell more, such as what is left of the budget
	for _, m := range request.Messages[1:] {
		read.WriteString(text(m.Content))
	}
	var findings []verdict.Finding
	v := verdict.Approve
	if strings.Contains(read.String(), "{ unsafe() }") {
		findings = append(findings, verdict.Finding{Dimension: verdict.Security, Severity: verdict.Critical, Rule: "security/S1",
			Path: "store/search.go", Line: 4, Quote: "func Search() { unsafe() }", Claim: "It is unsafe."})
		v = verdict.RequestChanges
	}
	return enginetest.Turn{Text: []string{reading.Answer(prompt, reading.Review(prompt, "Read the patch.", findings...), v)}}
}

// text is all text of a message's content, that of tool results included.
func text(content json.RawMessage) string {
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return plain
	}
	var blocks []struct {
		Text    string
		Content json.RawMessage
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.Text + "\n")
		if len(b.Content) > 0 {
			all.WriteString(text(b.Content) + "\n")
		}
	}
	return all.String()
}

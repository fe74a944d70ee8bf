package claude_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/claude"
	"touchstone/agent/engine/enginetest"
)

// BenchmarkOverhead measures what a run costs beyond running the same CLI
// bare: each iteration does both, and overhead-ms is the difference.
//
//	go test ./agent/engine/claude -run '^$' -bench Overhead -benchtime 20x
func BenchmarkOverhead(b *testing.B) {
	b.Run("scripted", func(b *testing.B) {
		e, dir := scripted(b, "[]", "[]")
		measure(b, e, review(dir), reviewPrompt, os.Environ())
	})
	b.Run("claude", func(b *testing.B) {
		p := enginetest.NewProvider(b, enginetest.Turn{Text: []string{"Hello."}})
		e := realEngine(b, p)
		home := b.TempDir()
		measure(b, e, reviewer(b.TempDir()), prompt, append(e.Environ, "HOME="+home, "CLAUDE_CONFIG_DIR="+home,
			"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"))
	})
}

func measure(b *testing.B, e *claude.Engine, req engine.Request, prompt string, environ []string) {
	args := append(e.Command[1:], "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands", "--tools", "Read,Grep,Glob")
	var bare, ours time.Duration
	for b.Loop() {
		cmd := exec.Command(e.Command[0], args...)
		cmd.Dir, cmd.Env, cmd.Stdin = req.Dir, environ, strings.NewReader(prompt)
		started := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		bare += time.Since(started)

		started = time.Now()
		if _, err := engine.Run(context.Background(), e, req, prompt); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(started)
	}
	perRun := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(perRun(bare), "bare-ms")
	b.ReportMetric(perRun(ours-bare), "overhead-ms")
}

package claude_test

import (
	"context"
	"os"
	"os/exec"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/agent/engine"
	"touchstone/agent/engine/claude"
	"touchstone/agent/engine/enginetest"
)

// BenchmarkOverhead measures what a run costs beyond running the same CLI bare: each
// iteration does both, overhead-ms is the difference of the least times, and overhead-MB is
// what this process has in use at most while it runs, beyond before.
//
//	go test ./agent/engine/claude -run '^$' -bench Overhead -benchtime 20x
func BenchmarkOverhead(b *testing.B) {
	b.Run("scripted", func(b *testing.B) {
		e, dir := scripted(b, "[]", "[]")
		measure(b, 1, contest{engine: e, req: review(dir), prompt: reviewPrompt, environ: os.Environ()})
	})
	b.Run("claude", func(b *testing.B) { measure(b, 1, realClaude(b)) })
}

// BenchmarkEight measures eight runs at once beside eight of the bare CLI at once.
//
//	go test ./agent/engine/claude -run '^$' -bench Eight -benchtime 5x
func BenchmarkEight(b *testing.B) { measure(b, 8, realClaude(b)) }

// contest is an engine, and its CLI as it is without one.
type contest struct {
	engine  *claude.Engine
	req     engine.Request
	prompt  string
	environ []string
}

func realClaude(b *testing.B) contest {
	p := enginetest.NewProvider(b, enginetest.Turn{Text: []string{"Hello."}})
	e, home := realEngine(b, p), b.TempDir()
	return contest{e, reviewer(b.TempDir()), prompt, append(e.Environ, "HOME="+home, "CLAUDE_CONFIG_DIR="+home,
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1")}
}

func (c contest) bare() error {
	args := append(c.engine.Command[1:], "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands", "--tools", "Read,Grep,Glob")
	cmd := exec.Command(c.engine.Command[0], args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.req.Dir, c.environ, strings.NewReader(c.prompt)
	_, err := cmd.CombinedOutput()
	return err
}

func (c contest) ours() error {
	_, err := enginetest.Run(context.Background(), c.engine, c.req, c.prompt)
	return err
}

// measure runs both of a contest, so many at once.
func measure(b *testing.B, atOnce int, c contest) {
	var bare, ours []time.Duration
	var most uint64
	for b.Loop() {
		bare = append(bare, together(b, atOnce, c.bare))
		before := inUse()
		peak := watchMemory(func() { ours = append(ours, together(b, atOnce, c.ours)) })
		most = max(most, peak-min(before, peak))
	}
	b.ReportMetric(least(bare), "bare-ms")
	b.ReportMetric(least(ours)-least(bare), "overhead-ms")
	b.ReportMetric(float64(most)/float64(atOnce)/(1<<20), "overhead-MB")
}

// least is in milliseconds. On a machine that others are busy on, it is the one time that
// tells of the program and not of them.
func least(runs []time.Duration) float64 { return float64(slices.Min(runs).Microseconds()) / 1000 }

func together(b *testing.B, n int, run func() error) time.Duration {
	started := time.Now()
	var all errgroup.Group
	for range n {
		all.Go(run)
	}
	if err := all.Wait(); err != nil {
		b.Fatal(err)
	}
	return time.Since(started)
}

// watchMemory gives the most memory in use while something runs.
func watchMemory(run func()) uint64 {
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most, look := uint64(0), time.NewTicker(5*time.Millisecond)
		defer look.Stop()
		for {
			select {
			case <-look.C:
				most = max(most, inUse())
			case <-done:
				peak <- most
				return
			}
		}
	}()
	run()
	close(done)
	return <-peak
}

// inUse is the memory that this process has taken and not given back, in bytes.
func inUse() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

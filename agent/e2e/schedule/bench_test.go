package schedule

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/engine/enginetest"
	"touchstone/worktree/steps"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// rounds is the number of reviews of a pull request here.
const rounds = 11

// defects returns a text that needs that many rounds with a model that finds one defect at a time.
func defects() string {
	var calls []string
	for i := range rounds - 1 {
		calls = append(calls, fmt.Sprintf("unsafe() // step %d", i))
	}
	return body(calls...)
}

// runThrough takes a pull request to its merge with a model that takes no time, and returns the duration of
// each round: a review and the fix or merge after it.
func (s *Stage) runThrough(ctx context.Context, n uint64) []time.Duration {
	w := s.world(ctx, n)
	w.slow = true
	defer w.close()
	w.open(defects())
	for _, m := range w.machines {
		m.random = nil
		w.start(m)
		cfg := m.agent.Config()
		cfg.Rounds.Max, cfg.Budgets.PullRequest = 2*rounds, 0
		m.agent.Config = func() config.Config { return cfg }
	}
	var took []time.Duration
	for {
		steps.Must(w.Sim.Settle(ctx))
		started := time.Now()
		w.act(ctx, w.machines[0])
		w.act(ctx, w.machines[2])
		took = append(took, time.Since(started))
		switch p := w.Pull(); {
		case p.Merged && len(took) == rounds:
			return took
		case p.Merged || len(took) == rounds:
			steps.Fail("merged %v after %d rounds\n%s", p.Merged, len(took), strings.Join(w.result.Steps, "\n"))
		}
	}
}

// bareRound is the yardstick: git alone, over the same HTTP, does what every agent must do in a round: two
// clones, a commit and a push.
func bareRound(ctx context.Context, url, dir string, n int) (time.Duration, error) {
	git := func(args ...string) error {
		args = append([]string{"-c", "http.extraHeader=Authorization: Bearer token-of-" + arena.Author, "-c", "user.name=a", "-c",
			"user.email=a@example.com"}, args...)
		if out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %q: %w: %s", args, err, out)
		}
		return nil
	}
	review, fix := filepath.Join(dir, fmt.Sprint("review", n)), filepath.Join(dir, fmt.Sprint("fix", n))
	started := time.Now()
	for _, args := range [][]string{
		{"clone", "-q", url, review}, {"clone", "-q", url, fix},
		{"-C", fix, "commit", "-q", "--allow-empty", "-m", "Fix"}, {"-C", fix, "push", "-q", "origin", fmt.Sprint("HEAD:bare-", n)},
	} {
		if err := git(args...); err != nil {
			return 0, err
		}
	}
	return time.Since(started), nil
}

// BenchmarkRounds takes pull requests through eleven rounds with a model that takes no time: first one alone,
// then ten concurrently.
func BenchmarkRounds(b *testing.B) {
	err := arena.Within(b.Context(), b.TempDir(), func(ctx context.Context, a *arena.Arena) error {
		stage, err := NewStage(ctx, a, b.TempDir())
		if err != nil {
			return err
		}
		var took, bare []time.Duration
		var alone, together time.Duration
		n := uint64(0)
		for b.Loop() {
			n += 4
			started := time.Now()
			if err := steps.Try(func() { took = append(took, stage.runThrough(ctx, n)...) }); err != nil {
				return err
			}
			alone += time.Since(started)
			for range rounds {
				one, err := bareRound(ctx, a.CloneURL(fmt.Sprintf("seed-%d", n)), b.TempDir(), len(bare))
				if err != nil {
					return err
				}
				bare = append(bare, one)
			}
			started = time.Now()
			var ten errgroup.Group
			for range 10 {
				n += 4
				of := n
				ten.Go(func() error { return steps.Try(func() { stage.runThrough(ctx, of) }) })
			}
			if err := ten.Wait(); err != nil {
				return err
			}
			together += time.Since(started)
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median(took), "ms-round")
		b.ReportMetric(median(bare), "ms-round-of-bare-git")
		b.ReportMetric(alone.Seconds()/float64(b.N), "s-11-rounds")
		b.ReportMetric(together.Seconds()/float64(b.N), "s-11-rounds-of-ten-at-once")
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// median returns the median in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim/simtest"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

const (
	benchFiles  = 10_000
	benchRounds = 15
)

// overheard reports hints before it passes them on.
type overheard struct {
	daemon.Follower
	tell func(daemon.Hint)
}

func (o overheard) Follow(ctx context.Context, hint func(daemon.Hint)) error {
	return o.Follower.Follow(ctx, func(h daemon.Hint) { o.tell(h); hint(h) })
}

// stopwatch records when the first hint arrives that somebody waits for.
type stopwatch struct {
	mu   sync.Mutex
	want func(daemon.Hint) bool
	at   time.Time
}

func (s *stopwatch) wait(want func(daemon.Hint) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want, s.at = want, time.Time{}
}

func (s *stopwatch) hear(h daemon.Hint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() && s.want != nil && s.want(h) {
		s.at = time.Now()
	}
}

func (s *stopwatch) heard() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// bigFiles are 10,000 files of 40 lines.
func bigFiles() map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{}
	for i := range benchFiles {
		var text strings.Builder
		for range 40 {
			fmt.Fprintf(&text, "func f%d() {}\n", random.Uint64())
		}
		files[fmt.Sprintf("pkg%d/sub%d/file%d.go", i/400, i/25%16, i)] = text.String()
	}
	return files
}

// bigWorld is a world with a repository of 10,000 files, whose reviewer is at
// work, has reviewed one pull request and has a worktree ready for the next.
func bigWorld(b *testing.B) (*world, *machine, *stopwatch, forge.Ref) {
	b.Helper()
	w := newWorld(b, map[string]any{})
	_, err := w.Commit(w.Ctx, author, repo.String(), "main", "Grow", bigFiles())
	w.must(err)
	watch := &stopwatch{}
	m := w.agents[decide.Reviewer]
	m.cfg.Review = config.ReviewAll
	m.cfg.Rounds.Max = 1000
	m.hinted = watch.hear
	m.start()
	ref := w.open("First", map[string]string{"first.txt": "fine\n"}, false)
	w.until("the first review", func() bool { return m.reviewed() == 1 })
	w.untilReady(m)
	return w, m, watch, ref
}

// reviewed counts the finished reviews.
func (m *machine) reviewed() int { return len(m.done(decide.Review)) }

// untilReady waits for the spare worktree, whose index is dated a second ahead.
func (w *world) untilReady(m *machine) {
	w.t.Helper()
	index := filepath.Join(m.cfg.StateDir, "worktrees", owner, repo.Name, "mirror.git", "worktrees", "spare", "index")
	w.until("a worktree is ready for the next pull request", func() bool {
		info, err := os.Stat(index)
		return err == nil && info.ModTime().Before(time.Now())
	})
}

// measured are the times of several reviews.
type measured struct{ start, post []time.Duration }

// review measures one review that change sets off.
func (r *measured) review(w *world, m *machine, watch *stopwatch, want func(daemon.Hint) bool, change func() forge.Ref) {
	before := m.reviewed()
	w.Settle()
	watch.wait(want)
	ref := change()
	w.until("the review", func() bool { return m.reviewed() == before+1 })
	m.mu.Lock()
	step := m.steps[len(m.steps)-1]
	m.mu.Unlock()
	r.start = append(r.start, step.EngineStarted.Sub(watch.heard()))
	all := w.reviews(ref)
	record, err := verdict.ParseRecord(all[len(all)-1].GetBody())
	w.must(err)
	r.post = append(r.post, step.Ended.Sub(step.EngineStarted.Add(record.Duration)))
}

func (r *measured) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(r.start), "ms-event-to-model")
	b.ReportMetric(median(r.post), "ms-result-to-posted")
}

// median returns the median in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

// BenchmarkReview measures an agent on a repository of 10,000 files with a warm mirror: the time from the event
// to the start of the model's process, and from the end of that process to the posted review. It reports the
// medians.
func BenchmarkReview(b *testing.B) {
	b.Run("new-head", func(b *testing.B) {
		w, m, watch, ref := bigWorld(b)
		var r measured
		for b.Loop() {
			for i := range benchRounds {
				r.review(w, m, watch, func(daemon.Hint) bool { return true }, func() forge.Ref {
					_, err := w.Commit(w.Ctx, author, repo.String(), "first", "More",
						map[string]string{"first.txt": fmt.Sprintf("fine %d %d\n", len(r.start), i)})
					w.must(err)
					return ref
				})
			}
		}
		r.report(b)
	})
	b.Run("new-pull-request", func(b *testing.B) {
		w, m, watch, ref := bigWorld(b)
		var r measured
		for b.Loop() {
			for range benchRounds {
				ref.Number++
				w.untilReady(m)
				r.review(w, m, watch, func(h daemon.Hint) bool { return h.Number == ref.Number }, func() forge.Ref {
					return w.open(fmt.Sprintf("Change %d", ref.Number), map[string]string{fmt.Sprintf("new%d.txt", ref.Number): "fine\n"}, false)
				})
			}
		}
		r.report(b)
	})
}

// BenchmarkSecondFix measures the time from the end of a review to the start of the process that fixes its
// findings, for the first and the second round of a pull request. It takes the fastest of several, which other
// work on the machine disturbed least.
func BenchmarkSecondFix(b *testing.B) {
	w := newWorld(b, map[string]any{"defects": []any{
		defect("store/search.go", "shaky()", "safe()", "major"), defect("store/search.go", "unsafe()", "shaky()", "major"), // which a fix makes
	}})
	w.startBoth()
	first, second, n := time.Hour, time.Hour, 0
	for ; b.Loop(); n++ {
		reviewed, fixed := len(w.agents[decide.Reviewer].done(decide.Review)), len(w.agents[decide.Author].done(decide.Fix))
		w.open(fmt.Sprintf("Search %d", n), map[string]string{"store/search.go": fmt.Sprintf("package store\n\nfunc Search%d() { unsafe() }\n",
			n)}, false)
		w.until("fixed twice", func() bool { return len(w.agents[decide.Author].done(decide.Fix)) >= fixed+2 })
		reviews, fixes := w.agents[decide.Reviewer].done(decide.Review)[reviewed:], w.agents[decide.Author].done(decide.Fix)[fixed:]
		first = min(first, fixes[0].EngineStarted.Sub(reviews[0].Ended))
		second = min(second, fixes[1].EngineStarted.Sub(reviews[1].Ended))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(first.Milliseconds()), "ms-to-first-fix")
	b.ReportMetric(float64(second.Milliseconds()), "ms-to-second-fix")
}

// done returns the completed acts of a kind.
func (m *machine) done(kind decide.Kind) (steps []worker.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, s := range m.steps {
		if s.Action.Kind == kind && m.errs[i] == nil {
			steps = append(steps, s)
		}
	}
	return steps
}

// BenchmarkBareWorktreeAdd is the yardstick: git alone creates a worktree of the same repository, which is
// already on disk.
func BenchmarkBareWorktreeAdd(b *testing.B) {
	w := newWorld(b, map[string]any{})
	_, err := w.Commit(w.Ctx, author, repo.String(), "main", "Grow", bigFiles())
	w.must(err)
	dir := b.TempDir()
	git := func(args ...string) {
		if out, err := exec.CommandContext(w.Ctx, "git", args...).CombinedOutput(); err != nil {
			b.Fatalf("git %q: %s", args, out)
		}
	}
	mirror := filepath.Join(dir, "mirror.git")
	git("-c", fmt.Sprintf("http.extraHeader=Authorization: Bearer %s", simtest.Token(author)), "clone", "--quiet", "--mirror",
		w.URL+"/"+repo.String()+".git", mirror)
	var times []time.Duration
	for b.Loop() {
		for range benchRounds {
			start := time.Now()
			git("-C", mirror, "worktree", "add", "--quiet", "--detach", filepath.Join(dir, fmt.Sprint(len(times))), "main")
			times = append(times, time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(times), "ms-worktree-add")
}

package author

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"touchstone/agent/engine/session"
)

// BenchmarkVerify runs the verify command of a small Go module with the caches of a pull request, the
// first and the second time. The yardstick is the same command on warm caches that are shared by all
// pull requests; x-cold is what it takes without any. x-overhead is what its sandbox and supervision add
// to the bare command, and ms-added the same in time: of pairs that run one after the other, the
// quickest of each side, which other work on the machine has disturbed least.
func BenchmarkVerify(b *testing.B) {
	root := b.TempDir()
	a := &Author{TempDir: b.TempDir()}
	program := map[string]string{
		"go.mod":      "module example.invalid/app\n\ngo 1.22\n",
		"app.go":      "package app\n\nimport \"encoding/json\"\n\nfunc Text(v any) string { text, _ := json.Marshal(v); return string(text) }\n",
		"app_test.go": "package app\n\nimport \"testing\"\n\nfunc TestText(t *testing.T) {\n\tif Text(1) != \"1\" {\n\t\tt.Error()\n\t}\n}\n",
	}
	worktree := func(number int) string {
		dir := filepath.Join(root, fmt.Sprintf("%d-author", number))
		for name, text := range program {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		return dir
	}
	verify := func(dir, caches string) time.Duration {
		start := time.Now()
		if err := a.execute(b.Context(), ErrUnverified, dir, caches, []string{"go", "test", "-count=1", "./..."}, 10*time.Minute); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	base := worktree(0)
	var cold time.Duration
	if err := session.FillBaseCaches(base, func(caches string) error { cold = verify(base, caches); return nil }); err != nil {
		b.Fatal(err)
	}
	shared := filepath.Join(root, "shared")
	verify(base, shared)
	home := b.TempDir()
	env := session.Commands(os.Environ(), shared, home, home)
	bareCommand := func(dir string) time.Duration {
		start := time.Now()
		cmd := exec.CommandContext(b.Context(), "go", "test", "-count=1", "./...")
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return time.Since(start)
	}
	bareCommand(base)
	var yardstick, first, second time.Duration
	quickestBare, quickest := time.Hour, time.Hour
	number := 0
	for b.Loop() {
		number++
		dir := worktree(number)
		quickestBare = min(quickestBare, bareCommand(dir))
		took := verify(dir, shared)
		yardstick, quickest = yardstick+took, min(quickest, took)
		start := time.Now()
		if err := session.SeedCaches(dir, session.ForVerify); err != nil {
			b.Fatal(err)
		}
		own := session.Caches(dir, session.ForVerify)
		verify(dir, own)
		first += time.Since(start)
		second += verify(dir, own)
	}
	b.ReportMetric(quickest.Seconds()/quickestBare.Seconds(), "x-overhead")
	b.ReportMetric(float64((quickest-quickestBare).Microseconds())/1000, "ms-added")
	b.ReportMetric(first.Seconds()/yardstick.Seconds(), "x-first")
	b.ReportMetric(second.Seconds()/yardstick.Seconds(), "x-second")
	b.ReportMetric(cold.Seconds()/(yardstick.Seconds()/float64(number)), "x-cold")
}

// BenchmarkOverhead runs a command of a known length bare and in its sandbox, under supervision, in turn:
// x-overhead is the ratio of the medians, ms-added their difference.
func BenchmarkOverhead(b *testing.B) {
	for _, length := range []string{"0.1", "1"} {
		b.Run(length+"s", func(b *testing.B) {
			a := &Author{TempDir: b.TempDir()}
			dir, caches, home := b.TempDir(), b.TempDir(), b.TempDir()
			args := []string{"sleep", length}
			var bare, confined []time.Duration
			for b.Loop() {
				start := time.Now()
				cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
				cmd.Dir, cmd.Env = dir, session.Commands(os.Environ(), caches, home, home)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				bare = append(bare, time.Since(start))
				start = time.Now()
				if err := a.execute(b.Context(), ErrUnverified, dir, caches, args, time.Minute); err != nil {
					b.Fatal(err)
				}
				confined = append(confined, time.Since(start))
			}
			slices.Sort(bare)
			slices.Sort(confined)
			without, with := bare[len(bare)/2], confined[len(confined)/2]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(with.Seconds()/without.Seconds(), "x-overhead")
			b.ReportMetric(float64((with-without).Microseconds())/1000, "ms-added")
		})
	}
}

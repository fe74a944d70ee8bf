// Sim runs the loop in orders that seeds determine: events are late or lost, agents are killed, people work
// in between, GitHub fails. The last line is "sim: N schedules, 0 violations, 0 stuck"; the exit status is 1
// if it is not. Each schedule that went wrong is printed with the seed to run it again.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/e2e/schedule"
	"touchstone/agent/engine/process"
	"touchstone/scripts/command"
)

func main() {
	process.Bootstrap()
	seeds := flag.Uint64("seeds", 100, "how many schedules to run")
	first := flag.Uint64("seed", 1, "the seed of the first; the others follow it")
	verbose := flag.Bool("v", false, "tell the steps of every schedule")
	command.ParseFlags("usage: sim [-seeds N] [-seed N] [-v]\n\nRun the loop in orders that seeds choose.", func() bool { return *seeds > 0 })
	// Little memory stays in use and much becomes garbage, so the collector may run less often.
	debug.SetGCPercent(1000)
	fmt.Printf("sim: seeds %d to %d\n", *first, *first+*seeds-1)
	s := sim{out: os.Stdout, verbose: *verbose, ends: map[string]int{}}
	command.Run("sim", func(ctx context.Context) (bool, error) {
		err := s.run(ctx, *first, *seeds)
		return s.violations == 0 && s.stuck == 0, err
	})
}

// sim counts the results of schedules.
type sim struct {
	out     io.Writer
	verbose bool

	mu                sync.Mutex
	violations, stuck int
	ends              map[string]int
}

// perArena is the number of schedules that run in one arena.
const perArena = 10

// run runs count schedules from a first seed on, several at once.
func (s *sim) run(ctx context.Context, first, count uint64) error {
	dir, err := os.MkdirTemp(inMemory(), "touchstone-sim-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	// The agents' temporary files belong there too.
	before := os.Getenv("TMPDIR")
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return err
	}
	defer os.Setenv("TMPDIR", before)
	// A schedule mostly waits for git, and for the disk with the journals.
	err = arena.Each(ctx, dir, 4*runtime.GOMAXPROCS(0), int(count), perArena,
		func(ctx context.Context, a *arena.Arena, dir string) (func(context.Context, int) error, error) {
			stage, err := schedule.NewStage(ctx, a, filepath.Join(dir, "journals"))
			return func(ctx context.Context, n int) error {
				result, err := stage.Run(ctx, first+uint64(n))
				if err != nil {
					return fmt.Errorf("seed %d: %w", result.Seed, err)
				}
				s.tell(result)
				return nil
			}, err
		})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "ended: %d merged, %d closed, %d with a person called, %d stopped by a person, %d with a person's objection, %d "+
		"left to their author, %d with a review dismissed\n",
		s.ends["merged"], s.ends["closed"], s.ends["called"], s.ends["stopped"], s.ends["objected"], s.ends["left"], s.ends["dismissed"])
	fmt.Fprintf(s.out, "sim: %d schedules, %d violations, %d stuck\n", count, s.violations, s.stuck)
	return nil
}

// tell counts a result, and prints it if something is wrong with it.
func (s *sim) tell(r schedule.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations += len(r.Violations)
	s.ends[r.End]++
	wrong := r.Violations
	if r.Stuck != "" {
		s.stuck++
		wrong = append(wrong, "stuck: "+r.Stuck)
	}
	for _, sentence := range wrong {
		fmt.Fprintf(s.out, "seed %d: %s\n", r.Seed, sentence)
	}
	if s.verbose || len(wrong) > 0 {
		fmt.Fprintf(s.out, "  %s\n", strings.Join(r.Steps, "\n  "))
	}
}

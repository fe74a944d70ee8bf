// Package benchmark has what the relay's benchmarks share: the choice of measurements, the lines that they print, and the
// webhooks that they send.
package benchmark

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/scripts/command"
	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// Secret signs the webhooks.
const Secret = "bench"

// ErrPutOff is the relay's answer when it is overloaded.
var ErrPutOff = errors.New("the webhook was put off")

// Main runs a benchmark until it ends or is interrupted, and exits with 1 if it fails.
func Main(name string, run func(context.Context)) {
	command.Run(name, func(ctx context.Context) (bool, error) { return true, steps.Try(func() { run(ctx) }) })
}

// Measurement is one of a benchmark's parts, by its name. It returns lines of Figure.
type Measurement[B any] struct {
	Name    string
	Measure func(context.Context, B) []string
}

// Names lists the measurements for a flag's help.
func Names[B any](all []Measurement[B]) string {
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	return strings.Join(names, ",")
}

// Run makes the measurements that only lists with commas, or all if it is empty, and prints what they return.
func Run[B any](ctx context.Context, b B, all []Measurement[B], only string) {
	for _, m := range all {
		if only != "" && !slices.Contains(strings.Split(only, ","), m.Name) {
			continue
		}
		err := steps.Try(func() {
			for _, line := range m.Measure(ctx, b) {
				fmt.Println(line)
			}
		})
		if err != nil {
			steps.Fail("measure %s: %w", m.Name, err)
		}
	}
}

// Figure is the line of one result, beside its yardstick and its goal.
func Figure(name, relay, yardstick, goal string, met bool) string {
	verdict := "met"
	if !met {
		verdict = "NOT MET"
	}
	return fmt.Sprintf("%-34s %-44s | %-52s | goal %-28s %s", name, relay, yardstick, goal, verdict)
}

// unique counts what must differ from all else.
var unique atomic.Int64

// Unique returns a text of fixed length that differs from all others, also from those of an earlier run.
func Unique() string { return fmt.Sprintf("%08d-%010d", os.Getpid(), unique.Add(1)) }

// Fresh returns a JSON object that differs from all others, because the relay stores equal ones once.
func Fresh(like []byte) []byte {
	head := fmt.Appendf(nil, `{"nonce":%q,`, Unique())
	return append(append(make([]byte, 0, len(head)+len(like)), head...), like[1:]...)
}

// Share has several workers do something n times together, and returns how long it took.
func Share(ctx context.Context, n, workers int, do func(context.Context) error) time.Duration {
	var left atomic.Int64
	left.Store(int64(n))
	begin := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			for left.Add(-1) >= 0 {
				if err := do(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	steps.Must(group.Wait())
	return time.Since(begin)
}

// Post delivers one signed webhook to the relay at an address such as http://127.0.0.1:8080, and requires that it is
// stored.
func Post(ctx context.Context, client *http.Client, address, event string, body []byte) error {
	status, answer, err := program.Post(ctx, client, address, Secret, event, Unique(), body)
	switch {
	case err != nil:
		return err
	case status == http.StatusTooManyRequests:
		return ErrPutOff
	case status != http.StatusAccepted:
		return fmt.Errorf("a webhook was answered %d: %s", status, answer)
	}
	return nil
}

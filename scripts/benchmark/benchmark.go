// Package benchmark has what the relay's benchmarks share: the choice of measurements, the lines that they print, and the
// webhooks that they send.
package benchmark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"touchstone/relay/source/sourcetest"
	"touchstone/scripts/command"
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

// Post delivers one signed webhook to the relay at an address such as http://127.0.0.1:8080, and requires that it is
// stored.
func Post(ctx context.Context, client *http.Client, address, event, delivery string, body []byte) error {
	request, err := sourcetest.Request(ctx, address, Secret, event, delivery, body)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusTooManyRequests {
		return ErrPutOff
	}
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusAccepted {
		return fmt.Errorf("a webhook was answered %s: %s %w", response.Status, text, err)
	}
	return nil
}

// Command engines runs the conformance suite of the engines against the real CLIs and prints which cases each
// of them passes. Run it at the module's root:
//
//	go run ./scripts/engines
//
// It exits with 1 unless every engine passes every case, except for those that the suite says its CLI cannot
// meet.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"touchstone/scripts/command"
)

// suite runs the whole suite and prints events (https://pkg.go.dev/cmd/test2json). It mostly waits, so more
// cases can run at once than there are cores.
var suite = []string{"go", "test", "-json", "-count=1", "-timeout=30m", "-parallel=3", "-run=^TestRealConformance$",
	"./agent/engine/conformance"}

func main() {
	command.ParseFlags("usage: engines\n\n"+
		"Drive every case of the engines' conformance suite through the real model CLIs, for some minutes.", nil)
	command.Run("engines", func(ctx context.Context) (bool, error) { return run(ctx, os.Stdout) })
}

func run(ctx context.Context, out io.Writer) (complete bool, err error) {
	cmd := exec.CommandContext(ctx, suite[0], suite[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), "TOUCHSTONE_ENGINES=all")
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return false, fmt.Errorf("listen to the suite: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("start the suite: %w", err)
	}
	var t table
	decoder := json.NewDecoder(events)
	for {
		var e event
		if err = decoder.Decode(&e); err != nil {
			break
		}
		t.add(e, out)
	}
	// A suite that fails exits with 1; the table shows what failed.
	if failed := cmd.Wait(); failed != nil && !errors.As(failed, new(*exec.ExitError)) {
		return false, fmt.Errorf("run the suite: %w", failed)
	}
	if !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the suite's events: %w", err)
	}
	t.print(out)
	return t.complete() && cmd.ProcessState.Success(), nil
}

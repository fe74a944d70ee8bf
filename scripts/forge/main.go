// Forge attacks the loop from outside, like people with and without permissions would: it tries to have the
// agents merge something that was not approved for exactly this change, and to have them state something
// false. The last line is "forge: N attacks, 0 merged, 0 misled"; the exit status is 1 if it is not.
//
// Legitimate changes are mixed with the attacks and have to be merged: a loop that lets nothing pass would
// prove nothing.
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

	"touchstone/agent/bounded"
	"touchstone/agent/e2e/forgery"
	"touchstone/agent/engine/process"
	"touchstone/agent/impact/golang"
	"touchstone/agent/quality"
	"touchstone/scripts/command"
)

func main() {
	process.Bootstrap()
	bounded.Bootstrap(golang.Task, quality.Task)
	run := flag.String("run", "", "make only the attacks whose names contain this")
	list := flag.Bool("list", false, "print the names of all attacks, and make none")
	verbose := flag.Bool("v", false, "tell the steps of every attack")
	command.ParseFlags("usage: forge [-run TEXT] [-list] [-v]\n\nAttack the loop, and count what came of it.", nil)
	// There is little to keep and much garbage.
	debug.SetGCPercent(400)
	command.Run("forge", func(ctx context.Context) (bool, error) { return attack(ctx, os.Stdout, *run, *list, *verbose) })
}

// attack makes the attacks whose names contain a text, and reports whether none succeeded.
func attack(ctx context.Context, out io.Writer, only string, list, verbose bool) (held bool, err error) {
	var cases []forgery.Case
	for _, c := range forgery.Cases() {
		if !strings.Contains(c.Name, only) {
			continue
		}
		if cases = append(cases, c); list {
			fmt.Fprintln(out, c.Name)
		}
	}
	if list || len(cases) == 0 {
		return list, nil
	}
	dir, err := os.MkdirTemp("", "touchstone-forge-")
	if err != nil {
		return false, fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	attacks, merged, misled, legitimate, heldUp, wrongs := 0, 0, 0, 0, 0, 0
	runner := forgery.Runner{Dir: filepath.Join(dir, "arenas"), Workers: runtime.GOMAXPROCS(0)}
	err = runner.Run(ctx, cases, func(r forgery.Result) {
		if r.Case.Legitimate {
			legitimate++
		} else {
			attacks++
		}
		if r.Merged {
			merged++
		}
		if len(r.Misled) > 0 {
			misled++
		}
		if r.HeldUp {
			heldUp++
		}
		wrong := r.Wrong()
		if wrong != "" {
			wrongs++
			fmt.Fprintf(out, "%s: %s\n", r.Case.Name, wrong)
		} else if verbose {
			fmt.Fprintf(out, "%s: held\n", r.Case.Name)
		}
		if verbose {
			fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(strings.Join(r.Steps, "\n"), "\n", "\n  "))
		}
	})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "legitimate: %d changes, %d held up\n", legitimate, heldUp)
	fmt.Fprintf(out, "forge: %d attacks, %d merged, %d misled\n", attacks, merged, misled)
	return wrongs == 0, nil
}

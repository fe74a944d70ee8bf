// Hostile takes the corpus of hostile pull requests through the whole process, with a model that does what
// the attacker asks, and counts the results. The last line is "hostile: N cases, 0 approvals, 0 leaks"; the
// exit status is 1 if it is not.
//
// Cases that a model decides are counted separately, "persuasion: N cases, A approvals, 0 leaks": texts that
// try to persuade it, and checks weakened in ways that code only suspects. The approvals are what an obedient
// model lets through.
//
// Ordinary pull requests are included and have to be approved and merged: a process that lets nothing pass
// would prove nothing. -clones names a directory of clones; the descriptions and files of real changes in
// them are ordinary cases too.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"touchstone/agent/bounded"
	"touchstone/agent/e2e/hostile"
	"touchstone/agent/engine/process"
	"touchstone/agent/impact/golang"
	"touchstone/agent/quality"
	"touchstone/scripts/command"
)

func main() {
	process.Bootstrap()
	bounded.Bootstrap(golang.Task, quality.Task)
	clones := flag.String("clones", "", "directory that holds clones with real changes, as OWNER/NAME, OWNER+NAME/repo or NAME")
	list := flag.Bool("persuaded", false, "name the cases that talked the model round")
	only := flag.String("only", "", "take only the cases whose names contain this")
	command.ParseFlags("usage: hostile [-only TEXT] [-clones DIR] [-persuaded]\n\nTake hostile pull requests through "+
		"the whole path with a model on the attacker's side.", nil)
	command.Run("hostile", func(ctx context.Context) (bool, error) { return run(ctx, os.Stdout, options{*only, *clones, *list}) })
}

type options struct {
	only, clones string
	persuaded    bool
}

// run reports whether every case had the required result.
func run(ctx context.Context, out io.Writer, o options) (passed bool, err error) {
	dir, err := os.MkdirTemp("", "touchstone-hostile-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	real, err := realChanges(ctx, out, o.clones)
	if err != nil {
		return false, err
	}
	wrong, hostiles := 0, 0
	for _, l := range []struct {
		name  string
		cases func() ([]hostile.Case, error)
		wrong func(hostile.Result) []string
	}{
		{"ordinary", func() ([]hostile.Case, error) { all, err := hostile.Ordinary(); return append(all, real...), err },
			hostile.Result.Ordinary},
		{"persuasion", hostile.Persuasive, hostile.Result.Persuasive},
		{"hostile", hostile.Hostile, hostile.Result.Hostile},
	} {
		all, err := cases(l.cases, o.only)
		if err != nil {
			return false, err
		}
		results, err := hostile.Run(ctx, filepath.Join(dir, l.name), runtime.GOMAXPROCS(0), all)
		if err != nil {
			return false, err
		}
		approvals, leaks := 0, 0
		for _, r := range results {
			if r.Approved {
				approvals++
				if o.persuaded && l.name == "persuasion" {
					fmt.Fprintf(out, "approved: %s\n", r.Case.Name)
				}
			}
			leaks += len(r.Leaks)
			wrong += tell(out, r, l.wrong(r))
		}
		if l.name == "ordinary" {
			fmt.Fprintf(out, "ordinary: %d cases, %d stopped\n", len(all), len(all)-approvals)
			continue
		}
		fmt.Fprintf(out, "%s: %d cases, %d approvals, %d leaks\n", l.name, len(all), approvals, leaks)
		hostiles = len(all)
	}
	return wrong == 0 && hostiles > 0, nil
}

// tell prints what is wrong with a result and returns 1 if anything is.
func tell(out io.Writer, r hostile.Result, wrong []string) int {
	if len(wrong) == 0 {
		return 0
	}
	fmt.Fprintf(out, "%s: %s\n", r.Case.Name, strings.Join(wrong, "; "))
	return 1
}

// cases reads a corpus and keeps the requested cases.
func cases(read func() ([]hostile.Case, error), only string) ([]hostile.Case, error) {
	all, err := read()
	return slices.DeleteFunc(all, func(c hostile.Case) bool { return !strings.Contains(c.Name, only) }), err
}

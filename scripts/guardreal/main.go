// Guardreal takes the histories of local clones through the guard and the text checks,
// as they are at this commit, and prints what is held, how much of that a person labelled
// as right, what was announced and not seen, and what it costs. The repository holds only
// facts: commits, places and labels. A clone that is not there is skipped and said.
//
// Clones are looked for below -clones as OWNER/NAME, OWNER+NAME/repo or NAME, bare or not.
package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"

	places "touchstone/scripts/clones"
)

func main() {
	clones := flag.String("clones", "", "directory that holds the clones")
	only := flag.String("only", "", "take only the repositories whose names contain this")
	part := flag.String("part", "", "take only the repositories of this part: seen or unseen")
	list := flag.String("list", "", "write every finding with its label to this CSV file")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: guardreal -clones DIR [-part seen|unseen] [-only TEXT] [-list FILE]\n\nMeasure the guard and the text checks on real histories.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || *clones == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *clones, *part, *only, *list); err != nil {
		fmt.Fprintln(os.Stderr, "guardreal:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, clones, part, only, list string) error {
	ranges, err := table("ranges.csv")
	if err != nil {
		return err
	}
	said, err := readLabels()
	if err != nil {
		return err
	}
	misses, err := missed()
	if err != nil {
		return err
	}
	all := map[string][]result{}
	for _, r := range ranges {
		if part != "" && r[3] != part || !strings.Contains(r[0], only) {
			continue
		}
		dir := places.Find(clones, r[0])
		if dir == "" {
			fmt.Fprintf(out, "SKIPPED: there is no clone of %s below %s\n", r[0], clones)
			continue
		}
		n, err := strconv.Atoi(r[2])
		if err != nil {
			return err
		}
		results, err := history(ctx, dir, r[0], r[1], n, said, commitsOf(misses, r[0]))
		if err != nil {
			return fmt.Errorf("%s: %w", r[0], err)
		}
		fmt.Fprintf(out, "%-34s %s\n", r[0], held(results, func(result) bool { return true }))
		all[r[3]] = append(all[r[3]], results...)
	}
	for _, part := range []string{"seen", "unseen"} {
		if len(all[part]) > 0 {
			fmt.Fprintf(out, "\n== repositories that the rules were made on: %s\n", map[string]string{"seen": "yes", "unseen": "no"}[part])
			summary(out, all[part], misses)
		}
	}
	fmt.Fprintf(out, "\nmemory: %s at its peak\n", peak())
	if list != "" {
		return write(list, slices.Concat(all["seen"], all["unseen"]))
	}
	return nil
}

// peak is the most memory that this process has held.
func peak() string {
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(status)) {
			if size, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				return strings.TrimSpace(size)
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d kB", m.Sys>>10)
}

// write lists the findings, so that they can be looked at and labelled.
func write(name string, all []result) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	_ = w.Write([]string{"repo", "commit", "who", "tier", "kind", "rule", "place", "label", "why", "title"})
	for _, r := range all {
		who := "person"
		if r.commit.bot() {
			who = "bot"
		}
		for _, f := range r.findings {
			_ = w.Write([]string{r.repo, r.commit.sha[:12], who, f.tier, f.kind, f.rule, fmt.Sprintf("%s:%d", f.path, f.line), f.label, f.why, r.commit.title})
		}
	}
	w.Flush()
	return cmp.Or(w.Error(), f.Close())
}

// Guardreal runs the guard and the text checks of this commit on the histories of local clones. It prints
// what they hold, how much of that a person labelled as right, which announced lowerings they did not see,
// and the cost. Its results on each set of repositories are in the README beside it.
package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	places "touchstone/scripts/clones"
	"touchstone/scripts/command"
	"touchstone/scripts/program"
)

func main() {
	clones := flag.String("clones", "", "directory that holds the clones")
	only := flag.String("only", "", "take only the repositories whose names contain this")
	part := flag.String("part", "", "take only the repositories of this part: seen or unseen")
	again := flag.String("again", "", "take only the changes that this earlier list says are held")
	list := flag.String("list", "", "write every finding with its label to this CSV file")
	command.ParseFlags("usage: guardreal -clones DIR [-part seen|unseen] [-only TEXT] [-again FILE] [-list FILE]\n\n"+
		"Measure the guard and the text checks on real histories.", func() bool { return *clones != "" })
	command.Run("guardreal", func(ctx context.Context) (bool, error) {
		return true, run(ctx, os.Stdout, *clones, *part, *only, *again, *list)
	})
}

func run(ctx context.Context, out io.Writer, clones, part, only, again, list string) error {
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
	wanted, err := heldIn(again)
	if err != nil {
		return err
	}
	listed, err := create(list)
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
		others := commitsOf(misses, r[0])
		if wanted != nil { // a list may name changes that are labelled and lie before the range
			for _, l := range said[r[0]] {
				if wanted[l.commit] {
					others = append(others, l.commit)
				}
			}
		}
		results, err := history(ctx, dir, r[0], r[1], n, said, others, wanted)
		if err != nil {
			return fmt.Errorf("%s: %w", r[0], err)
		}
		fmt.Fprintf(out, "%-34s %s\n", r[0], held(results, func(result) bool { return true }))
		all[r[3]] = append(all[r[3]], results...)
		if err := listed.write(results); err != nil {
			return err
		}
	}
	for _, part := range []string{"seen", "unseen"} {
		if len(all[part]) > 0 {
			fmt.Fprintf(out, "\n== repositories that the rules were made on: %s\n", map[string]string{"seen": "yes", "unseen": "no"}[part])
			summary(out, all[part], misses)
		}
	}
	if err := labelledRules(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nmemory: %s at its peak\n", peak())
	return listed.Close()
}

// peak is the peak memory of this process.
func peak() string {
	if _, most := program.Memory("self"); most > 0 {
		return fmt.Sprintf("%d kB", most>>10)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d kB", m.Sys>>10)
}

// listing is a table of findings, for people to look at and label.
type listing struct {
	io.WriteCloser
	*csv.Writer
}

// create begins a listing in a file, or discards the listing if the file has no name.
func create(name string) (listing, error) {
	to, err := os.Create(cmp.Or(name, os.DevNull))
	if err != nil {
		return listing{}, err
	}
	l := listing{to, csv.NewWriter(to)}
	return l, l.Writer.Write([]string{"repo", "commit", "who", "tier", "kind", "rule", "place", "label", "why", "title"})
}

// heldIn returns the commits that a listing marks as held; nil if the listing has no name.
func heldIn(name string) (map[string]bool, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	all := map[string]bool{}
	for _, r := range rows {
		if len(r) > 3 && r[3] == hold {
			all[r[1]] = true
		}
	}
	return all, err
}

// write adds the findings of some changes.
func (l listing) write(all []result) error {
	for _, r := range all {
		who := "person"
		if r.commit.bot() {
			who = "bot"
		}
		for _, f := range r.findings {
			_ = l.Writer.Write([]string{r.repo, r.commit.sha[:12], who, f.tier, f.kind, f.rule, fmt.Sprintf("%s:%d", f.path, f.line), f.label,
				f.why, r.commit.title})
		}
	}
	l.Flush()
	return l.Error()
}

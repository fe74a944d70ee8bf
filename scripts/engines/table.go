package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// event is an event reported by the suite.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// table records which engine passes which case, in the order in which they begin.
type table struct {
	engines, cases []string
	// outcome is "ok", "FAILED", "skipped" or "not met", by case and engine. "not met" is for a case that the
	// suite knows its CLI cannot meet, and explains.
	outcome map[[2]string]string
	// said is the output of each test, and of the suite itself, so far.
	said map[string][]string
}

var outcomes = map[string]string{"pass": "ok", "fail": "FAILED", "skip": "skipped"}

// add processes an event. A failure is printed immediately, with its output.
func (t *table) add(e event, out io.Writer) {
	if t.outcome == nil {
		t.outcome, t.said = map[[2]string]string{}, map[string][]string{}
	}
	if e.Action == "build-output" {
		fmt.Fprint(out, e.Output)
		return
	}
	if e.Action == "output" {
		t.said[e.Test] = append(t.said[e.Test], e.Output)
		return
	}
	parts := strings.SplitN(e.Test, "/", 3)
	if e.Action == "run" && len(parts) > 1 {
		t.engines = with(t.engines, parts[1])
	}
	name := ""
	if len(parts) > 2 {
		name = strings.ReplaceAll(parts[2], "_", " ")
		t.cases = with(t.cases, name)
	}
	outcome, ended := outcomes[e.Action]
	if !ended {
		return
	}
	reason := ""
	for _, line := range t.said[e.Test] {
		if _, why, named := strings.Cut(line, "NOT MET: "); named && outcome == "skipped" {
			outcome, reason = "not met", strings.TrimSpace(why)
		}
	}
	if outcome == "FAILED" {
		fmt.Fprint(out, strings.Join(t.said[e.Test], ""))
	}
	delete(t.said, e.Test)
	if name != "" {
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-8s %-9s %-30s %5.1f s  %s", outcome, parts[1], name, e.Elapsed, reason), " "))
		t.outcome[[2]string{name, parts[1]}] = outcome
	}
}

func with(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// passed counts the cases that an engine passes.
func (t *table) passed(engine string) int {
	n := 0
	for _, name := range t.cases {
		if t.outcome[[2]string{name, engine}] == "ok" {
			n++
		}
	}
	return n
}

// complete reports whether every engine passes every case, except for those that it is known not to meet.
func (t *table) complete() bool {
	for _, engine := range t.engines {
		for _, name := range t.cases {
			if outcome := t.outcome[[2]string{name, engine}]; outcome != "ok" && outcome != "not met" {
				return false
			}
		}
	}
	return len(t.engines) > 0
}

// print prints the table and the totals.
func (t *table) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ncase\t%s\n", strings.Join(t.engines, "\t"))
	for _, name := range t.cases {
		fmt.Fprint(w, name)
		for _, engine := range t.engines {
			outcome := t.outcome[[2]string{name, engine}]
			if outcome == "" {
				outcome = "not run"
			}
			fmt.Fprintf(w, "\t%s", outcome)
		}
		fmt.Fprintln(w)
	}
	// The output is a terminal or a file; a failed write cannot be reported anywhere else.
	_ = w.Flush()
	var sums []string
	for _, engine := range t.engines {
		sums = append(sums, fmt.Sprintf("%s %d/%d", engine, t.passed(engine), len(t.cases)))
	}
	fmt.Fprintf(out, "\nengines: %s\n", strings.Join(sums, ", "))
}

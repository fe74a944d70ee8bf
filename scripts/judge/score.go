package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/agent/terminal"
	"touchstone/verdict"
)

// answer is the stored part of a review. Says is the sentence that named the defect when it was reviewed.
type answer struct {
	Seconds float64         `json:"seconds"`
	Tools   int             `json:"tools,omitempty"`
	Says    string          `json:"says,omitempty"`
	Review  json.RawMessage `json:"review"`
}

// judged is a case with the review's findings about it.
type judged struct {
	change
	answer
	Error    string
	Verdict  verdict.Verdict   `json:"verdict"`
	Findings []verdict.Finding `json:"findings"`
	Record   struct {
		CostUSD float64       `json:"cost_usd"`
		Usage   verdict.Usage `json:"tokens"`
	} `json:"record"`
}

// read parses a stored answer.
func read(c change, text []byte) (judged, error) {
	j := judged{change: c}
	err := json.Unmarshal(text, &j.answer)
	if err == nil {
		err = json.Unmarshal(j.Review, &j)
	}
	j.change = c
	return j, err
}

// found reports whether a blocking finding is at the defect and cites a row that applies to it.
func (j judged) found() bool {
	return j.Defect != nil && slices.ContainsFunc(j.Findings, func(f verdict.Finding) bool {
		return f.Severity.Blocks() && slices.Contains(j.Defect.Paths, f.Path) &&
			(len(j.Defect.Rows) == 0 || slices.Contains(j.Defect.Rows, f.Rule))
	})
}

// maxClaim bounds what is printed of a finding's claim, in bytes.
const maxClaim = 300

// beside returns the sentence that names the defect and below it every finding at its place, nits too, so that
// a person can settle whether one of them names the cause: a finding at the place may be about something else.
// It is empty without a review or a sentence.
func (j judged) beside() string {
	if j.Error != "" || j.says() == "" {
		return ""
	}
	out := "  defect:  " + j.says() + "\n"
	none := true
	for _, f := range j.Findings {
		if slices.Contains(j.Defect.Paths, f.Path) {
			none = false
			at := f.Path
			if f.Line > 0 {
				at += fmt.Sprintf(":%d", f.Line)
			}
			claim := terminal.Plain(verdict.OneLine(f.Claim))
			out += fmt.Sprintf("  finding: %s %s, %s: %s\n", f.Severity, f.Rule, at, verdict.Clip(claim, maxClaim))
		}
	}
	if none {
		out += "  finding: none at its place\n"
	}
	return out
}

// outcome says in a few words how the review did.
func (j judged) outcome() string {
	switch {
	case j.Error != "":
		return "no review: " + j.Error
	case j.Defect != nil && j.found():
		return "defect found"
	case j.Defect != nil:
		return "defect missed"
	case j.Verdict == verdict.RequestChanges:
		return "good change held up"
	}
	return "good change approved"
}

// line returns a case on one line.
func (j judged) line() string {
	var rows []string
	for _, f := range j.Findings {
		rows = append(rows, fmt.Sprintf("%s %s", f.Severity, f.Rule))
	}
	return fmt.Sprintf("%-26s %.10s  %-20s %s", j.Repository, j.Commit, j.outcome(), strings.Join(rows, ", "))
}

// ratio formats a part of a whole, as numbers and as a fraction.
func ratio(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%.2f)", part, whole, float64(part)/float64(whole))
}

// table summarises the results of all cases, and each row's findings.
func table(all []judged) string {
	var defects, found, good, held, reviews, findings, tools int
	var cost, seconds float64
	var usage verdict.Usage
	rows := map[string][2]int{} // by row: findings on changes with a defect, and on good ones
	for _, j := range all {
		if j.Error != "" {
			continue
		}
		reviews++
		findings += len(j.Findings)
		tools += j.Tools
		cost, seconds = cost+j.Record.CostUSD, seconds+j.Seconds
		usage = usage.Plus(j.Record.Usage)
		side := 0
		if j.Defect != nil {
			defects++
			if j.found() {
				found++
			}
		} else {
			good, side = good+1, 1
			if j.Verdict == verdict.RequestChanges {
				held++
			}
		}
		for _, f := range j.Findings {
			n := rows[f.Rule]
			n[side]++
			rows[f.Rule] = n
		}
	}
	each := float64(max(reviews, 1))
	var out strings.Builder
	fmt.Fprintf(&out, "\nrow                     with a defect  good changes\n")
	for _, row := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Or(rows[b][0]+rows[b][1]-rows[a][0]-rows[a][1], cmp.Compare(a, b))
	}) {
		fmt.Fprintf(&out, "%-24s %12d  %12d\n", row, rows[row][0], rows[row][1])
	}
	fmt.Fprintf(&out, "\neach review: %.1f findings, $%.2f, %d tokens in, %d from the cache, %d out, %.1f calls of tools, %.0f s\n",
		float64(findings)/each, cost/each, int64(float64(usage.Input+usage.CacheWrite)/each), int64(float64(usage.CacheRead)/each),
		int64(float64(usage.Output)/each), float64(tools)/each, seconds/each)
	fmt.Fprintf(&out, "judge: %d of %d cases reviewed; defects found: %s; good changes held up: %s\n",
		reviews, len(all), ratio(found, defects), ratio(held, good))
	return out.String()
}

// compare lists the cases whose result differs from before.
func compare(out io.Writer, before string, all []judged) error {
	changed := 0
	for _, now := range all {
		text, err := os.ReadFile(filepath.Join(before, now.id()+".json"))
		if err != nil {
			fmt.Fprintf(out, "not judged before: %s\n", now.id())
			continue
		}
		was, err := read(now.change, text)
		if err != nil {
			return fmt.Errorf("read what was kept of %s: %w", now.id(), err)
		}
		if was.line() != now.line() {
			changed++
			fmt.Fprintf(out, "before  %s\nnow     %s\n", was.line(), now.line())
		}
	}
	fmt.Fprintf(out, "%s came out in another way than before\n", ratio(changed, len(all)))
	return nil
}

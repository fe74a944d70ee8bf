package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"touchstone/agent/quality"
	"touchstone/agent/reviewer/suspect"
	"touchstone/verdict/guard"
	"touchstone/worktree/diff"
)

const (
	hold     = "hold"
	evidence = "evidence"
)

// found is one finding with its label.
type found struct {
	tier, kind, rule, path string
	line                   int
	why, label             string
}

// result is the result of one change.
type result struct {
	repo     string
	commit   commit
	findings []found
	took     time.Duration
	// further says that the commit is outside the range, and was read for what the guard misses.
	further bool
}

func (r result) held() bool {
	return slices.ContainsFunc(r.findings, func(f found) bool { return f.tier == hold && !f.text() })
}

// text reports whether the finding comes from the text checks.
func (f found) text() bool {
	return slices.Contains([]string{"hidden-text", "manipulation", "address", "binary", suspect.Submodule}, f.kind)
}

// label returns the label of a held change: that of its gravest hold.
func (r result) label() string {
	label := isFalse
	for _, f := range r.findings {
		if f.tier == hold && !f.text() {
			label = graver(label, f.label)
		}
	}
	return label
}

func history(ctx context.Context, dir, repo, tip string, n int, said labels, others []string,
	wanted map[string]bool) (all []result, err error) {
	c, err := openClone(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closing := c.Close(); err == nil {
			err = closing
		}
	}()
	commits, err := c.commits(ctx, tip, n)
	if err != nil {
		return nil, err
	}
	within := len(commits)
	if commits, err = c.named(ctx, commits, others); err != nil {
		return nil, err
	}
	for i, one := range commits {
		if wanted != nil && !wanted[one.sha[:12]] {
			continue
		}
		r, err := examine(ctx, c, repo, one)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.sha, err)
		}
		r.further = i >= within
		for i := range r.findings {
			f := &r.findings[i]
			f.label = said.of(repo, one.sha, f.kind, f.path, f.line)
		}
		all = append(all, r)
	}
	return all, nil
}

// examine runs the checks on one change. The measured time is that of the guard, including reading the files
// that it examines.
func examine(ctx context.Context, c *clone, repo string, of commit) (result, error) {
	r := result{repo: repo, commit: of}
	d, err := c.diff(ctx, of)
	if err != nil {
		return r, err
	}
	started := time.Now()
	if r.findings, err = lowered(ctx, c, d, of); err != nil {
		return r, err
	}
	r.took = time.Since(started)
	texts := []suspect.Text{{Form: suspect.Name, Text: of.title}, {Form: suspect.Markdown, What: "the description", Text: of.body}}
	binary, executable := map[string]bool{}, map[string]bool{}
	for _, f := range d.Files {
		texts = append(texts, suspect.Added(f.Path, f.Patch)...)
		binary[f.Path], executable[f.Path] = f.Binary, f.NewMode == "100755"
		if f.Submodule && f.NewMode == "160000" { // where GitHub does not say that the move is an ordinary one
			r.findings = append(r.findings, found{tier: hold, kind: suspect.Submodule, path: f.Path,
				why: suspect.Elsewhere(f.Path, f.NewBlob, "").Detail})
		}
	}
	sides, err := c.Sides(ctx, d, func(path string) bool { return binary[path] }, maxAround)
	if err != nil {
		return r, err
	}
	for _, s := range sides {
		texts = append(texts, suspect.Binary(s.Path, s.Before, s.After)...)
		if s.Path == "" || bytes.Equal(s.Before, s.After) {
			continue
		}
		opaque, doubted := suspect.Opaque(s.Path, s.After, executable[s.Path])
		for _, h := range opaque {
			r.findings = append(r.findings, found{tier: hold, kind: "binary", path: h.Path, why: h.Detail})
		}
		for _, e := range doubted {
			r.findings = append(r.findings, found{tier: evidence, kind: e.Kind, path: e.Path, why: e.Detail})
		}
	}
	held, suspected := suspect.Look(texts)
	for _, h := range held {
		r.findings = append(r.findings, found{tier: hold, kind: string(h.Kind), path: h.Path, line: h.Line, why: h.Detail})
	}
	for _, e := range suspected {
		r.findings = append(r.findings, found{tier: evidence, kind: e.Kind, path: e.Path, line: e.Line, why: e.Detail})
	}
	return r, nil
}

func lowered(ctx context.Context, c *clone, d diff.Diff, of commit) ([]found, error) {
	sides, err := c.Sides(ctx, d, guard.Examines, guard.MaxFile)
	if err != nil {
		return nil, err
	}
	change := quality.Change(sides)
	change.Title = of.title
	if strings.HasPrefix(of.title, "Merge pull request #") { // GitHub puts the title below its own
		change.Title, _, _ = strings.Cut(of.body, "\n")
	}
	if err := guard.Surround(ctx, &change, d.Base, c); err != nil {
		return nil, err
	}
	var all []found
	for _, h := range guard.Examine(change) {
		all = append(all, found{tier: string(h.Tier), kind: string(h.Kind), rule: h.Rule, path: h.Path, line: h.Line, why: h.Message()})
	}
	return all, nil
}

// held returns how many of the changes are held or have evidence, as text.
func held(all []result, of func(result) bool) string {
	n, h, e := 0, 0, 0
	for _, r := range all {
		if r.further || !of(r) {
			continue
		}
		n++
		if r.held() {
			h++
		}
		if slices.ContainsFunc(r.findings, func(f found) bool { return f.tier == evidence }) {
			e++
		}
	}
	return fmt.Sprintf("%4d changes, %3d held (%s), %3d with evidence (%s)", n, h, percent(h, n), e, percent(e, n))
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// announced matches words in a title which say that a check is weakened.
var announced = regexp.MustCompile(`(?i)\b(?:skip|disabl|flak|ignor|xfail|relax|lower|suppress|loosen|quarantin|temporar|retr(?:y|ies)` +
	`|nolint|noqa|deflak|allow fail|unstable|tolera)`)

func summary(out io.Writer, all []result, misses map[string]string) {
	fmt.Fprintf(out, "people: %s\n", held(all, func(r result) bool { return !r.commit.bot() }))
	fmt.Fprintf(out, "bots:   %s\n", held(all, func(r result) bool { return r.commit.bot() }))
	changes := map[string]int{}
	for _, r := range all {
		if r.held() && !r.further {
			changes[r.label()]++
		}
	}
	fmt.Fprintf(out, "held changes: %s\n", shares(changes))
	byRule(out, all)
	recall(out, all, misses)
	texts(out, all)
	times(out, all)
}

// byRule counts the changes that each rule holds, by the gravest label that the rule has there, and the
// findings of each kind that go to the session.
func byRule(out io.Writer, all []result) {
	counts := tally{}
	for _, r := range all {
		rules := map[string]string{}
		for _, f := range r.findings {
			switch rule := cmp.Or(f.rule, f.kind); {
			case f.tier == hold && rules[rule] == "":
				rules[rule] = f.label
			case f.tier == hold:
				rules[rule] = graver(rules[rule], f.label)
			default:
				counts.add(f.tier+" "+f.kind, f.label)
			}
		}
		for rule, label := range rules {
			counts.add(hold+" "+rule, label)
		}
	}
	counts.print(out)
}

// tally counts labels of rules or kinds of findings, by the name of the rule or kind.
type tally map[string]map[string]int

func (t tally) add(name, label string) {
	if t[name] == nil {
		t[name] = map[string]int{}
	}
	t[name][label]++
}

func (t tally) print(out io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(out, "  %-28s %s\n", name, shares(t[name]))
	}
}

// labelledRules counts, for each rule, the labelled changes of all sets that the rule held in their last run,
// with or without a local clone.
func labelledRules(out io.Writer) error {
	rows, err := table("labels.csv")
	if err != nil {
		return err
	}
	labels := map[[3]string]string{} // by rule, repository and commit
	for _, r := range rows {
		if key := [3]string{r[6], r[0], r[1]}; r[6] != "" {
			labels[key] = graver(cmp.Or(labels[key], isFalse), r[4])
		}
	}
	counts := tally{}
	for key, label := range labels {
		counts.add(key[0], label)
	}
	fmt.Fprintf(out, "\n== labelled changes by the rule that held them\n")
	counts.print(out)
	return nil
}

// shares returns the number of each label and its share of the labelled, as text.
func shares(n map[string]int) string {
	labelled := n[isTrue] + n[isArguable] + n[isFalse]
	return fmt.Sprintf("%4d: TRUE %s, TRUE or ARGUABLE %s of %d labelled; %d unlabelled",
		labelled+n[unlabelled], percent(n[isTrue], labelled), percent(n[isTrue]+n[isArguable], labelled), labelled, n[unlabelled])
}

// recall counts the lowerings that a title announces and a person confirmed: those that the labels call true,
// and those found by reading what the guard had let pass. For some of them a table has the tier that the
// words of the rules give them.
func recall(out io.Writer, all []result, misses map[string]string) {
	truly := map[string]bool{}
	rows, err := table("labels.csv")
	if err != nil {
		return // the table was read before
	}
	for _, r := range rows {
		truly[r[0]+" "+r[1]] = truly[r[0]+" "+r[1]] || r[4] == isTrue
	}
	n, seen, holds, due, kept := 0, 0, 0, 0, 0
	for _, r := range all {
		known := announced.MatchString(r.commit.title) && is(truly, r, true)
		meant := is(misses, r, hold) || known && !is(misses, r, evidence)
		if !meant && !is(misses, r, isLowering) && !is(misses, r, evidence) {
			continue
		}
		n++
		guarded := slices.DeleteFunc(slices.Clone(r.findings), found.text)
		if len(guarded) > 0 {
			seen++
		} else {
			fmt.Fprintf(out, "  not seen: %s %s\n", r.repo, r.commit.sha[:12])
		}
		if meant {
			due++
		}
		if r.held() && meant {
			kept++
		}
		if r.held() {
			holds++
		} else if len(guarded) > 0 {
			fmt.Fprintf(out, "  not held: %s %s %s\n", r.repo, r.commit.sha[:12], guarded[0].rule)
		}
	}
	fmt.Fprintf(out, "announced lowerings: %d, seen %d (%s), held %d (%s); of %d that are holds by the words of the rules %d (%s)\n",
		n, seen, percent(seen, n), holds, percent(holds, n), due, kept, percent(kept, due))
}

// is reports whether a table, with keys of repository and short commit, has a value for a change.
func is[T comparable](table map[string]T, r result, want T) bool {
	for key, value := range table {
		repo, sha, _ := strings.Cut(key, " ")
		if value == want && repo == r.repo && strings.HasPrefix(r.commit.sha, sha) {
			return true
		}
	}
	return false
}

// texts counts the changes that are held for their text, and those that are held for a file which no session
// can read.
func texts(out io.Writer, all []result) {
	for _, of := range []struct {
		what  string
		kinds []string
	}{{"their text", []string{"hidden-text", "manipulation", "address"}}, {"a binary file", []string{"binary"}},
		{"a submodule, if nobody asks GitHub", []string{suspect.Submodule}}} {
		holds, bots := 0, 0
		for _, r := range all {
			if !slices.ContainsFunc(r.findings, func(f found) bool { return f.tier == hold && slices.Contains(of.kinds, f.kind) }) {
				continue
			}
			holds++
			if r.commit.bot() {
				bots++
			}
		}
		fmt.Fprintf(out, "changes held for %s: %d of %d, bots' among them: %d\n", of.what, holds, len(all), bots)
	}
}

func times(out io.Writer, all []result) {
	var took []time.Duration
	if len(all) == 0 {
		return
	}
	slowest := all[0]
	for _, r := range all {
		took = append(took, r.took)
		if r.took > slowest.took {
			slowest = r
		}
	}
	slices.Sort(took)
	at := func(p int) time.Duration { return took[min(len(took)-1, len(took)*p/100)].Round(time.Millisecond) }
	fmt.Fprintf(out, "time: median %s, p95 %s, p99 %s, max %s (%s %s)\n", at(50), at(95), at(99), took[len(took)-1].Round(time.Millisecond),
		slowest.repo, slowest.commit.sha[:12])
}

// Package junit compares what test runners themselves report of two commits, in the
// JUnit format that nearly all of them write. It knows no language: a test is what a
// runner calls one.
package junit

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Case is one test case as a runner names it.
type Case struct {
	Class string // a class, package or file; "" where the runner says none
	Name  string
}

// String is how a sentence names the case.
func (c Case) String() string {
	if c.Class == "" {
		return c.Name
	}
	return c.Class + ": " + c.Name
}

// state is how a case ended. The larger one counts where a case is reported twice.
type state uint8

const (
	skipped state = iota
	failed
	passed
)

// outcome is what one commit's reports say of a case.
type outcome struct {
	state   state
	retried bool
}

// Runs are the test runs of a base and a head.
type Runs struct {
	base, head map[Case]outcome
	leaves     map[string][]Case // the head's cases by the last part of their names
	shared     map[string]bool   // last parts that names of several cases of the base have
}

// What the code under test writes decides how much memory a comparison takes, in a program that other pull
// requests need too.
const (
	maxCases = 200_000   // of one commit
	maxBytes = 64 << 20  // of one commit's reports together
	maxName  = 300       // of a class or a test; the rest of one is left out
	maxDepth = 100       // of elements within each other; suites are three deep or four
	maxAttrs = 1000      // of one element
	maxNames = 256 << 20 // of what the tests of both commits may be called, as [Runs] keeps it
)

// nameCost is what a name costs in memory besides its text.
const nameCost = 100

// Append adds a report that is read to its end to the others of its commit. It reads no more than [Read] takes of them
// together, and its error says that they are larger.
func Append(reports [][]byte, from io.Reader) ([][]byte, error) {
	left := int64(maxBytes)
	for _, report := range reports {
		left -= int64(len(report))
	}
	report, err := io.ReadAll(io.LimitReader(from, left+1))
	if int64(len(report)) > left {
		return nil, errSize
	}
	return append(reports, report), err
}

// Read reads the reports of both commits, each a whole file. Its error says which report
// is no such report, or that they are too large.
func Read(base, head [][]byte) (*Runs, error) {
	r := &Runs{leaves: map[string][]Case{}, shared: map[string]bool{}}
	var err error
	if r.base, err = readAll("base", base); err != nil {
		return nil, err
	}
	if r.head, err = readAll("head", head); err != nil {
		return nil, err
	}
	left := maxNames
	for c := range r.head {
		for _, leaf := range leavesOf(c.Name) {
			if left -= len(leaf) + nameCost; left < 0 {
				return nil, errNames
			}
			r.leaves[leaf] = append(r.leaves[leaf], c)
		}
	}
	seen := map[string]bool{}
	for c := range r.base {
		for _, leaf := range leavesOf(c.Name) {
			if left -= len(leaf) + nameCost; left < 0 {
				return nil, errNames
			}
			r.shared[leaf], seen[leaf] = r.shared[leaf] || seen[leaf], true
		}
	}
	return r, nil
}

func readAll(side string, reports [][]byte) (map[Case]outcome, error) {
	out, size := map[Case]outcome{}, 0
	for i, report := range reports {
		if size += len(report); size > maxBytes {
			return nil, fmt.Errorf("%s: %w", side, errSize)
		}
		if err := read(report, out); err != nil {
			return nil, fmt.Errorf("test report %d of the %s: %w", i+1, side, err)
		}
	}
	return out, nil
}

var (
	errSize     = fmt.Errorf("the test reports are together larger than %d MiB", maxBytes>>20)
	errNoReport = errors.New("it is no JUnit report")
	errNames    = errors.New("the names of the tests in the test reports are too many and too long to be compared")
)

// read adds the cases of a report. It keeps nothing of an element but what counts: one may have millions within it.
func read(report []byte, out map[Case]outcome) error {
	d := xml.NewDecoder(&bounded{text: report})
	d.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	suites := false
	depth, within := 0, 0 // how many elements are open, and how many are when a case's parts begin
	var c Case
	var now outcome
	for {
		t, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && suites:
			return nil
		case errors.Is(err, io.EOF):
			return errNoReport
		case err != nil:
			return fmt.Errorf("%w: %w", errNoReport, err)
		}
		switch element := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("its elements are more than %d deep", maxDepth)
			}
			suites = suites || strings.HasPrefix(element.Name.Local, "testsuite")
			switch {
			case within == 0 && suites && element.Name.Local == "testcase":
				if len(out) >= maxCases {
					return fmt.Errorf("it holds more than %d cases", maxCases)
				}
				c, now, within = caseOf(element), outcome{state: passed}, depth+1
			case depth == within:
				now.take(element.Name.Local)
			}
		case xml.EndElement:
			if depth--; depth == within-2 && within > 0 {
				add(out, c, now)
				within = 0
			}
		}
	}
}

// bounded gives the decoder, which keeps an element's attributes until it has all, a report byte by byte, until
// an element has too many.
type bounded struct {
	text   []byte
	at     int
	within bool // a tag
	quote  byte // that begins a value, while one goes on
	attrs  int  // of the tag so far
}

// ReadByte implements io.ByteReader.
func (b *bounded) ReadByte() (byte, error) {
	if b.at == len(b.text) {
		return 0, io.EOF
	}
	c := b.text[b.at]
	b.at++
	switch {
	case c == '<': // which no value holds
		b.within, b.quote, b.attrs = !bytes.HasPrefix(b.text[b.at:], []byte("!")), 0, 0
	case !b.within:
	case b.quote != 0:
		if c == b.quote {
			b.quote = 0
		}
	case c == '"' || c == '\'':
		b.quote = c
	case c == '>':
		b.within = false
	case c == '=':
		if b.attrs++; b.attrs > maxAttrs {
			return 0, fmt.Errorf("one of its elements has more than %d attributes", maxAttrs)
		}
	}
	return c, nil
}

// Read implements io.Reader. The decoder reads bytes one by one.
func (b *bounded) Read(p []byte) (int, error) {
	c, err := b.ReadByte()
	if err != nil || len(p) == 0 {
		return 0, err
	}
	p[0] = c
	return 1, nil
}

// caseOf is the case that an element is about.
func caseOf(element xml.StartElement) (c Case) {
	for _, a := range element.Attr {
		switch a.Name.Local {
		case "classname":
			c.Class = clipped(a.Value)
		case "name":
			c.Name = clipped(a.Value)
		}
	}
	return c
}

func clipped(name string) string {
	if len(name) > maxName {
		return strings.Clone(strings.ToValidUTF8(name[:maxName], ""))
	}
	return name
}

// take notes a part of a case.
func (o *outcome) take(part string) {
	switch part {
	case "skipped", "disabled", "ignored":
		o.state = skipped
	case "failure", "error":
		o.state = failed
	case "flakyFailure", "flakyError", "rerunFailure", "rerunError", "rerun":
		o.retried = true
	}
}

// add notes a case. One that is reported more than once, and failed once, was retried.
func add(out map[Case]outcome, key Case, now outcome) {
	if had, twice := out[key]; twice {
		now.retried = now.retried || had.retried || (had.state == failed) != (now.state == failed)
		now.state = max(now.state, had.state)
	}
	out[key] = now
}

// Skipped are the cases that passed at the base and are skipped at the head, sorted.
func (r *Runs) Skipped() []Case {
	return r.changed(func(_ Case, had, has outcome, ran bool) bool {
		return ran && had.state == passed && has.state == skipped
	})
}

// Missing are the cases that passed at the base and that the head's reports do not have,
// sorted.
func (r *Runs) Missing() []Case {
	return r.changed(func(_ Case, had, _ outcome, ran bool) bool { return !ran && had.state == passed })
}

// Retried are the cases that passed at the base at once and at the head at the second
// try or later, sorted.
func (r *Runs) Retried() []Case {
	return r.changed(func(_ Case, had, has outcome, _ bool) bool { return had.state == passed && !had.retried && has.retried })
}

func (r *Runs) changed(is func(c Case, had, has outcome, ran bool) bool) []Case {
	var out []Case
	for c, had := range r.base {
		has, ran := r.head[c]
		if is(c, had, has, ran) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Case) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// Passed reports whether a test ran at the head and passed: one of its name, within one
// of some classes, groups or files where the name alone is not unique on both sides.
func (r *Runs) Passed(name string, within []string) bool {
	cases := r.leaves[Plain(name)]
	if len(cases) > 1 || r.shared[Plain(name)] {
		cases = slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return !c.In(within) })
	}
	return len(cases) > 0 && !slices.ContainsFunc(cases, func(c Case) bool { return r.head[c].state != passed })
}

// In reports whether a case's class or name says one of some classes, groups or files.
func (c Case) In(within []string) bool {
	said := Plain(c.Class + " " + c.Name)
	return slices.ContainsFunc(within, func(w string) bool {
		w = w[strings.LastIndexByte(w, '/')+1:]
		if stem, _, file := strings.Cut(w, "."); file {
			w = stem
		}
		return w != "" && strings.Contains(said, Plain(w))
	})
}

// Names are what the case's test may be called in the code, each as [Plain] writes it.
func (c Case) Names() []string { return leavesOf(c.Name) }

// separators stand between the parts of a test's name: Go, Rust, Vitest, Jest, .NET.
var separators = []string{"/", "::", " > ", " › ", "."}

// leavesOf are the last parts of a case's name, however the runner joins them, without
// the parameters of the case.
func leavesOf(name string) []string {
	out := []string{Plain(name)}
	bare := name
	if i := strings.IndexAny(bare, "[("); i > 0 {
		bare = bare[:i]
		out = append(out, Plain(bare))
	}
	for _, s := range separators {
		if i := strings.LastIndex(bare, s); i >= 0 {
			out = append(out, Plain(bare[i+len(s):]))
		}
	}
	for i := range bare { // RSpec and Jest: the titles with a blank between them
		if bare[i] == ' ' && len(out) < 12 {
			out = append(out, Plain(bare[i+1:]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Plain is a name as runners agree on it: Go writes blanks as "_".
func Plain(name string) string { return strings.TrimSpace(strings.ReplaceAll(name, "_", " ")) }

// Package junit compares the test runners' own reports for two commits, in the JUnit format that nearly all
// runners write. It knows no language: a test is what a runner calls a test.
package junit

import (
	"bytes"
	"encoding/gob"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Case is one test case, as its runner names it.
type Case struct {
	Class string // a class, package or file; "" if the runner gives none
	Name  string
}

// String returns the name of the case for a sentence.
func (c Case) String() string {
	if c.Class == "" {
		return c.Name
	}
	return c.Class + ": " + c.Name
}

// state is the result of a case. If a case is reported twice, the larger state counts.
type state uint8

const (
	skipped state = iota
	failed
	passed
)

// outcome is the result of a case in one commit's reports. Its fields are exported for encoding/gob.
type outcome struct {
	State   state
	Retried bool
}

// Runs are the test runs of base and head.
type Runs struct {
	base, head map[Case]outcome
	leaves     map[string][]Case // the head's cases by the last part of their names
	shared     map[string]bool   // last parts that several cases of the base share
}

// The output of the code under test decides how much memory a comparison needs, in a program that other pull
// requests also need.
const (
	maxCases = 200_000   // of one commit
	maxBytes = 64 << 20  // of one commit's reports together
	maxName  = 300       // of a class or a test; the rest of a longer name is left out
	maxDepth = 100       // of nested elements; suites are three or four deep
	maxAttrs = 1000      // of one element
	maxNames = 256 << 20 // of the possible test names of both commits, as [Runs] stores them
)

// nameCost is the memory that a name needs in addition to its text.
const nameCost = 100

// Append reads a report to its end and adds it to the other reports of its commit. It reads no more than
// [Read] accepts for all of them together; it fails if they are larger.
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

// Read reads the reports of both commits, each a whole file. The error says which report is not a JUnit
// report, or that the reports are too large.
func Read(base, head [][]byte) (*Runs, error) {
	var r Runs
	var err error
	if r.base, err = readAll("base", base); err != nil {
		return nil, err
	}
	if r.head, err = readAll("head", head); err != nil {
		return nil, err
	}
	return &r, r.index()
}

// index finds the names by which cases may be known.
func (r *Runs) index() error {
	r.leaves, r.shared = map[string][]Case{}, map[string]bool{}
	left, seen := maxNames, map[string]bool{}
	name := func(cases map[Case]outcome, see func(leaf string, c Case)) {
		for c := range cases {
			for _, leaf := range c.Names() {
				if left -= len(leaf) + nameCost; left < 0 {
					return
				}
				see(leaf, c)
			}
		}
	}
	name(r.head, func(leaf string, c Case) { r.leaves[leaf] = append(r.leaves[leaf], c) })
	name(r.base, func(leaf string, _ Case) { r.shared[leaf], seen[leaf] = r.shared[leaf] || seen[leaf], true })
	if left < 0 {
		return errNames
	}
	return nil
}

// GobEncode writes the runs for another process of this program.
func (r *Runs) GobEncode() ([]byte, error) {
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode([]map[Case]outcome{r.base, r.head})
	return out.Bytes(), err
}

// GobDecode reads what GobEncode wrote.
func (r *Runs) GobDecode(written []byte) error {
	var sides []map[Case]outcome
	if err := gob.NewDecoder(bytes.NewReader(written)).Decode(&sides); err != nil {
		return err
	}
	r.base, r.head = sides[0], sides[1]
	return r.index()
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

// read adds the cases of a report. It keeps only the parts of an element that count, because an element may
// contain millions of others.
func read(report []byte, out map[Case]outcome) error {
	d := xml.NewDecoder(&bounded{text: report})
	d.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	suites := false
	depth, within := 0, 0 // the number of open elements, and that number when a part of a case begins
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
				c, now, within = caseOf(element), outcome{State: passed}, depth+1
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

// bounded passes a report to the decoder byte by byte and stops when an element has too many attributes. The
// decoder keeps an element's attributes in memory until it has read them all.
type bounded struct {
	text   []byte
	at     int
	within bool // inside a tag
	quote  byte // the quote of the current value, 0 outside a value
	attrs  int  // of the current tag so far
}

// ReadByte implements io.ByteReader.
func (b *bounded) ReadByte() (byte, error) {
	if b.at == len(b.text) {
		return 0, io.EOF
	}
	c := b.text[b.at]
	b.at++
	switch {
	case c == '<': // no value contains this character
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

// caseOf returns the case that an element describes.
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

// take records a part of a case.
func (o *outcome) take(part string) {
	switch part {
	case "skipped", "disabled", "ignored":
		o.State = skipped
	case "failure", "error":
		o.State = failed
	case "flakyFailure", "flakyError", "rerunFailure", "rerunError", "rerun":
		o.Retried = true
	}
}

// add records a case. A case with several reports, of which one failed, was retried.
func add(out map[Case]outcome, key Case, now outcome) {
	if had, twice := out[key]; twice {
		now.Retried = now.Retried || had.Retried || (had.State == failed) != (now.State == failed)
		now.State = max(now.State, had.State)
	}
	out[key] = now
}

// Skipped returns the cases that passed at the base and are skipped at the head, sorted.
func (r *Runs) Skipped() []Case {
	return r.changed(func(_ Case, had, has outcome, ran bool) bool {
		return ran && had.State == passed && has.State == skipped
	})
}

// Missing returns the cases that passed at the base and are not in the head's reports, sorted.
func (r *Runs) Missing() []Case {
	return r.changed(func(_ Case, had, _ outcome, ran bool) bool { return !ran && had.State == passed })
}

// Retried returns the cases that passed at once at the base, and only after a retry at the head, sorted.
func (r *Runs) Retried() []Case {
	return r.changed(func(_ Case, had, has outcome, _ bool) bool { return had.State == passed && !had.Retried && has.Retried })
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

// Passed reports whether a test ran and passed at the head. If its name is not unique on both sides, the test
// must be within one of the given classes, groups or files.
func (r *Runs) Passed(name string, within []string) bool {
	cases := r.leaves[Plain(name)]
	if len(cases) > 1 || r.shared[Plain(name)] {
		cases = slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return !c.In(within) })
	}
	return len(cases) > 0 && !slices.ContainsFunc(cases, func(c Case) bool { return r.head[c].State != passed })
}

// In reports whether a case's class or name mentions one of the given classes, groups or files.
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

// separators are between the parts of a test's name: Go, Rust, Vitest, Jest, .NET.
var separators = []string{"/", "::", " > ", " › ", "."}

// Names returns the possible names of the case's test in the code, in the form of [Plain]: the last parts of its name, for
// every separator of a runner, without the case's parameters.
func (c Case) Names() []string {
	out, bare := []string{Plain(c.Name)}, c.Name
	if i := strings.IndexAny(bare, "[("); i > 0 {
		bare = bare[:i]
		out = append(out, Plain(bare))
	}
	for _, s := range separators {
		if i := strings.LastIndex(bare, s); i >= 0 {
			out = append(out, Plain(bare[i+len(s):]))
		}
	}
	for i := range bare { // RSpec and Jest join titles with a blank
		if bare[i] == ' ' && len(out) < 12 {
			out = append(out, Plain(bare[i+1:]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Plain is a name in a form common to all runners: Go writes blanks as "_".
func Plain(name string) string { return strings.TrimSpace(strings.ReplaceAll(name, "_", " ")) }

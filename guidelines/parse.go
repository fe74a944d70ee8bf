package guidelines

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"touchstone/worktree/lazyregexp"
)

// Bounds on a document. Documents come from repositories, so Parse checks these bounds first.
const (
	maxDocumentBytes  = 256 << 10
	maxDocumentRows   = 500
	maxDocumentErrors = 20
)

const (
	commentStart = "<!--"
	commentEnd   = "-->"
)

var (
	tableHeader = []string{"ID", "Severity", "Scope", "Criterion"}

	// idPattern matches a whole rule id.
	idPattern        = lazyregexp.New(`^([a-z0-9][a-z0-9-]{0,63})/[A-Za-z][A-Za-z0-9-]{0,31}$`)
	namePattern      = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,63}$`)
	delimiterPattern = lazyregexp.New(`^:?-+:?$`)
	titlePattern     = lazyregexp.New(`^# +(?:\[([^\]]*)\] *)?(.*)$`)
	fencePattern     = lazyregexp.New("^ {0,3}(`{3,}|~{3,})")
	examplePattern   = lazyregexp.New("^(?:Bad|Good|Example) \\(`([^`]+)`\\)")
)

// Problem is one mistake in a document.
type Problem struct {
	Document string // its name
	Line     int    // 1-based
	Text     string // a sentence: what is wrong and, if that is not obvious, what to write
}

// Problems are the mistakes in one or more documents.
type Problems []Problem

// Error lists each problem with its document and line, one per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = fmt.Sprintf("guideline document %q: line %d: %s", problem.Document, problem.Line, problem.Text)
	}
	return strings.Join(lines, "\n")
}

// Parse parses one guideline document: at most 256 KiB of UTF-8 Markdown with at most 500 rules. name is its
// file name without ".md": lower-case letters, digits and hyphens, at most 64.
//
// The first level-one heading is the title; a tag at its front, as in "# [Security] What an attacker could
// use", names the dimension. Rules are the rows of every table whose header is ID, Severity, Scope,
// Criterion, outside code fences and HTML comments; other tables are text. A table ends at a blank line.
// Unlike in GitHub's tables (https://github.github.com/gfm/#tables-extension-), a pipe inside a code span is
// text even if it is not escaped, and a row with a missing or an extra cell is an error, since either would
// lose part of a rule.
//
// A star behind an id says that a machine can check the row, as in "security/S8*".
//
// A row whose id belongs to another document amends that document's row: it replaces the row or, with the
// severity off, switches it off.
//
// The error is a Problems: what is wrong and in which lines, the first 20 of them.
func Parse(name, markdown string) (Document, error) {
	p := parser{doc: Document{Name: name, Text: normalise(markdown)}, ids: map[string]int{}}
	switch {
	case !namePattern.MatchString(name):
		p.errorf(1, "the name %q is wrong: a name is 1 to 64 lower-case letters, digits and hyphens", name)
	case len(markdown) > maxDocumentBytes:
		p.errorf(1, "it has %d bytes, and at most %d are read: split it", len(markdown), maxDocumentBytes)
	case !utf8.ValidString(markdown):
		p.errorf(1, "it is not UTF-8 text")
	default:
		p.read()
	}
	if len(p.problems) > 0 {
		return Document{}, p.problems
	}
	return p.doc, nil
}

// normalise removes differences between platforms and editors, so that the text's hash and prompt are the
// same everywhere.
func normalise(markdown string) string {
	text := strings.TrimLeft(markdown, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	return strings.TrimRight(text, " \t\n") + "\n"
}

// parser is the state of a walk over a document's lines.
type parser struct {
	doc     Document
	ids     map[string]int // row id to the line where it first occurred
	table   tableState
	closing string // the end of the code fence or HTML comment around this line, if any
	opened  int    // the line where it began
	// passage collects the lines of prose since the latest table or example began.
	passage  passage
	problems Problems
}

type tableState int

const (
	outside   tableState = iota
	delimiter            // the header is read; the line of dashes is next
	rows                 // inside the table's body
)

func (p *parser) errorf(line int, format string, args ...any) {
	if len(p.problems) < maxDocumentErrors {
		p.problems = append(p.problems, Problem{Document: p.doc.Name, Line: line, Text: fmt.Sprintf(format, args...)})
	}
}

func (p *parser) read() {
	for i, line := range strings.Split(p.doc.Text, "\n") {
		p.line(i+1, line)
	}
	p.cut(passage{})
	if p.closing != "" {
		p.errorf(p.opened, "nothing closes what begins here, and so no rule below it counts: add %s", p.closing)
	}
	if p.doc.Title == "" {
		p.errorf(1, `no title: start with "# Title" or "# [Dimension] Title"`)
	}
}

// cut ends the present passage and begins the next.
func (p *parser) cut(next passage) {
	if text := strings.TrimSpace(p.passage.text); text != "" || p.passage.table {
		p.passage.text = text
		p.doc.passages = append(p.doc.passages, p.passage)
	}
	p.passage = next
}

// prose adds a line to the present passage.
func (p *parser) prose(line string) { p.passage.text += line + "\n" }

func (p *parser) line(number int, line string) {
	if p.table == outside && p.enclosed(number, line) {
		p.prose(line)
		return
	}
	if strings.TrimSpace(line) == "" {
		if p.table == delimiter {
			p.errorf(number, "the table's header needs a line of dashes below it")
		}
		if p.table != outside {
			p.passage.to = len(p.doc.Rows)
			p.cut(passage{})
		}
		p.table = outside
		p.prose(line)
		return
	}
	switch p.table {
	case outside:
		p.text(number, line)
	case delimiter:
		cells := splitCells(line)
		if len(cells) != len(tableHeader) || slices.ContainsFunc(cells, isNoDelimiter) {
			p.errorf(number, "the table's header needs a line of dashes below it, one group for each of its %d columns", len(tableHeader))
		}
		p.table = rows
	case rows:
		p.row(number, splitCells(line))
	}
}

// enclosed reports whether line belongs to a fenced code block or an HTML comment, including their first and
// last lines.
func (p *parser) enclosed(number int, line string) bool {
	switch fence := fencePattern.FindStringSubmatch(line); {
	case p.closing == commentEnd:
		if strings.Contains(line, commentEnd) {
			p.closing = ""
		}
	case p.closing != "":
		// A closing fence is at least as long as the opening one and alone on its line:
		// https://spec.commonmark.org/0.31.2/#fenced-code-blocks
		if fence != nil && strings.HasPrefix(fence[1], p.closing) && strings.TrimSpace(line) == fence[1] {
			p.closing = ""
		}
	case fence != nil:
		p.closing, p.opened = fence[1], number
	case strings.HasPrefix(strings.TrimSpace(line), commentStart):
		if !strings.Contains(line, commentEnd) {
			p.closing, p.opened = commentEnd, number
		}
	default:
		return false
	}
	return true
}

// text processes a line outside tables: the title, a table's header, or prose.
func (p *parser) text(number int, line string) {
	if match := titlePattern.FindStringSubmatch(line); match != nil && p.doc.Title == "" {
		p.doc.Dimension, p.doc.Title = match[1], strings.TrimSpace(match[2])
		if p.doc.Dimension != "" && !slices.Contains(dimensions, p.doc.Dimension) {
			p.errorf(number, "[%s] is no dimension; they are %s", p.doc.Dimension, strings.Join(dimensions, ", "))
		}
		p.prose(line)
		return
	}
	if slices.EqualFunc(splitCells(line), tableHeader, strings.EqualFold) {
		p.table = delimiter
		p.cut(passage{table: true, from: len(p.doc.Rows)})
		return
	}
	switch example := examplePattern.FindStringSubmatch(line); {
	case example != nil:
		p.cut(passage{example: example[1]})
	case strings.HasPrefix(line, "#"):
		p.cut(passage{})
	}
	p.prose(line)
}

func (p *parser) row(number int, cells []string) {
	if len(cells) != len(tableHeader) {
		p.errorf(number, `a row has the %d cells %s, this has %d: write \| for a pipe, and leave a blank line after the table`,
			len(tableHeader), strings.Join(tableHeader, ", "), len(cells))
		return
	}
	if len(p.ids) == maxDocumentRows {
		p.errorf(number, "more than %d rules: split the document", maxDocumentRows)
		return
	}
	cited, checkable := strings.CutSuffix(undecorated(cells[0]), checkableMark)
	row := Row{
		ID: strings.TrimSpace(cited), Checkable: checkable, Severity: undecorated(cells[1]), Criterion: cells[3],
		Source: p.doc.Name, Line: number,
	}
	id := idPattern.FindStringSubmatch(row.ID)
	var err error
	switch first := p.ids[row.ID]; {
	case id == nil:
		p.errorf(number, "the id %q is not of the form %s/X1", row.ID, p.doc.Name)
		return
	case first != 0:
		p.errorf(number, "the id %s is taken by line %d", row.ID, first)
		return
	case row.Criterion == "":
		p.errorf(number, "%s has no criterion", row.ID)
		return
	}
	p.ids[row.ID] = number
	if row.Scope, err = Compile(undecorated(cells[2])); err != nil {
		p.errorf(number, "the scope of %s: %v", row.ID, err)
	}
	row.Document = id[1]
	p.enter(row)
}

// enter adds a row to the document's own rows, or to those that amend another document.
func (p *parser) enter(row Row) {
	amends := row.Document != p.doc.Name
	switch {
	case row.Severity == Off && !amends:
		p.errorf(row.Line, "%s is a row of this very document: delete it instead of switching it off", row.ID)
	case row.Severity == Off && row.Scope.text != "all" && row.Scope.text != "":
		p.errorf(row.Line, "%s is switched off as a whole, so its scope is all: to narrow a rule, repeat it with a narrower scope", row.ID)
	case row.Severity != Off && !isSeverity(row.Severity):
		p.errorf(row.Line, "the severity of %s is %q, not one of %s, nor two of them as in \"major or nit\", the graver first",
			row.ID, row.Severity, strings.Join(severities, ", "))
	case amends:
		p.doc.Amendments = append(p.doc.Amendments, row)
	default:
		p.doc.Rows = append(p.doc.Rows, row)
	}
}

// isSeverity reports whether a cell names one level, or two with the graver first.
func isSeverity(cell string) bool {
	worst, mildest := levels(cell)
	first, second := slices.Index(severities, worst), slices.Index(severities, mildest)
	return first >= 0 && second >= 0 && (worst == cell || first < second)
}

func isNoDelimiter(cell string) bool { return !delimiterPattern.MatchString(cell) }

// undecorated removes the backticks that keep Markdown from reading `**/*.go` as emphasis.
func undecorated(cell string) string {
	return strings.TrimSpace(strings.ReplaceAll(cell, "`", ""))
}

// splitCells splits a table line at its pipes, except for escaped ones and those inside code spans, and
// returns the trimmed cells with \| replaced by |.
func splitCells(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	var cells []string
	var cell strings.Builder
	for i := 0; i < len(line); {
		switch {
		case strings.HasPrefix(line[i:], `\|`):
			cell.WriteByte('|')
			i += 2
		case line[i] == '`':
			span := codeSpan(line[i:])
			cell.WriteString(strings.ReplaceAll(span, `\|`, "|"))
			i += len(span)
		case line[i] == '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
			i++
		default:
			cell.WriteByte(line[i])
			i++
		}
	}
	if rest := strings.TrimSpace(cell.String()); rest != "" {
		cells = append(cells, rest)
	}
	return cells
}

// codeSpan returns the code span at the start of text, or only its opening backticks if nothing closes them.
func codeSpan(text string) string {
	afterTicks := strings.TrimLeft(text, "`")
	ticks := text[:len(text)-len(afterTicks)]
	for at := len(ticks); at < len(text); {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			break
		}
		at += next
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		at += run
		if run == len(ticks) {
			return text[:at]
		}
	}
	return ticks
}

package guidelines

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// Lint parses documents, given as their texts by name, overlays them on the set, and returns the result with
// all problems: what Parse refuses (such a document is left out), and what can be read but cannot be
// intended, such as rows that contradict each other, scopes that nothing meets, and rules in prose, where no
// finding can cite them. The problems are ordered by document and line.
func (s Set) Lint(texts map[string]string) (Set, []Problem) {
	var docs []Document
	l := linter{before: s}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		doc, err := Parse(name, texts[name])
		var broken Problems
		if errors.As(err, &broken) {
			l.problems = append(l.problems, broken...)
			continue
		}
		docs = append(docs, doc)
	}
	l.after = s.Overlay(docs...)
	l.document(docs)
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return strings.Compare(fmt.Sprintf("%s %9d", a.Document, a.Line), fmt.Sprintf("%s %9d", b.Document, b.Line))
	})
	return l.after, l.problems
}

// linter compares new documents with the set that they overlay and with the resulting set.
type linter struct {
	before, after Set
	problems      []Problem
}

func (l *linter) report(doc string, line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{Document: doc, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (l *linter) document(docs []Document) {
	amended := map[string]Row{}
	for _, doc := range docs {
		l.prose(doc)
		l.dimension(doc)
		for _, row := range doc.Amendments {
			if first, ok := amended[row.ID]; ok {
				l.report(doc.Name, row.Line, "%s is amended by line %d of %s too: keep one of them", row.ID, first.Line, first.Source)
			}
			amended[row.ID] = row
			l.amendment(docs, row)
		}
	}
	l.contradictions(docs)
}

// amendment checks a row that amends another document.
func (l *linter) amendment(docs []Document, row Row) {
	target := l.before
	if i := slices.IndexFunc(docs, byName(row.Document)); i >= 0 {
		target = Set{Documents: docs[i : i+1]}
	}
	old, ok := target.Row(row.ID)
	switch {
	case !ok && row.Severity == Off:
		l.report(row.Source, row.Line, "%s switches off a row that is not there", row.ID)
	case !ok:
		l.report(row.Source, row.Line, "%s amends a row that is not there: a new row is named after its own document, %s", row.ID, row.Source)
	case old.marked() == row.marked() && old.Severity == row.Severity && old.Scope.text == row.Scope.text && old.Criterion == row.Criterion:
		l.report(row.Source, row.Line, "%s repeats the row that it amends: delete it", row.ID)
	}
}

// dimension checks that every dimension keeps a document, since a review covers all dimensions.
func (l *linter) dimension(doc Document) {
	i := slices.IndexFunc(l.before.Documents, byName(doc.Name))
	if i < 0 {
		return
	}
	lost := l.before.Documents[i].Dimension
	if lost != "" && !slices.ContainsFunc(l.after.Documents, func(d Document) bool { return d.Dimension == lost }) {
		l.report(doc.Name, 1, "it replaces the only document of the dimension [%s]: begin its title with that tag", lost)
	}
}

// contradictions compares every row of the new documents with all rows in force.
func (l *linter) contradictions(docs []Document) {
	byCriterion, byCase := map[string]Row{}, map[string]Row{}
	byStance := map[stance][]Row{}
	isNew := func(row Row) bool { return slices.ContainsFunc(docs, byName(row.Source)) }
	for _, doc := range l.after.Documents {
		for _, row := range doc.Rows {
			if row.Severity == Off {
				continue
			}
			if isNew(row) && row.Scope.never() {
				l.report(row.Source, row.Line, "%s applies to nothing: %q contradicts itself", row.ID, row.Scope)
			}
			criterion := plainWords(row.Criterion)
			if other, ok := byCriterion[criterion]; ok && (isNew(row) || isNew(other)) {
				l.same(row, other, isNew)
			}
			byCriterion[criterion] = row
			taken := stanceOf(criterion)
			for _, other := range byStance[stance{taken.about, 1 - taken.noes}] {
				if (isNew(row) || isNew(other)) && !row.Scope.apart(other.Scope) {
					l.opposite(row, other, isNew)
				}
			}
			byStance[taken] = append(byStance[taken], row)
			id := strings.ToLower(row.ID)
			if other, ok := byCase[id]; ok && isNew(row) {
				l.report(row.Source, row.Line, "%s and %s differ only in case: give one another mark", row.ID, other.ID)
			}
			byCase[id] = row
		}
	}
}

// same reports two rows with one criterion, at the newer row.
func (l *linter) same(row, other Row, isNew func(Row) bool) {
	if !isNew(row) {
		row, other = other, row
	}
	if row.Severity != other.Severity {
		l.report(row.Source, row.Line, "%s is %s, and %s says the same and is %s: keep one of them", row.ID, row.Severity, other.ID,
			other.Severity)
		return
	}
	l.report(row.Source, row.Line, "%s says the same as %s: keep one of them", row.ID, other.ID)
}

// opposite reports two rows that no change can satisfy together, at the newer row.
func (l *linter) opposite(row, other Row, isNew func(Row) bool) {
	if !isNew(row) {
		row, other = other, row
	}
	l.report(row.Source, row.Line, "%s contradicts %s: one demands what the other forbids; keep one of them, or give them scopes "+
		"that no file meets both", row.ID, other.ID)
}

// stance is the subject of a criterion, and how many negations it contains: two criteria that differ only by
// one negation contradict each other.
type stance struct {
	about string
	noes  int
}

var (
	shortened = lazyregexp.New(`\b(do|does|is|are|has|have|must|should|need|can)(?:n[ ’]t|not)\b`)
	stresses  = []string{"always", "ever", "do", "does"}
	negations = []string{"never", "not", "no"}
)

// stanceOf uses the words of a criterion as its subject, except for emphasis and negations.
func stanceOf(plain string) stance {
	var s stance
	var about []string
	for word := range strings.FieldsSeq(shortened.ReplaceAllString(plain, "$1 not")) {
		switch {
		case slices.Contains(negations, word):
			s.noes++
		case !slices.Contains(stresses, word):
			about = append(about, word)
		}
	}
	s.about = strings.Join(about, " ")
	return s
}

// plainWords removes from a criterion what differs between two spellings of one sentence.
func plainWords(criterion string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(criterion), func(r rune) bool {
		return strings.ContainsRune(" \t.,;:!`*_\"'()", r)
	}), " ")
}

var (
	checklistItem = lazyregexp.New(`(?i)^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]|[*_]*(?:must|shall|should|always|never|do not|don't|ensure` +
		`|make sure|verify|check|avoid)\b)`)
	// A list after "Check the following:", or below a heading such as "Checklist", is a list of rules,
	// however each is worded.
	checklistLead = lazyregexp.New(`(?i)\b(?:check|verify|ensure|make sure)\b[^.]*:[*_]*\s*$|^#+\s.*\bcheck-?lists?\b`)
	checklistLine = lazyregexp.New(`(?i)\b(?:check|verify|ensure|make sure|must)\b[^.:]*:\s+\(?1[.)]\s.*\s\(?2[.)]\s`)
	listItem      = lazyregexp.New(`^\s*(?:[-*+]|\d+[.)])\s+\S`)
	orderInProse  = lazyregexp.New(`(?i)\breviewers?\s+(?:must|shall|should|has to|have to)\s+(?:always\s+|never\s+|not\s+)?(?:reject` +
		`|refuse|check|verify|ensure|approve|block|flag|report|request)\b`)
	tableLine = lazyregexp.New(`^\s*\|.*\|`)
	idInProse = lazyregexp.New("`([a-z0-9][a-z0-9-]*)/([A-Z]+[0-9]+)`")
)

// prose checks the text outside the tables of rules: a checklist or a table that looks like rules has no
// effect there, and cited ids must exist.
func (l *linter) prose(doc Document) {
	p := parser{doc: Document{Name: doc.Name}, ids: map[string]int{}}
	above, checklist := "", false
	for i, line := range strings.Split(doc.Text, "\n") {
		number := i + 1
		p.line(number, line)
		if p.table != outside || p.closing != "" {
			above, checklist = "", false
			continue
		}
		item := listItem.MatchString(line)
		if checklistItem.MatchString(line) || checklist && item || checklistLine.MatchString(line) || orderInProse.MatchString(line) {
			l.report(doc.Name, number, "a rule in prose cannot be cited: make it a row of a table, or say it as an explanation")
		}
		if isDelimiterLine(line) && likeRules(splitCells(above)) {
			l.report(doc.Name, number-1, "this table has no rules, although it looks like a table of rules: its header must be | %s |",
				strings.Join(tableHeader, " | "))
		}
		for _, id := range idInProse.FindAllStringSubmatch(line, -1) {
			l.citation(doc.Name, number, id[1], id[0][1:len(id[0])-1])
		}
		if continued := item || strings.TrimSpace(line) == "" || strings.HasPrefix(line, "  "); !continued {
			checklist = checklistLead.MatchString(line)
		}
		above = line
	}
}

func isDelimiterLine(line string) bool {
	return tableLine.MatchString(line) && !slices.ContainsFunc(splitCells(line), isNoDelimiter)
}

// likeRules reports whether a table's header has at least two columns of a table of rules.
func likeRules(header []string) bool {
	columns := 0
	for _, name := range tableHeader {
		if slices.ContainsFunc(header, func(cell string) bool { return strings.EqualFold(cell, name) }) {
			columns++
		}
	}
	return columns >= 2
}

func (l *linter) citation(doc string, line int, of, id string) {
	if _, ok := l.after.Row(id); !ok && slices.ContainsFunc(l.after.Documents, byName(of)) {
		l.report(doc, line, "%s is cited, and there is no such row, or it is switched off", id)
	}
}

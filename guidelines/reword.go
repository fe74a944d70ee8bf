package guidelines

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// amendmentsName is the name of the document for rows that amend those of other layers.
const amendmentsName = "amendments"

// Edit is a change of one document.
type Edit struct {
	// Name is the document's name, Before its text so far, "" for a new document, and After the text with the
	// change.
	Name, Before, After string
	// Problems are those that Lint finds after the change and did not find before.
	Problems []Problem
}

// Reword writes a row with another severity, scope or criterion into a layer of documents over the set, given
// as their texts by name: in place if the row is written in the layer, otherwise as an amendment in the
// document "amendments". It returns an error if the row is in neither.
func (s Set) Reword(texts map[string]string, id, severity, scope, criterion string) (Edit, error) {
	laid, was := s.Lint(texts)
	row, ok := laid.Row(id)
	if !ok {
		return Edit{}, fmt.Errorf("there is no row %s in the guidelines, or it is switched off", id)
	}
	line := writeRow(row.marked(), severity, scope, criterion)
	e := Edit{Name: amendmentsName}
	if text, own := texts[row.Source]; own {
		e.Name, e.Before, e.After = row.Source, text, replaceLine(text, row.Line, line)
	} else {
		e.Before = texts[amendmentsName]
		e.After = appendRow(e.Before, line)
	}
	changed := map[string]string{}
	maps.Copy(changed, texts)
	changed[e.Name] = e.After
	after, now := s.Lint(changed)
	for _, p := range now {
		if !slices.ContainsFunc(was, func(old Problem) bool { return old.Document == p.Document && old.Text == p.Text }) {
			e.Problems = append(e.Problems, p)
		}
	}
	got, ok := after.Row(id)
	as := ok && got.Checkable == row.Checkable && got.Severity == severity && got.Scope.String() == scope && got.Criterion == criterion
	if len(e.Problems) == 0 && !as {
		e.Problems = append(e.Problems, Problem{e.Name, got.Line, fmt.Sprintf("%s does not read as it was drafted", id)})
	}
	return e, nil
}

// writeRow formats a row as a line of a table.
func writeRow(id, severity, scope, criterion string) string {
	if strings.ContainsAny(scope, "*_") { // Markdown would read these characters as emphasis
		scope = "`" + scope + "`"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", id, severity, scope, strings.ReplaceAll(criterion, "|", `\|`))
}

// replaceLine replaces the line with the given number, counted from 1, and keeps its line end.
func replaceLine(text string, number int, line string) string {
	lines := strings.SplitAfter(text, "\n")
	if number < 1 || number > len(lines) {
		return text
	}
	old := lines[number-1]
	lines[number-1] = line + old[len(strings.TrimRight(old, "\r\n")):]
	return strings.Join(lines, "")
}

// appendRow adds a row at the end of a document of amendments, to the table at its end or to a new one.
func appendRow(text, line string) string {
	text = strings.TrimRight(cmp.Or(text, "# What is different here"), " \t\r\n") + "\n"
	if last := text[strings.LastIndexByte(text[:len(text)-1], '\n')+1:]; !strings.HasPrefix(last, "|") {
		text += "\n| " + strings.Join(tableHeader, " | ") + " |\n| --- | --- | --- | --- |\n"
	}
	return text + line + "\n"
}

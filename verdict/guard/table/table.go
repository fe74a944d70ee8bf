// Package table reads the tables of words that the guard's parts embed, such as the programs that check something. It
// does no I/O.
package table

import (
	"iter"
	"strings"
)

// Table is the lines of a file, by the section that they are in.
type Table map[string][]string

// Read reads a file: "[name]" begins a section, and "# " a comment. A section that is asked for and not there, and a line
// in another form, are mistakes in the file: the program does not start.
func Read(text string) Table {
	t, section := Table{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, begins := strings.CutPrefix(line, "[")
		switch name, ends := strings.CutSuffix(name, "]"); {
		case line == "", strings.HasPrefix(line, "# "):
		case begins && ends:
			section = name
		default:
			t[section] = append(t[section], line)
		}
	}
	return t
}

// Lines returns a section's lines.
func (t Table) Lines(section string) []string {
	if t[section] == nil {
		panic("no section is called " + section)
	}
	return t[section]
}

// Text is a section's words, with a blank between them.
func (t Table) Text(section string) string { return strings.Join(t.Lines(section), " ") }

// Words returns a section's words in their order.
func (t Table) Words(section string) []string { return strings.Fields(t.Text(section)) }

// pairs yields a section's lines in the form "key: value".
func (t Table) pairs(section string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for _, line := range t.Lines(section) {
			if key, value, is := strings.Cut(line, ": "); !is {
				panic("no pair is " + line)
			} else if !yield(key, value) {
				return
			}
		}
	}
}

// Pairs returns a section's lines in the form "key: value"; the values of one key are one text.
func (t Table) Pairs(section string) map[string]string {
	out := map[string]string{}
	for key, value := range t.pairs(section) {
		out[key] = strings.TrimSpace(out[key] + " " + value)
	}
	return out
}

// Names is [Table.Pairs] the other way round: it returns, for each word of a value, its key. A word that is there twice is a
// mistake in the file too: only one of its keys would count.
func (t Table) Names(section string) map[string]string {
	out := map[string]string{}
	for key, value := range t.pairs(section) {
		for name := range strings.FieldsSeq(value) {
			if other, twice := out[name]; twice {
				panic(name + " is of " + other + " and of " + key)
			}
			out[name] = key
		}
	}
	return out
}

// Lists returns a section's lines in the form "key: value | value"; the values of one key are one list.
func (t Table) Lists(section string) map[string][]string {
	out := map[string][]string{}
	for key, value := range t.pairs(section) {
		out[key] = append(out[key], strings.Split(value, " | ")...)
	}
	return out
}

// Rows returns a section's lines in the form "one; other", of which "-" is an empty one.
func (t Table) Rows(section string) (rows [][]string) {
	for _, line := range t.Lines(section) {
		cells := strings.Split(line, "; ")
		for i := range cells {
			if cells[i] == "-" {
				cells[i] = ""
			}
		}
		rows = append(rows, cells)
	}
	return rows
}

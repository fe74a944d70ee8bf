// Package guardtest holds what the guard's tests share: the reader of their scenarios, and code that writes
// the files of a scenario in other ways with the same meaning. It is for tests and measurements only.
package guardtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/verdict/guard"
)

// Scenario is a change as a reviewer sees it, and the expected findings of the guard.
type Scenario struct {
	// Name consists of its directory and its own name.
	Name string
	// Want are the expected findings, each as "kind path:line".
	Want   []string
	Change guard.Change
}

// Read reads the scenarios of a directory's text files, sorted by file. In a file, "=== name" begins a
// scenario, "want kind path:line" is an expected finding, and then come files: "--- path" or "--- old =>
// new", and the whole file with a blank, "-" or "+" before each line, as in a diff. A file with only "+"
// lines is new, one with only "-" lines is deleted, and one with neither is an unchanged file around the
// change.
func Read(dir string) ([]Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no scenarios in %s: %v", dir, err)
	}
	var all []Scenario
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, part := range strings.Split(string(data), "=== ")[1:] {
			s, err := parse(part)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			s.Name = filepath.Base(dir) + "/" + s.Name
			all = append(all, s)
		}
	}
	return all, nil
}

func parse(text string) (Scenario, error) {
	head, body, _ := strings.Cut(text, "\n--- ")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	s := Scenario{Name: lines[0]}
	for _, line := range lines[1:] {
		want, ok := strings.CutPrefix(line, "want ")
		if !ok {
			return s, fmt.Errorf("%s: %q is no expectation", s.Name, line)
		}
		s.Want = append(s.Want, want)
	}
	for _, text := range strings.Split(body, "\n--- ") {
		s.Change.Files = append(s.Change.Files, fileOf(text))
	}
	return s, nil
}

func fileOf(text string) guard.File {
	name, body, _ := strings.Cut(text, "\n")
	old, path, renamed := strings.Cut(name, " => ")
	if !renamed {
		path = old
	}
	var before, after strings.Builder
	for line := range strings.Lines(strings.TrimRight(body, "\n") + "\n") {
		switch {
		case strings.HasPrefix(line, "-"):
			before.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			after.WriteString(line[1:])
		default:
			before.WriteString(strings.TrimPrefix(line, " "))
			after.WriteString(strings.TrimPrefix(line, " "))
		}
	}
	f := guard.File{Path: path, OldPath: old, Before: []byte(before.String()), After: []byte(after.String())}
	if before.Len() == 0 {
		f.OldPath = ""
	}
	if after.Len() == 0 {
		f.Path = ""
	}
	return f
}

// Examine returns the guard's findings in a change, as "tier kind path", sorted and without repetitions: the
// line, and the number of lines, differ between spellings.
func Examine(change guard.Change) []string {
	var all []string
	for _, found := range guard.Examine(change) {
		all = append(all, fmt.Sprintf("%s %s %s", found.Tier, found.Kind, found.Path))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

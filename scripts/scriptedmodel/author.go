package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// author edits the defects that the prompt mentions out of the files, and says so.
func (s *session) author() error {
	if s.fault == "dispute" {
		return s.dispute()
	}
	var report []string
	for _, defect := range s.script.Defects {
		finding, present, err := defect.locate(s.dir)
		if err != nil {
			return err
		}
		if !present || !s.askedFor(defect) {
			continue
		}
		if s.fault == "no-change" {
			report = append(report, fmt.Sprintf("- %s:%d: left as it is.", finding.Path, finding.Line))
			continue
		}
		err = s.edit(filepath.Join(s.dir, filepath.FromSlash(defect.Path)), defect.Contains, defect.Fix,
			func() error { return defect.apply(s.dir) })
		if err != nil {
			return err
		}
		report = append(report, fmt.Sprintf("- %s:%d (%s): replaced the code that was found fault with.", finding.Path, finding.Line,
			finding.Rule))
		s.misbehave()
	}
	s.misbehave()
	final := "Nothing to do: none of the findings is in the files."
	if len(report) > 0 {
		final = "What was done about each finding:\n\n" + strings.Join(report, "\n")
	}
	if s.fault != "no-change" {
		for _, m := range due.FindAllStringSubmatch(s.prompt, -1) {
			final += "\n\nRepaired " + m[1] + ": the code that was found fault with is another."
		}
	}
	return s.conclude(final)
}

// dispute changes nothing, and calls every finding wrong.
func (s *session) dispute() error {
	final := "Nothing is wrong."
	for _, m := range due.FindAllStringSubmatch(s.prompt, -1) {
		final += "\n\nDisputed " + m[1] + ": nothing calls it."
	}
	return s.conclude(final)
}

// due matches the heading of a finding that the prompt asks to fix.
var due = regexp.MustCompile(`(?m)^## ([0-9a-f]{8})$`)

// askedFor reports whether the prompt contains the defect's finding.
func (s *session) askedFor(d Defect) bool {
	if !strings.Contains(s.prompt, d.Path) {
		return false
	}
	return mentions(s.prompt, d.Finding.Rule) || mentions(s.prompt, d.Finding.Claim)
}

func mentions(prompt, part string) bool {
	return part != "" && strings.Contains(prompt, part)
}

// apply edits the defect out of its file and keeps the file's permissions.
func (d Defect) apply(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(d.Path))
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("edit %s: %w", d.Path, err)
	}
	edited := strings.Replace(string(content), d.Contains, d.Fix, 1)
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		return fmt.Errorf("edit %s: %w", d.Path, err)
	}
	return nil
}

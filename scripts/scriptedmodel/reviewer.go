package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"touchstone/agent/e2e/reading"
	"touchstone/verdict"
)

// candidate matches another session's suspicion at a place, which a finding there answers.
var candidate = regexp.MustCompile(`(?m)^- (E[0-9]+) candidate at (.+?):(?:[0-9]+-)?([0-9]+):`)

// review goes through the dimensions, one event each, and ends with the answer.
func (s *session) review() error {
	for _, path := range reading.Listed(s.prompt) {
		if err := s.read(path); err != nil {
			return err
		}
	}
	byDimension := map[verdict.Dimension][]verdict.Finding{}
	var all []verdict.Finding
	for _, defect := range s.script.Defects {
		finding, present, err := defect.locate(s.dir)
		if err != nil {
			return err
		}
		if present && s.fault != "withdraw" {
			byDimension[finding.Dimension] = append(byDimension[finding.Dimension], finding)
			all = append(all, finding)
		}
	}
	all, answered := judge(s.prompt, all)
	review := reading.Review(s.prompt, summary(all), all...)
	review.Refuted = slices.DeleteFunc(review.Refuted, func(r verdict.Refutation) bool { return answered[r.Evidence] })
	for i, d := range review.Dimensions {
		if err := s.text(walk(d.Dimension, len(review.Files), byDimension[d.Dimension])); err != nil {
			return err
		}
		review.Dimensions[i].Examined = fmt.Sprintf("%d files, against the rules for %s", len(review.Files), d.Dimension)
		if i == len(review.Dimensions)/2 {
			s.misbehave()
		}
	}
	return s.conclude(s.finalText(review))
}

// judge makes each finding answer the candidates of other sessions at its place, and drops all but the first
// of several findings there. Without candidates, all findings stay.
func judge(prompt string, findings []verdict.Finding) (kept []verdict.Finding, answered map[string]bool) {
	at, answered := map[string][]string{}, map[string]bool{}
	for _, m := range candidate.FindAllStringSubmatch(prompt, -1) {
		place := m[2] + ":" + m[3]
		at[place] = append(at[place], m[1])
		answered[m[1]] = true
	}
	kept, told := []verdict.Finding{}, map[string]bool{}
	for _, f := range findings {
		place := fmt.Sprintf("%s:%d", f.Path, f.Line)
		if told[place] {
			continue
		}
		f.Evidence = at[place]
		told[place] = len(f.Evidence) > 0
		kept = append(kept, f)
	}
	for place, pieces := range at {
		for _, id := range pieces {
			answered[id] = told[place]
		}
	}
	return kept, answered
}

func walk(dimension verdict.Dimension, files int, findings []verdict.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## [%s]\n\nLooked at %d changed files.", dimension, files)
	if len(findings) == 0 {
		b.WriteString(" Nothing to report.")
	}
	for _, f := range findings {
		fmt.Fprintf(&b, "\n- %s:%d (%s, %s): %s", f.Path, f.Line, f.Severity, f.Rule, f.Claim)
	}
	return b.String()
}

func summary(findings []verdict.Finding) string {
	switch len(findings) {
	case 0:
		return "No findings."
	case 1:
		return "One finding."
	}
	return fmt.Sprintf("%d findings.", len(findings))
}

// finalText returns the fenced block and the two marker lines, spoilt according to the fault.
func (s *session) finalText(review verdict.Answer) string {
	block, end, _ := strings.Cut(reading.Answer(s.prompt, review, decide(review.Findings)), "\n```\n")
	switch s.fault {
	case "bad-json":
		block = block[:len(block)/2]
	case "no-marker":
		end = ""
	case "wrong-nonce":
		_, marker, _ := strings.Cut(end, "\n")
		end = verdict.RunLine("not-this-run") + "\n" + marker
	}
	return block + "\n```\n" + end
}

func decide(findings []verdict.Finding) verdict.Verdict {
	if slices.ContainsFunc(findings, verdict.Finding.Blocks) {
		return verdict.RequestChanges
	}
	return verdict.Approve
}

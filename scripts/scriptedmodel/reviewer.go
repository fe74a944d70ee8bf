package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict"
)

var (
	nonceMark   = regexp.MustCompile(`<!-- RUN:([0-9A-Za-z_-]+) -->`)
	patch       = regexp.MustCompile(`(?m)^  patch: (.+)$`)
	candidate   = regexp.MustCompile(`(?m)^- (E[0-9]+) candidate at (.+?):(?:[0-9]+-)?([0-9]+):`)
	evidence    = regexp.MustCompile(`(?m)^- (E[0-9]+) `)
	standing    = regexp.MustCompile(`(?m)^- ([0-9a-f]{8}) (?:open|claimed-fixed|disputed|regressed) \[`)
	changedFile = regexp.MustCompile(`^- (.+) \([A-Za-z]+ \+[0-9]+ -[0-9]+\)$`)
)

// review walks the dimensions, one event each, and ends with the answer.
func (s *session) review(tools []string) error {
	if err := s.begin(tools); err != nil {
		return err
	}
	files := changedFiles(s.prompt)
	for _, m := range patch.FindAllStringSubmatch(s.prompt, -1) {
		if err := s.read(m[1]); err != nil {
			return err
		}
	}
	byDimension := map[verdict.Dimension][]verdict.Finding{}
	all := []verdict.Finding{}
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
	review := verdict.Answer{Summary: summary(all), Files: files, Findings: all}
	for _, m := range evidence.FindAllStringSubmatch(s.prompt, -1) {
		if answered[m[1]] {
			continue
		}
		review.Refuted = append(review.Refuted, verdict.Refutation{Evidence: m[1], Reason: "It is nothing here."})
	}
	for _, m := range standing.FindAllStringSubmatch(s.prompt, -1) {
		review.Gone = append(review.Gone, verdict.Gone{ID: m[1], How: "The defect is not in the files any more."})
	}
	dimensions := verdict.Dimensions()
	for i, dimension := range dimensions {
		text := walk(dimension, len(files), byDimension[dimension])
		if err := s.text(text); err != nil {
			return err
		}
		review.Dimensions = append(review.Dimensions, verdict.Examined{
			Dimension: dimension, Examined: fmt.Sprintf("%d changed files, against the rules for %s", len(files), dimension),
		})
		if i == len(dimensions)/2 {
			s.misbehave()
		}
	}
	final, err := s.finalText(review)
	if err != nil {
		return err
	}
	if err := s.text(final); err != nil {
		return err
	}
	return s.end(final)
}

// judge has each finding answer the candidates of other sessions at its place, and leaves out any but the first of
// several there. Where there are no candidates, all findings stay.
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

// finalText is the fenced block and the two marker lines, spoilt as the fault says.
func (s *session) finalText(review verdict.Answer) (string, error) {
	data, err := json.Marshal(review)
	if err != nil {
		return "", fmt.Errorf("write the answer: %w", err)
	}
	block := string(data)
	if s.fault == "bad-json" {
		block = block[:len(block)/2]
	}
	text := "```touchstone\n" + block + "\n```\n"
	if s.fault == "no-marker" {
		return text, nil
	}
	nonce := s.nonce()
	if s.fault == "wrong-nonce" {
		nonce = "not-this-run"
	}
	return text + "\n" + verdict.RunLine(nonce) + "\n" + verdict.Marker(decide(review.Findings)) + "\n", nil
}

// nonce is the prompt's last one: text that a pull request quotes stands before the orders.
func (s *session) nonce() string {
	all := nonceMark.FindAllStringSubmatch(s.prompt, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

func decide(findings []verdict.Finding) verdict.Verdict {
	if slices.ContainsFunc(findings, verdict.Finding.Blocks) {
		return verdict.RequestChanges
	}
	return verdict.Approve
}

// changedFiles reads the section "# Changed files" of the prompt.
func changedFiles(prompt string) []string {
	files := []string{}
	inside := false
	for line := range strings.Lines(prompt) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "# ") {
			inside = line == "# Changed files"
			continue
		}
		if m := changedFile.FindStringSubmatch(line); inside && m != nil {
			files = append(files, m[1])
		}
	}
	return files
}

package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"touchstone/agent/version"
	"touchstone/verdict"
)

// These types are the parts of SARIF 2.1.0 that a review fills in
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	// sarifInvocation holds what, in addition to the results, kept the review from approving.
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID string `json:"ruleId,omitempty"`
		// Kind is "open" for evidence without an answer; "" means that the result failed.
		Kind         string            `json:"kind,omitempty"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
		// Suppressions say why a result does not count; none for one that counts.
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
		EndLine   int `json:"endLine,omitempty"`
	}
)

// SARIF is for code scanning and editors: findings, holds and evidence are results, doubts are notifications.
func (r Review) SARIF(out io.Writer) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "touchstone", Version: version.String(), Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{ExecutionSuccessful: true, Notifications: []sarifNotification{}}},
		Results:     []sarifResult{},
		ColumnKind:  "unicodeCodePoints",
	}
	for _, f := range r.Findings() {
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Rule, Level: sarifLevel(f.Severity), Message: sarifMessage{sarifText(f)},
			Locations: r.sarifPlace(f.Path, cmp.Or(f.StartLine, f.Line), f.Line), Fingerprints: map[string]string{"touchstone/v1": f.ID},
		})
	}
	for _, h := range r.Judgement.Holds {
		run.Results = append(run.Results, sarifResult{
			RuleID: cmp.Or(h.Rule, string(h.Kind)), Level: "error", Locations: r.sarifPlace(h.Path, h.Line, h.Line),
			Message: sarifMessage{cmp.Or(h.Detail, string(h.Kind)) + " Only a person can let this pass."},
		})
	}
	run.Results = append(run.Results, r.sarifEvidence()...)
	var rules []string
	for _, result := range run.Results {
		rules = append(rules, result.RuleID)
	}
	slices.Sort(rules)
	for _, id := range slices.Compact(rules) {
		if id != "" {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id})
		}
	}
	for _, d := range r.Judgement.Doubts {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{"warning", sarifMessage{d}})
	}
	return PrintJSON(out, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// sarifEvidence returns the evidence that no finding mentions: suppressed with the session's reason, or open
// if the session gave none.
func (r Review) sarifEvidence() (results []sarifResult) {
	for _, e := range r.Judgement.Evidence {
		if e.Finding != "" {
			continue
		}
		result := sarifResult{RuleID: cmp.Or(e.Rule, e.Kind), Level: "none", Kind: "open", Message: sarifMessage{e.Detail},
			Locations: r.sarifPlace(e.Path, e.Line, e.Line)}
		if e.Refuted != "" {
			result.Kind, result.Level = "", "note"
			result.Suppressions = []sarifSuppression{{Kind: "external", Justification: e.Refuted}}
		}
		results = append(results, result)
	}
	return results
}

func sarifLevel(s verdict.Severity) string {
	switch s {
	case verdict.Minor:
		return "warning"
	case verdict.Nit:
		return "note"
	}
	return "error"
}

func sarifText(f verdict.Finding) string {
	text := fmt.Sprintf("[%s] %s: %s", f.Dimension, f.Severity, strings.TrimSpace(f.Claim))
	if why := strings.TrimSpace(f.Why); why != "" {
		text += "\n\nWhy it matters: " + why
	}
	if fix := strings.Trim(f.Suggestion, "\r\n"); fix != "" {
		text += "\n\nSuggested change:\n" + fix
	}
	return text
}

// sarifPlace returns the place of a result. A result about the change as a whole is at the first line of its
// first file: code scanning refuses a result without a place
// (https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning).
// Its path is a relative reference (https://www.rfc-editor.org/rfc/rfc3986#section-4.2).
func (r Review) sarifPlace(path string, start, end int) []sarifLocation {
	if path == "" {
		path, start, end = r.First, 1, 1
	}
	if path == "" {
		return nil
	}
	at := sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: path}).String()}}
	if start > 0 {
		at.Region = &sarifRegion{StartLine: start, EndLine: max(start, end)}
	}
	return []sarifLocation{{at}}
}

package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"touchstone/agent/version"
	"touchstone/verdict"
)

// object is a JSON object of SARIF 2.1.0
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html).
type object = map[string]any

// SARIF is for code scanning and editors: findings, holds and evidence are results, doubts are notifications.
func (r Review) SARIF(out io.Writer) error {
	results, named := []object{}, map[string]bool{}
	add := func(rule, level, text, path string, start, end int, more object) {
		result := object{"level": level, "message": object{"text": text}}
		if rule != "" {
			result["ruleId"], named[rule] = rule, true
		}
		if place := r.sarifPlace(path, start, end); place != nil {
			result["locations"] = []object{{"physicalLocation": place}}
		}
		maps.Copy(result, more)
		results = append(results, result)
	}
	for _, f := range r.Findings() {
		add(f.Rule, sarifLevel(f.Severity), sarifText(f), f.Path, cmp.Or(f.StartLine, f.Line), f.Line,
			object{"partialFingerprints": object{"touchstone/v1": f.ID}})
	}
	for _, h := range r.Judgement.Holds {
		add(cmp.Or(h.Rule, string(h.Kind)), "error", cmp.Or(h.Detail, string(h.Kind))+" Only a person can let this pass.", h.Path, h.Line,
			h.Line, nil)
	}
	// Evidence that no finding mentions is suppressed with the session's reason, or open if the session gave none.
	for _, e := range r.Judgement.Evidence {
		level, more := "none", object{"kind": "open"}
		if e.Refuted != "" {
			level, more = "note", object{"suppressions": []object{{"kind": "external", "justification": e.Refuted}}}
		}
		if e.Finding == "" {
			add(cmp.Or(e.Rule, e.Kind), level, e.Detail, e.Path, e.Line, e.Line, more)
		}
	}
	rules, doubts := []object{}, []object{}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		rules = append(rules, object{"id": id})
	}
	for _, d := range r.Judgement.Doubts {
		doubts = append(doubts, object{"level": "warning", "message": object{"text": d}})
	}
	return PrintJSON(out, object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{{
		"tool": object{"driver": object{"name": "touchstone", "version": version.String(), "rules": rules}},
		// The notifications are what, in addition to the results, kept the review from approving.
		"invocations": []object{{"executionSuccessful": true, "toolExecutionNotifications": doubts}},
		"results":     results,
		"columnKind":  "unicodeCodePoints",
	}}})
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
func (r Review) sarifPlace(path string, start, end int) object {
	if path == "" {
		path, start, end = r.First, 1, 1
	}
	if path == "" {
		return nil
	}
	at := object{"artifactLocation": object{"uri": reference(path)}}
	if start > 0 {
		at["region"] = object{"startLine": start, "endLine": max(start, end)}
	}
	return at
}

// reference returns a path as a relative reference (https://www.rfc-editor.org/rfc/rfc3986#section-4.2).
func reference(path string) string { return (&url.URL{Path: path}).String() }

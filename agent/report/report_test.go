package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/verdict"
	"touchstone/verdict/guard"
	"touchstone/verdict/guard/change"
)

// troubled is a review with something of everything, and with texts that would like to
// steer a terminal.
func troubled() Review {
	j := verdict.Judgement{Verdict: verdict.RequestChanges, Answer: verdict.Answer{
		Summary: "Two lines\nof it.\x1b[2J",
		Findings: []verdict.Finding{
			{ID: "0000000d", Dimension: verdict.Doc, Severity: verdict.Nit, Rule: "doc/D1", Path: "a b.md", Claim: "It is long."},
			{ID: "0000000a", Dimension: verdict.Security, Severity: verdict.Critical, Rule: "security/S1", Path: "src/ü.go", StartLine: 3, Line: 5,
				Quote: "\tif x {", Claim: "It is\nunsafe.", Why: "It costs.", Suggestion: "\tif y {\n\t\treturn\n\t}", Verify: "Read it."},
			{ID: "0000000c", Dimension: verdict.Test, Severity: verdict.Minor, Rule: "test/T1", Claim: "Nothing tests it."},
		},
		Candidates: []verdict.Candidate{{Rule: "architecture/A2", Path: "a.go", Line: 7, Claim: "It races.", Reason: "The lock is held.",
			Seen: "b.go", Quote: "mu.Lock()"}},
	}}
	j.Hold(verdict.Hold{Kind: verdict.QualityBar, Rule: "severity/Q1", Path: "codecov.yml", Line: 4, Detail: "Coverage went from 85% to 80%."})
	j.Evidence = []verdict.Evidence{
		{ID: "E1", Kind: "test", Rule: "severity/Q4", Path: "a_test.go", Line: 7, Detail: "The test is gone.", Refuted: "It stands elsewhere."},
		{ID: "E2", Kind: "ci", Rule: "severity/Q6", Path: "ci.yml", Line: 2, Detail: "A job is gone."},
		{ID: "E3", Kind: "test", Rule: "severity/Q4", Path: "b_test.go", Line: 9, Detail: "It became a finding.", Finding: "0000000c"},
	}
	j.Withhold("A part was not examined.")
	j.Dropped = []verdict.Dropped{{Finding: verdict.Finding{Claim: "It leaks."}, Reason: "it quotes what is not there"}}
	return Review{
		Subject: "the working tree of app against main", Judgement: j, LeftOut: []leftOut{{"yarn.lock", "lock file"}}, Markdown: "### Changes\n",
		First: "src/first.go",
		Record: verdict.Record{Verdict: j.Verdict, Tier: "full", Engine: "claude", Model: "m", Guidelines: "abc", CostUSD: 0.126,
			Duration: 90 * time.Second, Coverage: verdict.Coverage{Files: 3, Examined: 2, LeftOut: 1}},
	}
}

func TestAReportForPeople(t *testing.T) {
	var out bytes.Buffer
	if err := troubled().text(&out); err != nil {
		t.Fatal(err)
	}
	want := `Review of the working tree of app against main
Two lines
of it.` + "\uFFFD[2J" + `

critical  src/ü.go:5  [Security] security/S1
  It is
  unsafe.
  why: It costs.
  verify: Read it.
  code:
        if x {
  fix:
        if y {
            return
        }

minor  the change as a whole  [Test] test/T1
  Nothing tests it.

nit  a b.md  [Doc] doc/D1
  It is long.

held  codecov.yml:4
  Coverage went from 85% to 80%.

suspected  a_test.go:7
  The test is gone.
  answer: It stands elsewhere.

suspected  ci.yml:2
  A job is gone.
  answer: none, so it is unreviewed

! A part was not examined.

dropped: It leaks. (it quotes what is not there)

refuted  a.go:7  architecture/A2
  It races.
  because: The lock is held.

not read: yarn.lock (lock file)

Changes requested: 1 critical, 1 minor, 1 nit, 1 for a person to decide
0 dimensions, 2 of 3 files, tier full, $0.13, 1m30s of sessions, claude m, guidelines abc
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAReportForPrograms(t *testing.T) {
	var out bytes.Buffer
	if err := troubled().json(&out); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Verdict  string
		Findings []struct {
			ID, Rule, Path string
			StartLine      int `json:"start_line"`
		}
		Holds    []struct{ Kind string }
		Evidence []struct{ ID, Finding, Refuted string }
		Doubts   []string
		LeftOut  []struct{ Path, Reason string } `json:"left_out"`

		Candidates []struct{ Path, Seen string }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != "REQUEST_CHANGES" || len(got.Findings) != 3 || got.Findings[0].Rule != "security/S1" ||
		got.Findings[0].ID != "0000000a" || got.Findings[0].StartLine != 3 ||
		len(got.Holds) != 1 || len(got.Evidence) != 3 || got.Evidence[0].Refuted != "It stands elsewhere." ||
		got.Evidence[2].Finding != "0000000c" || len(got.Doubts) != 1 || len(got.LeftOut) != 1 || got.LeftOut[0].Reason != "lock file" ||
		len(got.Candidates) != 1 || got.Candidates[0].Seen != "b.go" {
		t.Errorf("%+v\n%s", got, out.String())
	}
	out.Reset()
	if err := (Review{}).json(&out); err != nil || strings.Contains(out.String(), "null") {
		t.Errorf("an empty list is no list: %v\n%s", err, out.String())
	}
}

// sarifObjects are the objects of the schema that a report uses: the properties they have to
// have, and others they may have, by the path to them
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json,
// in which no object takes properties that it does not list).
var sarifObjects = map[string]struct{ required, others string }{
	"":                       {"version runs", "$schema inlineExternalProperties properties"},
	"runs":                   {"tool", "invocations results columnKind"},
	"runs.tool":              {"driver", "extensions"},
	"runs.tool.driver":       {"name", "version rules"},
	"runs.tool.driver.rules": {"id", "name shortDescription"},
	"runs.invocations":       {"executionSuccessful", "toolExecutionNotifications"},
	"runs.invocations.toolExecutionNotifications":         {"message", "level"},
	"runs.invocations.toolExecutionNotifications.message": {"text", "id markdown"},
	"runs.results":                                             {"message", "ruleId kind level locations partialFingerprints suppressions"},
	"runs.results.suppressions":                                {"kind", "justification status"},
	"runs.results.message":                                     {"text", "id markdown"},
	"runs.results.locations":                                   {"", "physicalLocation"},
	"runs.results.locations.physicalLocation":                  {"", "artifactLocation region"},
	"runs.results.locations.physicalLocation.artifactLocation": {"", "uri uriBaseId"},
	"runs.results.locations.physicalLocation.region":           {"", "startLine endLine"},
}

func TestAReportIsSARIF(t *testing.T) {
	var out bytes.Buffer
	if err := troubled().SARIF(&out); err != nil {
		t.Fatal(err)
	}
	var log map[string]any
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	for _, run := range log["runs"].([]any) {
		for _, result := range run.(map[string]any)["results"].([]any) {
			if result.(map[string]any)["locations"] == nil {
				t.Errorf("%v is nowhere", result)
			}
		}
	}
	seen := map[string]bool{}
	checkSARIF(t, "", log, seen)
	for path := range sarifObjects {
		if !seen[path] {
			t.Errorf("there is no %q", path)
		}
	}
	for _, want := range []string{`"uri": "src/%C3%BC.go"`, `"uri": "a%20b.md"`, `"uri": "src/first.go"`, `"startLine": 3`, `"endLine": 5`,
		`"level": "error"`, `"level": "warning"`, `"level": "note"`, `"ruleId": "severity/Q1"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}

func checkSARIF(t *testing.T, path string, value any, seen map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			checkSARIF(t, path, v, seen)
		}
	case map[string]any:
		if strings.HasSuffix(path, "partialFingerprints") {
			return // any names
		}
		object, known := sarifObjects[path]
		seen[path] = true
		required, others := strings.Fields(object.required), strings.Fields(object.others)
		for _, name := range required {
			if value[name] == nil || value[name] == "" {
				t.Errorf("%q lacks %s", path, name)
			}
		}
		for name, v := range value {
			if !known || !slices.Contains(append(required, others...), name) {
				t.Errorf("%q has %s", path, name)
			}
			checkSARIF(t, strings.TrimPrefix(path+"."+name, "."), v, seen)
		}
	case float64:
		if value < 1 {
			t.Errorf("%q is %v", path, value)
		}
	}
}

// TestTheGuardsPathsAreReferences checks a path in which a space, a number sign and a percent sign would end, cut or
// change it.
func TestTheGuardsPathsAreReferences(t *testing.T) {
	var out bytes.Buffer
	found := []guard.Finding{{Rule: "ci/job-gone", Place: change.Place{Path: "ci/a b#1 100%.yml", Line: 2}}}
	if err := PrintFindings(&out, found, 0, "sarif"); err != nil {
		t.Fatal(err)
	}
	if want := `"uri": "ci/a%20b%231%20100%25.yml"`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out.String())
	}
}

func TestAQuoteThatDidNotChangeIsNotShownAsAChange(t *testing.T) {
	found := []guard.Finding{
		{Rule: "ci/cannot-fail", Place: change.Place{Path: "ci.yml", Line: 7, Before: "go test ./...", After: "go test ./..."}},
		{Rule: "coverage/limit", Place: change.Place{Path: "pyproject.toml", Line: 2, Before: "90", After: "70"}},
	}
	var out bytes.Buffer
	if err := PrintFindings(&out, found, 0, "text"); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "go test") || !strings.Contains(text, "    - 90\n    + 70\n") {
		t.Errorf("want the limit quoted and the command not:\n%s", text)
	}
}

func TestWhatStandsForManyPlacesIsShownWithThem(t *testing.T) {
	found := []guard.Finding{{Tier: guard.Evidence, Rule: "test/changed", Why: "A line is gone.", Others: "Judge 1 more: b.go:2.\x1b"}}
	for format, want := range map[string]string{"text": "A line is gone. [test/changed]\n    Judge 1 more: b.go:2.\uFFFD\n",
		"json": `"others": "Judge 1 more: b.go:2.`, "sarif": `"text": "A line is gone. Judge 1 more: b.go:2.`,
		"github": "::A line is gone. Judge 1 more: b.go:2."} {
		var out bytes.Buffer
		if err := PrintFindings(&out, found, 1, format); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v; no %q in\n%s", err, want, out.String())
		}
	}
}

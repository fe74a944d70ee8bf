package verdict

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// judgedWith is the judgement on an approving answer with a text before its data.
func judgedWith(t *testing.T, prose string, change func(*Answer)) Judgement {
	t.Helper()
	return judgedOn(t, grounded(), prose, change)
}

// judgedOn is judgedWith on a change of the files and with the rows of the grounds.
func judgedOn(t *testing.T, g Grounds, prose string, change func(*Answer)) Judgement {
	t.Helper()
	a := walked()
	a.Files = g.Changed
	if change != nil {
		change(&a)
	}
	return Judge(prose+"\n"+block(encode(t, a))+closing(Approve), nonce, g)
}

// Sentences of the kind that sessions write about their work, made up for this test. Many have
// words that also excuse a defect. In the text, in the summary and under a dimension they change
// no verdict, whether or not the files and rows that they name are part of the change. Those of the second file were
// written after the rules, which were not changed for them.
func TestHonestProseNeverBlocks(t *testing.T) {
	seen := map[string]bool{}
	all := narrated(t)
	for name, least := range map[string]int{"honest.txt": 300, "honest-heldout.txt": 120, "honest-blind.txt": 60} {
		before := len(seen)
		data, err := os.ReadFile(filepath.Join("testdata", "prose", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			seen[line] = true
			for of, g := range map[string]Grounds{"one file": grounded(), "all files": all} {
				for place, j := range map[string]Judgement{
					"text":      judgedOn(t, g, line, nil),
					"summary":   judgedOn(t, g, "", func(a *Answer) { a.Summary = line }),
					"dimension": judgedOn(t, g, "", func(a *Answer) { a.Dimensions[4].Examined = line }),
				} {
					if j.Verdict != Approve || len(j.Doubts) > 0 {
						t.Errorf("%s, a change of %s: %q blocks: %q", place, of, line, j.Doubts)
					}
				}
			}
		}
		if n := len(seen) - before; n < least {
			t.Errorf("%s has only %d sentences of its own", name, n)
		}
	}
}

func TestAFindingThatOnlyTheTextNamesBlocks(t *testing.T) {
	file := grounded().Changed[0]
	for _, line := range []string{
		"- **[Security] critical** · `security/S3` · " + file + ":12 the query is built from input, left for a later pull request",
		"major security/S3 " + file + ":3: follows the existing pattern",
		"[Security] minor: " + file + ":7 (security/S3), out of scope",
		"1. Critical: Security/s3 at " + file + ":1",
		"### [Security] " + "Major — " + file + ":4 — security/S3",
	} {
		j := judgedWith(t, "## [Security]\n"+line, nil)
		if j.Verdict != RequestChanges || !asksFor(j) {
			t.Errorf("%q: %s, %q", line, j.Verdict, j.Doubts)
		}
	}
}

func TestACandidateThatCodeRefutesDoesNotBlock(t *testing.T) {
	file := grounded().Changed[0]
	c := Candidate{Rule: "security/S3", Path: file, Line: 3, Claim: "The name is glued into SQL.",
		Reason: "The only caller passes a constant.", Seen: "other.go", Quote: "package other"}
	for _, line := range []string{
		"- major security/S3 " + file + ":3: refuted, the argument is a constant",
		"[Security] critical candidate security/S3 at " + file + ":12 was ruled out by the check in New",
	} {
		if j := judgedWith(t, line, func(a *Answer) { a.Candidates = []Candidate{c} }); j.Verdict != Approve {
			t.Errorf("%q: %q", line, j.Doubts)
		}
	}
	for lack, change := range map[string]func(*Candidate){
		"quotes nothing":    func(c *Candidate) { c.Quote = "" },
		"is not there":      func(c *Candidate) { c.Quote = "package another" },
		"what or why":       func(c *Candidate) { c.Reason = " " },
		"quotes a comment":  func(c *Candidate) { c.Quote = "TODO: escape it" },
		"could not be read": func(c *Candidate) { c.Seen = "broken.go" },
	} {
		g := grounded()
		read := g.File
		g.File = func(path string) ([]byte, error) {
			switch path {
			case "broken.go":
				return nil, errors.New("the disk is gone")
			case "other.go":
				return []byte("package other\n// TODO: escape it\n"), nil
			}
			return read(path)
		}
		g.Code = func(_, _ string, from, _ int) bool { return from == 1 }
		bad := c
		change(&bad)
		a := walked()
		a.Candidates = []Candidate{bad}
		j := Judge(block(encode(t, a))+closing(Approve), nonce, g)
		if j.Verdict == Approve || !strings.Contains(strings.Join(j.Doubts, "\n"), lack) {
			t.Errorf("%s: %s, doubts %q", lack, j.Verdict, j.Doubts)
		}
	}
}

func TestRemovedCodeRefutesACandidate(t *testing.T) {
	g := grounded()
	g.Before = files(map[string]string{"other.go": "return escape(name)\n"})
	a := walked()
	a.Candidates = []Candidate{{Rule: "security/S3", Path: "other.go", Claim: "Nothing escapes the name now.",
		Reason: "The old code escaped what was escaped already.", Quote: "return escape(name)"}}
	if j := Judge(block(encode(t, a))+closing(Approve), nonce, g); j.Verdict != Approve {
		t.Errorf("doubts %q", j.Doubts)
	}
	g.Code = func(string, string, int, int) bool { return false }
	if j := Judge(block(encode(t, a))+closing(Approve), nonce, g); j.Verdict == Approve {
		t.Error("a comment that is gone refutes a candidate")
	}
}

// A review that blocks asks nothing about its candidates, but shows only those that code refutes.
func TestABlockingReviewKeepsWhatIsShown(t *testing.T) {
	a := walked()
	a.Findings = []Finding{finding(Major)}
	a.Candidates = []Candidate{
		{Rule: "security/S3", Path: "other.go", Claim: "It is open.", Reason: "It is closed.", Quote: "package other"},
		{Rule: "security/S4", Path: "other.go", Claim: "It leaks.", Reason: "It does not.", Quote: "package another"},
	}
	j := Judge(block(encode(t, a))+closing(RequestChanges), nonce, grounded())
	if len(j.Doubts) > 0 || len(j.Answer.Candidates) != 1 || j.Answer.Candidates[0].Rule != "security/S3" {
		t.Errorf("doubts %q, candidates %+v", j.Doubts, j.Answer.Candidates)
	}
}

func TestAnEarlierFindingThatTheTextTellsOfDoesNotBlock(t *testing.T) {
	file := grounded().Changed[0]
	g := grounded()
	f := finding(Major)
	f.Rule, f.Path = "security/S3", file
	g.Ledger = Ledger{{ID: Fingerprint(f), Status: Verified, Rule: f.Rule, Path: f.Path, Severity: Major, Claim: f.Claim, First: 1, Last: 1}}
	told := "- [Security] major security/S3 " + file + ":3 of round one stays closed\n"
	if j := Judge(told+block(encode(t, walked()))+closing(Approve), nonce, g); j.Verdict != Approve {
		t.Errorf("an earlier finding that is told of: %q", j.Doubts)
	}
}

func TestAFindingThatTheTextRepeatsIsListed(t *testing.T) {
	listed := finding(Nit)
	listed.Rule = "security/S3"
	line := "[Security] major " + listed.Path + ":12 security/S3"
	j := judgedWith(t, line, func(a *Answer) { a.Findings = []Finding{listed} })
	if asksFor(j) {
		t.Errorf("a listed finding is missed: %q", j.Doubts)
	}
}

// A finding that the session made milder than its row weighs as much as the row, whatever
// reason it gives, and a reason in its fields leaves no doubt that a waiver could not lift.
func TestALoweredFindingIsRaisedWithoutADoubt(t *testing.T) {
	lowered := finding(Nit)
	lowered.Rule, lowered.Why = "security/S4", "An existing pattern, to be fixed in a separate PR."
	j := Judge(block(encode(t, func() Answer { a := walked(); a.Findings = []Finding{lowered}; return a }()))+closing(RequestChanges), nonce,
		grounded())
	if f := j.Answer.Findings[0]; !f.Blocks() || f.Was != Nit || len(j.Doubts) > 0 || !j.settled() {
		t.Errorf("%+v, doubts %q", f, j.Doubts)
	}
}

func TestFindingsWithOneQuoteInTwoPlacesAreBothKept(t *testing.T) {
	g := grounded()
	g.File = func(string) ([]byte, error) { return []byte("open(path)\nread()\nuse()\nopen(path)\n"), nil }
	first, second := finding(Major), finding(Major)
	first.Quote, first.StartLine, first.Line, first.Claim = "open(path)", 0, 1, "The first handle leaks."
	second.Quote, second.StartLine, second.Line, second.Claim = "open(path)", 0, 4, "The second is opened twice."
	again, other := second, second
	again.Quote = "open(path)"
	other.Claim = "It is opened without a check."
	a := walked()
	a.Findings = []Finding{first, second, again, other}
	j := Judge(block(encode(t, a))+closing(RequestChanges), nonce, g)
	if len(j.Answer.Findings) != 2 || len(j.Merged) != 2 || len(j.Dropped) != 0 {
		t.Fatalf("kept %+v, merged %+v, dropped %+v", j.Answer.Findings, j.Merged, j.Dropped)
	}
	kept := j.Answer.Findings
	if kept[0].ID == kept[1].ID || j.Merged[0].Into != kept[1].ID || !strings.Contains(kept[1].Why, "Also: It is opened without a check.") {
		t.Errorf("kept %+v, merged %+v", kept, j.Merged)
	}
	ledger := Ledger{}.After(1, j)
	if len(ledger) != 2 {
		t.Fatalf("the ledger has %+v", ledger)
	}
	// In the next round both are found again, and without their ids.
	next := g
	next.Ledger = ledger
	a.Findings = []Finding{second, first}
	j = Judge(block(encode(t, a))+closing(RequestChanges), nonce, next)
	if after := ledger.After(2, j); len(after) != 2 || len(after.Outstanding()) != 2 {
		t.Errorf("after round 2: %+v", after)
	}
}

func TestAWaivedFindingIsCounted(t *testing.T) {
	g := grounded()
	f := finding(Major)
	g.Ledger = Ledger{{ID: Fingerprint(f), Status: Waived, Rule: f.Rule, Path: f.Path, Severity: Major, Claim: f.Claim, First: 1, Last: 1}}
	a := walked()
	a.Findings = []Finding{f}
	j := Judge(block(encode(t, a))+closing(Approve), nonce, g)
	if len(j.Merged) != 1 || !strings.Contains(j.Merged[0].Reason, "waived") || j.Verdict != Approve {
		t.Errorf("%s, merged %+v, doubts %q", j.Verdict, j.Merged, j.Doubts)
	}
}

// asksFor reports whether a judgement doubts an answer for a possible defect that only its text names.
func asksFor(j Judgement) bool {
	return strings.Contains(strings.Join(j.Doubts, "\n"), "neither among its findings nor among its candidates")
}

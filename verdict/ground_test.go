package verdict

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const program = `package store

import "fmt"

func find(name string) string {
	return fmt.Sprintf("SELECT %s", name)
}

func drop(name string) string {
	return fmt.Sprintf("DROP %s", name)
}

func find2(name string) string {
	return fmt.Sprintf("SELECT %s", name)
}
`

func evidence() Grounds {
	return Grounds{
		Changed: []string{"store.go", "gone.go", ` "odd" `},
		Rows:    map[string]Severity{"security/S3": Major, "doc/D1": Nit},
		File:    files(map[string]string{"store.go": program, "caller.go": "package caller\n", ` "odd" `: "odd = true\n"}),
		Before:  files(map[string]string{"store.go": strings.Replace(program, "DROP", "REMOVE", 1), "gone.go": "package gone\n"}),
	}
}

// judged is a finding after its grounds were looked at, or why it was dropped.
func judged(t *testing.T, g Grounds, f Finding) (Finding, string) {
	t.Helper()
	j := Judgement{Answer: Answer{Findings: []Finding{f}}}
	j.ground(g.sources())
	switch {
	case len(j.Dropped) == 1 && len(j.Answer.Findings) == 0:
		return Finding{}, j.Dropped[0].Reason
	case len(j.Dropped) == 0 && len(j.Answer.Findings) == 1:
		return j.Answer.Findings[0], ""
	}
	t.Fatalf("neither kept nor dropped: %+v", j)
	return Finding{}, ""
}

func TestAFindingStandsWhereItsQuoteIs(t *testing.T) {
	tests := []struct {
		name    string
		change  func(*Finding)
		lines   string // where it stands then
		dropped string // a part of why it does not
	}{
		{"as it is", func(*Finding) {}, "0-10", ""},
		{"white space apart", func(f *Finding) { f.Quote = "  return   fmt.Sprintf(\"DROP %s\",\n name)\r\n" }, "0-10", ""},
		{"part of a line", func(f *Finding) { f.Quote = `"DROP %s"` }, "0-10", ""},
		{"with a patch's signs", func(f *Finding) {
			f.Quote = "+func drop(name string) string {\n+\treturn fmt.Sprintf(\"DROP %s\", name)\n+}"
		}, "0-10", ""},
		{"several lines", func(f *Finding) { f.StartLine, f.Quote = 9, "func drop(name string) string {\n\treturn" }, "9-10", ""},
		{"on other lines", func(f *Finding) { f.StartLine, f.Line = 2, 3 }, "10-10", ""},
		{"on no line", func(f *Finding) { f.Line = 0 }, "10-10", ""},
		{"twice, the nearer one counts", func(f *Finding) { f.Line, f.Quote = 12, `return fmt.Sprintf("SELECT %s", name)` }, "14-14", ""},
		{"lines beyond the end", func(f *Finding) { f.StartLine, f.Line = 10, 99 }, "10-15", ""},
		{"the whole file, without a quote", func(f *Finding) { f.Line, f.Quote = 0, "" }, "0-0", ""},
		{"the whole change", func(f *Finding) { f.Path, f.Line, f.Quote = "", 3, "" }, "0-0", ""},
		{"code that is gone", func(f *Finding) { f.Quote = `return fmt.Sprintf("REMOVE %s", name)` }, "0-0", ""},
		{"a deleted file", func(f *Finding) { f.Path, f.Quote = "gone.go", "package gone" }, "0-0", ""},
		{"a deleted file, without a quote", func(f *Finding) { f.Path, f.Quote = "gone.go", "" }, "0-0", ""},
		{"a file that did not change", func(f *Finding) { f.Path, f.Line, f.Quote = "caller.go", 1, "package caller" }, "0-1", ""},
		{"an odd name, as spelled", func(f *Finding) { f.Path, f.Line, f.Quote = ` "odd" `, 1, "odd = true" }, "0-1", ""},
		{"a brace where it is", func(f *Finding) { f.Line, f.Quote = 11, "}" }, "0-11", "it quotes no code"},
		{"rule in other case", func(f *Finding) { f.Rule = "Security/s3" }, "0-10", ""},
		{"rule with its words", func(f *Finding) { f.Rule = "`security/S3`: no glued SQL" }, "0-10", ""},
		{"two rules", func(f *Finding) { f.Rule = "security/S9, security/S3" }, "0-10", ""},

		{"no rule", func(f *Finding) { f.Rule = "" }, "", "no rule for this change"},
		{"a rule that does not apply", func(f *Finding) { f.Rule = "security/S4" }, "", `"security/S4", which is no rule`},
		{"a document for its rule", func(f *Finding) { f.Rule = "security" }, "", "no rule for this change"},
		{"no such file", func(f *Finding) { f.Path = "nowhere.go" }, "", "a file that is not there"},
		{"no quote for the lines", func(f *Finding) { f.Quote = " \n" }, "", "quotes no code"},
		{"code that was never there", func(f *Finding) { f.Quote = "os.RemoveAll(name)" }, "", "code that is not there"},
		{"a letter elsewhere", func(f *Finding) { f.Line, f.Quote = 2, "%s" }, "", "code that is not there"},
		{"code of another file", func(f *Finding) { f.Quote = "package caller" }, "", "code that is not there"},
		{"code that a deleted file never held", func(f *Finding) { f.Path, f.Quote = "gone.go", "os.Exit(1)" }, "", "code that is not there"},
		{"a quote without a file", func(f *Finding) { f.Path = "" }, "", "names no file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Finding{Dimension: Security, Severity: Major, Rule: "security/S3", Path: "store.go", Line: 10,
				Quote: `return fmt.Sprintf("DROP %s", name)`, Claim: "glued"}
			tt.change(&f)
			got, reason := judged(t, evidence(), f)
			if tt.dropped != "" {
				if !strings.Contains(reason, tt.dropped) {
					t.Errorf("dropped because %q, want %q; kept %+v", reason, tt.dropped, got)
				}
				return
			}
			if lines := fmt.Sprintf("%d-%d", got.StartLine, got.Line); reason != "" || lines != tt.lines {
				t.Errorf("it stands on %s, want %s (dropped because %q)", lines, tt.lines, reason)
			}
			if got.Rule != "security/S3" || got.ID == "" {
				t.Errorf("rule %q, id %q", got.Rule, got.ID)
			}
		})
	}
}

func TestGroundRaisesToTheRow(t *testing.T) {
	for _, tt := range []struct {
		rule            string
		given, want, as Severity
	}{
		{"security/S3", Nit, Major, Nit},
		{"security/S3", Minor, Major, Minor},
		{"security/S3", Major, Major, ""},
		{"security/S3", Critical, Critical, ""},
		{"doc/D1", Nit, Nit, ""},
		{"doc/D1", Minor, Minor, ""},
	} {
		got, reason := judged(t, evidence(), Finding{Rule: tt.rule, Severity: tt.given})
		if reason != "" || got.Severity != tt.want || got.Was != tt.as {
			t.Errorf("%s under %s: %s, was %q, dropped %q", tt.given, tt.rule, got.Severity, got.Was, reason)
		}
	}
}

// TestGroundWithUnreadableFile checks that a finding in an unreadable file is not disproved, but that such a
// file cannot lead to an approval either.
func TestGroundWithUnreadableFile(t *testing.T) {
	g := grounded()
	g.File = func(string) ([]byte, error) { return nil, errors.New("the disk is gone") }
	a := walked()
	a.Findings = []Finding{finding(Nit)}
	j := Judge(block(encode(t, a))+closing(Approve), nonce, g)
	if j.Verdict != RequestChanges || len(j.Answer.Findings) != 1 || !strings.Contains(strings.Join(j.Doubts, ""), "the disk is gone") {
		t.Errorf("%s, doubts %q, findings %+v", j.Verdict, j.Doubts, j.Answer.Findings)
	}
}

func TestGroundByTheLedger(t *testing.T) {
	f := Finding{Rule: "doc/D1", Path: "store.go", Quote: `"DROP %s"`, Severity: Minor, Claim: "glued"}
	earlier := Ledger(nil).advance(1, Answer{Findings: []Finding{f}})
	g := evidence()
	g.Ledger = earlier
	f.Severity = Nit
	if got, _ := judged(t, g, f); got.Severity != Minor || got.Was != Nit || got.ID != earlier[0].ID {
		t.Errorf("a finding became milder from round to round: %+v", got)
	}
	f.Quote = `"FALL %s"`
	j := Judgement{Answer: Answer{Findings: []Finding{f}}}
	if j.ground(g.sources()); len(j.Dropped) != 1 || !j.Dropped[0].Finding.Blocks() {
		t.Errorf("what may have meant a finding that blocks does not block: %+v", j.Dropped)
	}
	f.Quote = `"DROP %s"`
	g.Ledger[0].Status = Waived
	j = Judgement{Answer: Answer{Findings: []Finding{f}}}
	if j.ground(g.sources()); len(j.Answer.Findings)+len(j.Dropped) != 0 {
		t.Errorf("what a person waived is said again: %+v", j)
	}
}

func TestGroundMarksWhatIsLate(t *testing.T) {
	late := Finding{Rule: "doc/D1", Path: "store.go", Quote: `"DROP %s"`, Severity: Minor}
	g := evidence()
	g.Late = func(f Finding) bool { return f.Line == 10 }
	if got, _ := judged(t, g, late); !got.Late || got.Tolerated || !got.Blocks() {
		t.Errorf("without the ratchet: %+v", got)
	}
	g.Ratchet = true
	if got, _ := judged(t, g, late); !got.Late || got.Blocks() {
		t.Errorf("with the ratchet: %+v", got)
	}
	late.Severity = Major
	if got, _ := judged(t, g, late); !got.Late || !got.Blocks() {
		t.Errorf("a late major passes: %+v", got)
	}
	late.Severity = Minor
	g.Ledger = Ledger(nil).advance(1, Answer{Findings: []Finding{late}})
	if got, _ := judged(t, g, late); got.Late || !got.Blocks() {
		t.Errorf("what an earlier round found is late: %+v", got)
	}
}

// TestNoApprovalBesideAFindingThatBlocks checks that an approval next to a finding that would block does not
// count, however wrong the finding is.
func TestNoApprovalBesideAFindingThatBlocks(t *testing.T) {
	t.Parallel()
	d := rand.New(rand.NewPCG(7, 7))
	pick := func(of ...string) string { return of[d.IntN(len(of))] }
	approved := 0
	for range 1_000 {
		a := walked()
		for range d.IntN(3) {
			f := finding(Severity(pick("critical", "major", "minor", "nit", "nit", "nit", "nit", "nit", "nit", "trivial")))
			f.Rule = pick("security/S3", "security/S3", "security/S3", "security/S4", "made/up", "")
			f.Path = pick("store/store.go", "store/store.go", "README.md", "nowhere", "")
			f.Quote = pick(glued, glued, "no such code", "}", "")
			f.Line = d.IntN(5)
			a.Findings = append(a.Findings, f)
		}
		j := Judge(block(encode(t, a))+closing(Approve), nonce, grounded())
		if j.Verdict != Approve {
			continue
		}
		approved++
		if slices.ContainsFunc(a.Findings, func(f Finding) bool { return f.Severity != Nit || f.Rule == "security/S4" }) || len(j.Doubts) > 0 ||
			!j.Complete {
			t.Fatalf("approved beside %+v", a.Findings)
		}
		if len(j.Answer.Findings)+len(j.Dropped) > len(a.Findings) {
			t.Fatalf("more findings came out than went in: %+v", j)
		}
	}
	if approved < 60 {
		t.Errorf("only %d were approved: the test proves little", approved)
	}
}

// A quote is found where it stands, with any white space.
func FuzzFind(f *testing.F) {
	f.Add(program, 5, 80)
	f.Add("a\r\n\r\n b\tc\n", 0, 4)
	f.Add("\xff \x00\n", 0, 2)
	f.Fuzz(func(t *testing.T, text string, at, n int) {
		s := newSource(text)
		if at < 0 || n <= 0 || at >= len(text) || n > len(text)-at {
			return
		}
		// A cut word or character is another one.
		quote := strings.Join(strings.Fields(strings.ToValidUTF8(text[at:at+n], "")), "\n\t")
		from, to, ok := s.find(quote, 0, 0)
		if !ok {
			if strings.Contains(s.text, OneLine(quote)) && quote != "" {
				t.Fatalf("%q is not found in %q", quote, text)
			}
			return
		}
		if from < 1 || to < from || to > s.lines {
			t.Fatalf("it stands on lines %d to %d of %d", from, to, s.lines)
		}
		lines := slices.Collect(strings.Lines(text))
		if found := OneLine(strings.Join(lines[from-1:to], "")); !strings.Contains(found, OneLine(quote)) && !strings.Contains(quote, "+") {
			t.Fatalf("lines %d to %d of %q do not hold %q", from, to, text, quote)
		}
	})
}

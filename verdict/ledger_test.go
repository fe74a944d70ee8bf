package verdict

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func named(claim string, s Severity) Finding {
	return Finding{Dimension: Test, Severity: s, Rule: "test/T1", Path: "a.go", Line: 7, Claim: claim}
}

func statuses(l Ledger) string {
	var all []string
	for _, e := range l {
		all = append(all, e.Claim+":"+string(e.Status))
	}
	return strings.Join(all, " ")
}

func TestLedgerOverRounds(t *testing.T) {
	a, b, c := named("a", Major), named("b", Nit), named("c", Minor)
	rounds := []struct {
		findings []Finding
		gone     string // what the answer says to be gone
		want     string
	}{
		{[]Finding{a, b, a}, "", "a:open b:open"},
		{[]Finding{b, c}, "a", "a:verified b:open c:open"},
		{[]Finding{a}, "c", "a:regressed b:not-found c:verified"},
		{[]Finding{a}, "b", "a:regressed b:not-found c:verified"},
		{nil, "a", "a:verified b:not-found c:verified"},
		{[]Finding{c, b}, "", "a:verified b:open c:regressed"},
		{[]Finding{c}, "b", "a:verified b:verified c:regressed"},
	}
	var l Ledger
	for i, round := range rounds {
		before := slices.Clone(l)
		next := l.advance(i+1, Answer{Findings: round.findings, Gone: []Gone{{ID: Fingerprint(named(round.gone, Major)), How: "read"}}})
		if !slices.Equal(l, before) {
			t.Fatalf("round %d changed the ledger it started from", i+1)
		}
		if got := statuses(next); got != round.want {
			t.Fatalf("round %d: %s, want %s", i+1, got, round.want)
		}
		l = next
	}
	if l[0].First != 1 || l[0].Last != 4 || l[2].First != 2 || l[2].Last != 7 {
		t.Errorf("rounds of a and c: %+v %+v", l[0], l[2])
	}
	if out := l.Outstanding(); len(out) != 1 || out[0].Claim != "c" {
		t.Errorf("outstanding: %+v", out)
	}
}

// TestLedgerAfterIncompleteRound checks that a finding is not gone if the session did not look at it.
func TestLedgerAfterIncompleteRound(t *testing.T) {
	a, b := named("a", Major), named("b", Major)
	l := Ledger(nil).advance(1, Answer{Findings: []Finding{a}})
	unread := Judge("no answer at all", nonce, Grounds{})
	if got := statuses(l.After(2, unread)); got != "a:open" {
		t.Errorf("after an unreadable answer: %s", got)
	}
	partial := Judgement{Answer: Answer{Findings: []Finding{b}}}
	if got := statuses(l.After(2, partial)); got != "a:open b:open" {
		t.Errorf("after a partial answer: %s", got)
	}
	partial.Complete = true
	if got := statuses(l.After(2, partial)); got != "a:not-found b:open" {
		t.Errorf("after a complete answer: %s", got)
	}
}

func TestLedgerNeverLowersSeverity(t *testing.T) {
	l := Ledger(nil).advance(1, Answer{Findings: []Finding{named("a", Minor)}})
	for i, step := range []struct{ found, want Severity }{{Nit, Minor}, {Critical, Critical}, {Major, Critical}} {
		l = l.advance(i+2, Answer{Findings: []Finding{named("a", step.found)}})
		if len(l) != 1 || l[0].Severity != step.want {
			t.Fatalf("after %s: %+v, want %s", step.found, l, step.want)
		}
	}
}

// Neither finding it again nor missing it overrides a person's waiver.
func TestLedgerKeepsWhatPeopleWaived(t *testing.T) {
	l := Ledger(nil).advance(1, Answer{Findings: []Finding{named("a", Major)}})
	l[0].Status = Waived
	for round, findings := range [][]Finding{{named("a", Critical)}, nil, {named("a", Nit)}} {
		l = l.advance(round+2, Answer{Findings: findings})
		if l[0].Status != Waived || len(l.Outstanding()) > 0 {
			t.Errorf("it became %s in round %d", l[0].Status, round+2)
		}
	}
}

// TestLedgerJudgesWhatIsSaid checks that the next round judges what the author says about a finding.
func TestLedgerJudgesWhatIsSaid(t *testing.T) {
	for status, gone := range map[Status]Status{ClaimedFixed: Verified, Disputed: Withdrawn, Open: Verified} {
		l := Ledger(nil).advance(1, Answer{Findings: []Finding{named("a", Major)}})
		l[0].Status = status
		if out := l.Outstanding(); len(out) != 1 {
			t.Errorf("what is %s does not stand any more", status)
		}
		if got := l.advance(2, Answer{Findings: []Finding{named("a", Major)}})[0].Status; got != Open {
			t.Errorf("%s and found again: %s", status, got)
		}
		if got := l.advance(2, Answer{})[0].Status; got != NotFound {
			t.Errorf("%s and found no more: %s", status, got)
		}
		if got := l.advance(2, Answer{Gone: []Gone{{ID: l[0].ID, How: "read"}}})[0].Status; got != gone {
			t.Errorf("%s and said to be gone: %s", status, got)
		}
		if got := l.After(2, Judgement{})[0].Status; got != status {
			t.Errorf("%s and not looked at: %s", status, got)
		}
	}
}

// TestLedgerDoesNotVerifyWhatWasDropped checks that a finding does not count as repaired because a session
// could not prove it.
func TestLedgerDoesNotVerifyWhatWasDropped(t *testing.T) {
	l := Ledger(nil).advance(1, Answer{Findings: []Finding{named("a", Major), {Rule: "test/T2", Path: "a.go", Claim: "b", Severity: Nit}}})
	next := l.After(2, Judgement{Complete: true, Dropped: []Dropped{{Finding: named("reworded", Major)}}})
	if got := statuses(next); got != "a:open b:not-found" {
		t.Errorf("after a finding was dropped: %s", got)
	}
}

func TestLedgerKnowsCodeByLessOfIt(t *testing.T) {
	f := Finding{Rule: "test/T1", Path: "a.go", Claim: "a", Quote: "if err != nil {\n\treturn nil\n}", Severity: Major}
	l := Ledger(nil).advance(1, Answer{Findings: []Finding{f}})
	for name, tt := range map[string]struct {
		found Finding
		same  bool
	}{
		"less":            {Finding{Rule: "test/T1", Path: "a.go", Quote: "if err != nil {"}, true},
		"more":            {Finding{Rule: "test/T1", Path: "a.go", Quote: "x()\n" + f.Quote}, true},
		"next to nothing": {Finding{Rule: "test/T1", Path: "a.go", Quote: "return nil"}, false},
		"another file":    {Finding{Rule: "test/T1", Path: "b.go", Quote: f.Quote + " "}, false},
		"another rule":    {Finding{Rule: "test/T2", Path: "a.go", Quote: f.Quote + " "}, false},
		"by its id":       {Finding{ID: l[0].ID, Rule: "test/T1", Path: "moved.go", Quote: "other"}, true},
		"by an alien id":  {Finding{ID: l[0].ID, Rule: "test/T2", Path: "moved.go", Quote: "other"}, false},
	} {
		if got := l.same(tt.found) != nil; got != tt.same {
			t.Errorf("%s: the same is %v", name, got)
		}
	}
}

func TestLedgerBoundsProse(t *testing.T) {
	f := named(strings.Repeat("ä", 1000), Major)
	f.Rule = strings.Repeat("r", 1000)
	f.Quote = strings.Repeat("ö ", 1000)
	e := Ledger(nil).advance(1, Answer{Findings: []Finding{f}})[0]
	if len(e.Code) > maxCode || !utf8.ValidString(e.Code) {
		t.Errorf("kept %d bytes of code", len(e.Code))
	}
	if len(e.Claim) > maxClaim || len(e.Rule) > maxRule || !utf8.ValidString(e.Claim) || !strings.HasSuffix(e.Claim, "ä…") {
		t.Errorf("kept %d bytes of claim and %d of rule: %q", len(e.Claim), len(e.Rule), e.Claim)
	}
}

func TestAFingerprintSurvivesMovesAndRewording(t *testing.T) {
	base := Finding{Rule: "r", Path: "p", Line: 1, Quote: "if x {\n\treturn y\n}", Claim: "c", Severity: Major}
	same := map[string]func(*Finding){
		"moved":       func(f *Finding) { f.Line, f.StartLine = 90, 80 },
		"reindented":  func(f *Finding) { f.Quote = "  if x {\r\n      return y\r\n  }\n" },
		"reworded":    func(f *Finding) { f.Claim, f.Why = "other words", "other reasons" },
		"re-assessed": func(f *Finding) { f.Severity, f.Dimension = Nit, Doc },
	}
	for name, change := range same {
		f := base
		change(&f)
		if Fingerprint(f) != Fingerprint(base) {
			t.Errorf("%s: another fingerprint", name)
		}
	}
	other := map[string]func(*Finding){
		"rule":     func(f *Finding) { f.Rule = "s" },
		"path":     func(f *Finding) { f.Path = "q" },
		"code":     func(f *Finding) { f.Quote = "if z {\n\treturn y\n}" },
		"boundary": func(f *Finding) { f.Rule, f.Path = "rp", "" },
		"no quote": func(f *Finding) { f.Quote = " " },
	}
	for name, change := range other {
		f := base
		change(&f)
		if Fingerprint(f) == Fingerprint(base) {
			t.Errorf("%s: the same fingerprint", name)
		}
	}
	if id := Fingerprint(base); len(id) != 8 {
		t.Errorf("fingerprint %q is not 8 characters long", id)
	}
}

package verdict

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func checkAnswer(c Check, nonce string, marker Checked) string {
	data, _ := json.Marshal(c)
	return fmt.Sprintf("I read it.\n\n```%s\n%s\n```\n%s\n%s\n", Fence, data, RunLine(nonce), CheckMarker(marker))
}

var checkGrounds = Grounds{File: func(path string) ([]byte, error) {
	if path != "store.go" {
		return nil, fs.ErrNotExist
	}
	return []byte("package store\n\nfunc get(id string) {\n\tquery(escape(id))\n}\n"), nil
}}

// TestJudgeCheckFailsClosed checks that only a complete answer of this run that quotes existing text refutes
// a finding.
func TestJudgeCheckFailsClosed(t *testing.T) {
	t.Parallel()
	refuted := Check{Outcome: Overruled, Reason: "It is escaped.", Path: "store.go", Quote: "query(escape(id))"}
	with := func(change func(*Check)) Check {
		c := refuted
		change(&c)
		return c
	}
	for name, test := range map[string]struct {
		text string
		want Checked
	}{
		"refuted":           {checkAnswer(refuted, "N1", Overruled), Overruled},
		"upheld":            {checkAnswer(Check{Outcome: Upheld, Reason: "It is so."}, "N1", Upheld), Upheld},
		"another nonce":     {checkAnswer(refuted, "N2", Overruled), Unfinished},
		"no nonce":          {"```touchstone\n{}\n```\n" + CheckMarker(Overruled), Unfinished},
		"text behind":       {checkAnswer(refuted, "N1", Overruled) + "Done.", Unfinished},
		"they disagree":     {checkAnswer(refuted, "N1", Upheld), Unfinished},
		"the other way":     {checkAnswer(with(func(c *Check) { c.Outcome = Upheld }), "N1", Overruled), Unfinished},
		"no such outcome":   {checkAnswer(with(func(c *Check) { c.Outcome = "approved" }), "N1", "approved"), Unfinished},
		"no reason":         {checkAnswer(with(func(c *Check) { c.Reason = " " }), "N1", Overruled), Unfinished},
		"no quote":          {checkAnswer(with(func(c *Check) { c.Quote = "" }), "N1", Overruled), Unfinished},
		"a short quote":     {checkAnswer(with(func(c *Check) { c.Quote = "func get" }), "N1", Overruled), Unfinished},
		"an invented quote": {checkAnswer(with(func(c *Check) { c.Quote = "if validated(id) { return }" }), "N1", Overruled), Unfinished},
		"another file":      {checkAnswer(with(func(c *Check) { c.Path = "other.go" }), "N1", Overruled), Unfinished},
		"a review's answer": {"```touchstone\n{\"summary\":\"\",\"findings\":[]}\n```\n" + RunLine("N1") + "\n" + Marker(Approve), Unfinished},
		"nothing":           {"", Unfinished},
		"lowered":           {checkAnswer(with(func(c *Check) { c.Outcome = Lowered }), "N1", Lowered), Lowered},
		"lowered, unquoted": {checkAnswer(Check{Outcome: Lowered, Reason: "It is small.", Path: "store.go"}, "N1", Lowered), Unfinished},
		"lowered, no why":   {checkAnswer(with(func(c *Check) { c.Outcome, c.Reason = Lowered, "" }), "N1", Lowered), Unfinished},
		"lowered, refuted":  {checkAnswer(with(func(c *Check) { c.Outcome = Lowered }), "N1", Overruled), Unfinished},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := JudgeCheck(test.text, "N1", checkGrounds)
			if c.Outcome != test.want || (err != nil) != (test.want == Unfinished) {
				t.Errorf("%s, %v; want %s", c.Outcome, err, test.want)
			}
		})
	}
	if c, _ := JudgeCheck(checkAnswer(refuted, "N1", Overruled), "N1", checkGrounds); c.Line != 4 {
		t.Errorf("it is refuted by line %d", c.Line)
	}
}

// TestWhatIsRefutedDoesNotBlock checks that a refuted finding does not block, and comes back if a later round
// finds and upholds it.
func TestWhatIsRefutedDoesNotBlock(t *testing.T) {
	t.Parallel()
	one := Finding{ID: "0000000a", Severity: Critical, Rule: "security/S3", Path: "a.go", Quote: "unsafe()", Claim: "It is unsafe."}
	two := one
	two.ID, two.Claim = "0000000b", "Another."
	judged := func(findings ...Finding) Judgement {
		return Judgement{Verdict: RequestChanges, Complete: true, Answer: Answer{Findings: findings}}
	}
	j := judged(one, two)
	j.Weigh(one.ID, Check{Outcome: Overruled, Reason: "It is safe."})
	if j.Verdict != RequestChanges || len(j.Answer.Findings) != 1 || len(j.Overruled) != 1 {
		t.Errorf("one of two refuted: %+v", j)
	}
	upheld := judged(one)
	upheld.Weigh(one.ID, Check{Outcome: Upheld})
	doubted := judged(one)
	doubted.doubt("Something is wrong.")
	doubted.Weigh(one.ID, Check{Outcome: Overruled, Reason: "It is safe."})
	if upheld.Verdict != RequestChanges || doubted.Verdict != RequestChanges {
		t.Errorf("upheld: %s; refuted and doubted: %s", upheld.Verdict, doubted.Verdict)
	}
	j.Weigh(two.ID, Check{Outcome: Overruled, Reason: "That too."})
	if j.Verdict != Approve {
		t.Errorf("all refuted: %s", j.Verdict)
	}
	ledger := Ledger(nil).After(1, j)
	if len(ledger) != 2 || ledger[0].Status != Refuted || ledger[0].Refutation != "It is safe." || ledger.Blocking() != 0 ||
		len(ledger.Outstanding()) != 0 {
		t.Errorf("the ledger is %+v", ledger)
	}
	again := judged(one)
	again.Weigh(one.ID, Check{Outcome: Upheld})
	if ledger = ledger.After(2, again); ledger[0].Status != Open || ledger[0].Check != Upheld || ledger.Blocking() != 1 {
		t.Errorf("found again: %+v", ledger[0])
	}
}

// TestWhatIsLoweredIsANit checks that a lowered finding keeps its earlier severity and the reason, does not
// block, and blocks again if a later round upholds it.
func TestWhatIsLoweredIsANit(t *testing.T) {
	t.Parallel()
	f := Finding{ID: "0000000a", Severity: Major, Rule: "architecture/A1", Path: "a.go", Quote: "unsafe()", Claim: "It is unsafe."}
	judged := func() Judgement {
		return Judgement{Verdict: RequestChanges, Complete: true, Answer: Answer{Findings: []Finding{f}}}
	}
	upheld, lowered, doubted := judged(), judged(), judged()
	upheld.Weigh(f.ID, Check{Outcome: Upheld})
	lowered.Weigh(f.ID, Check{Outcome: Lowered, Reason: "Nobody sets both."})
	doubted.doubt("Something is wrong.")
	doubted.Weigh(f.ID, Check{Outcome: Lowered, Reason: "Nobody sets both."})
	if upheld.Verdict != RequestChanges || lowered.Verdict != Approve || doubted.Verdict != RequestChanges {
		t.Errorf("upheld: %s, lowered: %s, lowered and doubted: %s", upheld.Verdict, lowered.Verdict, doubted.Verdict)
	}
	if g := lowered.Answer.Findings; len(g) != 1 || g[0].Severity != Nit || g[0].From != Major || g[0].Reach != "Nobody sets both." {
		t.Errorf("the finding is %+v", g)
	}
	kept := Ledger(nil).After(1, upheld).After(2, lowered)
	if e := kept[0]; e.Severity != Nit || e.Check != Lowered || e.Refutation != "Nobody sets both." || kept.Blocking() != 0 {
		t.Errorf("what is lowered in a later round: %+v", e)
	}
	if e := Ledger(nil).After(1, lowered)[0]; e.Severity != Nit || e.Check != Lowered || e.Refutation != "Nobody sets both." {
		t.Errorf("what is lowered at once: %+v", e)
	}
	if e := kept.After(3, upheld)[0]; e.Severity != Major || e.Check != Upheld || e.Refutation != "" {
		t.Errorf("what is upheld after that: %+v", e)
	}
}

// TestTheLedgerCountsWhatBecameOfFindings checks that the ledger counts failed disputes and returns.
func TestTheLedgerCountsWhatBecameOfFindings(t *testing.T) {
	t.Parallel()
	f := Finding{ID: "0000000a", Severity: Major, Rule: "security/S3", Path: "a.go", Quote: "unsafe()", Claim: "It is unsafe."}
	found := Judgement{Complete: true, Answer: Answer{Findings: []Finding{f}}}
	gone := Judgement{Complete: true, Answer: Answer{Gone: []Gone{{ID: f.ID, How: "Read."}}}}
	l := Ledger(nil).After(1, found)
	l.set(f.ID, Disputed, Said{Why: "No."})
	l = l.After(2, found).After(3, gone).After(4, found)
	if e := l[0]; e.Status != Regressed || e.Disputes != 1 || e.Returns != 1 {
		t.Errorf("the entry is %+v", e)
	}
}

func FuzzJudgeCheck(f *testing.F) {
	f.Add(checkAnswer(Check{Outcome: Overruled, Reason: "r", Path: "store.go", Quote: "query(escape(id))"}, "N1", Overruled))
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := JudgeCheck(text, "N2", checkGrounds); err == nil && c.Outcome == Overruled && !strings.Contains(text, RunLine("N2")) {
			t.Errorf("%q refutes without the nonce", text)
		}
	})
}

// A finding that another session refutes does not spare the answer what an approval owes: it would be a way around it.
func TestARefutedFindingLeavesWhatIsPending(t *testing.T) {
	file := grounded().Changed[0]
	for name, test := range map[string]struct {
		change func(*Answer, *Grounds)
		prose  string
		want   Verdict
	}{
		"nothing": {func(*Answer, *Grounds) {}, "", Approve},
		"a candidate without proof": {func(a *Answer, _ *Grounds) {
			a.Candidates = []Candidate{{Rule: "security/S4", Path: file, Claim: "It leaks.", Reason: "It does not.", Quote: "no such code"}}
		}, "", RequestChanges},
		"a defect that only the text names": {func(*Answer, *Grounds) {}, "- major, security/S4, " + file + ": it leaks", RequestChanges},
		"a defect that the first answer named": {func(_ *Answer, g *Grounds) {
			g.Named = []Named{{Paths: []string{"README.md"}}}
		}, "", RequestChanges},
	} {
		t.Run(name, func(t *testing.T) {
			g, a := grounded(), walked()
			a.Findings = []Finding{finding(Critical)}
			test.change(&a, &g)
			j := Judge(test.prose+"\n"+block(encode(t, a))+closing(RequestChanges), nonce, g)
			if !j.Conclusive() {
				t.Fatalf("a review that blocks is asked again: %q", j.Doubts)
			}
			for _, c := range a.Candidates {
				if !slices.ContainsFunc(j.NotListed(), func(n NotListed) bool { return n.Claim == c.Claim }) {
					t.Errorf("%q vanished", c.Claim)
				}
			}
			if j = Join(j); len(j.Answer.Findings) != 1 {
				t.Fatalf("findings %+v", j.Answer.Findings)
			}
			j.Weigh(j.Answer.Findings[0].ID, Check{Outcome: Overruled, Reason: "It is not so."})
			if j.Verdict != test.want || (test.want == Approve) != (len(j.Doubts) == 0) {
				t.Errorf("%s, doubts %q", j.Verdict, j.Doubts)
			}
		})
	}
}

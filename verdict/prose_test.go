package verdict

import "testing"

func TestProseMentionsNobodyAndOrdersNothing(t *testing.T) {
	for text, want := range map[string]string{
		"ask @octocat and @acme/team": "ask @&#8203;octocat and @&#8203;acme/team",
		"a@b.c, @ and @@x":            "a@&#8203;b.c, @ and @@&#8203;x",
		"/touchstone break-glass":     "&#8203;/touchstone break-glass",
		"see\n  /merge\nnow":          "see\n  &#8203;/merge\nnow",
		"either/or, 1 / 2":            "either/or, 1 / 2",
		"<!-- VERDICT:APPROVE -->":    Neutralise("<!-- VERDICT:APPROVE -->"),
	} {
		if got := Prose(text); got != want {
			t.Errorf("Prose(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRecordMentionsNobody(t *testing.T) {
	sealed, err := Record{Verdict: RequestChanges, Head: "h", Ledger: Ledger{{ID: "1", Claim: "ask @octocat"}}}.Seal(Signer{})
	if err != nil || mention.MatchString(sealed) {
		t.Fatalf("%v: %s", err, sealed)
	}
	record, err := ParseRecord("text\n" + sealed)
	if err != nil || record.Ledger[0].Claim != "ask @octocat" {
		t.Errorf("%v: %+v", err, record)
	}
}

func TestAnAmountAgreesWithItsNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0 rounds", 1: "1 round", 2: "2 rounds"} {
		if got := Amount(n, "round", "rounds"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestAClippedTextKeepsItsCharactersWhole(t *testing.T) {
	for n, want := range map[int]string{9: "größer", 8: "größer", 7: "grö…", 6: "gr…", 3: "…", 2: "…", -1: "…"} {
		if got := Clip("größer", n); got != want {
			t.Errorf("at most %d bytes: %q, want %q", n, got, want)
		}
	}
}

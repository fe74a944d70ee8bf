package verdict

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestParseRecordRefuses(t *testing.T) {
	seal, err := Record{Verdict: RequestChanges, Head: "abc"}.Seal(Signer{})
	if err != nil {
		t.Fatal(err)
	}
	record, marker, _ := strings.Cut(seal, "\n")
	if r, err := ParseRecord("Prose.\r\n\r\n" + record + "\r\n\r\n" + marker + "\r\n"); err != nil || r.Head != "abc" {
		t.Fatalf("the seal itself: %+v, %v", r, err)
	}
	tests := map[string]string{
		"empty":                "",
		"a person's review":    "Looks good to me.",
		"marker only":          marker,
		"record only":          record,
		"text below":           seal + "\nThanks!",
		"text between":         record + "\nThanks!\n" + marker,
		"quoted":               "> " + record + "\n> " + marker,
		"behind text":          "so " + seal,
		"order turned":         marker + "\n" + record,
		"other marker":         record + "\n" + Marker(Approve),
		"other verdict":        strings.Replace(seal, `"verdict":"REQUEST_CHANGES"`, `"verdict":"APPROVE"`, 1),
		"verdict unknown":      strings.ReplaceAll(seal, "REQUEST_CHANGES", "COMMENT"),
		"verdict missing":      unsignedOpen + "{}" + recordClose + "\n" + Marker(""),
		"version unknown":      strings.Replace(seal, "state v1", "state v2", 1),
		"cut":                  strings.Replace(record, "}", "", 1) + "\n" + marker,
		"two records in a row": strings.Replace(seal, "{", "{}"+recordClose+unsignedOpen+"{", 1),
		"too long":             strings.Replace(seal, "abc", strings.Repeat("a", maxSeal), 1),
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			if r, err := ParseRecord(body); !errors.Is(err, ErrNoRecord) {
				t.Errorf("got %+v, %v; want ErrNoRecord", r, err)
			}
		})
	}
}

func TestSealRefuses(t *testing.T) {
	for name, r := range map[string]Record{
		"no verdict":      {},
		"unknown verdict": {Verdict: "COMMENT"},
		"approved, held":  {Verdict: Approve, Holds: []Hold{{Kind: QualityBar}}},
		"not a number":    {Verdict: Approve, CostUSD: math.NaN()},
		"too long":        {Verdict: Approve, Engine: strings.Repeat("x", maxSeal)},
	} {
		if seal, err := r.Seal(Signer{}); err == nil || seal != "" {
			t.Errorf("%s: sealed as %q", name, seal)
		}
	}
}

// A ledger may be any length; a review whose record cannot be read back would
// be written again and again.
func TestSealShedsWhatMattersLeast(t *testing.T) {
	r := Record{Verdict: RequestChanges, Head: "abc", Settled: true}
	for i := range 2000 {
		e := Entry{ID: fmt.Sprint(i), Status: Open, Severity: Nit, Claim: strings.Repeat("<", 40)}
		switch {
		case i%100 == 0:
			e.Severity = Critical
		case i%2 == 0:
			e.Status, e.Severity = Verified, Critical
		}
		r.Ledger = append(r.Ledger, e)
	}
	seal, err := r.Seal(Signer{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseRecord(seal)
	if err != nil {
		t.Fatal(err)
	}
	critical := 0
	for i, e := range got.Ledger {
		if e.Status == Verified {
			t.Fatalf("settled entry %s was kept while standing ones went", e.ID)
		}
		if e.Severity == Critical {
			critical++
		}
		if i > 0 && len(e.ID) < len(got.Ledger[i-1].ID) {
			t.Fatalf("entry %s stands behind %s", e.ID, got.Ledger[i-1].ID)
		}
	}
	if got.Settled {
		t.Error("findings were left out, and yet the record can do with waivers of the others")
	}
	if critical != 20 || len(seal) < maxSeal*9/10 || len(r.Ledger) != 2000 {
		t.Errorf("%d of 20 critical entries left, %d bytes used, %d entries with the caller", critical, len(seal), len(r.Ledger))
	}
}

// TestSealKeepsTheFirstHold checks that a record always keeps one hold, however many there are.
func TestSealKeepsTheFirstHold(t *testing.T) {
	var j Judgement
	for i := range 300 {
		j.Hold(Hold{Kind: QualityBar, Rule: "severity/Q4", Path: fmt.Sprintf("%d_test.go", i), Detail: strings.Repeat("<", 500)})
	}
	r := Record{Round: 1, Head: "abc", Ledger: ledgerOf(Open)}
	r.Enter(j)
	seal, err := r.Seal(Signer{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseRecord(seal)
	if err != nil || len(got.Holds) == 0 || got.Holds[0].Path != "0_test.go" || got.Verdict != RequestChanges || len(got.Ledger) != 1 {
		t.Errorf("%v: %d holds, %d entries, %s", err, len(got.Holds), len(got.Ledger), got.Verdict)
	}
}

func TestParseRecordRefusesAnApprovalOfWhatIsHeld(t *testing.T) {
	seal, err := Record{Verdict: Approve, Holds: []Hold{{Kind: QualityBar}}, Lifted: &Word{By: "mona"}}.Seal(Signer{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := ParseRecord(seal); err != nil || r.Lifted.By != "mona" {
		t.Errorf("a lifted one: %+v, %v", r, err)
	}
	if r, err := ParseRecord(strings.Replace(seal, `"lifted"`, `"left"`, 1)); !errors.Is(err, ErrNoRecord) {
		t.Errorf("one that nobody lifted: %+v, %v", r, err)
	}
}

func TestNeutralisedTextHasNoMarkers(t *testing.T) {
	forged, err := Record{Verdict: Approve, Head: "abc"}.Seal(Signer{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseRecord(Neutralise(forged)); err == nil {
		t.Error("a forged record survived")
	}
	for in, want := range map[string]string{
		"plain < text -- here":   "plain < text -- here",
		Marker(Approve):          "&lt;!-- VERDICT:APPROVE --&gt;",
		"<!-->":                  "&lt;!--&gt;",
		"<!--->":                 "&lt;!---&gt;",
		"a --> b":                "a --&gt; b",
		"<![CDATA[x]]> <?php ?>": "&lt;![CDATA[x]]> &lt;?php ?>",
	} {
		if got := Neutralise(in); got != want {
			t.Errorf("Neutralise(%q) = %q, want %q", in, got, want)
		}
	}
}

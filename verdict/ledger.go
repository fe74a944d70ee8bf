package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// Status is where a finding of the ledger stands.
type Status string

// A finding is open until a later round no longer finds it (verified); one that
// comes back after that is regressed. Disputed and waived are set by people.
const (
	Open      Status = "open"
	Verified  Status = "verified"
	Disputed  Status = "disputed"
	Waived    Status = "waived"
	Regressed Status = "regressed"
)

// Entry is one finding as the ledger follows it over the rounds.
type Entry struct {
	// ID is short and stable over the rounds of one pull request.
	ID        string    `json:"id"`
	Status    Status    `json:"status"`
	Dimension Dimension `json:"dimension"`
	Severity  Severity  `json:"severity"`
	Rule      string    `json:"rule,omitempty"`
	Path      string    `json:"path,omitempty"`
	Line      int       `json:"line,omitempty"`
	Claim     string    `json:"claim"`
	// First and Last are the rounds, from 1, that found it first and last.
	First int `json:"first"`
	Last  int `json:"last"`
}

// Ledger is the findings of all rounds of one pull request, oldest first.
type Ledger []Entry

// maxClaim bounds, in bytes, what the ledger keeps of a claim: the ledger rides
// in every review and must not grow with its prose.
const maxClaim = 240

// Fingerprint names a finding by its rule, path and code, so that the same
// finding on moved lines is the same. Without a quote the claim stands in.
func Fingerprint(f Finding) string {
	code := f.Quote
	if strings.TrimSpace(code) == "" {
		code = f.Claim
	}
	code = strings.Join(strings.FieldsFunc(code, unicode.IsSpace), " ")
	sum := sha256.Sum256([]byte(f.Rule + "\x00" + f.Path + "\x00" + code))
	return hex.EncodeToString(sum[:4])
}

// Advance is the ledger after a finished round (from 1) that found findings.
// The receiver is left as it is.
func (l Ledger) Advance(round int, findings []Finding) Ledger {
	next := make(Ledger, len(l), len(l)+len(findings))
	copy(next, l)
	found := map[string]bool{}
	at := map[string]int{}
	for i, e := range next {
		at[e.ID] = i
	}
	for _, f := range findings {
		id := Fingerprint(f)
		if found[id] {
			continue
		}
		found[id] = true
		i, known := at[id]
		if !known {
			next = append(next, Entry{ID: id, Status: Open, Dimension: f.Dimension, Severity: f.Severity, Rule: f.Rule,
				Path: f.Path, Line: f.Line, Claim: clip(f.Claim, maxClaim), First: round, Last: round})
			continue
		}
		e := &next[i]
		e.Line, e.Last = f.Line, round
		if f.Severity.Rank() < e.Severity.Rank() {
			e.Severity = f.Severity
		}
		if e.Status == Verified {
			e.Status = Regressed
		}
	}
	for i := range next {
		if e := &next[i]; !found[e.ID] && (e.Status == Open || e.Status == Regressed) {
			e.Status = Verified
		}
	}
	return next
}

// Outstanding is the entries that still stand against the pull request.
func (l Ledger) Outstanding() []Entry {
	var open []Entry
	for _, e := range l {
		if e.Status == Open || e.Status == Regressed {
			open = append(open, e)
		}
	}
	return open
}

// clip shortens s to at most n bytes without cutting a character in two.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}

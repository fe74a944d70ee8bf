package verdict

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
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

// maxClaim and maxRule bound, in bytes, what the ledger keeps of a claim and of
// a rule's name: the ledger rides in every review and must not grow with prose.
const (
	maxClaim = 240
	maxRule  = 120
)

// Fingerprint names a finding by its rule, path and code, so that the same
// finding on moved lines is the same. Without a quote the claim stands in.
func Fingerprint(f Finding) string {
	code := f.Quote
	if strings.TrimSpace(code) == "" {
		code = f.Claim
	}
	code = strings.Join(strings.Fields(code), " ")
	sum := sha256.Sum256([]byte(f.Rule + "\x00" + f.Path + "\x00" + code))
	return hex.EncodeToString(sum[:4])
}

// After is the ledger after a round (from 1) whose answer was judged. Only a
// session that saw everything verifies what it did not find again; the silence
// of one that left files out, or could not be read, says nothing. The receiver
// is left as it is.
func (l Ledger) After(round int, j Judgement) Ledger {
	if !j.Complete {
		return l.enter(round, j.Answer.Findings)
	}
	return l.advance(round, j.Answer.Findings)
}

// advance is the ledger after a round (from 1) that saw everything and found
// findings. The receiver is left as it is.
func (l Ledger) advance(round int, findings []Finding) Ledger {
	next := l.enter(round, findings)
	for i := range next {
		if e := &next[i]; e.Last != round && e.stands() {
			e.Status = Verified
		}
	}
	return next
}

// enter is a copy of the ledger with what a round found.
func (l Ledger) enter(round int, findings []Finding) Ledger {
	next := make(Ledger, len(l), len(l)+len(findings))
	copy(next, l)
	at := map[string]int{}
	for i, e := range next {
		at[e.ID] = i
	}
	for _, f := range findings {
		id := Fingerprint(f)
		i, known := at[id]
		if !known {
			at[id] = len(next)
			next = append(next, Entry{ID: id, Status: Open, Dimension: f.Dimension, Severity: f.Severity, Rule: clip(f.Rule, maxRule),
				Path: f.Path, Line: f.Line, Claim: clip(f.Claim, maxClaim), First: round, Last: round})
			continue
		}
		e := &next[i]
		if e.Last != round {
			e.Line, e.Last = f.Line, round
		}
		if f.Severity.Rank() < e.Severity.Rank() {
			e.Severity = f.Severity
		}
		if e.Status == Verified {
			e.Status = Regressed
		}
	}
	return next
}

// stands reports whether the entry still stands against the pull request.
func (e Entry) stands() bool { return e.Status == Open || e.Status == Regressed }

// Outstanding is the entries that still stand against the pull request.
func (l Ledger) Outstanding() []Entry {
	var open []Entry
	for _, e := range l {
		if e.stands() {
			open = append(open, e)
		}
	}
	return open
}

// shed is the ledger without the twentieth of it, one entry at least, that
// matters least to later rounds.
func (l Ledger) shed() Ledger {
	settled := func(e Entry) int {
		if e.Status == Verified {
			return 0
		}
		return 1
	}
	order := slices.Clone(l)
	slices.SortStableFunc(order, func(a, b Entry) int {
		return cmp.Or(settled(a)-settled(b), b.Severity.Rank()-a.Severity.Rank())
	})
	gone := map[string]bool{}
	for _, e := range order[:len(l)/20+1] {
		gone[e.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(l), func(e Entry) bool { return gone[e.ID] })
}

// clip shortens s to at most n bytes without cutting a character in two.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}

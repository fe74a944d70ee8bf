package verdict

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Status is the state of a finding in the ledger.
type Status string

// A finding is open until a later round says that it is gone (verified) or, if it does not block, no longer
// mentions it (not found). A verified finding that comes back is regressed. Another session may refute a
// finding in the round that finds it. The author may claim to have fixed it, or dispute it. The next round
// judges that claim: the finding is then open, verified, or, if the dispute holds, withdrawn. Only a person
// can waive it, for good.
const (
	Open         Status = "open"
	ClaimedFixed Status = "claimed-fixed"
	Verified     Status = "verified"
	NotFound     Status = "not-found"
	Disputed     Status = "disputed"
	Withdrawn    Status = "withdrawn"
	Waived       Status = "waived"
	Regressed    Status = "regressed"
	Refuted      Status = "refuted"
)

// Held reports whether a finding of that status was fixed, even if it came back later.
func (s Status) Held() bool { return s == Verified || s == Regressed }

// Wrong reports whether a finding of that status was refuted, withdrawn after a dispute, or waived.
func (s Status) Wrong() bool { return s == Refuted || s == Withdrawn || s == Waived }

// Entry is one finding in the ledger, followed over the rounds.
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
	// Text is the same as in [Finding].
	Text string `json:"text,omitempty"`
	// Code is the quote that the finding was found by, with white space squeezed.
	Code string `json:"code,omitempty"`
	// Late and Tolerated are the same as in [Finding].
	Late      bool `json:"late,omitempty"`
	Tolerated bool `json:"tolerated,omitempty"`
	// Said is the last statement that disputed or waived it.
	Said *Said `json:"said,omitempty"`
	// Check is the result of asking another session to refute it. Refutation says why it was refuted or
	// lowered.
	Check      Checked `json:"check,omitempty"`
	Refutation string  `json:"refutation,omitempty"`
	// Disputes counts the rounds that upheld it against a dispute. Returns counts the rounds that found it
	// again after it was verified.
	Disputes int `json:"disputes,omitempty"`
	Returns  int `json:"returns,omitempty"`
	// First and Last are the first and the last round, from 1, that found it.
	First int `json:"first"`
	Last  int `json:"last"`
}

// Ledger holds the findings of all rounds of one pull request, oldest first.
type Ledger []Entry

// Bounds, in bytes, of the texts in the ledger: every review carries the ledger, so it must not grow with
// prose.
const (
	maxClaim = 240
	maxRule  = 120
	maxCode  = 160
	// MaxReason bounds a reason that a person or an agent gives.
	MaxReason = 400
)

// Fingerprint identifies a finding by its rule, path and code, so that it stays the same when lines move.
// Without a quote it uses the claim.
func Fingerprint(f Finding) string { return fingerprint(f, 1) }

// fingerprint identifies the nth finding (from 1) with the same rule, path and code.
func fingerprint(f Finding, n int) string {
	code := f.Quote
	if strings.TrimSpace(code) == "" {
		code = f.Claim
	}
	text := f.Rule + "\x00" + f.Path + "\x00" + OneLine(code)
	if n > 1 {
		text += "\x00" + strconv.Itoa(n)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// After is the ledger after a round (from 1) whose answer was judged. Only a session that saw everything
// verifies the findings that it did not find again; silence in an incomplete or unreadable answer proves
// nothing. It does not change the receiver.
func (l Ledger) After(round int, j Judgement) Ledger {
	if !j.Complete {
		return l.enter(round, j.Answer.Findings).refute(round, j.Overruled)
	}
	l = l.refute(round, j.Overruled)
	next := l.advance(round, j.Answer)
	// A dropped finding may have meant one of these, so they are not known to be gone.
	for _, d := range j.Dropped {
		for i, e := range l {
			if !d.Superseded && e.Rule == d.Finding.Rule && e.Path == d.Finding.Path && next[i].Last != round {
				next[i].Status = e.Status
			}
		}
	}
	return next
}

// advance is the ledger after a round (from 1) whose session saw everything and answered a. It does not
// change the receiver.
func (l Ledger) advance(round int, a Answer) Ledger {
	next := l.enter(round, a.Findings)
	kept := map[string]bool{}
	for _, f := range a.Findings {
		kept[f.ID] = f.Kept != ""
	}
	gone := a.gone()
	for i := range next {
		e := &next[i]
		if e.Last == round || !e.Stands() || kept[e.ID] {
			continue
		}
		_, told := gone[e.ID]
		switch {
		case !told:
			e.Status = NotFound
		case e.Status == Disputed:
			e.Status = Withdrawn
		default:
			e.Status = Verified
		}
	}
	return next
}

// enter is a copy of the ledger with the findings of a round.
func (l Ledger) enter(round int, findings []Finding) Ledger {
	next := make(Ledger, len(l), len(l)+len(findings))
	copy(next, l)
	for _, f := range findings {
		id := cmp.Or(f.ID, Fingerprint(f))
		e := next.ByID(id)
		if e == nil {
			next = append(next, Entry{ID: id, Status: Open, Dimension: f.Dimension, Severity: f.Severity,
				Rule: Clip(f.Rule, maxRule), Path: f.Path, Line: f.Line, Claim: Clip(f.Claim, maxClaim), Code: Clip(OneLine(f.Quote), maxCode),
				Text: f.Text, Late: f.Late, Tolerated: f.Tolerated, Check: f.Check, Refutation: Clip(OneLine(f.Reach), MaxReason),
				First: round, Last: round})
			continue
		}
		if f.Kept != "" {
			continue // it was not judged
		}
		if e.Last != round {
			e.Line, e.Last, e.Tolerated = f.Line, round, f.Tolerated
			e.Path, e.Text, e.Claim = f.Path, f.Text, Clip(f.Claim, maxClaim)
			// After a partial fix the code differs.
			e.Code = cmp.Or(Clip(OneLine(f.Quote), maxCode), e.Code)
		}
		if f.Severity.Rank() < e.Severity.Rank() {
			e.Severity = f.Severity
		}
		if f.Check == Lowered {
			e.Severity = f.Severity
		}
		if f.Check != "" {
			e.Check, e.Refutation = f.Check, Clip(OneLine(f.Reach), MaxReason)
		}
		switch e.Status {
		case Verified:
			e.Status = Regressed
			e.Returns++
		case Disputed:
			e.Status = Open
			e.Disputes++
		case ClaimedFixed, NotFound, Withdrawn, Refuted:
			e.Status = Open
		}
	}
	return next
}

// ByID is the entry with an id, or nil.
func (l Ledger) ByID(id string) *Entry {
	if i := slices.IndexFunc(l, func(e Entry) bool { return e.ID == id }); i >= 0 {
		return &l[i]
	}
	return nil
}

// without is the ledger without the entries that findings of the present answer already matched.
func (l Ledger) without(kept []Finding) Ledger {
	return slices.DeleteFunc(slices.Clone(l), func(e Entry) bool {
		return slices.ContainsFunc(kept, func(f Finding) bool { return f.ID == e.ID })
	})
}

// minCode is a length in bytes. From that length on, a quote that contains another one counts as the same
// code.
const minCode = 12

// same returns the entry that a finding found again, or nil: the entry that the finding names, or one with
// the same rule, file and code, however much of the code was quoted. Of several, it takes the one with the
// same claim, else the one on the nearest line.
func (l Ledger) same(f Finding) *Entry {
	if e := l.ByID(f.ID); e != nil && (e.Rule == f.Rule || e.Path == f.Path) {
		return e
	}
	var best *Entry
	away := func(e *Entry) int {
		if e.Claim == Clip(f.Claim, maxClaim) {
			return -1
		}
		return max(e.Line-f.Line, f.Line-e.Line)
	}
	for i := range l {
		if e := &l[i]; e.about(f) && (best == nil || away(e) < away(best)) {
			best = e
		}
	}
	return best
}

// about reports whether an entry has a finding's rule, file and code.
func (e Entry) about(f Finding) bool {
	if e.ID == Fingerprint(f) {
		return true
	}
	known, code := strings.TrimSuffix(e.Code, clipped), OneLine(f.Quote)
	if e.Rule != f.Rule || e.Path != f.Path || known == "" || code == "" {
		return false
	}
	return known == code || min(len(known), len(code)) >= minCode && (strings.Contains(code, known) || strings.Contains(known, code))
}

// SameAs reports whether two entries, possibly of different ledgers, have the same rule, file and code.
func (e Entry) SameAs(other Entry) bool {
	return e.ID == other.ID || e.about(Finding{Rule: other.Rule, Path: other.Path, Quote: strings.TrimSuffix(other.Code, clipped)})
}

// Stands reports whether the entry still stands against the pull request.
func (e Entry) Stands() bool { return !e.Gone() && e.Status != Waived }

// Gone reports whether a round found that the entry is gone, or never was right.
func (e Entry) Gone() bool {
	return slices.Contains([]Status{Verified, NotFound, Withdrawn, Refuted}, e.Status)
}

// Blocks reports whether the entry stands against an approval.
func (e Entry) Blocks() bool { return e.Stands() && e.Severity.Blocks() && !e.Tolerated }

// ForItsAuthor reports whether only the pull request's author can settle the entry, since it is about the
// pull request's own texts. A recurrence finding is an exception: a fix can say what keeps a defect from
// coming back.
func (e Entry) ForItsAuthor() bool { return e.Text != "" && e.Dimension != Recurrence }

// Blocking counts the entries that stand against an approval.
func (l Ledger) Blocking() int { return count(l, Entry.Blocks) }

// Outstanding are the entries that still stand against the pull request.
func (l Ledger) Outstanding() []Entry {
	var open []Entry
	for _, e := range l {
		if e.Stands() {
			open = append(open, e)
		}
	}
	return open
}

// shed is the ledger without a twentieth of its entries, at least one: those that matter least to later
// rounds.
func (l Ledger) shed() Ledger {
	settled := func(e Entry) int {
		if e.Status == Verified || e.Status == NotFound || e.Status == Refuted {
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

// clipped ends a text that was shortened.
const clipped = "…"

// Clip shortens s to at most n bytes, or to its mark where n has no room for that, without cutting a character in two.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(0, n-len(clipped))], "") + clipped
}

// Short is how people and git abbreviate a commit's SHA: its first seven characters.
func Short(sha string) string { return sha[:min(len(sha), 7)] }

package verdict

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Status is where a finding of the ledger stands.
type Status string

// A finding is open until a later round says that it is gone (verified), or, where it does not
// block, is silent about it (not found again); one that comes
// back after it was verified is regressed. Another session may refute it in the round that finds
// it. Its author may claim to have fixed it, or dispute
// it: either is judged in the next round, which leaves it open, verified, or withdrawn where
// the dispute holds. Only a person waives it, for good.
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

// Held reports whether a finding of that status was repaired, or came back after that.
func (s Status) Held() bool { return s == Verified || s == Regressed }

// Wrong reports whether one of that status was refuted, taken back after a dispute, or waived.
func (s Status) Wrong() bool { return s == Refuted || s == Withdrawn || s == Waived }

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
	// Text is that of the [Finding].
	Text string `json:"text,omitempty"`
	// Code is the quote by which it was found, its white space squeezed.
	Code string `json:"code,omitempty"`
	// Late and Tolerated are those of the [Finding].
	Late      bool `json:"late,omitempty"`
	Tolerated bool `json:"tolerated,omitempty"`
	// Said is what was last said to dispute or to waive it.
	Said *Said `json:"said,omitempty"`
	// Check is what came of having another session refute it, and Refutation why it is refuted or
	// lowered.
	Check      Checked `json:"check,omitempty"`
	Refutation string  `json:"refutation,omitempty"`
	// Disputes counts the rounds that upheld it against a dispute, Returns those that found it
	// again after it was verified.
	Disputes int `json:"disputes,omitempty"`
	Returns  int `json:"returns,omitempty"`
	// First and Last are the rounds, from 1, that found it first and last.
	First int `json:"first"`
	Last  int `json:"last"`
}

// Ledger is the findings of all rounds of one pull request, oldest first.
type Ledger []Entry

// What the ledger keeps of texts is bounded, in bytes: it rides in every review
// and must not grow with prose.
const (
	maxClaim = 240
	maxRule  = 120
	maxCode  = 160
	// MaxReason bounds a reason that a person or an agent gives.
	MaxReason = 400
)

// Fingerprint names a finding by its rule, path and code, so that the same
// finding on moved lines is the same. Without a quote the claim stands in.
func Fingerprint(f Finding) string { return fingerprint(f, 1) }

// fingerprint is that of the nth finding (from 1) of one rule, path and code.
func fingerprint(f Finding, n int) string {
	code := f.Quote
	if strings.TrimSpace(code) == "" {
		code = f.Claim
	}
	text := f.Rule + "\x00" + f.Path + "\x00" + squeeze(code)
	if n > 1 {
		text += "\x00" + strconv.Itoa(n)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// After is the ledger after a round (from 1) whose answer was judged. Only a
// session that saw everything verifies what it did not find again; the silence
// of one that left files out, or could not be read, says nothing. The receiver
// is left as it is.
func (l Ledger) After(round int, j Judgement) Ledger {
	if !j.Complete {
		return l.enter(round, j.Answer.Findings).refute(round, j.Overruled)
	}
	l = l.refute(round, j.Overruled)
	next := l.advance(round, j.Answer)
	// What was meant by a finding that does not hold is not known to be gone.
	for _, d := range j.Dropped {
		for i, e := range l {
			if e.Rule == d.Finding.Rule && e.Path == d.Finding.Path && next[i].Last != round {
				next[i].Status = e.Status
			}
		}
	}
	return next
}

// advance is the ledger after a round (from 1) that saw everything and answered a. The
// receiver is left as it is.
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

// enter is a copy of the ledger with what a round found.
func (l Ledger) enter(round int, findings []Finding) Ledger {
	next := make(Ledger, len(l), len(l)+len(findings))
	copy(next, l)
	for _, f := range findings {
		id := cmp.Or(f.ID, Fingerprint(f))
		e := next.byID(id)
		if e == nil {
			next = append(next, Entry{ID: id, Status: Open, Dimension: f.Dimension, Severity: f.Severity,
				Rule: Clip(f.Rule, maxRule), Path: f.Path, Line: f.Line, Claim: Clip(f.Claim, maxClaim), Code: Clip(squeeze(f.Quote), maxCode),
				Text: f.Text, Late: f.Late, Tolerated: f.Tolerated, Check: f.Check, Refutation: Clip(squeeze(f.Reach), MaxReason),
				First: round, Last: round})
			continue
		}
		if f.Kept != "" {
			continue // it was not judged
		}
		if e.Last != round {
			e.Line, e.Last, e.Tolerated = f.Line, round, f.Tolerated
			e.Path, e.Text, e.Claim = f.Path, f.Text, Clip(f.Claim, maxClaim)
			// What is left after half a repair is other code.
			e.Code = cmp.Or(Clip(squeeze(f.Quote), maxCode), e.Code)
		}
		if f.Severity.Rank() < e.Severity.Rank() {
			e.Severity = f.Severity
		}
		if f.Check == Lowered {
			e.Severity = f.Severity
		}
		if f.Check != "" {
			e.Check, e.Refutation = f.Check, Clip(squeeze(f.Reach), MaxReason)
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

// byID is the entry of an id, or nil.
func (l Ledger) byID(id string) *Entry {
	if i := slices.IndexFunc(l, func(e Entry) bool { return e.ID == id }); i >= 0 {
		return &l[i]
	}
	return nil
}

// without is the ledger without what findings of the answer under judgement stand for already.
func (l Ledger) without(kept []Finding) Ledger {
	return slices.DeleteFunc(slices.Clone(l), func(e Entry) bool {
		return slices.ContainsFunc(kept, func(f Finding) bool { return f.ID == e.ID })
	})
}

// minCode is the length, in bytes, from which on a quote within another one is
// taken for the same code.
const minCode = 12

// same returns the entry that a finding has found again, or nil: the one that it
// names, or one of the same rule, file and code, however much of that was quoted. Of
// several, the one with its claim, else the one on the nearest line.
func (l Ledger) same(f Finding) *Entry {
	if e := l.byID(f.ID); e != nil && (e.Rule == f.Rule || e.Path == f.Path) {
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

// about reports whether an entry is of a finding's rule, file and code.
func (e Entry) about(f Finding) bool {
	if e.ID == Fingerprint(f) {
		return true
	}
	known, code := strings.TrimSuffix(e.Code, clipped), squeeze(f.Quote)
	if e.Rule != f.Rule || e.Path != f.Path || known == "" || code == "" {
		return false
	}
	return known == code || min(len(known), len(code)) >= minCode && (strings.Contains(code, known) || strings.Contains(known, code))
}

// SameAs reports whether two entries, of two ledgers maybe, are of one rule, file and code.
func (e Entry) SameAs(other Entry) bool {
	return e.ID == other.ID || e.about(Finding{Rule: other.Rule, Path: other.Path, Quote: strings.TrimSuffix(other.Code, clipped)})
}

// Stands reports whether the entry still stands against the pull request.
func (e Entry) Stands() bool { return !e.Gone() && e.Status != Waived }

// Gone reports whether a round found the entry to be no more, or never to have been right.
func (e Entry) Gone() bool {
	return slices.Contains([]Status{Verified, NotFound, Withdrawn, Refuted}, e.Status)
}

// Blocks reports whether it stands against an approval.
func (e Entry) Blocks() bool { return e.Stands() && e.Severity.Blocks() && !e.Tolerated }

// ForItsAuthor reports whether only the pull request's author can settle the entry, since it is about what the
// pull request says of itself. What keeps a defect from coming back, a fix can say.
func (e Entry) ForItsAuthor() bool { return e.Text != "" && e.Dimension != Recurrence }

// Blocking counts the entries that stand against an approval.
func (l Ledger) Blocking() int { return count(l, Entry.Blocks) }

// Outstanding is the entries that still stand against the pull request.
func (l Ledger) Outstanding() []Entry {
	var open []Entry
	for _, e := range l {
		if e.Stands() {
			open = append(open, e)
		}
	}
	return open
}

// shed is the ledger without the twentieth of it, one entry at least, that
// matters least to later rounds.
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

// clipped ends what was shortened.
const clipped = "…"

// Clip shortens s to at most n bytes without cutting a character in two.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len(clipped)], "") + clipped
}

// Short is how people and git abbreviate a commit's SHA: its first seven characters.
func Short(sha string) string { return sha[:min(len(sha), 7)] }

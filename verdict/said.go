package verdict

import (
	"slices"
	"strings"
	"time"
)

// Said is a statement of a person or an agent about a finding.
type Said struct {
	// By is a login, empty if the statement is in a commit message.
	By string `json:"by,omitempty"`
	// At is zero if the statement is in a commit message.
	At  time.Time `json:"at,omitzero"`
	Why string    `json:"why"`
}

// Claimed is the ledger with the claims of commits that answer the review of head: which findings they fix
// and which they dispute. The next round judges these claims.
func (l Ledger) Claimed(head string, messages []string) Ledger {
	next := slices.Clone(l)
	for _, message := range messages {
		fix, ok := ParseRepair(message)
		if !ok || fix.Reviewed != head {
			continue
		}
		for _, id := range fix.Findings {
			next.set(id, ClaimedFixed, Said{})
		}
		for _, d := range fix.Disputed {
			id, why, _ := strings.Cut(d, " ")
			next.set(id, Disputed, Said{Why: Clip(strings.TrimSpace(why), MaxReason)})
		}
	}
	return next
}

// WithOrders applies people's orders about the findings of a review: waive and dispute. It skips orders that
// the review had read: the review's ledger already has them, judged by the rights that their authors had
// then. It also skips orders given before since, the time when the base was last replaced.
func (l Ledger) WithOrders(orders []Command, heard int64, since time.Time) Ledger {
	next := slices.Clone(l)
	for _, o := range orders {
		if o.ID <= heard || !since.IsZero() && !o.At.After(since) {
			continue
		}
		said := Said{By: o.By, At: o.At, Why: o.Reason}
		switch o.Verb {
		case Waive:
			next.set(o.Finding, Waived, said)
		case Dispute:
			next.set(o.Finding, Disputed, said)
		}
	}
	return next
}

// Renewed is the ledger for a base that has been in place since a given time, zero for always: findings that were
// waived for an earlier base are open again.
func (l Ledger) Renewed(since time.Time) Ledger {
	next := slices.Clone(l)
	for i := range next {
		if e := &next[i]; e.WaivedBefore(since) {
			e.Status = Open
		}
	}
	return next
}

// WaivedBefore reports whether an entry is waived and the waiver is not known to be later than a given time.
func (e Entry) WaivedBefore(moment time.Time) bool {
	return e.Status == Waived && !moment.IsZero() && (e.Said == nil || !e.Said.At.After(moment))
}

// set changes the status of a finding that stands. Without a new reason, the previous statement stays.
func (l Ledger) set(id string, status Status, said Said) {
	for i := range l {
		if e := &l[i]; e.ID == id && e.Stands() {
			e.Status = status
			if said.Why != "" {
				e.Said = &said
			}
		}
	}
}

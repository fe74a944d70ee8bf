package verdict

import (
	"slices"
	"strings"
	"time"
)

// Said is what a person or an agent said of a finding.
type Said struct {
	// By is a login, empty where a commit's message says it.
	By string `json:"by,omitempty"`
	// At is zero where a commit's message says it.
	At  time.Time `json:"at,omitzero"`
	Why string    `json:"why"`
}

// Claimed is the ledger with what commits say of it, as far as they answer the
// review of head: which findings they fix and which they dispute. It is only a claim, which
// the next round judges.
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

// WithOrders applies the orders that people gave about the findings of a review: waive and dispute.
// Only orders count that the review had not read yet: those it had read are judged in its
// ledger, by the rights that their authors had then. And only those count that were given
// after since, when the base was replaced last.
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

// Renewed is the ledger for a base that has been the present one since a moment, zero for
// always: what was waived for another base is open again.
func (l Ledger) Renewed(since time.Time) Ledger {
	next := slices.Clone(l)
	for i := range next {
		if e := &next[i]; e.WaivedBefore(since) {
			e.Status = Open
		}
	}
	return next
}

// WaivedBefore reports whether an entry is waived, and not known to have been so after a
// moment.
func (e Entry) WaivedBefore(moment time.Time) bool {
	return e.Status == Waived && !moment.IsZero() && (e.Said == nil || !e.Said.At.After(moment))
}

// set changes the status of a finding that stands. Without a reason, what was
// said before stays.
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

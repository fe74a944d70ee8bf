package verdict

import (
	"slices"
	"strings"
	"time"
)

// Said is somebody's word on a finding.
type Said struct {
	// By is a login, empty where a commit's message says it.
	By string `json:"by,omitempty"`
	// At is zero where a commit's message says it.
	At  time.Time `json:"at,omitzero"`
	Why string    `json:"why"`
}

// Claimed is the ledger with what commits say of it, as far as they answer the
// review of head: which findings they fix and which they dispute. It is a claim,
// whoever makes it, and judged in the next round.
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
			next.set(id, Disputed, Said{Why: clip(strings.TrimSpace(why), maxWhy)})
		}
	}
	return next
}

// Heed is the ledger with what people have ordered: findings waived, and those
// disputed whose dispute is later than what the review had heard that last judged
// them.
func (l Ledger) Heed(orders []Command, heard int64) Ledger {
	next := slices.Clone(l)
	for _, o := range orders {
		said := Said{By: o.By, At: o.At, Why: o.Reason}
		switch {
		case o.Verb == Waive:
			next.set(o.Finding, Waived, said)
		case o.Verb == Dispute && o.ID > heard:
			next.set(o.Finding, Disputed, said)
		}
	}
	return next
}

// set changes the status of a finding that stands. Without a reason, what was
// said before stays.
func (l Ledger) set(id string, status Status, said Said) {
	for i := range l {
		if e := &l[i]; e.ID == id && e.stands() {
			e.Status = status
			if said.Why != "" {
				e.Said = &said
			}
		}
	}
}

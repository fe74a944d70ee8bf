package projection

import (
	"cmp"
	"slices"
	"time"

	"touchstone/verdict"
)

// Happening is one event of a pull request's timeline.
type Happening struct {
	ID     string    `json:"id"`
	Type   string    `json:"type"`
	Action string    `json:"action"`
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Text   string    `json:"text"`
}

func (v *view) detail() Detail {
	s := v.summary()
	d := Detail{
		Summary: s, Rounds: []Round{}, Findings: []Finding{}, Blockers: v.blockers(s), Checks: []NamedCheck{},
		OpenedAt: v.OpenedAt, HeadRef: v.HeadRef,
	}
	for _, r := range v.Reviews {
		if r.Record == nil && !r.Unreadable {
			continue
		}
		d.Rounds = append(d.Rounds, v.round(r))
	}
	if s.State == "merged" {
		d.Merge = v.merge(s)
	}
	for _, e := range v.ledger() {
		f := Finding{
			ID: Plain(e.ID, 40), Dimension: e.Dimension, Severity: e.Severity, Rule: Plain(e.Rule, 120), Path: Plain(e.Path, maxName), Line: e.Line,
			Claim: Plain(e.Claim, maxTitle), Status: e.Status, First: e.First, Last: e.Last,
		}
		if e.Said != nil {
			f.Said = Plain(e.Said.Why, maxTitle)
			if e.Said.By != "" {
				f.Said = Plain(e.Said.By, maxName) + ": " + f.Said
			}
		}
		d.Findings = append(d.Findings, f)
	}
	slices.SortStableFunc(d.Findings, func(a, b Finding) int {
		return cmp.Or(settled(a)-settled(b), a.Severity.Rank()-b.Severity.Rank())
	})
	for _, check := range v.head().current() {
		d.Checks = append(d.Checks, NamedCheck{Name: check.Name, State: check.State, Text: check.Text, At: check.At})
	}
	return d
}

func settled(f Finding) int {
	if f.Status == verdict.Verified || f.Status == verdict.Waived {
		return 1
	}
	return 0
}

// round converts a review with a record. Durations are never negative, even if clocks differ.
func (v *view) round(r Review) Round {
	round := Round{Head: r.SHA, By: r.By, At: r.At, URL: r.URL, Key: r.Key, Doubt: v.doubt(r, v.reviewers)}
	if at := v.headAt(r.SHA); !at.IsZero() {
		round.Waited = max(0, r.At.Sub(at).Seconds())
	}
	for _, h := range v.Heads {
		if h.At.After(r.At) {
			round.FixedAfter = h.At.Sub(r.At).Seconds()
			break
		}
	}
	round.CI, _, _ = v.commit(r.SHA).ci()
	if r.Record == nil {
		return round
	}
	rec := r.Record
	round.Round, round.Verdict = rec.Round, rec.Verdict
	round.Seconds, round.CostUSD = max(0, rec.Duration.Seconds()), max(0, rec.CostUSD)
	round.Engine, round.Model, round.guidelines = Plain(rec.Engine, 60), Plain(rec.Model, 100), Plain(rec.Guidelines, 64)
	round.tokens = rec.Usage.Total()
	for _, e := range rec.Ledger {
		if e.Last == rec.Round && e.Status != verdict.Waived {
			round.Findings.add(e.Severity, 1)
		}
	}
	return round
}

// merge returns what a merge was based on.
func (v *view) merge(s Summary) *verdict.Merge {
	m := &verdict.Merge{
		SHA: v.MergeSHA, By: v.MergedBy, At: v.MergedAt, OpenedAt: v.OpenedAt, Head: v.Head, Approvals: []verdict.Approval{}, Passed: []string{},
		Lacked: lacks(v.needsOfHead(s)),
	}
	if r := v.onHead; r != nil && r.Record.Verdict == verdict.Approve {
		approval := verdict.Approval{Head: v.Head, By: r.By, Round: r.Record.Round, URL: r.URL}
		if lift := r.Record.Lifted; lift != nil {
			approval.Lifted = &verdict.Word{By: Plain(lift.By, maxName), At: lift.At, Why: Plain(lift.Why, maxTitle), BrokeGlass: lift.BrokeGlass}
		}
		m.Approvals = append(m.Approvals, approval)
	}
	for _, check := range v.head().current() {
		if check.State == "success" {
			m.Passed = append(m.Passed, check.Name)
		}
	}
	if len(v.head().Checks) == 0 {
		m.Lacked = append(m.Lacked, "no check of it is known")
	}
	return m
}

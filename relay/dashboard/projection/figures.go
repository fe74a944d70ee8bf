package projection

import (
	"time"

	"touchstone/verdict"
)

// figures are the data from which statistics are made.
type figures struct {
	reviewed   time.Time // when the first believed review came, unless it was given under another name
	unattended bool
	rounds     []Round // the believed ones
	findings   []datedFinding
}

// share returns what the pull request contributes to the figures of each day.
func (v *view) share(s Summary, f figures) map[int64]*daily {
	all := map[int64]*daily{}
	on := func(at time.Time) *daily {
		millis := toMillis(at)
		if millis <= 0 {
			return &daily{}
		}
		d := all[millis/dayMillis]
		if d == nil {
			d = &daily{}
			all[millis/dayMillis] = d
		}
		return d
	}
	after := func(at time.Time) []int64 { return []int64{max(0, int64(at.Sub(v.OpenedAt).Seconds()))} }
	opened := on(v.OpenedAt)
	if !v.Moved {
		opened.Opened++
	}
	if !f.reviewed.IsZero() {
		opened.FirstReviews = after(f.reviewed)
	}
	switch {
	case v.end().Equal(v.Ended):
	case !v.MergedAt.IsZero():
		merged := on(v.MergedAt)
		merged.Merged++
		merged.MergedRounds, merged.MergedCostUSD, merged.Merges = s.Round, micros(s.CostUSD), after(v.MergedAt)
		if f.unattended {
			merged.Unattended++
		}
	case !v.ClosedAt.IsZero():
		on(v.ClosedAt).Closed++
	}
	for _, r := range f.rounds {
		on(r.At).add(&daily{Rounds: 1, Findings: r.Findings.Blocking() + r.Findings.Nit, CostUSD: r.CostUSD, Tokens: r.tokens})
	}
	for _, moment := range v.Escalated {
		if at, err := time.Parse(time.RFC3339, moment); err == nil {
			on(at).Escalations++
		}
	}
	return all
}

// datedFinding is a finding with the round that found it first.
type datedFinding struct {
	id string
	at time.Time
	kind
}

func (v *view) figures(s Summary) (f figures) {
	lifted := false
	for i, r := range v.believed {
		lifted = lifted || r.Record.Lifted != nil
		if r.Moved {
			continue
		}
		if i == 0 {
			f.reviewed = r.At
		}
		f.rounds = append(f.rounds, v.round(r))
	}
	f.unattended = s.State == "merged" && v.onHead != nil && v.onHead.Record.Verdict == verdict.Approve && !lifted && v.LabelledAt.IsZero()
	for _, e := range v.ledger() {
		d := datedFinding{id: Plain(e.ID, 40), kind: kind{
			Rule: Plain(e.Rule, 120), Dimension: verdict.Dimension(Plain(string(e.Dimension), 40)),
			Severity: verdict.Severities()[e.Severity.Rank()], Status: verdict.Status(Plain(string(e.Status), 40)),
		}}
		for _, r := range f.rounds {
			if d.at.IsZero() || r.Round <= e.First {
				d.at, d.Model, d.Guidelines = r.At, r.Model, r.guidelines
			}
		}
		f.findings = append(f.findings, d)
	}
	return f
}

package projection

import (
	"time"

	"touchstone/verdict"
)

// figures are what statistics are made of.
type figures struct {
	reviewed   time.Time // when the first review came that is believed
	tokens     int64
	unattended bool
	rounds     []Round // those that are believed
	findings   []datedFinding
}

// datedFinding is a finding with the round that found it first.
type datedFinding struct {
	ID, Rule          string
	Dimension         verdict.Dimension
	Severity          verdict.Severity
	Status            verdict.Status
	at                time.Time
	model, guidelines string
}

func (v *view) figures(s Summary) (f figures) {
	lifted := false
	for _, r := range v.Reviews {
		if r.Record == nil || v.doubt(r, v.reviewers) != "" {
			continue
		}
		round := v.round(r)
		if f.reviewed.IsZero() {
			f.reviewed = r.At
		}
		f.tokens += round.tokens
		f.rounds = append(f.rounds, round)
		lifted = lifted || r.Record.Lifted != nil
	}
	f.unattended = s.State == "merged" && v.onHead != nil && v.onHead.Record.Verdict == verdict.Approve && !lifted && len(v.Escalated) == 0
	for _, e := range v.ledger() {
		d := datedFinding{
			ID: Plain(e.ID, 40), Rule: Plain(e.Rule, 120), Dimension: verdict.Dimension(Plain(string(e.Dimension), 40)),
			Severity: verdict.Severities()[e.Severity.Rank()], Status: verdict.Status(Plain(string(e.Status), 40)),
		}
		for _, r := range f.rounds {
			if d.at.IsZero() || r.Round <= e.First {
				d.at, d.model, d.guidelines = r.At, r.Model, r.guidelines
			}
		}
		f.findings = append(f.findings, d)
	}
	return f
}

package reviewer

import (
	"context"
	"slices"

	"touchstone/verdict"
)

// review runs the session and makes the outcome.
func (p *Prepared) review(ctx context.Context, opts Options) (Outcome, error) {
	x, err := p.Examine(ctx, opts.Progress, opts.Allowance)
	if err != nil {
		return Outcome{Started: x.Result.Started}, err
	}
	return p.Conclude(ctx, x)
}

// Conclude makes a review from a session's answer and from what code found itself.
func (p *Prepared) Conclude(ctx context.Context, x Examination) (Outcome, error) {
	j := x.Judgement
	for _, f := range p.scan.found {
		if !known(j, p.Ledger, f) {
			j.Add(f)
		}
	}
	for _, e := range p.Ledger {
		if p.criteria.decides(e) {
			j.Answer.Gone = append(j.Answer.Gone, verdict.Gone{ID: e.ID, How: "code does not find it any more"})
		}
	}
	j.Hold(p.scan.holds...)
	if p.understood.Truncated {
		j.Withhold("The change is larger than what can be shown to the session; part of it was not examined.")
	}
	x.Judgement = j
	out := Outcome{Judgement: j, Record: p.record(x), Change: p.understood, Started: x.Result.Started, session: x.Result}
	if len(p.scan.found) == 0 {
		out.Record.Edits = p.edits(ctx, j)
	}
	err := p.render(ctx, &out, true)
	return out, err
}

// known reports whether a finding made by code needs no mention: the session found it too, or a person waived
// it.
func known(j verdict.Judgement, ledger verdict.Ledger, found verdict.Finding) bool {
	e := ledger.ByID(verdict.Fingerprint(found))
	return e != nil && e.Status == verdict.Waived || slices.ContainsFunc(j.Answer.Findings, func(f verdict.Finding) bool {
		return f.Rule == found.Rule && (found.Path == "" || f.Path == found.Path && f.Line == found.Line)
	})
}

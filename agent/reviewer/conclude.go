package reviewer

import (
	"context"
	"fmt"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree"
)

// review holds the session and concludes from it.
func (p *Prepared) review(ctx context.Context, opts Options) (Outcome, error) {
	x, err := p.Examine(ctx, opts.Progress, opts.Allowance)
	if err != nil {
		return Outcome{Started: x.Result.Started}, err
	}
	return p.Conclude(ctx, x)
}

// Conclude makes a review of what a session answered and of what code found
// without it.
func (p *Prepared) Conclude(ctx context.Context, x Examination) (Outcome, error) {
	j := x.Judgement
	for _, f := range p.Found {
		if !p.known(j, f) {
			j.Add(f)
		}
	}
	for _, e := range p.Ledger {
		if p.decides(e) {
			j.Answer.Gone = append(j.Answer.Gone, verdict.Gone{ID: e.ID, How: "code does not find it any more"})
		}
	}
	j.Hold(p.Holds...)
	if p.understood.Truncated {
		j.Withhold("The change is larger than what can be shown to the session; part of it was not examined.")
	}
	x.Judgement = j
	out := Outcome{Judgement: j, Record: p.record(x), Change: p.understood, Started: x.Result.Started, session: x.Result}
	out.Record.Edits = p.edits(ctx, j)
	r, err := p.render(ctx, out, true)
	out.Review, out.More = r.review, r.more
	return out, err
}

// known reports whether a finding of code's needs no telling: the session found it
// too, or a person waived it.
func (p *Prepared) known(j verdict.Judgement, found verdict.Finding) bool {
	for _, f := range j.Answer.Findings {
		if f.Rule == found.Rule && (found.Path == "" || f.Path == found.Path && f.Line == found.Line) {
			return true
		}
	}
	for _, e := range p.Ledger {
		if e.ID == verdict.Fingerprint(found) && e.Status == verdict.Waived {
			return true
		}
	}
	return false
}

// carriesOver reports whether the latest review's approval still says all there is
// to say: merging this head makes the very change that was approved, the rules are the
// same, and code has nothing against it. What a person let pass was let pass for that one
// commit.
func (r *Reviewer) carriesOver(ctx context.Context, p *Prepared, pr forge.PullRequest, tree *worktree.Tree) (bool, error) {
	record, review := r.latest(pr)
	plain := record.Verdict == verdict.Approve && record.Settled && len(record.Holds) == 0 && record.Lifted == nil
	same := review.State == forge.Approved && review.SHA == record.Head && record.Guidelines == p.Version && record.BaseBranch == p.BaseBranch
	if !plain || !same || len(p.Holds) > 0 || len(p.Found) > 0 || !record.Answers(p.Evidence) || record.Head == p.Head {
		return false, nil
	}
	same, err := tree.Makes(ctx, worktree.Squash{Base: record.Base, Head: record.Head, Tree: record.Tree})
	if err != nil {
		return false, fmt.Errorf("compare the change with what was approved: %w", err)
	}
	return same, nil
}

// carry approves a head for what an earlier round found of its change.
func (r *Reviewer) carry(p *Prepared, pr forge.PullRequest) (Outcome, error) {
	record, review := r.latest(pr)
	carried := verdict.Record{
		Verdict: verdict.Approve, Head: p.Head, Base: p.Base, BaseBranch: p.BaseBranch, Tree: p.Tree, PatchID: p.PatchID,
		Round: p.Round, Guidelines: p.Version, Ledger: p.Ledger, Settled: true, Evidence: record.Evidence, Heard: p.Heard, Tier: record.Tier, Coverage: record.Coverage, Lines: p.understood.Lines,
	}
	carried.State(p.Title, p.Body, p.Commits)
	seal, err := carried.Seal(p.Signer)
	if err != nil {
		return Outcome{}, err
	}
	foot := small([]string{fmt.Sprintf("round %d", p.Round), "no model was run", "guidelines " + p.Version, "head " + verdict.Short(p.Head)})
	body := fmt.Sprintf("### Approved · round %d · carried over%s\n\nMerging this head changes %s as [the approval of %s](%s) saw it, file for file, and the guidelines are the same.\n\n%s\n\n%s",
		p.Round, p.andCI(), code(p.BaseBranch), verdict.Short(record.Head), review.URL, foot, seal)
	return Outcome{
		Judgement: verdict.Judgement{Verdict: verdict.Approve, Complete: true}, Record: carried, Change: p.understood, Carried: true,
		Review: forge.Review{SHA: p.Head, Event: string(verdict.Approve), Body: body},
	}, nil
}

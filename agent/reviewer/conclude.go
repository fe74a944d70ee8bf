package reviewer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

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
	j.Hold(p.Holds...)
	if p.understood.Truncated {
		j.Withhold("The change is larger than what can be shown to the session; part of it was not examined.")
	}
	x.Judgement = j
	out := Outcome{Judgement: j, Record: p.record(x), Change: p.understood, Started: x.Result.Started, session: x.Result}
	r, err := p.render(ctx, out, true)
	out.Review, out.More = r.review, r.more
	return out, err
}

// known reports whether a finding of code's needs no telling: the session found it
// too, or a person waived it.
func (p *Prepared) known(j verdict.Judgement, found verdict.Finding) bool {
	for _, f := range j.Answer.Findings {
		if f.Rule == found.Rule && f.Path == found.Path && f.Line == found.Line {
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
// to say: since then nothing but the base was merged in, the change itself and the
// rules are the same, and code has nothing against it. What a person let pass was
// let pass for that one commit.
func (p *Prepared) carriesOver(ctx context.Context, pr forge.PullRequest, tree *worktree.Tree) (bool, error) {
	record, review := latest(pr)
	plain := record.Verdict == verdict.Approve && record.Settled && len(record.Holds) == 0 && record.Lifted == nil
	same := review.State == forge.Approved && review.SHA == record.Head &&
		record.PatchID != "" && record.PatchID == p.PatchID && record.Guidelines == p.Version && record.BaseBranch == p.BaseBranch
	if !plain || !same || len(p.Holds) > 0 || len(p.Found) > 0 || record.Head == p.Diff.Head {
		return false, nil
	}
	merged, err := tree.OnlyMergedBase(ctx, record.Head)
	if err != nil {
		return false, fmt.Errorf("look what was pushed since the approval: %w", err)
	}
	return merged, nil
}

// carry approves a head for what an earlier round found of its change.
func (p *Prepared) carry(pr forge.PullRequest) (Outcome, error) {
	record, review := latest(pr)
	carried := verdict.Record{
		Verdict: verdict.Approve, Head: p.Diff.Head, Base: p.Base, BaseBranch: p.BaseBranch, MergeBase: p.Diff.Base, PatchID: p.PatchID,
		Round: p.Round, Guidelines: p.Version, Ledger: p.Ledger, Settled: true, Heard: p.Heard, Tier: record.Tier, Coverage: record.Coverage, Lines: p.understood.Lines,
	}
	seal, err := carried.Seal()
	if err != nil {
		return Outcome{}, err
	}
	foot := small([]string{fmt.Sprintf("round %d", p.Round), "no model was run", "guidelines " + p.Version, "head " + short(p.Diff.Head)})
	body := fmt.Sprintf("### Approved · round %d · carried over\n\nSince [the approval of %s](%s) nothing but %s was merged in: what this pull request changes is the same, and so are the guidelines.\n\n%s\n\n%s",
		p.Round, short(record.Head), review.URL, code(p.BaseBranch), foot, seal)
	return Outcome{
		Judgement: verdict.Judgement{Verdict: verdict.Approve, Complete: true}, Record: carried, Change: p.understood, Carried: true,
		Review: forge.Review{SHA: p.Diff.Head, Event: string(verdict.Approve), Body: body},
	}, nil
}

// post posts the review unless the pull request moved on meanwhile. When GitHub
// does not like one of the comments, all of them move into the body.
func (r *Reviewer) post(ctx context.Context, pr forge.PullRequest, p *Prepared, out *Outcome) error {
	now, err := r.Read.PullRequest(ctx, pr.Ref)
	if err != nil {
		return fmt.Errorf("look at the pull request again before posting: %w", err)
	}
	// Another review of the same head may have been ordered, but not two at once.
	_, before, _ := Standing(pr)
	if _, last, _ := Standing(now); last != before || !now.Open || now.Head.SHA != pr.Head.SHA || now.Base.Name != pr.Base.Name {
		return ErrOvertaken
	}
	posted, err := r.Post.PostReview(ctx, pr.Ref, out.Review)
	if errors.Is(err, forge.ErrBadAnchor) {
		var again report
		if again, err = p.render(ctx, *out, false); err != nil {
			return err
		}
		out.Review, out.More = again.review, again.more
		posted, err = r.Post.PostReview(ctx, pr.Ref, out.Review)
	}
	if err != nil {
		return fmt.Errorf("post the review: %w", err)
	}
	out.URL = posted.URL
	r.follow(ctx, pr, posted, out)
	return nil
}

// follow does what comes after the review stands. Its failures are told and not
// returned: the verdict is given, and doing all of it again would give it twice.
func (r *Reviewer) follow(ctx context.Context, pr forge.PullRequest, posted forge.Posted, out *Outcome) {
	log := zerolog.Ctx(ctx)
	more := out.More
	if posted.Kept >= 0 && posted.Kept < len(out.Review.Comments) {
		missing, err := r.missing(ctx, pr.Ref, posted, out.Review)
		if err != nil {
			log.Warn().Err(err).Int("posted", len(out.Review.Comments)).Int("kept", posted.Kept).Msg("GitHub kept fewer comments than the review has")
		}
		more = append(missing, more...)
	}
	for _, text := range more {
		if _, err := r.Say.Comment(ctx, pr.Ref, text); err != nil {
			log.Warn().Err(err).Msg("part of the review could not be posted; its findings are in the review's record")
			break
		}
	}
	gone := map[string]bool{}
	for _, e := range out.Record.Ledger {
		gone[e.ID] = e.Status == verdict.Verified
	}
	for _, t := range threads(pr) {
		if !gone[t.Finding] || t.Resolved {
			continue
		}
		if err := r.Resolve.ResolveThread(ctx, t.ID); err != nil {
			log.Warn().Err(err).Str("finding", t.Finding).Msg("the thread of a finding that is gone stays open")
		}
	}
}

// missing are the comments that GitHub did not keep, as one text.
func (r *Reviewer) missing(ctx context.Context, ref forge.Ref, posted forge.Posted, review forge.Review) ([]string, error) {
	kept, err := r.Read.ReviewRemarks(ctx, ref, posted.ID)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, k := range kept {
		if id := findingID.FindStringSubmatch(k.Body); id != nil {
			there[id[1]] = true
		}
	}
	var blocks []string
	for _, c := range review.Comments {
		if id := findingID.FindStringSubmatch(c.Body); id != nil && !there[id[1]] {
			blocks = append(blocks, fmt.Sprintf("---\n%s\n\n%s", code(place(c.Path, c.Line)), c.Body))
		}
	}
	first, rest := paginate(blocks, "", review.SHA)
	return append([]string{fmt.Sprintf("### Review of %s: what GitHub did not keep\n\n%s", short(review.SHA), strings.TrimSpace(first))}, rest...), nil
}

package reviewer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// post posts the review unless the pull request moved on meanwhile. If GitHub rejects one of the comments on
// lines, all of them move into the body.
func (r *Reviewer) post(ctx context.Context, pr forge.PullRequest, p *Prepared, out *Outcome) error {
	now, err := r.Read.PullRequest(ctx, pr.Ref)
	if err != nil {
		return fmt.Errorf("look at the pull request again before posting: %w", err)
	}
	// Another review of the same head may have been ordered, but two must not run at once, nor one for another base.
	_, before := newest(pr)
	if _, last := newest(now); last != before || !now.Open || now.Head.SHA != pr.Head.SHA || now.Base.Name != pr.Base.Name {
		return ErrOvertaken
	}
	if p.CI != ci(now) && !out.Carried {
		// The headline says how CI stands now.
		p.CI = ci(now)
		if err := p.render(ctx, out, true); err != nil {
			return err
		}
	}
	posted, err := r.Post.PostReview(ctx, pr.Ref, out.Review)
	if errors.Is(err, forge.ErrBadAnchor) {
		if err = p.render(ctx, out, false); err != nil {
			return err
		}
		posted, err = r.Post.PostReview(ctx, pr.Ref, out.Review)
	}
	if err != nil {
		return fmt.Errorf("post the review: %w", err)
	}
	out.URL = posted.URL
	if r.Withdrawn(ctx, now, posted, out.Record) {
		return ErrOvertaken
	}
	r.follow(ctx, pr, p, posted, out)
	return nil
}

const twice = "Two reviewing agents of this login posted a review of this commit at the same time. The other one stands."

// Withdrawn checks, after a review was posted, whether another agent of this login posted a review of the
// same head at the same time. One of them stays: the one that requests changes, else the earlier one.
// Withdrawn reports whether this one is withdrawn. An agent that checks too early does not see the other
// review, but then the other agent sees both. Should both fail to withdraw one, readers of the reviews still
// count the heavier one.
func (r *Reviewer) Withdrawn(ctx context.Context, before forge.PullRequest, posted forge.Posted, own verdict.Record) bool {
	log := zerolog.Ctx(ctx)
	after, err := r.Read.PullRequest(ctx, before.Ref)
	if err != nil {
		log.Warn().Err(err).Msg("cannot check whether another agent posted a review at the same time")
		return false
	}
	type rival struct {
		id      int64
		verdict verdict.Verdict
	}
	rivals := []rival{{posted.ID, own.Verdict}}
	for _, rev := range after.Reviews {
		known := rev.ID == posted.ID || slices.ContainsFunc(before.Reviews, func(b forge.SubmittedReview) bool { return b.ID == rev.ID })
		if known || !verdict.SameLogin(rev.Author.Login, before.Viewer) || rev.SHA != own.Head || rev.State == forge.Dismissed ||
			rev.EditedAt != nil {
			continue
		}
		rec, err := verdict.ParseRecord(rev.Body)
		if err == nil && rec.Round == own.Round && rec.BaseBranch == own.BaseBranch && (rec.Engine == "") == (own.Engine == "") {
			rivals = append(rivals, rival{rev.ID, rec.Verdict})
		}
	}
	slices.SortFunc(rivals, func(a, b rival) int {
		if a.verdict != b.verdict {
			if a.verdict == verdict.RequestChanges {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.id, b.id)
	})
	for _, loser := range rivals[1:] {
		if err := r.Withdraw.DismissReview(ctx, before.Ref, loser.id, twice); err != nil {
			log.Warn().Err(err).Int64("review", loser.id).Msg("cannot withdraw a review that was posted twice")
		}
	}
	return rivals[0].id != posted.ID
}

// follow does what is left to do after the review was posted. It logs its errors and does not return them:
// the verdict stands, and a retry would post it twice.
func (r *Reviewer) follow(ctx context.Context, pr forge.PullRequest, p *Prepared, posted forge.Posted, out *Outcome) {
	log := zerolog.Ctx(ctx)
	more := out.More
	if posted.Kept >= 0 && posted.Kept < len(out.Review.Comments) {
		missing, err := r.missing(ctx, pr.Ref, posted, out.Review)
		if err != nil {
			log.Warn().Err(err).Int("posted", len(out.Review.Comments)).Int("kept",
				posted.Kept).Msg("GitHub kept fewer comments than the review has")
		}
		more = append(missing, more...)
	}
	for _, text := range more {
		if _, err := r.Say.Comment(ctx, pr.Ref, text); err != nil {
			log.Warn().Err(err).Msg("part of the review could not be posted; its findings are in the review's record")
			break
		}
	}
	gone, wrong := map[string]bool{}, map[string]string{}
	for _, e := range out.Record.Ledger {
		gone[e.ID] = e.Gone()
		switch e.Status {
		case verdict.Withdrawn:
			wrong[e.ID] = "Withdrawn"
		case verdict.Refuted:
			wrong[e.ID] = "Refuted by a second session"
		}
	}
	why := map[string]string{}
	for _, g := range out.Judgement.Answer.Gone {
		why[g.ID] = prose(clip(strings.TrimSpace(g.How), maxField))
	}
	for _, o := range out.Judgement.Overruled {
		why[o.Finding.ID] = prose(clip(strings.TrimSpace(o.Check.Reason), maxField))
	}
	anew := p.anew(out.Judgement.Answer.Findings)
	for _, t := range threads(pr, nil) {
		if f, ok := anew[t.Finding]; ok {
			lead := fmt.Sprintf("Still there in round %d%s.", out.Record.Round, p.turned(f))
			f.Rule = "" // the thread begins with the rule
			text := clipBlock(lead+"\n\n"+p.argue(f, false), maxComment)
			if err := r.Say.Reply(ctx, pr.Ref, t.Comment, text); err != nil {
				log.Warn().Err(err).Str("finding", t.Finding).Msg("cannot answer in the thread of a finding that is still there")
			}
		}
		if !gone[t.Finding] || t.Resolved {
			continue
		}
		if word := wrong[t.Finding]; word != "" {
			if err := r.Say.Reply(ctx, pr.Ref, t.Comment, word+": "+why[t.Finding]); err != nil {
				log.Warn().Err(err).Str("finding", t.Finding).Msg("cannot answer in the thread of a finding that was wrong")
			}
		}
		if err := r.Resolve.ResolveThread(ctx, pr.Ref.Repo, t.ID); err != nil {
			log.Warn().Err(err).Str("finding", t.Finding).Msg("cannot resolve the thread of a finding that is gone")
		}
	}
}

// disputed reports whether this round judges a dispute of an earlier finding.
func (r Rounds) disputed(id string) bool {
	e := r.Ledger.ByID(id)
	return e != nil && e.Status == verdict.Disputed
}

// turned says, behind what says that an earlier finding is still there, what became of it.
func (r Rounds) turned(f verdict.Finding) string {
	switch {
	case f.Check == verdict.Lowered:
		return ", and " + lowering(f)
	case r.disputed(f.ID):
		return ": what was said against it does not hold"
	}
	return ""
}

// anew are the earlier findings, by id, that a round finds again with something new to say: about different
// code, as after a partial fix, about why a dispute does not hold, or about why it is lowered.
func (r Rounds) anew(findings []verdict.Finding) map[string]verdict.Finding {
	all := map[string]verdict.Finding{}
	for _, f := range findings {
		e := r.Ledger.ByID(f.ID)
		if e == nil || f.Kept != "" {
			continue
		}
		known, shortened := strings.CutSuffix(e.Claim, "…")
		lowered := f.Check == verdict.Lowered && e.Check != verdict.Lowered
		if lowered || r.disputed(f.ID) || f.Claim != known && !(shortened && strings.HasPrefix(f.Claim, known)) {
			all[f.ID] = f
		}
	}
	return all
}

// missing are the comments that GitHub did not keep, as texts to post.
func (r *Reviewer) missing(ctx context.Context, ref forge.Ref, posted forge.Posted, review forge.Review) ([]string, error) {
	kept, err := r.Read.ReviewRemarks(ctx, ref, posted.ID)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, text := range kept {
		if id, ok := verdict.TaggedFinding(text); ok {
			there[id] = true
		}
	}
	var blocks []string
	for _, c := range review.Comments {
		if id, ok := verdict.TaggedFinding(c.Body); ok && !there[id] {
			blocks = append(blocks, fmt.Sprintf("---\n%s\n\n%s", code(verdict.Place(c.Path, c.Line)), c.Body))
		}
	}
	first, rest := paginate(blocks, "", review.SHA)
	return append([]string{fmt.Sprintf("### Review of %s: what GitHub did not keep\n\n%s", verdict.Short(review.SHA),
		strings.TrimSpace(first))}, rest...), nil
}

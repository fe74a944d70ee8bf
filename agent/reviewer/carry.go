package reviewer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree"
)

// approval is an earlier approval that still holds for a new head.
type approval struct {
	record verdict.Record
	review forge.SubmittedReview
	// edits are the approval's own edits that were applied since. If there are none, the change is the same.
	edits []verdict.Edit
}

// carriesOver returns the approval of the latest review if it still holds, else nil. It holds if merging this
// head makes the very change that was approved, or that change plus the suggestions of its nits; if the rules
// are the same; and if code finds nothing against the head. An approval on a person's word never carries
// over: it was for that one commit.
func (r *Reviewer) carriesOver(ctx context.Context, p *Prepared, pr forge.PullRequest, tree *worktree.Tree) (*approval, error) {
	record, review := r.latest(pr)
	same := review.State == forge.Approved && review.SHA == record.Head && record.Guidelines == p.criteria.version &&
		record.BaseBranch == p.BaseBranch && record.Head != p.Head
	nothingFound := len(p.scan.holds) == 0 && len(p.scan.found) == 0 && record.Answers(p.scan.evidence)
	if !record.Plain() || !same || !nothingFound {
		return nil, nil
	}
	approved := &approval{record: record, review: review}
	reviewed := worktree.Squash{Base: record.Base, Head: record.Head, Tree: record.Tree}
	same, err := tree.Makes(ctx, reviewed)
	if err == nil && !same {
		approved.edits = record.Applicable(p.Ledger)
		same, err = applied(ctx, tree, reviewed, approved.edits)
	}
	if err != nil {
		return nil, fmt.Errorf("compare the change with what was approved: %w", err)
	}
	if !same {
		return nil, nil
	}
	return approved, nil
}

// applied reports whether the head is the reviewed change plus all of the edits, and nothing else.
func applied(ctx context.Context, tree *worktree.Tree, reviewed worktree.Squash, edits []verdict.Edit) (bool, error) {
	// A force push may have removed the commit that the edits are for.
	if ancestor, err := tree.Contains(ctx, reviewed.Head); err != nil || !ancestor || len(edits) == 0 {
		return false, err
	}
	files, err := verdict.EditedFiles(edits, func(path string) ([]byte, error) { return tree.ReadFile(ctx, reviewed.Head, path) })
	if errors.Is(err, verdict.ErrNoFit) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return tree.MakesRewritten(ctx, reviewed, files)
}

// carry approves a head on the strength of an earlier approval.
func (p *Prepared) carry(from approval) (Outcome, error) {
	was := from.record
	carried := verdict.Record{
		Verdict: verdict.Approve, Head: p.Head, Base: p.Base, BaseBranch: p.BaseBranch, Tree: p.Tree, PatchID: p.PatchID,
		Round: p.Round, Guidelines: p.criteria.version, Ledger: p.Ledger.Applied(from.edits), Settled: true,
		Evidence: was.Evidence, LastComment: p.LastComment,
		Tier: was.Tier, Coverage: was.Coverage, Lines: p.understood.Lines,
	}
	carried.State(p.Title, p.Body, p.Commits)
	seal, err := carried.Seal(p.Signer)
	if err != nil {
		return Outcome{}, err
	}
	foot := small([]string{fmt.Sprintf("round %d", p.Round), "no model was run", "guidelines " + p.criteria.version,
		"head " + verdict.Short(p.Head)})
	body := fmt.Sprintf("### Approved · round %d · carried over%s\n\n%s\n\n%s\n\n%s", p.Round, p.andCI(), from.why(p.BaseBranch), foot, seal)
	return Outcome{
		Judgement: verdict.Judgement{Verdict: verdict.Approve, Complete: true}, Record: carried, Change: p.understood, Carried: true,
		Review: forge.Review{SHA: p.Head, Event: string(verdict.Approve), Body: body},
	}, nil
}

// why says why an earlier approval holds for this head.
func (from approval) why(baseBranch string) string {
	of := fmt.Sprintf("[the approval of %s](%s)", verdict.Short(from.record.Head), from.review.URL)
	if n := len(from.edits); n > 0 {
		return fmt.Sprintf("This head is what %s reviewed, with the %s applied that its nits propose: byte for byte the same, and nothing "+
			"else. The guidelines are the same.",
			of, verdict.Amount(n, "suggestion", "suggestions"))
	}
	return fmt.Sprintf("Merging this head changes %s as %s saw it, file for file, and the guidelines are the same.", code(baseBranch), of)
}

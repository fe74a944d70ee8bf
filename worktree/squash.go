package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"touchstone/worktree/gitcmd"
)

// ErrUnmergeable means that no tree can be computed for the merge of a head into its base: they conflict,
// they share no history, or they have several merge bases that conflict with each other. The error says
// which, and what to do.
var ErrUnmergeable = errors.New("the head cannot be merged into its base")

// Squash is the result of a squash merge of a head into its base: the base gets one commit, whose tree is
// Tree.
type Squash struct {
	// Base is the tip of the base branch, Head that of the pull request; both are full SHAs.
	Base, Head string
	// Tree is the SHA of the merge's tree.
	Tree string
	// contained says that Head contains Base, so that Tree is Head's own tree.
	contained bool
}

const (
	// maxMergeBases bounds the merge bases of one merge; maxVirtual bounds how deep the merges of merge bases
	// nest.
	maxMergeBases = 8
	maxVirtual    = 8
	// maxConflicts bounds the paths that ErrUnmergeable names.
	maxConflicts = 10
)

// squash computes the tree of merging head into base. The result is that of git merge-tree for the two
// commits alone: settings, attributes of either side, replaced objects and grafts have no influence. Errors:
// ErrUnmergeable, errMissing.
func (r repo) squash(ctx context.Context, base, head string) (Squash, error) {
	met, err := r.meet(ctx, base, head)
	if err != nil {
		return Squash{}, err
	}
	return r.squashFrom(ctx, met, base, head)
}

// squashFrom is squash for two commits whose meeting is known.
func (r repo) squashFrom(ctx context.Context, met meeting, base, head string) (s Squash, err error) {
	s = Squash{Base: base, Head: head, Tree: met.tree, contained: len(met.bases) == 1 && met.bases[0] == base}
	if s.contained {
		return s, nil
	}
	// git merges several merge bases into a virtual one, with conflict markers if they conflict, and may
	// still end without a conflict. The result of such a merge cannot be predicted.
	if err := r.checkVirtualBase(ctx, met.bases, maxVirtual); err != nil {
		return Squash{}, err
	}
	s.Tree, err = r.mergeTree(ctx, base, head)
	return s, err
}

// checkVirtualBase reports whether commits merge without a conflict, one after the other, as git merges the
// merge bases of a merge.
func (r repo) checkVirtualBase(ctx context.Context, bases []string, depth int) error {
	if len(bases) > maxMergeBases || depth == 0 {
		return fmt.Errorf("%w: they have too many merge bases; rebase the branch, or merge the base into it once more", ErrUnmergeable)
	}
	merged := bases[0]
	for _, next := range bases[1:] {
		inner, err := r.meet(ctx, merged, next)
		if err == nil {
			err = r.checkVirtualBase(ctx, inner.bases, depth-1)
		}
		var tree string
		if err == nil {
			tree, err = r.mergeTree(ctx, merged, next)
		}
		if errors.Is(err, ErrUnmergeable) {
			return fmt.Errorf("%w: their merge bases %s conflict with each other; rebase the branch, or merge the base into it once "+
				"more",
				ErrUnmergeable, shortAll(bases))
		}
		if err != nil {
			return err
		}
		if merged, err = r.commitMerge(ctx, tree, merged, next); err != nil {
			return err
		}
	}
	return nil
}

// meeting is where the histories of two commits meet.
type meeting struct {
	bases []string // their best common ancestors
	tree  string   // of the second commit
}

// meet finds the merge bases of two commits. It returns errMissing if one of the commits is not here,
// ErrUnmergeable if they have no common history.
func (r repo) meet(ctx context.Context, a, b string) (meeting, error) {
	// rev-parse prints b, a, the merge bases with a ^ before each, and the tree. See
	// https://git-scm.com/docs/gitrevisions.
	out, err := r.Output(ctx, "rev-parse", a+"..."+b, b+"^{tree}")
	switch {
	case gitcmd.Says(err, "unknown revision"):
		return meeting{}, errMissing
	case err != nil:
		return meeting{}, err
	}
	names := strings.Fields(string(out))
	if len(names) < 3 {
		return meeting{}, fmt.Errorf("find where %.12s and %.12s meet: git rev-parse printed %d names", a, b, len(names))
	}
	met := meeting{bases: names[2 : len(names)-1], tree: names[len(names)-1]}
	if len(met.bases) == 0 {
		return meeting{}, fmt.Errorf("%w: %.12s and %.12s have no common history", ErrUnmergeable, a, b)
	}
	for i := range met.bases {
		met.bases[i] = strings.TrimPrefix(met.bases[i], "^")
	}
	return met, nil
}

// mergeTree returns the tree of a merge of two commits, which must not conflict. See
// https://git-scm.com/docs/git-merge-tree.
func (r repo) mergeTree(ctx context.Context, ours, theirs string) (string, error) {
	out, err := r.Output(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--end-of-options", ours, theirs)
	names := splitNames(out)
	switch {
	case gitcmd.ExitCode(err) == 1 && len(names) > 0:
		return "", fmt.Errorf("%w: they conflict in %s", ErrUnmergeable, listed(names[1:]))
	case err != nil:
		return "", fmt.Errorf("merge %.12s into %.12s: %w", theirs, ours, err)
	case len(names) != 1:
		return "", fmt.Errorf("merge %.12s into %.12s: git merge-tree printed %d fields", theirs, ours, len(names))
	}
	return names[0], nil
}

// merger is the author of the commits that this package makes of merges. Their date is always the same, so
// that the same merge gives the same commit.
var merger = []string{
	"GIT_AUTHOR_NAME=touchstone", "GIT_AUTHOR_EMAIL=touchstone@localhost", "GIT_AUTHOR_DATE=@0 +0000",
	"GIT_COMMITTER_NAME=touchstone", "GIT_COMMITTER_EMAIL=touchstone@localhost", "GIT_COMMITTER_DATE=@0 +0000",
}

// commitMerge makes a commit of a merge's tree. Nothing refers to the commit.
func (r repo) commitMerge(ctx context.Context, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", "-m", "The merge that is looked at"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	out, err := r.OutputOf(ctx, gitcmd.Command{Args: append(args, tree), Env: merger})
	return strings.TrimSpace(string(out)), err
}

// listed formats some paths for use in a sentence.
func listed(paths []string) string {
	text := make([]string, min(len(paths), maxConflicts))
	for i := range text {
		text[i] = fmt.Sprintf("%q", paths[i])
	}
	if more := len(paths) - len(text); more > 0 {
		text = append(text, fmt.Sprintf("%d more", more))
	}
	return strings.Join(text, ", ")
}

func shortAll(shas []string) string {
	text := make([]string, len(shas))
	for i, sha := range shas {
		text[i] = fmt.Sprintf("%.12s", sha)
	}
	return strings.Join(text, " and ")
}

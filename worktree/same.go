package worktree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"touchstone/worktree/diff"
)

// compareID names the refs and the lock of comparisons. A repository has one comparison at a time.
const compareID = "compare"

// Squash returns what a squash merge of the request's head into its base would make, without a checkout.
// Errors: those of Acquire except ErrBusy.
func (s *Store) Squash(ctx context.Context, req Request) (made Squash, err error) {
	err = s.compare(ctx, req, func(r repo) error {
		made, err = r.squash(ctx, req.Base, req.Head)
		return err
	})
	return made, err
}

// Makes reports whether a squash merge of the request's head into its base would make the reviewed change,
// file for file: the same paths with the same modes and the same changed lines, and the same content in files
// that the base has not touched since. The reviewed squash is computed again. The answer is no if that is
// impossible or gives another tree than was recorded, and if the merge itself is impossible.
func (s *Store) Makes(ctx context.Context, req Request, reviewed Squash) (same bool, err error) {
	if err := checkSHAs(reviewed.Base, reviewed.Head, reviewed.Tree); err != nil {
		return false, nil // the record is unusable
	}
	err = s.compare(ctx, req, func(r repo) error {
		now, err := r.squash(ctx, req.Base, req.Head)
		switch {
		case err != nil:
			return err
		case reviewed.Base == now.Base && reviewed.Head == now.Head:
			same = now.Tree == reviewed.Tree // the same squash as the reviewed one, computed again
			return nil
		}
		same, err = r.sameChange(ctx, reviewed, now)
		return err
	})
	if errors.Is(err, ErrUnmergeable) {
		return false, nil
	}
	return same, err
}

// Made reports whether a commit on the request's base branch made the reviewed change, as Makes compares
// them: from the commit's first parent to the commit. The request's Base is that commit. It returns
// ErrHeadMoved if the branch does not contain the commit.
func (s *Store) Made(ctx context.Context, req Request, reviewed Squash) (same bool, err error) {
	if err := checkSHAs(reviewed.Base, reviewed.Head, reviewed.Tree); err != nil {
		return false, nil
	}
	fetched := false
	err = s.compare(ctx, req, func(r repo) error {
		if !fetched { // the ref may hold another branch here
			fetched = true
			return errMissing
		}
		held, err := r.contains(ctx, pullRefs+compareID+"/base", req.Base)
		if err == nil && !held {
			err = errMissing
		}
		if err != nil {
			return err
		}
		out, err := r.Output(ctx, "rev-parse", req.Base+"^1", req.Base+"^{tree}")
		if err != nil {
			return err
		}
		parent, tree, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		same, err = r.sameChange(ctx, reviewed, Squash{Base: parent, Head: reviewed.Head, Tree: tree})
		return err
	})
	return same, err
}

// compare runs do on the commits of a request in the mirror.
func (s *Store) compare(ctx context.Context, req Request, do func(repo) error) (err error) {
	h, err := s.home(req.Repo)
	if err != nil {
		return err
	}
	if err := errors.Join(req.validate(), s.CheckGit(ctx)); err != nil {
		return err
	}
	l, err := h.waitLock(ctx, compareID)
	if err != nil {
		return fmt.Errorf("compare %s#%d: %w", req.Repo, req.Number, err)
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	m := s.repo(h, l, &req.Remote)
	if err := h.removeStaleLocks(compareID); err != nil {
		return err
	}
	if err := s.look(ctx, m, h, pullRefs+compareID, req, func() error { return do(m) }); err != nil {
		return fmt.Errorf("compare %s#%d: %w", req.Repo, req.Number, err)
	}
	return nil
}

// sameChange reports whether now changes its base as reviewed changed its own base.
func (r repo) sameChange(ctx context.Context, reviewed, now Squash) (bool, error) {
	then, err := r.squash(ctx, reviewed.Base, reviewed.Head)
	if errors.Is(err, errMissing) || errors.Is(err, ErrUnmergeable) {
		return false, nil
	}
	if err != nil || then.Tree != reviewed.Tree {
		return false, err
	}
	if then.Base == now.Base {
		return then.Tree == now.Tree, nil
	}
	// Below, lines are compared wherever they stand: the reviewed head has to make the same of the new base as well.
	again, err := r.squash(ctx, now.Base, reviewed.Head)
	if errors.Is(err, errMissing) || errors.Is(err, ErrUnmergeable) {
		return false, nil
	}
	if err != nil || again.Tree != now.Tree {
		return false, err
	}
	before, err := r.changes(ctx, then)
	if err != nil {
		return false, err
	}
	after, err := r.changes(ctx, now)
	if err != nil {
		return false, err
	}
	if maps.Equal(before, after) {
		return true, nil
	}
	for path, is := range after {
		was, ok := before[path]
		if !ok || was.oldMode != is.oldMode || was.newMode != is.newMode || was.old == is.old && was.new != is.new {
			return false, nil
		}
	}
	if len(before) != len(after) {
		return false, nil
	}
	// The base touched files that the change touches too. The change in them is the same if its lines are,
	// together with the lines around them.
	was, err := r.patchID(ctx, then)
	if err != nil {
		return false, err
	}
	is, err := r.patchID(ctx, now)
	return was == is, err
}

// blobs are a changed file's modes and blob names before and after.
type blobs struct{ oldMode, newMode, old, new string }

// changes returns the files that differ between the base and the tree of a squash, by path.
func (r repo) changes(ctx context.Context, s Squash) (map[string]blobs, error) {
	out, err := r.Output(ctx, "diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", "--end-of-options", s.Base, s.Tree)
	if err != nil {
		return nil, fmt.Errorf("list what changes: %w", err)
	}
	fields := splitNames(out)
	files := make(map[string]blobs, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(fields[i])
		if len(f) != 5 || !strings.HasPrefix(f[0], ":") {
			return nil, diff.ErrFormat
		}
		files[fields[i+1]] = blobs{oldMode: f[0][1:], newMode: f[1], old: f[2], new: f[3]}
	}
	if len(fields)%2 != 0 {
		return nil, diff.ErrFormat
	}
	return files, nil
}

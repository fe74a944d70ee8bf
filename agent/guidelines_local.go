package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"touchstone/guidelines"
)

const (
	// maxCompared bounds the files that are compared line by line, in bytes.
	maxCompared = 1 << 20
	// maxMessages bounds how many commit messages of a change are read.
	maxMessages = 100
)

// localChange reads what is committed on HEAD of the clone around dir since it
// left a revision, and the repository's own guideline documents of that revision.
// It runs no program, and so nothing that the clone configures.
func localChange(ctx context.Context, dir, rev string) (change guidelines.Change, own map[string]string, err error) {
	repo, err := git.PlainOpenWithOptions(dir, &git.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if err != nil {
		return change, nil, fmt.Errorf("open the clone in the working directory: %w", err)
	}
	base, err := commitAt(repo, rev)
	if err != nil {
		return change, nil, fmt.Errorf("--base %s names no commit of this clone: %w; fetch it first, or write another", rev, err)
	}
	head, err := commitAt(repo, "HEAD")
	if err != nil {
		return change, nil, fmt.Errorf("read HEAD: %w", err)
	}
	forks, err := head.MergeBase(base)
	if err == nil && len(forks) == 0 {
		err = errors.New("they have no common ancestor; in a shallow clone, run git fetch --unshallow")
	}
	if err != nil {
		return change, nil, fmt.Errorf("find where HEAD left %s: %w", rev, err)
	}
	if change.Files, err = changedFiles(ctx, forks[0], head); err != nil {
		return change, nil, fmt.Errorf("read the change: %w", err)
	}
	if change.Commits, err = messages(forks[0], head); err != nil {
		return change, nil, err
	}
	change.Round = 1
	if len(change.Commits) == 1 { // which is what GitHub makes the title
		change.Title, _, _ = strings.Cut(change.Commits[0], "\n")
	}
	if ref, err := repo.Head(); err == nil && ref.Name().IsBranch() {
		change.Branch = ref.Name().Short()
	}
	own, err = documentsAt(base)
	return change, own, err
}

func commitAt(repo *git.Repository, rev string) (*object.Commit, error) {
	hash, err := repo.ResolveRevision(plumbing.Revision(rev))
	if err != nil {
		return nil, err
	}
	return repo.CommitObject(*hash)
}

func changedFiles(ctx context.Context, from, to *object.Commit) ([]guidelines.File, error) {
	before, err := from.Tree()
	if err != nil {
		return nil, err
	}
	after, err := to.Tree()
	if err != nil {
		return nil, err
	}
	changes, err := object.DiffTreeWithOptions(ctx, before, after, object.DefaultDiffTreeOptions)
	if err != nil {
		return nil, err
	}
	var files []guidelines.File
	for _, c := range changes {
		file := guidelines.File{Path: c.To.Name, OldPath: c.From.Name}
		if file.Path == "" {
			file.Path = file.OldPath
		}
		if file.Patch, err = patchOf(ctx, c); errors.Is(err, errTooLarge) {
			file.Truncated = true
		} else if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

var errTooLarge = errors.New("too large to be compared")

func patchOf(ctx context.Context, c *object.Change) ([]byte, error) {
	old, new, err := c.Files()
	if err != nil {
		return nil, err
	}
	for _, f := range []*object.File{old, new} {
		if f != nil && f.Size > maxCompared {
			return nil, errTooLarge
		}
	}
	patch, err := c.PatchContext(ctx)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = patch.Encode(&text)
	return text.Bytes(), err
}

// messages are those of the commits that were made on the way from one commit to
// another; what was merged in on the way is not among them.
func messages(from, to *object.Commit) ([]string, error) {
	var all []string
	for c := to; c.Hash != from.Hash && len(all) < maxMessages; {
		if c.NumParents() <= 1 {
			all = append(all, c.Message)
		}
		parent, err := c.Parent(0)
		if errors.Is(err, object.ErrParentNotFound) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the commit messages: %w", err)
		}
		c = parent
	}
	return all, nil
}

// documentsAt reads the repository's own guideline documents of a commit.
func documentsAt(commit *object.Commit) (map[string]string, error) {
	root, err := commit.Tree()
	if err != nil {
		return nil, fmt.Errorf("read the base: %w", err)
	}
	dir, err := root.Tree(guidelineDir)
	if errors.Is(err, object.ErrDirectoryNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the repository's guidelines: %w", err)
	}
	var names []string
	for _, entry := range dir.Entries {
		if entry.Mode.IsFile() {
			names = append(names, entry.Name)
		}
	}
	return documents(names, func(name string) ([]byte, error) {
		file, err := dir.File(name)
		if err != nil {
			return nil, err
		}
		content, err := file.Reader()
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return io.ReadAll(io.LimitReader(content, maxCompared))
	})
}

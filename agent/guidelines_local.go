package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"touchstone/guidelines"
)

const (
	// maxLocalPatch bounds what is read of a clone's diff, in bytes.
	maxLocalPatch = 64 << 20
	// maxLocalMessages bounds how many commit messages are read.
	maxLocalMessages = "100"
)

// committedSince reads what is committed on HEAD of the clone in the current
// directory since it left base, and the repository's own guideline documents as
// they are on base.
func committedSince(ctx context.Context, base string) (change guidelines.Change, own map[string]string, err error) {
	var c clone
	for _, s := range cloneSettings {
		c.settings = append(c.settings, "-c", s)
	}
	if c.top, err = c.line(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return change, nil, fmt.Errorf("the current directory is in no clone that can be read; run this inside one: %w", err)
	}
	rules, err := c.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", base+"^{commit}")
	if err != nil {
		return change, nil, fmt.Errorf("this clone has no commit %q; fetch it, or name another with --base", base)
	}
	fork, err := c.line(ctx, "merge-base", rules, "HEAD")
	if err != nil {
		return change, nil, fmt.Errorf("HEAD and %q have no common history here; if the clone is shallow, fetch more with `git fetch --unshallow`: %w", base, err)
	}
	if change.Files, err = c.changedFiles(ctx, fork); err != nil {
		return change, nil, fmt.Errorf("compare HEAD with %q: %w", base, err)
	}
	if change.Commits, err = c.fields(ctx, "log", "-z", "--format=%B", "--no-show-signature", "--no-color", "-n", maxLocalMessages, rules+"..HEAD"); err != nil {
		return change, nil, fmt.Errorf("read the commit messages: %w", err)
	}
	change.Round = 1
	if len(change.Commits) == 1 { // which is what GitHub makes the title
		change.Title, _, _ = strings.Cut(change.Commits[0], "\n")
	}
	if branch, err := c.line(ctx, "rev-parse", "--abbrev-ref", "HEAD"); err == nil {
		change.Branch = branch // or "HEAD", where none is checked out, which says nothing either
	}
	if own, err = c.guidelines(ctx, rules); err != nil {
		return change, nil, fmt.Errorf("read the repository's guidelines: %w", err)
	}
	return change, own, nil
}

// changedFiles compares a commit with HEAD: which files, then their patches in
// the same order.
func (c *clone) changedFiles(ctx context.Context, from string) ([]guidelines.File, error) {
	compare := []string{"diff-tree", "-r", "-M", "--no-relative", "--no-color", "--no-ext-diff", "--no-textconv"}
	names, err := c.fields(ctx, append(compare, "-z", "--name-status", from, "HEAD")...)
	if err != nil {
		return nil, err
	}
	read := &head{max: maxLocalPatch}
	cmd := c.command(ctx, append(compare, "--patch", from, "HEAD")...)
	cmd.Stdout = read
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("git diff-tree: %w", err)
	}
	// Every line within a hunk begins with a sign, so none can pass for a header.
	patches := strings.Split("\n"+read.text.String(), "\ndiff --git ")[1:]
	var files []guidelines.File
	for len(names) >= 2 {
		status, file := names[0], guidelines.File{Path: names[1]}
		names = names[2:]
		if strings.HasPrefix(status, "R") {
			if len(names) == 0 {
				return nil, errors.New("git's answer is cut off")
			}
			file.OldPath, file.Path, names = file.Path, names[0], names[1:]
		}
		sections := 1
		if status == "T" {
			sections = 2 // the old type deleted, the new one added
		}
		file.Truncated = read.cut && len(patches) <= sections
		sections = min(sections, len(patches))
		file.Patch = []byte(strings.Join(patches[:sections], "\ndiff --git "))
		patches = patches[sections:]
		files = append(files, file)
	}
	return files, nil
}

// guidelines reads the repository's own documents as they are in a commit.
func (c *clone) guidelines(ctx context.Context, commit string) (map[string]string, error) {
	entries, err := c.fields(ctx, "ls-tree", "-z", "--full-tree", commit, guidelineDir+"/")
	if err != nil {
		return nil, err
	}
	var names []string
	blobs := map[string]string{}
	for _, entry := range entries { // "100644 blob 3b18e5…\t.touchstone/guidelines/own.md"
		meta, name, _ := strings.Cut(entry, "\t")
		name = strings.TrimPrefix(name, guidelineDir+"/")
		if f := strings.Fields(meta); len(f) == 3 && strings.HasPrefix(f[0], "100") {
			names = append(names, name)
			blobs[name] = f[2]
		}
	}
	return documents(names, func(name string) ([]byte, error) { return c.output(ctx, "cat-file", "blob", blobs[name]) })
}

// fields runs a git command that parts what it prints by NULs.
func (c *clone) fields(ctx context.Context, args ...string) ([]string, error) {
	out, err := c.output(ctx, args...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// head keeps the first max bytes written to it and remembers whether there were
// more.
type head struct {
	text bytes.Buffer
	max  int
	cut  bool
}

func (h *head) Write(p []byte) (int, error) {
	keep := min(len(p), h.max-h.text.Len())
	h.cut = h.cut || keep < len(p)
	h.text.Write(p[:keep])
	return len(p), nil
}

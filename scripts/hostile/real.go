package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"unicode/utf8"

	"touchstone/agent/e2e/hostile"
	"touchstone/scripts/clones"
)

// real lists the changes of other projects to use: a repository and a commit on each line.
//
//go:embed testdata/real.txt
var real string

const (
	// maxFiles and maxFile bound how much of a real change is used: the number of files, and the bytes of
	// each.
	maxFiles = 5
	maxFile  = 30_000
)

// realChanges makes cases from the descriptions and files of real changes. This repository contains only
// their locations; their texts come from local clones, and missing clones are reported.
func realChanges(ctx context.Context, out io.Writer, from string) ([]hostile.Case, error) {
	var all []hostile.Case
	lacking := map[string]int{}
	for line := range strings.Lines(real) {
		repo, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		dir := ""
		if from != "" {
			dir = clones.Find(from, repo)
		}
		if dir == "" {
			lacking[repo]++
			continue
		}
		c, err := realChange(ctx, dir, repo, commit)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", repo, commit, err)
		}
		all = append(all, c)
	}
	if n := strings.Count(real, "\n"); len(all) < n {
		fmt.Fprintf(out, "SKIPPED: %d of %d real changes, for want of clones of %d repositories (-clones)\n", n-len(all), n, len(lacking))
	}
	return all, nil
}

// realChange returns a change's message and, in its own directory, its files.
func realChange(ctx context.Context, dir, repo, commit string) (hostile.Case, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
		return string(out), err
	}
	message, err := git("log", "-1", "--format=%s%x00%b", commit)
	if err != nil {
		return hostile.Case{}, fmt.Errorf("read its message: %w", err)
	}
	title, body, _ := strings.Cut(message, "\x00")
	c := hostile.Case{Name: "real: " + repo + " " + commit, Title: title, Description: strings.TrimSpace(body),
		Commit: strings.ReplaceAll(message, "\x00", "\n\n"), Files: map[string]string{}}
	names, err := git("diff-tree", "-r", "-z", "--name-only", "--diff-filter=AM", commit+"^1", commit)
	if err != nil {
		return c, fmt.Errorf("list its files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		text, err := git("cat-file", "blob", commit+":"+name)
		if err != nil || len(c.Files) == maxFiles || text == "" || len(text) > maxFile || !utf8.ValidString(text) ||
			bytes.IndexByte([]byte(text), 0) >= 0 {
			continue // a link, a submodule, a file that is too large, or not text
		}
		c.Files["taken/"+commit+"/"+name] = text
	}
	if len(c.Files) == 0 {
		c.Files["taken/"+commit+".txt"] = commit + "\n"
	}
	return c, nil
}

package githubsim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// comparison is what a head adds to a base: three dots, from the merge base.
type comparison struct {
	mergeBase            string
	commits              []commit // the oldest first
	files                []file
	additions, deletions int
}

type commit struct {
	sha, tree              string
	parents                []string
	authorName, authorMail string
	authorDate             string
	commitName, commitMail string
	commitDate             string
	message                string
	at                     time.Time // commitDate
}

// file is one changed file; status is GitHub's added, removed, modified, renamed.
type file struct {
	path, previous       string
	status, blob         string
	additions, deletions int
	patch                string // the hunks, "" for binary files
}

// compare returns the comparison of two commits; it is computed once.
func (r *repo) compare(ctx context.Context, base, head string) (*comparison, error) {
	mergeBase, err := r.git.mergeBase(base, head)
	if err != nil {
		return nil, err
	}
	key := [2]string{mergeBase, head}
	if done := r.comparisons[key]; done != nil {
		return done, nil
	}
	c := &comparison{mergeBase: mergeBase}
	if c.commits, err = r.git.between(mergeBase, head); err != nil {
		return nil, err
	}
	if c.files, err = r.git.diff(ctx, mergeBase, head); err != nil {
		return nil, err
	}
	for _, f := range c.files {
		c.additions += f.additions
		c.deletions += f.deletions
	}
	r.comparisons[key] = c
	return c, nil
}

// diff lists the files that differ between two commits, renames found.
func (g gitRepo) diff(ctx context.Context, from, to string) ([]file, error) {
	out, err := g.run(ctx, "diff-tree", "-r", "-M", "-z", "--raw", "--numstat", "-p", "--full-index", from, to)
	if err != nil {
		return nil, err
	}
	raw, patch, _ := strings.Cut(out, "\x00\x00")
	files := parseRaw(strings.Split(raw, "\x00"))
	// A file's own lines are indented by one column, so this never splits inside one.
	for i, section := range strings.Split("\n"+patch, "\ndiff --git ")[1:] {
		if at := strings.Index(section, "\n@@ "); at >= 0 && i < len(files) {
			files[i].patch = section[at+1:]
		}
	}
	return files, nil
}

// changed puts the files that a commit added, removed and modified into out.
func (g gitRepo) changed(ctx context.Context, sha string, out object) error {
	text, err := g.run(ctx, "diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", "--name-status", sha)
	if err != nil {
		return err
	}
	lists := map[string][]string{"A": {}, "D": {}, "M": {}}
	for pair := range slices.Chunk(strings.Split(strings.TrimRight(text, "\x00"), "\x00"), 2) {
		if len(pair) == 2 {
			lists[pair[0]] = append(lists[pair[0]], pair[1])
		}
	}
	out["added"], out["removed"], out["modified"] = lists["A"], lists["D"], lists["M"]
	return nil
}

// parseRaw reads --raw -z records followed by as many --numstat -z ones.
func parseRaw(fields []string) []file {
	names := map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'T': "changed"}
	var files []file
	i := 0
	for i < len(fields) && strings.HasPrefix(fields[i], ":") {
		meta := strings.Fields(fields[i])
		f := file{status: names[meta[4][0]], blob: meta[3], path: fields[i+1]}
		i += 2
		if f.status == "renamed" {
			f.previous, f.path = f.path, fields[i]
			i++
		}
		if f.status == "removed" {
			f.blob = meta[2]
		}
		files = append(files, f)
	}
	for n := range files {
		if i >= len(fields) {
			break
		}
		counts := strings.SplitN(fields[i], "\t", 3)
		files[n].additions, _ = strconv.Atoi(counts[0]) // "-" for a binary file
		if len(counts) > 1 {
			files[n].deletions, _ = strconv.Atoi(counts[1])
		}
		i++
		if files[n].previous != "" {
			i += 2
		}
	}
	return files
}

// anchor finds a line of one side ("LEFT" or "RIGHT") in a patch. It returns
// the line's position below the first hunk header, and the number of its hunk.
func anchor(patch, side string, line int) (position, hunk int, ok bool) {
	var left, right int
	for i, text := range strings.Split(patch, "\n") {
		if strings.HasPrefix(text, "@@ ") {
			hunk++
			fmt.Sscanf(text, "@@ -%d", &left)
			if plus := strings.Index(text, "+"); plus >= 0 {
				fmt.Sscanf(text[plus:], "+%d", &right)
			}
			continue
		}
		inLeft, inRight := !strings.HasPrefix(text, "+"), !strings.HasPrefix(text, "-")
		if strings.HasPrefix(text, `\`) {
			continue
		}
		if side == "LEFT" && inLeft && left == line || side != "LEFT" && inRight && right == line {
			return i, hunk, true
		}
		if inLeft {
			left++
		}
		if inRight {
			right++
		}
	}
	return 0, 0, false
}

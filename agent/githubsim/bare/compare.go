package bare

import (
	"context"
	"slices"
	"strconv"
	"strings"

	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"touchstone/worktree/diff"
)

// Comparison is what a head adds to a base since their merge base, like git's three dots.
type Comparison struct {
	MergeBase            string
	Commits              []Commit // the oldest first
	Files                []File
	Additions, Deletions int
}

// Commit is one commit, as stored by git; Message has no final line break.
type Commit struct {
	SHA, Tree         string
	Parents           []string
	Author, Committer gitobject.Signature
	Message           string
}

// File is one changed file; Status is GitHub's added, removed, modified, renamed.
type File struct {
	Path, Previous       string
	Status, Blob         string
	Additions, Deletions int
	Patch                string // the hunks, "" for binary files
}

// Compare returns the comparison of two commits; it is computed once.
func (g Repo) Compare(ctx context.Context, base, head string) (*Comparison, error) {
	mergeBase, err := g.MergeBase(base, head)
	if err != nil {
		return nil, err
	}
	key := [2]string{mergeBase, head}
	g.mu.Lock()
	done := g.comparisons[key]
	g.mu.Unlock()
	if done != nil {
		return done, nil
	}
	c := &Comparison{MergeBase: mergeBase}
	if c.Commits, err = g.Between(mergeBase, head); err != nil {
		return nil, err
	}
	if c.Files, err = g.diff(ctx, mergeBase, head); err != nil {
		return nil, err
	}
	for _, f := range c.Files {
		c.Additions += f.Additions
		c.Deletions += f.Deletions
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.comparisons[key] = c
	return c, nil
}

// diff lists the files that differ between two commits, and detects renames.
func (g Repo) diff(ctx context.Context, from, to string) ([]File, error) {
	if from == to {
		return nil, nil
	}
	out, err := g.Run(ctx, "diff-tree", "-r", "-M", "-z", "--raw", "--numstat", "-p", "--full-index", from, to)
	if err != nil {
		return nil, err
	}
	raw, patch, _ := strings.Cut(out, "\x00\x00")
	files := parseRaw(strings.Split(raw, "\x00"))
	// Lines of the file's content are indented by one column, so this never splits inside a section.
	for i, section := range strings.Split("\n"+patch, "\ndiff --git ")[1:] {
		if at := strings.Index(section, "\n@@ "); at >= 0 && i < len(files) {
			files[i].Patch = section[at+1:]
		}
	}
	return files, nil
}

// Changed lists the files that a commit added (A), removed (D) and modified (M).
func (g Repo) Changed(ctx context.Context, sha string) (map[string][]string, error) {
	text, err := g.Run(ctx, "diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", "--name-status", sha)
	if err != nil {
		return nil, err
	}
	lists := map[string][]string{"A": {}, "D": {}, "M": {}}
	for pair := range slices.Chunk(strings.Split(strings.TrimRight(text, "\x00"), "\x00"), 2) {
		if len(pair) == 2 {
			lists[pair[0]] = append(lists[pair[0]], pair[1])
		}
	}
	return lists, nil
}

// parseRaw parses --raw -z records, followed by the same number of --numstat -z records.
func parseRaw(fields []string) []File {
	names := map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'T': "changed"}
	var files []File
	i := 0
	for i < len(fields) && strings.HasPrefix(fields[i], ":") {
		meta := strings.Fields(fields[i])
		f := File{Status: names[meta[4][0]], Blob: meta[3], Path: fields[i+1]}
		i += 2
		if f.Status == "renamed" {
			f.Previous, f.Path = f.Path, fields[i]
			i++
		}
		if f.Status == "removed" {
			f.Blob = meta[2]
		}
		files = append(files, f)
	}
	for n := range files {
		if i >= len(fields) {
			break
		}
		counts := strings.SplitN(fields[i], "\t", 3)
		files[n].Additions, _ = strconv.Atoi(counts[0]) // "-" for a binary file
		if len(counts) > 1 {
			files[n].Deletions, _ = strconv.Atoi(counts[1])
		}
		i++
		if files[n].Previous != "" {
			i += 2
		}
	}
	return files
}

// Anchor finds a line of one side ("LEFT" or "RIGHT") in a patch. It returns
// the line's position below the first hunk header, and the number of its hunk.
func Anchor(patch, side string, line int) (position, hunk int, ok bool) {
	var walk diff.Walker
	for i, text := range strings.Split(patch, "\n") {
		l := walk.Next([]byte(text))
		at := l.New
		if side == "LEFT" {
			at = l.Old
		}
		if l.Sign == '@' {
			hunk++
		} else if at > 0 && at == line {
			return i, hunk, true
		}
	}
	return 0, 0, false
}

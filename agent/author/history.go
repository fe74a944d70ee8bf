package author

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/verdict"
	"touchstone/worktree"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// repeated matches the part of a review that lists earlier findings. Each of those is quoted on its own.
var repeated = lazyregexp.New(`(?s)\n#### Still there from earlier rounds\n.*?(\n#### |\n---\n|\z)`)

// summary is the text of a review without its findings.
func summary(body string) string {
	body = repeated.ReplaceAllString(verdict.Plain(body), "$1")
	body, _, _ = strings.Cut(body, "\n---\n")
	return strings.TrimSpace(body)
}

// again matches the line in a later review about a finding that it finds again.
var again = lazyregexp.New("(?m)^- (\\*\\*\\[[A-Za-z-]+\\] [a-z]+\\*\\* \\[?finding `([0-9a-f]{8})`.*)$")

// statements are what was said about each finding: its text when it was raised, the lines of later reviews
// about it, and the replies in its thread.
func (a *Author) statements(pr forge.PullRequest, l verdict.Ledger) map[string][]quotation {
	said := map[string][]quotation{}
	raised := func(id, text string) {
		if len(said[id]) == 0 {
			said[id] = append(said[id], quotation{"finding " + id + " when it was raised", text})
		}
	}
	for _, t := range pull.FindingThreads(pr, a.Reviewers) {
		id := t.Finding
		raised(id, verdict.Plain(t.Comments[0].Body))
		for _, c := range t.Comments[1:] {
			said[id] = append(said[id], quotation{fmt.Sprintf("answer to finding %s by %s", id, c.Author.Login), verdict.Plain(c.Body)})
		}
	}
	// A finding without a place on a line is in a review, or in a comment that continues one.
	for _, text := range a.reviewed(pr) {
		for id, described := range verdict.Raised(text) {
			raised(id, described)
		}
	}
	for _, text := range a.reviewed(pr) {
		heading, _, _ := strings.Cut(strings.TrimLeft(text, "# "), "\n")
		for _, m := range again.FindAllStringSubmatch(verdict.Plain(text), -1) {
			said[m[2]] = append(said[m[2]], quotation{fmt.Sprintf("finding %s in the review %q", m[2], heading), m[1]})
		}
	}
	for _, e := range l.Outstanding() {
		if e.Said != nil && e.Said.Why != "" {
			said[e.ID] = slices.DeleteFunc(said[e.ID], func(q quotation) bool { return q.text == verdict.DisputeAnswer(e.Said.Why) })
			who := "an earlier fix"
			if e.Said.By != "" {
				who = e.Said.By
			}
			said[e.ID] = append(said[e.ID], quotation{fmt.Sprintf("what %s said against finding %s; its reviewer judged that it stands", who, e.ID),
				e.Said.Why})
		}
	}
	return said
}

// reviewed are the texts that contain the reviewers' findings, oldest first.
func (a *Author) reviewed(pr forge.PullRequest) (texts []string) {
	for _, r := range pr.Reviews {
		if verdict.ListsLogin(a.Reviewers, r.Author.Login) && r.EditedAt == nil {
			texts = append(texts, r.Body)
		}
	}
	for _, c := range pr.Comments {
		if verdict.ListsLogin(a.Reviewers, c.Author.Login) && c.EditedAt == nil {
			texts = append(texts, c.Body)
		}
	}
	return texts
}

// convention matches the names of files that say how code is written in a repository.
var convention = lazyregexp.New(`(?i)^(contributing(\.\w+)?|agents\.md|claude\.md|\.editorconfig|\.golangci\..+|\.eslintrc.*` +
	`|eslint\.config\..+|\.prettierrc.*|biome\.jsonc?` +
	`|\.?ruff\.toml|pyproject\.toml|setup\.cfg|tox\.ini|\.flake8|\.rubocop\.yml|\.?rustfmt\.toml|\.?clippy\.toml|detekt\.yml` +
	`|\.pre-commit-config\.yaml|makefile)$`)

const (
	// maxConventions bounds the number of convention files that a session is told about. maxConvention is the
	// size, in bytes, up to which it is told to read a file completely.
	maxConventions = 30
	maxConvention  = 64 << 10
)

// conventions are the files of the base that say how code is written there, and those of them that are too
// long to be read completely. The session reads them itself.
func conventions(ctx context.Context, tree *worktree.Tree, base string) (files, long []string, err error) {
	for _, dir := range []string{".", ".github", "docs"} {
		names, err := tree.ReadDir(ctx, base, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("look for the repository's conventions: %w", err)
		}
		for _, name := range names {
			if convention.MatchString(name) {
				files = append(files, path.Join(dir, name))
			}
		}
	}
	// Files for people come before settings.
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	files = files[:min(len(files), maxConventions)]
	for _, name := range files {
		content, err := tree.ReadFile(ctx, base, name) // a link that cannot be read is still listed
		if len(content) > maxConvention || errors.Is(err, worktree.ErrTooLarge) {
			long = append(long, name)
		}
	}
	return files, long, ctx.Err()
}

func rank(convention string) int {
	if path.Ext(convention) == ".md" {
		return 0
	}
	return 1
}

// maxTried bounds how many earlier fixes are quoted.
const maxTried = 3

// learn adds to the brief what the worktree and the settings say.
func (r *repair) learn(ctx context.Context, pr forge.PullRequest) (err error) {
	b := &r.brief
	b.allow, b.verify = r.author.Settings.Present().Allow, r.verify.Command
	if b.conventions, b.long, err = conventions(ctx, r.tree, pr.Base.SHA); err != nil {
		return err
	}
	if b.subjects, err = r.tree.Subjects(ctx, pr.Base.SHA); err != nil {
		return err
	}
	commits, err := r.tree.Log(ctx)
	if err != nil {
		return err
	}
	for _, message := range commits {
		if _, ok := verdict.ParseRepair(message); ok && len(b.tried) < maxTried {
			b.tried = append(b.tried, "This was committed, and reviewed after:\n"+verdict.Readable(message))
		}
	}
	slices.Reverse(b.tried)
	if r.author.Tried != nil {
		b.tried = append(b.tried, r.author.Tried(pr)...)
	}
	b.changes, err = changes(ctx, r.tree)
	return err
}

// changes is the pull request's diff, with whole functions around the changes unless that is too long. It is
// empty if the branch conflicts with the base.
func changes(ctx context.Context, tree *worktree.Tree) (string, error) {
	text := ""
	for _, read := range []func(context.Context) (diff.Diff, error){tree.DiffFunctions, tree.Diff} {
		diff, err := read(ctx)
		if errors.Is(err, worktree.ErrUnmergeable) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		var b strings.Builder
		for _, f := range diff.Files {
			b.Write(f.Patch)
		}
		if text = b.String(); len(text) <= maxChanges {
			break
		}
	}
	return text, nil
}

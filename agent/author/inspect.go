package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/verdict/guard"
	"touchstone/worktree"
)

// ownChange is what a session changed: what differs from the tree that it began with.
// In files with conflicts, which it resolved, that is what differs from the branch and
// from the base as well, since what one of them has is not the session's.
type ownChange struct {
	tree *worktree.Tree
	// since is the commit or tree that the session began with.
	since string
	// conflicts are the files that git could not merge, sides the commits they came from.
	conflicts, sides []string
	// head is where this program left HEAD.
	head string
}

// inspect says why what the session left in the tree must not be pushed. It fails
// closed: a change that cannot be read is not pushed either. Where the change is all
// the session's, it gives it a name, and the one that would take it back.
func (c ownChange) inspect(ctx context.Context) (change, undoes string, err error) {
	head, err := c.tree.Head(ctx)
	if err != nil {
		return "", "", err
	}
	if head != c.head {
		return "", "", fmt.Errorf("%w: it made commits of its own, which only this program does", ErrForbidden)
	}
	marked, err := c.tree.ConflictMarkers(ctx)
	if err != nil {
		return "", "", uncommittable(ctx, err)
	}
	if len(marked) > 0 {
		return "", "", fmt.Errorf("%w: %s", ErrConflicts, strings.Join(marked, ", "))
	}
	diffs, err := c.diffs(ctx)
	if err != nil {
		return "", "", err
	}
	if len(diffs) == 1 && len(diffs[0].Files) > 0 {
		change, undoes = names(diffs[0])
	}
	if err := forbidden(diffs); err != nil {
		return "", "", err
	}
	if err := errors.Join(c.relaxed(ctx, diffs), c.renamed(ctx, diffs)); err != nil {
		return "", "", err
	}
	return change, undoes, written(diffs)
}

// uncommittable is git's complaint about what is in the tree, unless it was only stopped.
func uncommittable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUncommittable, err)
}

// diffs are what the session changed, as seen from each commit that it may be seen from:
// what is in all of them is its own.
func (c ownChange) diffs(ctx context.Context) ([]worktree.Diff, error) {
	own, err := c.diff(ctx, c.since)
	if err != nil || len(c.conflicts) == 0 {
		return []worktree.Diff{own}, err
	}
	own.Files = slices.DeleteFunc(own.Files, func(f worktree.FileDiff) bool { return slices.Contains(c.conflicts, f.Path) })
	var diffs []worktree.Diff
	for _, side := range c.sides {
		diff, err := c.diff(ctx, side)
		if err != nil {
			return nil, err
		}
		diff.Files = slices.DeleteFunc(diff.Files, func(f worktree.FileDiff) bool {
			return !slices.Contains(c.conflicts, f.Path) && !slices.Contains(c.conflicts, f.OldPath)
		})
		diff.Files = slices.Concat(own.Files, diff.Files)
		diffs = append(diffs, diff)
	}
	return diffs, nil
}

func (c ownChange) diff(ctx context.Context, since string) (worktree.Diff, error) {
	diff, err := c.tree.DiffWorking(ctx, since)
	if err != nil {
		return diff, uncommittable(ctx, err)
	}
	if diff.Truncated {
		return diff, fmt.Errorf("%w: the session changed more than can be looked through", ErrForbidden)
	}
	return diff, nil
}

// secretFile matches names of files that hold credentials, of which a model has
// nothing to write.
var secretFile = regexp.MustCompile(`(?i)(?:^|/)(?:\.env(?:\.[^/]+)?|[^/]+\.(?:pem|key|p12|pfx|jks|keystore)|id_(?:rsa|dsa|ecdsa|ed25519)|\.npmrc|\.pypirc|\.netrc|credentials(?:\.[^/]+)?|secrets?\.(?:ya?ml|json|toml|env))$`)

// exampleFile matches those that only show how such a file looks.
var exampleFile = regexp.MustCompile(`(?i)\.(?:example|sample|template|dist)$|(?:^|/)(?:testdata|fixtures)/`)

// forbidden refuses changes of the rules that the session is judged by, and of files
// that hold credentials.
func forbidden(diffs []worktree.Diff) error {
	for _, f := range diffs[0].Files {
		if !slices.ContainsFunc(diffs, func(d worktree.Diff) bool { return !touches(d, f.Path) }) {
			for _, name := range []string{f.Path, f.OldPath} {
				if strings.HasPrefix(name, ".touchstone/") || secretFile.MatchString(name) && !exampleFile.MatchString(name) {
					return fmt.Errorf("%w: %s", ErrForbidden, name)
				}
			}
		}
	}
	return nil
}

func touches(d worktree.Diff, name string) bool {
	return slices.ContainsFunc(d.Files, func(f worktree.FileDiff) bool { return f.Path == name || f.OldPath == name })
}

// relaxed refuses a change that lowers the quality bar: who repairs a finding by
// silencing what found it has repaired nothing.
func (c ownChange) relaxed(ctx context.Context, diffs []worktree.Diff) error {
	var own []guard.Hit
	for i, diff := range diffs {
		sides, err := c.tree.Sides(ctx, diff, guard.Examines, guard.MaxFile)
		if err != nil {
			return err
		}
		var change guard.Change
		for _, s := range sides {
			change.Files = append(change.Files, guard.File(s))
		}
		hits := guard.Examine(change)
		if i > 0 {
			hits = slices.DeleteFunc(own, func(h guard.Hit) bool {
				return !slices.ContainsFunc(hits, func(o guard.Hit) bool { return o.Kind == h.Kind && o.Path == h.Path && o.After == h.After })
			})
		}
		own = hits
	}
	if len(own) == 0 {
		return nil
	}
	var lines []string
	for _, h := range own[:min(len(own), 5)] {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", h.Path, h.Line, h.Why))
	}
	return fmt.Errorf("%w: %s", ErrRelaxed, strings.Join(lines, "; "))
}

// deferral is a note that something is left for later.
var deferral = regexp.MustCompile(`\b(?:TODO|FIXME|XXX|HACK)\b`)

// secretUse is a line by which a pipeline gets at credentials, or at more of them. It
// errs on the side of a person: a word is enough, whatever stands around it, since there
// are too many ways to write the same in YAML and in expressions, which have no case
// (https://docs.github.com/actions/reference/workflows-and-actions/contexts).
var secretUse = regexp.MustCompile(`(?i)secret|credential|access_?token` +
	`|\bgithub\s*(?:\.\s*(?:token\b|\*)|[\[)]|$)` + // github.token, github['token'], toJSON(github)
	`|\b(?:pull_request_target|workflow_run)\b` +
	`|(?:^|[\s{,?-])["']?(?:permissions|environment)["']?\s*:` +
	`|:\s*["']?write(?:-all)?["']?\s*(?:[#,}]|$)` +
	`|\\[xu][0-9a-f]{2}`) // any of them, spelled in numbers

// renamed refuses a file that becomes a pipeline by its new name and gets at credentials:
// it need not have a new line for that.
func (c ownChange) renamed(ctx context.Context, diffs []worktree.Diff) error {
	var become worktree.Diff
	for _, f := range diffs[0].Files {
		if f.Status == "renamed" && isPipeline(f.Path) && !isPipeline(f.OldPath) {
			become.Files = append(become.Files, f)
		}
	}
	sides, err := c.tree.Sides(ctx, become, isPipeline, guard.MaxFile)
	if err != nil {
		return err
	}
	for _, s := range sides {
		for line := range bytes.Lines(s.After) {
			if secretUse.Match(bytes.TrimRight(line, "\r\n")) {
				return fmt.Errorf("%w: %s was moved to %s, where its line %.200q gets a pipeline at credentials", ErrForbidden, s.OldPath, s.Path, line)
			}
		}
		if s.Unread {
			return fmt.Errorf("%w: %s was moved to %s, and is too large to be looked through as a pipeline", ErrForbidden, s.OldPath, s.Path)
		}
	}
	return nil
}

// written refuses lines that the session added although no repair needs them: notes
// that defer the work, credentials, and pipelines that use them.
func written(diffs []worktree.Diff) error {
	for _, f := range diffs[0].Files {
		for _, line := range ownLines(diffs, f.Path) {
			switch {
			case deferral.MatchString(line):
				return fmt.Errorf("%w: %s has the new line %.200q", ErrDeferred, f.Path, line)
			case forge.HoldsSecret(line):
				return fmt.Errorf("%w: a new line of %s looks like a credential", ErrForbidden, f.Path)
			case isPipeline(f.Path) && secretUse.MatchString(line):
				return fmt.Errorf("%w: %s has the new line %.200q, by which a pipeline gets at credentials", ErrForbidden, f.Path, line)
			}
		}
	}
	return nil
}

// pipelineFile matches the names of what the usual CI systems run of a repository.
var pipelineFile = regexp.MustCompile(`(?i)(?:^|/)(?:\.(?:github|gitea|forgejo|gitlab|circleci|buildkite)/` +
	`|\.woodpecker(?:/|\.ya?ml$)|\.(?:gitlab-ci|drone|travis|cirrus)\.ya?ml$|appveyor\.ya?ml$|action\.ya?ml$` +
	`|jenkinsfile[^/]*$|azure-pipelines[^/]*\.ya?ml$|bitbucket-pipelines\.ya?ml$)`)

func isPipeline(name string) bool {
	return pipelineFile.MatchString(name) && !strings.EqualFold(path.Ext(name), ".md")
}

// ownLines are the lines of a file that every diff adds and that were not merely
// moved within it.
func ownLines(diffs []worktree.Diff, name string) []string {
	var own []string
	for i, d := range diffs {
		var added []string
		for _, f := range d.Files {
			if f.Path == name {
				added = append(added, addedLines(f.Patch)...)
			}
		}
		if i == 0 {
			own = added
			continue
		}
		own = slices.DeleteFunc(own, func(line string) bool { return !slices.Contains(added, line) })
	}
	return own
}

// addedLines are the lines that a patch adds and does not take away elsewhere.
func addedLines(patch []byte) []string {
	var added []string
	removed := map[string]int{}
	inHunk := false
	for line := range bytes.Lines(patch) {
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case strings.HasPrefix(text, "@@ "):
			inHunk = true
		case strings.HasPrefix(text, "diff --git "):
			inHunk = false
		case inHunk && strings.HasPrefix(text, "+"):
			added = append(added, text[1:])
		case inHunk && strings.HasPrefix(text, "-"):
			removed[strings.TrimSpace(text[1:])]++
		}
	}
	return slices.DeleteFunc(added, func(line string) bool {
		removed[strings.TrimSpace(line)]--
		return removed[strings.TrimSpace(line)] >= 0
	})
}

// refused reports whether an error is about what the session left, so that telling
// it can help.
func refused(err error) bool {
	return slices.ContainsFunc([]error{ErrForbidden, ErrConflicts, ErrRelaxed, ErrDeferred, ErrUnverified, ErrUncommittable, ErrNothingChanged},
		func(kind error) bool { return errors.Is(err, kind) })
}

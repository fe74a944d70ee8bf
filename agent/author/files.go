package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"touchstone/agent/forge"
	"touchstone/verdict/guard"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// secretFile matches the names of files that hold credentials. A model has no reason to write them.
var secretFile = lazyregexp.New(`(?i)(?:^|/)(?:\.env(?:\.[^/]+)?|[^/]+\.(?:pem|key|p12|pfx|jks|keystore)|id_(?:rsa|dsa|ecdsa` +
	`|ed25519)|\.npmrc|\.pypirc|\.netrc|credentials(?:\.[^/]+)?|secrets?\.(?:ya?ml|json|toml|env))$`)

// exampleFile matches files that only show what such a file looks like.
var exampleFile = lazyregexp.New(`(?i)\.(?:example|sample|template|dist)$|(?:^|/)(?:testdata|fixtures)/`)

// forbidden rejects changes to the rules that the session is judged by, files that hold credentials, links
// out of the repository, and new binary files.
func forbidden(diffs []diff.Diff) error {
	for _, f := range ownFiles(diffs) {
		for _, name := range []string{f.Path, f.OldPath} {
			if name == ".touchstone" || strings.HasPrefix(name, ".touchstone/") || secretFile.MatchString(name) && !exampleFile.MatchString(name) {
				return fmt.Errorf("%w: %s", ErrForbidden, name)
			}
		}
		switch {
		case (f.Status == "added" || f.Status == "renamed") && forge.HoldsSecret(f.Path):
			return fmt.Errorf("%w: the name of a new file in %s looks like a credential", ErrForbidden, path.Dir(f.Path))
		case f.NewMode == linkMode && leadsOut(f):
			return fmt.Errorf("%w: %s is a symbolic link to a place outside of the repository", ErrForbidden, f.Path)
		case f.Status == "added" && f.Binary:
			return fmt.Errorf("%w: %s is a new binary file; a fix needs none: delete it", ErrForbidden, f.Path)
		}
	}
	return nil
}

// linkMode is git's file mode for symbolic links.
const linkMode = "120000"

// leadsOut reports whether an added or changed link points outside the repository by its own text: its target is the
// added line of its patch.
func leadsOut(f diff.File) bool {
	return slices.ContainsFunc(addedLines(f.Patch), func(target string) bool { return outside(f.Path, target) })
}

// outside reports whether a link's target is outside of the repository by its text.
func outside(link, target string) bool {
	to := path.Join(path.Dir(link), target)
	return path.IsAbs(target) || to == ".." || strings.HasPrefix(to, "../")
}

// links rejects added and changed links that lead out of the repository by way of other links, and those by way of which others
// do now. What it cannot follow, except for a link to what does not exist, it rejects too.
func (c ownChange) links(ctx context.Context, diffs []diff.Diff, snapshot string) error {
	root, err := os.OpenRoot(c.tree.Dir())
	if err != nil {
		return err
	}
	defer root.Close() // only a handle
	own := map[string]bool{}
	for _, f := range ownFiles(diffs) {
		if f.NewMode != linkMode {
			continue
		}
		if own[f.Path] = true; leadsOut(f) {
			continue
		}
		if _, err := root.Stat(filepath.FromSlash(f.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s is a symbolic link that leads out of the repository by way of another, in a circle, or through a file",
				ErrForbidden, f.Path)
		}
	}
	if len(own) == 0 {
		return nil
	}
	all, err := c.tree.LinkPaths(ctx, snapshot)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		target, err := root.Readlink(filepath.FromSlash(name))
		if own[name] || err != nil || outside(name, target) {
			continue // whoever made a link that leads out by itself did so before
		}
		_, err = root.Stat(filepath.FromSlash(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("%w: the symbolic link %s leads out of the repository by way of a link that is new or changed", ErrForbidden, name)
		}
	}
	return nil
}

// binaries rejects credentials that the session put into files for which git shows no lines.
func (c ownChange) binaries(ctx context.Context, diffs []diff.Diff) error {
	changed := diff.Diff{Files: slices.DeleteFunc(ownFiles(diffs), func(f diff.File) bool { return !f.Binary })}
	sides, err := c.tree.Sides(ctx, changed, func(string) bool { return true }, guard.MaxFile)
	if err != nil {
		return err
	}
	for _, s := range sides {
		switch {
		case s.Unread:
			return fmt.Errorf("%w: %s is too large to check", ErrForbidden, s.Path)
		case forge.HoldsSecret(string(s.After)) && !forge.HoldsSecret(string(s.Before)):
			return fmt.Errorf("%w: %s contains what looks like a credential", ErrForbidden, s.Path)
		}
	}
	return nil
}

// ownFiles are the files that differ in every diff.
func ownFiles(diffs []diff.Diff) []diff.File {
	return slices.DeleteFunc(slices.Clone(diffs[0].Files), func(f diff.File) bool {
		return slices.ContainsFunc(diffs, func(d diff.Diff) bool { return !touches(d, f.Path) })
	})
}

func touches(d diff.Diff, name string) bool {
	return slices.ContainsFunc(d.Files, func(f diff.File) bool { return f.Path == name || f.OldPath == name })
}

// pipelineFile matches the names of files that common CI systems run from a repository.
var pipelineFile = lazyregexp.New(`(?i)(?:^|/)(?:\.(?:github|gitea|forgejo|gitlab|circleci|buildkite)/` +
	`|\.woodpecker(?:/|\.ya?ml$)|\.(?:gitlab-ci|drone|travis|cirrus)\.ya?ml$|appveyor\.ya?ml$|action\.ya?ml$` +
	`|jenkinsfile[^/]*$|azure-pipelines[^/]*\.ya?ml$|bitbucket-pipelines\.ya?ml$)`)

func isPipeline(name string) bool {
	return pipelineFile.MatchString(name) && !strings.EqualFold(path.Ext(name), ".md")
}

// renamed rejects a file whose new name makes it a pipeline and that uses credentials: no line needs to be
// new for that.
func (c ownChange) renamed(ctx context.Context, diffs []diff.Diff) error {
	var become diff.Diff
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
				return fmt.Errorf("%w: %s was moved to %s, where its line %.200q gives a pipeline access to credentials", ErrForbidden,
					s.OldPath, s.Path, line)
			}
		}
		if s.Unread {
			return fmt.Errorf("%w: %s was moved to %s, and is too large to check as a pipeline", ErrForbidden, s.OldPath, s.Path)
		}
	}
	return nil
}

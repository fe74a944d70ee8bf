// Package bare owns the bare git repositories of a simulated GitHub: it owns their files on disk, serves git
// over HTTP from them, and reads, compares, creates and merges commits. It knows nothing of accounts, rights or
// pull requests.
package bare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Repo is one bare repository.
type Repo struct {
	*history
	// Dir is the repository's directory.
	Dir  string
	path string // of the git executable
}

// Open returns the repository in a directory; call [Repo.Init] if it does not exist yet. Path is the git
// executable's; now returns the time of new commits.
func Open(path, dir string, now func() time.Time) Repo {
	return Repo{
		history: &history{dir: dir, Now: now, commits: map[string]Commit{}, comparisons: map[[2]string]*Comparison{}}, Dir: dir, path: path,
	}
}

// ZeroSHA stands for "no such ref" in git's and GitHub's protocols.
const ZeroSHA = "0000000000000000000000000000000000000000"

// gitConfig lets clients fetch any commit, as GitHub does, prevents pushes to the refs of pull requests, and
// trades durability for speed.
const gitConfig = `[core]
	repositoryformatversion = 0
	bare = true
	fsync = none
[http]
	receivepack = true
[receive]
	hideRefs = refs/pull
	autogc = false
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
[gc]
	auto = 0
[maintenance]
	auto = false
`

// Init creates the repository, empty or as a copy of another directory's, like git init.
// https://git-scm.com/docs/gitrepository-layout
func (g Repo) Init(ctx context.Context, from string) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(g.Dir, filepath.FromSlash(dir)), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": gitConfig} {
		if err := os.WriteFile(filepath.Join(g.Dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if from == "" {
		return nil
	}
	if _, err := g.Run(ctx, "fetch", "--quiet", from, "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"); err != nil {
		return fmt.Errorf("copy repository %s: %w", from, err)
	}
	return nil
}

// gitEnv returns the environment of a child git: without the user's configuration, and with trust in
// repositories of other users.
func gitEnv(extra ...string) []string {
	env := []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, extra...)
}

// Run runs git and returns its standard output without the last newline.
func (g Repo) Run(ctx context.Context, args ...string) (string, error) {
	out, err := g.RunWith(ctx, nil, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// RunWith runs git with additional variables, and returns its standard output unchanged.
func (g Repo) RunWith(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, g.path, append([]string{"--git-dir=" + g.Dir}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, gitEnv(env...)
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// Refs returns every ref and the object that it points to. It reads git's own files: one per ref, whose name
// ends in .lock while it is being written, and packed-refs for the others.
// https://git-scm.com/docs/gitrepository-layout
func (g Repo) Refs() (map[string]string, error) {
	refs := map[string]string{}
	err := filepath.WalkDir(filepath.Join(g.Dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return present(err)
		}
		text, err := os.ReadFile(path)
		name, nameErr := filepath.Rel(g.Dir, path)
		if sha := strings.TrimSpace(string(text)); plumbing.IsHash(sha) {
			refs[filepath.ToSlash(name)] = sha
		}
		return errors.Join(present(err), nameErr)
	})
	packed, packedErr := os.ReadFile(filepath.Join(g.Dir, "packed-refs"))
	for line := range strings.Lines(string(packed)) {
		if sha, ref, _ := strings.Cut(strings.TrimSpace(line), " "); plumbing.IsHash(sha) && refs[ref] == "" {
			refs[ref] = sha
		}
	}
	return refs, errors.Join(err, present(packedErr))
}

// present returns err, unless it reports that a file does not exist, or no longer exists.
func present(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// PutRef sets one of the simulator's own refs, which no push can change, to a commit.
func (g Repo) PutRef(ref, sha string) error {
	return g.lockedRef(ref, func() (string, error) { return sha, nil })
}

// UpdateRef moves ref from before to after; "" for either means no such ref. It fails if the ref is not at
// before.
func (g Repo) UpdateRef(ctx context.Context, ref, after, before string) error {
	if after == "" {
		_, err := g.Run(ctx, "update-ref", "-d", ref, before)
		return err
	}
	return g.lockedRef(ref, func() (string, error) {
		refs, err := g.Refs()
		if err == nil && refs[ref] != before {
			err = fmt.Errorf("%s is at %q and not at %q", ref, refs[ref], before)
		}
		return after, err
	})
}

// lockedRef sets a ref to what decide returns, under the lock that git uses for it.
func (g Repo) lockedRef(ref string, decide func() (sha string, err error)) error {
	path := filepath.Join(g.Dir, filepath.FromSlash(ref))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	sha, err := decide()
	if err == nil {
		_, err = lock.WriteString(sha + "\n")
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return errors.Join(err, os.Remove(lock.Name()))
	}
	return os.Rename(lock.Name(), path)
}

// MergeTree merges head into base and returns the tree, or "" on a conflict.
func (g Repo) MergeTree(ctx context.Context, base, head string) (string, error) {
	common, err := g.MergeBase(base, head)
	if err != nil {
		return "", err
	}
	// If one commit contains the other, the descendant is the result of the merge.
	for _, of := range [][2]string{{base, head}, {head, base}} {
		if common == of[0] {
			merged, err := g.Commit(of[1])
			return merged.Tree, err
		}
	}
	out, err := g.Run(ctx, "merge-tree", "--write-tree", "--no-messages", base, head)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", nil
	}
	return out, err
}

// Write commits files to branch, whose tip is parent, or "" for a new branch. A file with an empty text is
// deleted.
func (g Repo) Write(ctx context.Context, branch, parent, ident, message string, files map[string]string) (string, error) {
	ref := "refs/heads/" + branch
	refs, err := g.Refs()
	if err != nil {
		return "", err
	}
	var parents []string
	tree := ""
	if parent != "" {
		on, err := g.Commit(parent)
		if err != nil {
			return "", err
		}
		parents, tree = []string{parent}, on.Tree
	}
	if refs[ref] != "" && refs[ref] != parent {
		return "", fmt.Errorf("%s is at %s and not at %q", ref, refs[ref], parent)
	}
	if tree, err = g.edit(tree, files); err != nil {
		return "", err
	}
	sha, err := g.CommitTree(tree, ident, ident, message, parents...)
	if err != nil {
		return "", err
	}
	return sha, g.UpdateRef(ctx, ref, sha, refs[ref])
}

// Checkout writes the files of sha into dir, without a .git.
func (g Repo) Checkout(ctx context.Context, sha, dir string) error {
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, ".git-index")}
	if _, err := g.RunWith(ctx, index, "read-tree", sha); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(dir, ".git-index"))
	_, err := g.RunWith(ctx, index, "--work-tree="+dir, "checkout-index", "--all", "--force")
	return err
}

// Fetch copies a commit and its history from another repository.
func (g Repo) Fetch(ctx context.Context, from Repo, sha string) error {
	_, err := g.Run(ctx, "fetch", "--quiet", "--no-tags", from.Dir, sha)
	return err
}

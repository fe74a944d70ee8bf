package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"touchstone/worktree/gitcmd"
)

// maxMessage bounds a commit message, in bytes.
const maxMessage = 64 << 10

func (id Identity) validate() error {
	if strings.TrimSpace(id.Name) == "" || strings.TrimSpace(id.Email) == "" ||
		strings.ContainsAny(id.Name+id.Email, "\r\n\x00<>") {
		return fmt.Errorf("identity %q <%s>: needs a name and an address, each on one line and without angle brackets", id.Name, id.Email)
	}
	return nil
}

func (id Identity) environ() []string {
	return []string{"GIT_AUTHOR_NAME=" + id.Name, "GIT_AUTHOR_EMAIL=" + id.Email,
		"GIT_COMMITTER_NAME=" + id.Name, "GIT_COMMITTER_EMAIL=" + id.Email}
}

func checkMessage(message string) error {
	if strings.TrimSpace(message) == "" {
		return errors.New("commit message: is empty")
	}
	if len(message) > maxMessage || strings.ContainsRune(message, 0) {
		return fmt.Errorf("commit message: must be at most %d bytes without NUL", maxMessage)
	}
	return nil
}

// Commit records everything in the tree, including new files and excluding ignored ones, and returns the new
// commit's SHA. It concludes a merge, but does not look for conflict markers: ConflictMarkers does.
//
// Errors: ErrNothingToCommit; a sentence if the tree contains a git repository, which git would record as a
// submodule without its files, or content in place of a Git LFS pointer.
func (t *Tree) Commit(ctx context.Context, message string, author Identity) (string, error) {
	return t.record(ctx, message, author, "HEAD", func() bool { return exists(filepath.Join(t.git.Dir, "MERGE_HEAD")) })
}

// Amend is like Commit but replaces the last commit and keeps its parents. The author and date of the
// replaced commit are not kept: the new commit is dated now.
//
// Errors: those of Commit; ErrNothingToCommit if the new commit would change nothing.
func (t *Tree) Amend(ctx context.Context, message string, author Identity) (string, error) {
	merges := func() bool {
		_, err := t.git.Output(ctx, "rev-parse", "--verify", "--quiet", "HEAD^2")
		return err == nil
	}
	return t.record(ctx, message, author, "HEAD^", merges, "--amend", "--reset-author")
}

// record commits the whole tree on a parent. A commit without changes must be a merge.
func (t *Tree) record(
	ctx context.Context, message string, author Identity, parent string, merges func() bool, flags ...string,
) (string, error) {
	if err := errors.Join(checkMessage(message), author.validate()); err != nil {
		return "", err
	}
	if err := t.stage(ctx, nil); err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	out, err := t.git.Output(ctx, "diff-index", "--cached", "-z", "--no-renames", "--no-abbrev", parent)
	if err == nil {
		err = t.keepPointers(ctx, splitNames(out))
	}
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	if len(out) == 0 && !merges() {
		return "", ErrNothingToCommit
	}
	// Git takes the author from the commit that somebody began to pick, and amends none meanwhile.
	for _, name := range inProgress {
		if name == "MERGE_HEAD" {
			continue // the commit concludes it
		}
		if err := os.RemoveAll(filepath.Join(t.git.Dir, name)); err != nil {
			return "", fmt.Errorf("commit: %w", err)
		}
	}
	args := append([]string{"commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status", "--allow-empty", "--cleanup=verbatim",
		"--file=-"}, flags...)
	if err := t.git.Run(ctx, gitcmd.Command{Env: author.environ(), Stdin: strings.NewReader(message), Args: args}); err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return t.Head(ctx)
}

// stage puts the whole tree into the index, or into another index named by env. It refuses repositories
// inside the tree: at the path of a submodule, where git would run commands under that repository's own
// configuration (submodules are never checked out here, so the session created it), and anywhere else.
func (t *Tree) stage(ctx context.Context, env []string) error {
	entries, err := t.entries(ctx, env)
	if err == nil {
		err = t.reveal(ctx, env, entries)
	}
	if err != nil {
		return err
	}
	before := submodules(entries)
	for path := range before {
		if exists(filepath.Join(t.git.Tree, filepath.FromSlash(path), ".git")) {
			return fmt.Errorf("%q is a submodule that was checked out: submodules cannot be changed here", path)
		}
	}
	if err := t.add(ctx, env, entries); err != nil {
		return err
	}
	if entries, err = t.entries(ctx, env); err != nil {
		return err
	}
	for path := range submodules(entries) {
		if !before[path] {
			return fmt.Errorf("%q is a git repository inside the worktree: delete its .git to commit its files", path)
		}
	}
	return nil
}

// entries returns the entries of the index: git's mark, mode, SHA and stage, a tab, and the path.
func (t *Tree) entries(ctx context.Context, env []string) ([]string, error) {
	out, err := t.git.OutputOf(ctx, gitcmd.Command{Env: env, Args: []string{"ls-files", "-v", "--stage", "-z", "--full-name"}})
	return splitNames(out), err
}

// submodules returns the paths that the index records as submodules.
func submodules(entries []string) map[string]bool {
	found := map[string]bool{}
	for _, entry := range entries {
		if meta, path, _ := strings.Cut(entry, "\t"); strings.HasPrefix(meta[1:], " 160000 ") {
			found[path] = true
		}
	}
	return found
}

// Snapshot writes the tree's content, including untracked files and excluding ignored ones, to the object
// store and returns the SHA of the resulting git tree. The index stays as it is.
func (t *Tree) Snapshot(ctx context.Context) (_ string, err error) {
	tmp := filepath.Join(t.git.Dir, "snapshot-index")
	if err := copyFile(tmp, filepath.Join(t.git.Dir, "index")); err != nil {
		return "", fmt.Errorf("copy the index: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(tmp)) }()
	env := []string{"GIT_INDEX_FILE=" + tmp}
	if err := t.stage(ctx, env); err != nil {
		return "", err
	}
	out, err := t.git.OutputOf(ctx, gitcmd.Command{Env: env, Args: []string{"write-tree"}})
	return strings.TrimSpace(string(out)), err
}

// copyFile keeps the modification time: git compares it with the times of the entries to find those that may
// have changed unnoticed within the same second. See https://git-scm.com/docs/racy-git.
func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // only read from
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

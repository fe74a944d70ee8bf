package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5"

	"touchstone/worktree/gitcmd"
)

// Tree is one pull request's checkout, locked for the caller that acquired it. It is for one goroutine at a
// time, except for ReadFile, ReadDir, List, Submodules, Blobs and Sides: they read the mirror, change nothing
// that others see, and may run beside another call.
type Tree struct {
	home   home
	id     string
	req    Request
	mirror repo // for operations without files; reads no attributes of the pull request
	git    repo
	lock   *gitcmd.Lock
	// met is where the histories of base and head meet, squash the result of merging the pull request, merged
	// a commit with that tree; all are empty until first needed.
	met    meeting
	squash Squash
	merged string
	// objects is the mirror as ReadFile and ReadDir see it, opened by their first call. The library allows
	// one reader at a time, so a reader holds reading.
	reading sync.Mutex
	objects *git.Repository
	// unmarked are the conflicts of the last Merge in which git wrote no markers.
	unmarked map[string]bool
}

// Dir returns the absolute path of the checkout.
func (t *Tree) Dir() string { return t.git.Tree }

// Squash returns the result of a squash merge of the pull request into its base. Errors: ErrUnmergeable.
func (t *Tree) Squash(ctx context.Context) (Squash, error) {
	err := t.merge(ctx)
	return t.squash, err
}

// meet finds, once, where the histories of the pull request's base and head meet.
func (t *Tree) meet(ctx context.Context) (met meeting, err error) {
	if t.met.tree == "" {
		t.met, err = t.mirror.meet(ctx, t.req.Base, t.req.Head)
	}
	return t.met, err
}

// merge computes, once, the result of merging the pull request.
func (t *Tree) merge(ctx context.Context) error {
	if t.merged != "" {
		return nil
	}
	met, err := t.meet(ctx)
	if err != nil {
		return err
	}
	s, err := t.mirror.squashFrom(ctx, met, t.req.Base, t.req.Head)
	if err != nil {
		return err
	}
	t.squash, t.merged = s, s.Head
	if !s.contained {
		t.merged, err = t.mirror.commitMerge(ctx, s.Tree, s.Base, s.Head)
	}
	return err
}

// Head returns the SHA that is checked out now.
func (t *Tree) Head(ctx context.Context) (string, error) {
	// A detached HEAD is one line in a file; only a branch needs git to resolve it.
	if b, err := os.ReadFile(filepath.Join(t.git.Dir, "HEAD")); err == nil {
		if sha := strings.TrimSpace(string(b)); shaPattern.MatchString(sha) {
			return sha, nil
		}
	}
	return t.git.Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
}

// Release releases the lock and keeps the checkout for the next Acquire. The tree must not be used
// afterwards.
func (t *Tree) Release() error {
	if err := t.lock.Unlock(); err != nil {
		return fmt.Errorf("release %s: %w", t.id, err)
	}
	return nil
}

// checkOut brings the tree to head: it uses the existing tree, else the spare tree, else a new one. A tree
// that git cannot bring to head is moved aside.
func (t *Tree) checkOut(ctx context.Context, head string) error {
	for _, find := range []func(context.Context, string) (bool, error){t.takeOver, t.takeSpare} {
		found, err := find(ctx, head)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		err = t.reset(ctx, head)
		if err == nil || ctx.Err() != nil || DiskFault(err) {
			return err
		}
		if err := t.moveAside(); err != nil {
			return err
		}
	}
	return t.mirror.build(ctx, t.home, t.id, head)
}

// takeOver reports whether this tree exists and is sound, after setting aside the commits that only this tree
// holds. An unsound tree is moved aside.
func (t *Tree) takeOver(ctx context.Context, head string) (bool, error) {
	if !exists(t.git.Tree) && !exists(t.git.Dir) {
		return false, nil
	}
	sound := t.sound()
	if sound {
		err := t.keepCommits(ctx, head)
		if ctx.Err() != nil || DiskFault(err) {
			return false, cmp.Or(ctx.Err(), err)
		}
		sound = err == nil
	}
	if !sound {
		return false, t.moveAside()
	}
	return true, nil
}

// sound reports whether the tree and its administrative directory belong together. It repairs a .git file
// that was tampered with.
func (t *Tree) sound() bool {
	info, err := os.Lstat(t.git.Tree)
	if err != nil || !info.IsDir() || !exists(filepath.Join(t.git.Dir, "HEAD")) || !exists(filepath.Join(t.git.Dir, "index")) {
		return false
	}
	link := filepath.Join(t.git.Tree, ".git")
	if info, err := os.Lstat(link); err == nil && info.Mode().IsRegular() {
		if b, err := os.ReadFile(link); err == nil && string(b) == gitFile(t.git.Dir) {
			return true
		}
	}
	return writeFile(link, gitFile(t.git.Dir)) == nil
}

// gitFile returns the content of a linked worktree's .git file.
func gitFile(admin string) string { return "gitdir: " + filepath.ToSlash(admin) + "\n" }

// inProgress are the traces of an unfinished git operation.
var inProgress = []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer"}

// reset makes the tree identical to commit head, and sets its other content aside.
func (t *Tree) reset(ctx context.Context, head string) error {
	entries, err := t.entries(ctx, nil)
	if err == nil {
		err = t.reveal(ctx, nil, entries)
	}
	if err == nil {
		err = t.bringBack(ctx) // from a process that was killed meanwhile
	}
	if err != nil {
		return err
	}
	args := []string{"status", "--porcelain", "-z", "--no-renames",
		"--untracked-files=normal", "--ignored=traditional", "--ignore-submodules=dirty"}
	status, err := t.git.Output(ctx, args...)
	if DiskFault(err) {
		// Git also writes to the index what it learnt about the files, unless it is told not to.
		status, err = t.git.OutputOf(ctx, gitcmd.Command{Env: []string{"GIT_OPTIONAL_LOCKS=0"}, Args: args})
	}
	if err != nil {
		return err
	}
	dirty := false
	for entry := range strings.SplitSeq(string(status), "\x00") {
		dirty = dirty || entry != "" && !strings.HasPrefix(entry, "!!")
	}
	if dirty {
		if err := t.keepChanges(ctx); err != nil {
			return err
		}
	}
	unfinished := false
	for _, name := range inProgress {
		unfinished = unfinished || exists(filepath.Join(t.git.Dir, name))
	}
	at, err := os.ReadFile(filepath.Join(t.git.Dir, "HEAD"))
	if err != nil {
		return err
	}
	if dirty || unfinished || strings.TrimSpace(string(at)) != head {
		if err := t.overwrite(ctx, "checkout", "--quiet", "--force", "--detach", head); err != nil {
			return err
		}
	}
	// Always, since status does not list directories without a file, such as one that contains only a .git.
	if err := t.overwrite(ctx, "clean", "-ffdxq"); err != nil {
		return err
	}
	if err := t.removeNested(ctx); err != nil {
		return err
	}
	for _, name := range inProgress {
		if err := os.RemoveAll(filepath.Join(t.git.Dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// keepChanges sets the tree's uncommitted content aside as a commit.
func (t *Tree) keepChanges(ctx context.Context) error {
	tree, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	if is, err := t.git.Line(ctx, "rev-parse", "--verify", "HEAD^{tree}"); err != nil || is == tree {
		return err
	}
	me := Identity{"touchstone", "touchstone@localhost"}
	out, err := t.git.OutputOf(ctx, gitcmd.Command{Env: me.environ(),
		Args: []string{"commit-tree", "-p", "HEAD", "-m", "Left over in " + t.id, tree}})
	if err != nil {
		return err
	}
	return t.keep(ctx, strings.TrimSpace(string(out)))
}

// keepCommits sets the tree's commit aside if neither head ("" for none) nor any ref of the mirror contains
// it: it was committed but never pushed, or was overwritten since.
func (t *Tree) keepCommits(ctx context.Context, head string) error {
	at, err := t.Head(ctx)
	if err != nil || at == head {
		return err
	}
	args := []string{"rev-list", "--max-count=1", at, "--not", "--glob=refs/touchstone"}
	if head != "" {
		args = append(args, head)
	}
	lost, err := t.git.Line(ctx, args...)
	if err != nil || lost == "" {
		return err
	}
	return t.keep(ctx, at)
}

// keep gives a commit a ref below refs/touchstone/leftovers, so that git never collects it. The ref's name
// holds the tree and the time.
func (t *Tree) keep(ctx context.Context, commit string) error {
	name := leftoverRefs + t.id + "/" + timestamp()
	return t.git.Run(ctx, gitcmd.Command{Args: []string{"update-ref", name, commit}})
}

// timestampFormat is the time format at the end of leftovers' names, except for the point, which git does not
// accept everywhere.
const timestampFormat = "20060102-150405.000000000"

func timestamp() string {
	return strings.ReplaceAll(time.Now().UTC().Format(timestampFormat), ".", "-")
}

// setAside returns the time at the end of a leftover's name.
func setAside(name string) (time.Time, bool) {
	if len(name) < len(timestampFormat) {
		return time.Time{}, false
	}
	stamp := []byte(name[len(name)-len(timestampFormat):])
	stamp[strings.IndexByte(timestampFormat, '.')] = '.'
	at, err := time.Parse(timestampFormat, string(stamp))
	return at, err == nil
}

// broken is the prefix of the names of trees that git could not work with.
const broken = "broken-"

// moveAside moves a tree that git cannot work with out of the way, for a person to look at, and deletes its
// administrative directory.
func (t *Tree) moveAside() error {
	if exists(t.git.Tree) {
		if err := os.Rename(t.git.Tree, t.home.Tree(broken+t.id+"-"+timestamp())); err != nil {
			return fmt.Errorf("move a broken worktree aside: %w", err)
		}
	}
	return os.RemoveAll(t.git.Dir)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// splitNames splits git's -z output into fields.
func splitNames(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

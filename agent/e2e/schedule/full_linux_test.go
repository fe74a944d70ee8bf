package schedule

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/journal"
	"touchstone/verdict/decide"
	"touchstone/worktree"
	"touchstone/worktree/steps"
)

// disk is a small file system for the first machines.
type disk string

func mount(t *testing.T, dir string) disk {
	if err := errors.Join(os.MkdirAll(dir, 0o700), unix.Mount("tmpfs", dir, "tmpfs", 0, ample)); err != nil {
		t.Skip("SKIPPED, so that nothing is known of a full disk: this user mounts no file system: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk(dir)
}

// ample is the size of a disk that is not full.
const ample = "size=64m,nr_inodes=100000"

// limit returns the size of a disk with room for so many more pages or files than it has now.
type limit func(disk unix.Statfs_t, more uint64) string

func pages(disk unix.Statfs_t, more uint64) string {
	return fmt.Sprintf("size=%d", (disk.Blocks-disk.Bfree+more)*uint64(disk.Bsize))
}

func files(disk unix.Statfs_t, more uint64) string {
	return fmt.Sprintf("nr_inodes=%d", disk.Files-disk.Ffree+more)
}

func (d disk) leave(l limit, more uint64) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(string(d), &stat); err != nil {
		return err
	}
	return d.resize(l(stat, more))
}

func (d disk) resize(size string) error {
	return unix.Mount("tmpfs", string(d), "tmpfs", unix.MS_REMOUNT, size)
}

// TestAFullDiskAtEachWrite fills the disk of a reviewer and an author in the middle of a review and of the fix
// that follows. It leaves room for no page, for one, for two …, and the same for files, so that each of their
// writes in turn fails. The agents report the full disk, do not count the attempt, claim nothing untrue on
// GitHub, and continue to the merge by themselves once there is room again.
func TestAFullDiskAtEachWrite(t *testing.T) {
	t.Parallel()
	for what, l := range map[string]limit{"pages": pages, "files": files} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			fillAtEachWrite(t, l)
		})
	}
}

func fillAtEachWrite(t *testing.T, l limit) {
	dir := t.TempDir()
	d := mount(t, filepath.Join(dir, "first"))
	err := arena.Within(t.Context(), dir, func(ctx context.Context, a *arena.Arena) error {
		stage, err := NewStage(ctx, a, filepath.Join(string(d), "journals"))
		if err != nil {
			return err
		}
		stage.template, err = a.Template(ctx, map[string]string{"README.md": "# App\n", file: body("old"), ".touchstone/config.yaml": verifying})
		if err != nil {
			return err
		}
		refused := map[decide.Kind]int{}
		stride := uint64(8 * *every) // by how much the room grows on average
		for more, enough := uint64(0), false; !enough; more += 1 + rand.Uint64N(2*stride-1) {
			if err := steps.Try(func() { enough = stage.fillUp(ctx, t, d, l, more, refused) }); err != nil {
				return fmt.Errorf("with room for %d: %w", more, err)
			}
		}
		t.Logf("refused: %v", refused)
		if refused[decide.Review] == 0 || refused[decide.Fix] == 0 {
			t.Error("the disk was never full")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// verifying has a verify command that writes to its caches and its home.
const verifying = "verify:\n  command: [sh, -c, 'head -c 60000 /dev/zero > \"$GOCACHE/built\" && echo home > \"$HOME/home\"']\n"

// fillUp takes a pull request through one review and one fix with a limit on each, and then without a limit to
// its merge. It reports whether there was enough room for both.
func (s *Stage) fillUp(
	ctx context.Context, t *testing.T, d disk, l limit, more uint64, refused map[decide.Kind]int,
) (enough bool) {
	w := s.world(ctx, more)
	defer w.close()
	// Webhooks on their way read the machines.
	w.open(body("unsafe()"))
	steps.Must(w.Sim.Settle(ctx))
	w.machines = []*machine{w.machines[0], w.machines[2]}
	enough = true
	for _, m := range w.machines {
		m.random = nil
		temp := filepath.Join(string(d), "tmp")
		w.start(m)
		steps.Must(os.MkdirAll(temp, 0o700))
		m.agent.Reviewer.TempDir, m.agent.Author.TempDir = temp, temp
	}
	for i, kind := range []decide.Kind{decide.Review, decide.Fix} {
		m := w.machines[i]
		steps.Must(errors.Join(w.Sim.Settle(ctx), d.leave(l, more)))
		failed := w.doOnly(ctx, m, kind)
		steps.Must(d.resize(ample))
		if failed != nil {
			enough = false
			refused[kind]++
			t.Logf("with room for %d, a %s: %v", more, kind, failed)
			if !errors.Is(failed, journal.ErrUnwritten) && !worktree.DiskFault(failed) {
				t.Errorf("a %s with room for %d ends in %q, which does not say that the disk is full", kind, more, failed)
			}
			m.agent.Journal.Each(func(e journal.Entry) {
				if e.Outcome.Counts {
					t.Errorf("a %s with room for %d counts as an attempt: %+v", kind, more, e)
				}
			})
			w.act(ctx, m)
		}
	}
	w.finish()
	w.check()
	for _, role := range []string{"reviewer", "author"} {
		steps.Must(os.RemoveAll(filepath.Join(string(d), role, "worktrees")))
	}
	if len(w.result.Violations) > 0 || w.result.End != "merged" {
		t.Errorf("with room for %d: violations %q, stuck %q, end %q\n%s", more, w.result.Violations, w.result.Stuck, w.result.End,
			strings.Join(w.result.Steps, "\n"))
	}
	return enough
}

// doOnly makes a machine look and do what it decides, which must be of this kind.
func (w *world) doOnly(ctx context.Context, m *machine, kind decide.Kind) error {
	pr, action, err := m.agent.Look(ctx, w.Ref)
	if err == nil && action.Kind != kind {
		return fmt.Errorf("it decides to %s, want %s: %s", action.Kind, kind, action.Reason)
	}
	if err == nil {
		_, err = m.agent.Act(ctx, pr, action)
	}
	w.note("  %s with little room: %s: %v", m, action.Kind, err)
	return err
}

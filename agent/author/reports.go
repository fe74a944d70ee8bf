package author

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/rs/zerolog"

	"touchstone/agent/engine/session"
	"touchstone/verdict/guard/junit"
)

const (
	// maxReports bounds the test reports of one commit.
	maxReports = 5_000
	// maxKept bounds for how many base commits of a repository the reports are kept.
	maxKept = 8
)

// tested are the reports of one run of the verify command, or the reason why they cannot be read.
type tested struct {
	reports [][]byte
	unread  error
}

// unusable says why the reports cannot be compared, or is nil.
func (t tested) unusable() error {
	if t.unread == nil && len(t.reports) == 0 {
		return errors.New("the verify command writes none")
	}
	if t.unread != nil {
		return t.unread
	}
	_, err := junit.Read(t.reports, nil)
	return err
}

// keptReports is the directory of the reports of the base commit. It is next to the base's caches, where the
// repository's commands cannot write from their sandbox.
func (r *repair) keptReports() string {
	return filepath.Join(session.BaseCaches(r.tree.Dir())+"-reports", r.begun.Base.SHA)
}

// keepReports stores the reports of a run on the base, and deletes the oldest ones. Unreadable reports are
// stored as none, since another run would not make them readable.
func (r *repair) keepReports(ctx context.Context, t tested) (err error) {
	if t.unread != nil {
		zerolog.Ctx(ctx).Warn().Err(t.unread).Msg("the base's test reports are not kept")
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep the base's test reports: %w", err)
		}
	}()
	kept := r.keptReports()
	all := filepath.Dir(kept)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return err
	}
	part, err := os.MkdirTemp(all, "part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part) // does nothing after the rename
	for i, report := range t.reports {
		if err := os.WriteFile(filepath.Join(part, strconv.Itoa(i)), report, 0o600); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(kept), os.Rename(part, kept), forgetOldest(all))
}

// forgetOldest deletes all but the maxKept newest entries of a directory.
func forgetOldest(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= maxKept {
		return err
	}
	made := func(e fs.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{} // already deleted
		}
		return info.ModTime()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Or(made(a).Compare(made(b)), strings.Compare(a.Name(), b.Name()))
	})
	for _, e := range entries[:len(entries)-maxKept] {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// findReports calls do for each regular file below a directory that matches a pattern. It follows no links.
func findReports(dir string, patterns []string, do func(root *os.Root, name string) error) error {
	if len(patterns) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("look for test reports: %w", err)
	}
	defer root.Close() // only a handle
	found := map[string]bool{}
	for _, pattern := range patterns {
		err := doublestar.GlobWalk(root.FS(), pattern, func(name string, e fs.DirEntry) error {
			if !e.Type().IsRegular() || found[name] {
				return nil
			}
			if found[name] = true; len(found) > maxReports {
				return fmt.Errorf("there are more than %d", maxReports)
			}
			return do(root, name)
		}, doublestar.WithNoFollow())
		if err != nil {
			return err
		}
	}
	return nil
}

// errCommitted says that the patterns match what a run does not make.
var errCommitted = errors.New("verify.reports matches a file that is committed, which is no report of a run; choose narrower patterns")

// clearReports deletes the files that match, which an earlier run made. Committed files stay, since the command and the
// commit need them; then the error is errCommitted.
func clearReports(dir string, patterns []string, committed map[string]bool) error {
	first := ""
	err := findReports(dir, patterns, func(root *os.Root, name string) error {
		if committed[name] {
			first = cmp.Or(first, name)
			return nil
		}
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("delete an earlier test report: %w", err)
		}
		return nil
	})
	if err == nil && first != "" {
		err = fmt.Errorf("%w: %.200q", errCommitted, first)
	}
	return err
}

func readReports(dir string, patterns []string) (t tested) {
	t.unread = findReports(dir, patterns, func(root *os.Root, name string) error {
		file, err := root.Open(name)
		if err != nil {
			return err
		}
		defer file.Close() // only read from
		t.reports, err = junit.Append(t.reports, file)
		return err
	})
	return t
}

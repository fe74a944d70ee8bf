package journal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAFullDiskLosesNothingRecorded limits the size of the process's files, which has the same effect as a full disk.
func TestAFullDiskLosesNothingRecorded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), writerDir+"="+dir)
	var said strings.Builder
	child.Stderr = &said
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var told []string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if told = append(told, lines.Text()); len(told) == 1 {
			full := unix.Rlimit{Cur: 20 << 10, Max: unix.RLIM_INFINITY}
			if err := unix.Prlimit(child.Process.Pid, unix.RLIMIT_FSIZE, &full, nil); err != nil {
				t.Error(err)
			}
		}
	}
	if err := child.Wait(); err == nil || !strings.HasPrefix(said.String(), ErrUnwritten.Error()) {
		t.Errorf("the writer ended with %v: %s", err, said.String())
	}
	j := open(t, dir)
	for _, line := range told {
		var what string
		var id ID
		if _, err := fmt.Sscan(line, &what, &id); err != nil {
			t.Fatalf("the writer said %q", line)
		}
		if e := find(j.entries, id); e == nil || what == "ended" && !e.Outcome.OK {
			t.Errorf("the writer was told that %s; the journal has %+v", line, e)
		}
	}
	if _, err := j.Begin(Entry{Ref: "acme/app#1", SHA: "aaa", Act: "review"}); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// TestJournalGoesOnWhereItCannotBeCompacted checks that a failed compaction costs only disk space.
func TestJournalGoesOnWhereItCannotBeCompacted(t *testing.T) {
	j := open(t, t.TempDir())
	// It moves to where the path of the entries is as long as a path may be, and that of a file to
	// replace them longer.
	dir := t.TempDir()
	for room := unix.PathMax - len("/"+entriesFile) - 1; len(dir) < room-1; {
		dir += "/" + strings.Repeat("d", min(room-len(dir)-1, 200))
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.Rename(j.dir, dir)); err != nil {
		t.Fatal(err)
	}
	j.dir = dir
	j.kept = 5
	for range 30 {
		end(t, j, begin(t, j, "acme/app#2", "bbb", "fix"), Outcome{Counts: true})
	}
	if n := len(read(t, dir)); n != 30 || len(j.entries) != 30 {
		t.Errorf("%d entries in the file and %d in memory, want 30", n, len(j.entries))
	}
}

package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"touchstone/worktree/atomicfile"

	"github.com/gofrs/flock"
)

const (
	lockFile = "lock"
	// entriesFile holds the entries, one JSON object per line.
	entriesFile = "entries.jsonl"
	// maxLine is the maximum length of a line, in bytes: every byte of a Detail escaped as \u0000, and room
	// for the rest. The journal writes no longer line.
	maxLine = 6*MaxDetail + 6*3*maxField + 1<<10
)

// line is one line of the file: the start of an act, its account so far, or its end.
type line struct {
	ID      ID        `json:"id"`
	At      time.Time `json:"at"`
	Begin   *Entry    `json:"begin,omitempty"`
	Account *Account  `json:"spent,omitempty"`
	End     *Outcome  `json:"end,omitempty"`
}

func (e Entry) begin() line { return line{ID: e.ID, At: e.Begun, Begin: &e} }
func (e Entry) end() line   { return line{ID: e.ID, At: e.Ended, End: &e.Outcome} }

// facts counts the facts in a line; a valid line holds one.
func (l line) facts() (n int) {
	for _, set := range []bool{l.Begin != nil, l.Account != nil, l.End != nil} {
		if set {
			n++
		}
	}
	return n
}

// Read returns the entries of the journal in dir, oldest first. It does not open the journal, since an agent
// may be writing to it. Without a journal there are no entries.
func Read(dir string) ([]Entry, error) {
	// Entries first: in the other order, an agent could end between the two reads, and its act would look
	// interrupted.
	entries, err := readEntries(dir)
	if err != nil || inUse(dir) {
		return entries, err
	}
	for i := range entries {
		entries[i].Interrupted = entries[i].Ended.IsZero()
	}
	return entries, nil
}

// inUse reports whether an agent has the journal open.
func inUse(dir string) bool {
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if err != nil || !free {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return lock.Unlock() != nil
}

// readEntries reads the entries in the file. It skips lines that cannot be read, after a crash or a disk
// error.
func readEntries(dir string) ([]Entry, error) {
	file, err := os.Open(filepath.Join(dir, entriesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer file.Close()
	entries, err := parse(file)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return entries, nil
}

// parse reads entries from lines. Its errors are the reader's.
func parse(r io.Reader) ([]Entry, error) {
	var entries []Entry
	lines := bufio.NewReaderSize(r, maxLine)
	for whole := true; ; {
		text, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF): // a line without a line break was cut off, or is being written
			return entries, nil
		case errors.Is(err, bufio.ErrBufferFull):
			whole = false
			continue
		case err != nil:
			return nil, err
		}
		var l line
		if whole && json.Unmarshal(text, &l) == nil {
			entries = l.apply(entries)
		}
		whole = true
	}
}

// apply adds the fact in the line. A line that contradicts earlier lines is ignored.
func (l line) apply(entries []Entry) []Entry {
	switch {
	case l.At.IsZero() || l.facts() != 1:
	case l.Begin != nil:
		n := len(entries)
		if l.Begin.valid() && l.ID > 0 && (n == 0 || l.ID > entries[n-1].ID) {
			l.Begin.ID, l.Begin.Begun = l.ID, l.At
			entries = append(entries, *l.Begin)
		}
	default:
		entry := find(entries, l.ID)
		switch {
		case entry == nil || !entry.Ended.IsZero():
		case l.Account != nil:
			entry.Outcome.Account = *l.Account
		default:
			entry.Ended, entry.Outcome = l.At, *l.End
		}
	}
	return entries
}

// find returns the entry with that id, or nil.
func find(entries []Entry, id ID) *Entry {
	i, found := slices.BinarySearchFunc(entries, id, func(e Entry, id ID) int { return cmp.Compare(e.ID, id) })
	if !found {
		return nil
	}
	return &entries[i]
}

// append writes a line and waits until it is on disk.
func (j *Journal) append(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	text = append(text, '\n')
	_, err = j.file.WriteAt(text, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		// A partial line must not become the beginning of the next one.
		return fmt.Errorf("%w: %w", ErrUnwritten, errors.Join(err, j.file.Truncate(j.size)))
	}
	j.size += int64(len(text))
	return nil
}

// compact replaces the file by one with the entries only, and opens it.
func (j *Journal) compact() error {
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	for _, e := range j.entries {
		if err := encoder.Encode(e.begin()); err != nil {
			return err
		}
		rest := e.end()
		if e.Ended.IsZero() {
			rest = line{ID: e.ID, At: e.Begun, Account: &e.Outcome.Account}
		}
		if err := encoder.Encode(rest); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(filepath.Join(j.dir, entriesFile), content.Bytes()); err != nil {
		return err
	}
	return j.reopen()
}

// reopen opens the file for writing at its end.
func (j *Journal) reopen() error {
	file, err := os.OpenFile(filepath.Join(j.dir, entriesFile), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	j.file, j.size = file, info.Size()
	return nil
}

// shrink compacts the file once it holds twice as many entries as are kept. If that fails, on a full disk for
// example, the journal continues with the file as it is.
func (j *Journal) shrink() error {
	if len(j.entries) < 2*j.kept {
		return nil
	}
	all := j.entries
	if j.forget(); len(j.entries) == len(all) {
		return nil
	}
	// Windows cannot replace a file that is open. It is closed already if it could not be opened again before.
	if err := j.file.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("compact the journal: %w", err)
	}
	if err := j.compact(); err != nil {
		j.entries = all
		if err := j.reopen(); err != nil {
			return fmt.Errorf("write the journal: %w", err)
		}
	}
	return nil
}

// forget drops all entries except the newest and those of acts that are still running. It first drops
// sessions that failed, cost nothing and do not count as attempts: an outage causes many of them, and they
// must not displace the entries about the day's cost and earlier attempts.
func (j *Journal) forget() {
	old := len(j.entries) - j.kept
	if old <= 0 {
		return
	}
	idle := func(e Entry) bool {
		return e.Paid && !e.Outcome.OK && !e.Outcome.Counts && e.Outcome.Account.CostUSD == 0
	}
	anything := func(Entry) bool { return true }
	for _, goes := range []func(Entry) bool{idle, anything} {
		j.entries = slices.DeleteFunc(slices.Clone(j.entries), func(e Entry) bool {
			drop := old > 0 && !e.Ended.IsZero() && goes(e)
			if drop {
				old--
			}
			return drop
		})
	}
}

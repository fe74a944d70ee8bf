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
)

const (
	// entriesFile holds the entries, one JSON object to a line.
	entriesFile = "entries.jsonl"
	// maxLine bounds a line, in bytes: every byte of a Detail escaped as \u0000, and room
	// for the rest. A longer one is none of ours.
	maxLine = 6*MaxDetail + 6*3*maxField + 1<<10
)

// line is one line of the file: an act's beginning, or its end.
type line struct {
	ID    ID        `json:"id"`
	At    time.Time `json:"at"`
	Begin *Entry    `json:"begin,omitempty"`
	End   *Outcome  `json:"end,omitempty"`
}

func (e Entry) begin() line { return line{ID: e.ID, At: e.Begun, Begin: &e} }
func (e Entry) end() line   { return line{ID: e.ID, At: e.Ended, End: &e.Outcome} }

// Read returns the entries of the journal in dir, the oldest first, without opening it: an
// agent may be writing to it. Where there is no journal there are none. Lines that cannot
// be read are left out: one that a crash tore, or that a disk spoilt.
func Read(dir string) ([]Entry, error) {
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

// parse reads lines into entries. Its errors are the reader's own.
func parse(r io.Reader) ([]Entry, error) {
	var entries []Entry
	lines := bufio.NewReaderSize(r, maxLine)
	for whole := true; ; {
		text, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF): // what has no line break was torn, or is being written
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

// apply adds what the line says. A line that contradicts the ones before says nothing.
func (l line) apply(entries []Entry) []Entry {
	switch {
	case l.At.IsZero() || (l.Begin == nil) == (l.End == nil):
	case l.Begin != nil:
		n := len(entries)
		if l.Begin.valid() && l.ID > 0 && (n == 0 || l.ID > entries[n-1].ID) {
			l.Begin.ID, l.Begin.Begun = l.ID, l.At
			entries = append(entries, *l.Begin)
		}
	default:
		if entry := find(entries, l.ID); entry != nil && entry.Ended.IsZero() {
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

// append adds a line and waits until the disk has it.
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
		// Half a line must not become the beginning of the next.
		return fmt.Errorf("write the journal: %w", errors.Join(err, j.file.Truncate(j.size)))
	}
	j.size += int64(len(text))
	return nil
}

// compact replaces the file by one that holds the entries and nothing else, and opens it.
func (j *Journal) compact() error {
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	for _, e := range j.entries {
		if err := encoder.Encode(e.begin()); err != nil {
			return err
		}
		if e.Ended.IsZero() {
			continue
		}
		if err := encoder.Encode(e.end()); err != nil {
			return err
		}
	}
	path := filepath.Join(j.dir, entriesFile)
	if err := replace(path, content.Bytes(), (*os.File).Sync); err != nil {
		return err
	}
	if err := syncDir(j.dir); err != nil {
		return err
	}
	var err error
	j.file, err = os.OpenFile(path, os.O_WRONLY, 0)
	j.size = int64(content.Len())
	return err
}

// replace puts content in the place of the file at path, in one step for whoever reads it.
// Settle, if set, is called before that step.
func replace(path string, content []byte, settle func(*os.File) error) error {
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil && settle != nil {
		err = settle(file)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Package journal records what one agent on this machine has done and is about to do. It owns a directory
// with the agent's acts as JSON lines, its position in the relay's log, the models that it leaves alone, and
// the lock that keeps a second agent out. GitHub remains the source of truth: a lost journal costs a few
// repeated attempts.
package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"touchstone/verdict"
)

const (
	// MaxDetail bounds Outcome.Detail, in bytes.
	MaxDetail = 2 << 10
	// maxField is the maximum length of each field with which a caller describes an act, in bytes.
	maxField = 256
	// maxKept is how many entries Open keeps; a journal grows to twice as many.
	maxKept = 5000
	// patience is how long Open waits for the lock: a reader of the journal takes the lock for a moment to
	// find out whether an agent holds it.
	patience = 500 * time.Millisecond
)

// interrupted is the Outcome.Detail of an act that was cut off when its process ended.
const interrupted = "interrupted: the agent was stopped in the middle of it"

// Wait is the Entry.Act of an announced wait, in which nothing was done, and Over that of the end of one.
const Wait, Over = "wait", "over"

// ErrUnwritten means that an entry could not be written to disk.
var ErrUnwritten = errors.New("the journal cannot be written; free space on the disk, or make it writable")

// ID identifies an entry in its journal; IDs ascend in the order in which acts begin.
type ID uint64

// Entry is one act. The caller of Begin sets the pull request, the commit and the kind of act, each 1 to 256
// bytes long; the journal sets the rest.
type Entry struct {
	// Ref is the pull request, as owner/name#number.
	Ref string `json:"ref"`
	// SHA is the head commit of the act.
	SHA string `json:"sha"`
	// Act is the kind of act: review, fix, merge and so on.
	Act string `json:"act"`
	// Paid means that the act uses a model: if it is cut off, it counts as a failure. Otherwise an agent that
	// crashes during a session would begin another session at every start.
	Paid bool `json:"paid,omitempty"`

	ID    ID        `json:"-"`
	Begun time.Time `json:"-"`
	// Ended is zero while the act is running. If the act was cut off, Ended is when the journal was next
	// opened.
	Ended time.Time `json:"-"`
	// Outcome is valid once Ended is set, except for the cost so far, which is valid before.
	Outcome Outcome `json:"-"`
	// Interrupted means that the act was cut off and no agent has run since.
	Interrupted bool `json:"-"`
}

// Outcome is how an act ended.
type Outcome struct {
	OK bool `json:"ok"`
	// Counts means that Attempts counts the failure.
	Counts bool `json:"counts,omitempty"`
	// Detail says why the act failed. It is cut off at MaxDetail.
	Detail string `json:"detail,omitempty"`
	// Permanent means that every retry would fail too. The key is older than the name, and stays: journals contain it.
	Permanent bool `json:"hopeless,omitempty"`
	// RetryAfter is the minimum wait before a retry, as requested by the service that refused the act.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	// Account is of the act's turns, including failed ones.
	Account Account `json:"spent,omitzero"`
}

// Journal is an open journal. Its methods are safe for concurrent use.
type Journal struct {
	// Clock returns the time for entries; nil is this machine's clock. Set it before the journal is used.
	Clock func() time.Time

	dir  string
	lock *flock.Flock

	mu      sync.Mutex
	file    *os.File
	size    int64   // length of the file up to the last complete line
	entries []Entry // by ascending ID
	next    ID
	kept    int // number of entries that a compaction keeps
	cursor  string
}

// Open opens the journal in dir, and creates it if there is none. It keeps the newest 5,000 to 10,000
// entries without waits, and ends the acts that a crash interrupted. It fails, with a message for people, while another
// process has the journal open.
func Open(dir string) (_ *Journal, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	j := &Journal{dir: dir, kept: maxKept, lock: flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	locked, err := j.lock.TryLockContext(ctx, patience/20)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	if !locked {
		return nil, fmt.Errorf("another agent is using %s; wait for it or stop it, or give this one its own state_dir", dir)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.lock.Unlock())
		}
	}()
	if err := forgetPassing(dir); err != nil {
		return nil, err
	}
	if j.entries, err = readEntries(dir); err != nil {
		return nil, err
	}
	j.next = 1
	for i := range j.entries {
		e := &j.entries[i]
		j.next = e.ID + 1
		if e.Ended.IsZero() {
			e.Ended, e.Outcome = j.now(), Outcome{Detail: interrupted, Counts: e.Paid, Account: e.Outcome.Account}
		}
	}
	// What the agents before waited for, they wait for no more.
	j.entries = slices.DeleteFunc(j.entries, func(e Entry) bool { return e.Act == Wait || e.Act == Over })
	j.forget()
	if err := j.compact(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	j.cursor = readCursor(dir)
	return j, nil
}

// Begin records that an act is about to start. The entry is on disk when Begin returns.
func (j *Journal) Begin(e Entry) (ID, error) {
	if !e.valid() {
		return 0, fmt.Errorf("begin an act: its pull request, commit and kind must be 1 to %d bytes long", maxField)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.shrink(); err != nil {
		return 0, err
	}
	e = Entry{Ref: e.Ref, SHA: e.SHA, Act: e.Act, Paid: e.Paid, ID: j.next, Begun: j.now()}
	if err := j.append(e.begin()); err != nil {
		return 0, err
	}
	j.entries = append(j.entries, e)
	j.next++
	return e.ID, nil
}

// End records how an act ended. An act ends once, even if that cannot be written to disk: this process knows
// that it ended, and the next one takes it for interrupted.
func (j *Journal) End(id ID, outcome Outcome) error {
	outcome.Detail = verdict.Clip(outcome.Detail, MaxDetail)
	j.mu.Lock()
	defer j.mu.Unlock()
	entry := find(j.entries, id)
	if entry == nil || !entry.Ended.IsZero() {
		return fmt.Errorf("end act %d: it is not under way", id)
	}
	entry.Ended, entry.Outcome = j.now(), outcome
	return j.append(entry.end())
}

// Update records the account of a running act so far, so that the cost is not lost when the process ends.
func (j *Journal) Update(id ID, account Account) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	entry := find(j.entries, id)
	if entry == nil || !entry.Ended.IsZero() {
		return fmt.Errorf("record what act %d took: it is not under way", id)
	}
	if err := j.append(line{ID: id, At: j.now(), Account: &account}); err != nil {
		return err
	}
	entry.Outcome.Account = account
	return nil
}

// Attempts counts failures on a commit of a pull request. It counts those with Counts set, of acts that began
// after since and after the last successful act on that pull request, and returns the last such act, if any.
// A call for a person counts as a successful act, so the count starts again after it.
func (j *Journal) Attempts(ref, sha string, since time.Time) (n int, last Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		switch {
		case e.Ref == ref && e.Outcome.OK:
			n, last = 0, Entry{}
		case e.failed(ref, sha) && e.Begun.After(since):
			n, last = n+1, e
		}
	}
	return n, last
}

// Note records a wait that was announced, with the text of the announcement.
func (j *Journal) Note(ref, sha, detail string) error {
	return j.note(Entry{Ref: ref, SHA: sha, Act: Wait}, detail)
}

// Over records that such a wait is over, and why.
func (j *Journal) Over(ref, sha, detail string) error {
	return j.note(Entry{Ref: ref, SHA: sha, Act: Over}, detail)
}

func (j *Journal) note(e Entry, detail string) error {
	id, err := j.Begin(e)
	if err != nil {
		return err
	}
	return j.End(id, Outcome{Detail: detail}) // not as a success, from which failures are counted anew
}

// Each calls visit for every entry, oldest first. The function visit must not use the journal.
func (j *Journal) Each(visit func(Entry)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		visit(e)
	}
}

// Close releases the lock for the next agent. Entries are on disk even without Close.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := errors.Join(j.file.Close(), j.lock.Unlock()); err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}

func (e Entry) valid() bool {
	return !slices.ContainsFunc([]string{e.Ref, e.SHA, e.Act}, func(s string) bool { return s == "" || len(s) > maxField })
}

func (e Entry) failed(ref, sha string) bool {
	return e.Ref == ref && e.SHA == sha && !e.Ended.IsZero() && !e.Outcome.OK && e.Outcome.Counts
}

// String describes the entry on one line, for people.
func (e Entry) String() string {
	came := "going on"
	switch {
	case e.Interrupted:
		came = "interrupted"
	case e.Ended.IsZero():
	case e.Act == Wait || e.Act == Over:
		came = verdict.OneLine(e.Outcome.Detail)
	case e.Outcome.OK:
		came = "done in " + e.Ended.Sub(e.Begun).Round(100*time.Millisecond).String()
	default:
		came = "failed: " + verdict.OneLine(e.Outcome.Detail)
	}
	if s := e.Outcome.Account; s.Turns > 0 {
		came += fmt.Sprintf(" (%s, %d tokens in, %d out, $%.2f)", s.Model, s.Usage.Prompt(), s.Usage.Output, s.CostUSD)
	}
	return fmt.Sprintf("%s %s %s %.7s: %s", e.Begun.Local().Format(time.DateTime), e.Act, e.Ref, e.SHA, came)
}

// now is the current time without the monotonic clock, which cannot be stored.
func (j *Journal) now() time.Time {
	tell := j.Clock
	if tell == nil {
		tell = time.Now
	}
	return tell().UTC().Round(0)
}

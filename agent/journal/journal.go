// Package journal is what one agent on this machine has done and was about to do. It owns
// a directory: its acts as JSON lines, its place in the relay's log, the models that it leaves
// alone, and the lock that keeps a second agent out. GitHub stays the truth: a lost journal costs a few attempts made again.
package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"touchstone/verdict"
)

const (
	// MaxDetail bounds Outcome.Detail, in bytes.
	MaxDetail = 2 << 10
	// maxField bounds what an Entry says of its act, in bytes each.
	maxField = 256
	// maxKept is how many entries Open keeps, and half of what a journal grows to.
	maxKept = 5000
	// patience is how long Open waits for the lock: a reader of the journal takes it for a
	// moment to see whether an agent has it.
	patience = 500 * time.Millisecond
)

// interrupted is the Outcome.Detail of an act that the end of its process cut off.
const interrupted = "interrupted: the agent was stopped in the middle of it"

// Wait is the Entry.Act of a wait that was announced and did nothing.
const Wait = "wait"

// ErrUnwritten says that the disk does not take what was to be written down.
var ErrUnwritten = errors.New("the journal cannot be written; free space on the disk, or make it writable")

// ID names an entry in its journal, in the order of beginning.
type ID uint64

// Entry is one act. Its beginner says the pull request, the commit and the kind of act, none
// of them empty or longer than 256 bytes; the journal knows the rest.
type Entry struct {
	// Ref names the pull request, as owner/name#number.
	Ref string `json:"ref"`
	// SHA is the head commit that the act is about.
	SHA string `json:"sha"`
	// Act is the kind: review, fix, merge and so on.
	Act string `json:"act"`
	// Paid says that it takes a model: cut off, it is a failure that counts. Otherwise an
	// agent that its session brings down would begin another one at every start.
	Paid bool `json:"paid,omitempty"`

	ID    ID        `json:"-"`
	Begun time.Time `json:"-"`
	// Ended is zero while the act goes on. Of one that was cut off, it is when the
	// journal was next opened.
	Ended time.Time `json:"-"`
	// Outcome means nothing until Ended is set, but for what was spent until now.
	Outcome Outcome `json:"-"`
	// Interrupted says that the act was cut off, and no agent has run since.
	Interrupted bool `json:"-"`
}

// Outcome is how an act ended.
type Outcome struct {
	OK bool `json:"ok"`
	// Counts says that a failure is one of those that Attempts counts.
	Counts bool `json:"counts,omitempty"`
	// Detail says why it failed. What is beyond MaxDetail is cut off.
	Detail string `json:"detail,omitempty"`
	// Permanent says that the act would fail at every try.
	Permanent bool `json:"hopeless,omitempty"`
	// RetryAfter is how long to wait at least before it is tried again, as the service that
	// refused it asks.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	// Spent is what its model runs took, also those that failed.
	Spent Spent `json:"spent,omitzero"`
}

// Journal is an open journal. Its methods may be called from several goroutines at once.
type Journal struct {
	// Clock tells the time of what is written down, for which nil is this machine's clock. Set it
	// before the journal is used.
	Clock func() time.Time

	dir  string
	lock *flock.Flock

	mu      sync.Mutex
	file    *os.File
	size    int64   // how much of the file is whole
	entries []Entry // by ascending ID
	next    ID
	kept    int // how many entries outlast a compaction
	cursor  string
}

// Open opens the journal in dir, making it if there is none. It keeps the newest 5,000 to
// 10,000 entries, and ends what a crash had interrupted. It fails, with a sentence, while
// another process has it open.
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
		return nil, fmt.Errorf("another agent is at work with %s; wait for it or stop it, or give this one a state_dir of its own", dir)
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
			e.Ended, e.Outcome = j.now(), Outcome{Detail: interrupted, Counts: e.Paid, Spent: e.Outcome.Spent}
		}
	}
	j.forget()
	if err := j.compact(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	j.cursor = readCursor(dir)
	return j, nil
}

// Begin writes down that an act is about to happen. It is on disk when Begin returns.
func (j *Journal) Begin(e Entry) (ID, error) {
	if !e.valid() {
		return 0, fmt.Errorf("begin an act: its pull request, commit and kind have to be 1 to %d bytes long", maxField)
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

// End writes down how an act ended. An act ends once, also where the disk does not take
// that: this process knows it, and the next one takes the act for cut off.
func (j *Journal) End(id ID, outcome Outcome) error {
	outcome.Detail = verdict.Clip(outcome.Detail, MaxDetail)
	j.mu.Lock()
	defer j.mu.Unlock()
	entry := find(j.entries, id)
	if entry == nil || !entry.Ended.IsZero() {
		return fmt.Errorf("end act %d: it is not going on", id)
	}
	ended := *entry
	ended.Ended, ended.Outcome = j.now(), outcome
	*entry = ended
	return j.append(ended.end())
}

// Spend writes down what an act that is going on has spent until now, so that the end of its
// process does not make that forgotten.
func (j *Journal) Spend(id ID, spent Spent) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	entry := find(j.entries, id)
	if entry == nil || !entry.Ended.IsZero() {
		return fmt.Errorf("note what act %d spent: it is not going on", id)
	}
	if err := j.append(line{ID: id, At: j.now(), Spent: &spent}); err != nil {
		return err
	}
	entry.Outcome.Spent = spent
	return nil
}

// Attempts counts, for a commit of a pull request, the failures that count of acts that
// began after since and since an act on that pull request last succeeded, and gives the last
// of them, if there is one. Calling a person is such an act: what comes after it is counted
// anew.
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

// Note writes down a wait that was announced, with what was said of it.
func (j *Journal) Note(ref, sha, detail string) error {
	id, err := j.Begin(Entry{Ref: ref, SHA: sha, Act: Wait})
	if err != nil {
		return err
	}
	return j.End(id, Outcome{Detail: detail})
}

// Each calls visit for every entry, the oldest first. Visit must not use the journal.
func (j *Journal) Each(visit func(Entry)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.entries {
		visit(e)
	}
}

// Close lets the next agent in. What was written down needs no Close to last.
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

// String is the entry on one line, for a person.
func (e Entry) String() string {
	came := "going on"
	switch {
	case e.Interrupted:
		came = "interrupted"
	case e.Ended.IsZero():
	case e.Act == Wait:
		came = strings.Join(strings.Fields(e.Outcome.Detail), " ")
	case e.Outcome.OK:
		came = "done in " + e.Ended.Sub(e.Begun).Round(100*time.Millisecond).String()
	default:
		came = "came to nothing: " + strings.Join(strings.Fields(e.Outcome.Detail), " ")
	}
	if s := e.Outcome.Spent; s.Runs > 0 {
		came += fmt.Sprintf(" (%s, %d tokens in, %d out, $%.2f)", s.Model, s.Usage.Prompt(), s.Usage.Output, s.CostUSD)
	}
	return fmt.Sprintf("%s %s %s %.7s: %s", e.Begun.Local().Format(time.DateTime), e.Act, e.Ref, e.SHA, came)
}

// now is the present without the monotonic clock, which cannot be written down.
func (j *Journal) now() time.Time {
	tell := j.Clock
	if tell == nil {
		tell = time.Now
	}
	return tell().UTC().Round(0)
}

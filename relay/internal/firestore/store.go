// Package firestore keeps the relay's log in a Firestore database, which any number of relays share: each of
// them accepts webhooks, and all see the same events in the same order under the same numbers. It owns four
// collections:
//
//	relay-log/{first}                 one block for each append: its events, compressed
//	relay-chunks/{first}-{writer}-{i} what does not fit into a block's own document
//	relay-meta/log                    the log's id and its floor
//	relay-notes/{name}                the notes of hub.Store
//
// {first} is the number of the block's first event in 16 digits. A block is created only if there is none of
// that name yet, in one write without a transaction; that is what gives the log one order. A block never
// changes until retention removes its events. Then it is emptied, and it is deleted when its deliveries need
// not be remembered any more.
//
// The sizes respect Firestore's limits (https://cloud.google.com/firestore/quotas): 1 MiB for a document, 10
// MiB for a request.
package firestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

const (
	// maxDocumentBytes is how many bytes of events, or of a note, one document holds, below Firestore's 1
	// MiB.
	maxDocumentBytes = 900_000
)

// limits are how long the store waits for the database.
type limits struct {
	// open is the limit for opening the store.
	open time.Duration
	// call is the limit for one request, including the client's retries.
	call time.Duration
	// append is how long an append keeps trying; a sender waits for ten seconds at most.
	append time.Duration
	// attempt is the limit for the answer to one attempt to write.
	attempt time.Duration
}

// usual are the limits of a relay.
var usual = limits{open: 20 * time.Second, call: 5 * time.Second, append: 7 * time.Second, attempt: 2 * time.Second}

// Store is a log in a Firestore database. It implements hub.Store.
type Store struct {
	client *firestore.Client
	log    string   // the log's id
	former []former // its earlier ids, the oldest first
	limits limits
	// grace is how long the documents of removed events stay unchanged. A relay that was suspended, and may
	// have missed that much, reads the log again before it writes.
	grace time.Duration
	// remembered is how long a delivery counts as stored, even if retention has removed its event: GitHub can
	// redeliver for three days
	// (https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
	remembered time.Duration
	// now is this machine's clock. Whatever relays share is timed by Firestore's clock.
	now func() time.Time
	// news signals that the head has moved to blocks that no append of this store returned.
	news chan struct{}

	mu        sync.Mutex
	head      int64
	floor     int64
	confirmed time.Time // when head was last known to be the head
	replaced  bool      // the database holds another log now
	emptied   int64     // retention has emptied the blocks up to here
	recent    recent
}

// meta is the document relay-meta/log.
type meta struct {
	Log   string `firestore:"log"`
	Floor int64  `firestore:"floor"`
	// Former are the ids that the log had before it was renewed, the oldest first.
	Former []former `firestore:"former,omitempty"`
}

// Open opens the log in a project's database and creates it if there is none; the database has to exist. An
// empty database name is "(default)". Credentials are the application default credentials
// (https://cloud.google.com/docs/authentication/application-default-credentials); with
// FIRESTORE_EMULATOR_HOST set, that emulator is used without any.
func Open(ctx context.Context, project, database string) (*Store, error) {
	return openWithin(ctx, usual, project, database)
}

func openWithin(ctx context.Context, limits limits, project, database string) (*Store, error) {
	database = cmp.Or(database, firestore.DefaultDatabaseID)
	client, err := connect(ctx, project, database)
	if err != nil {
		return nil, err
	}
	s := &Store{client: client, limits: limits, grace: time.Hour, remembered: 3 * 24 * time.Hour, now: time.Now, news: make(chan struct{}, 1)}
	ctx, cancel := context.WithTimeout(ctx, limits.open)
	defer cancel()
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open Firestore database %s of project %s: %w%s", database, project, err, remedy(err)), client.Close())
	}
	return s, nil
}

func connect(ctx context.Context, project, database string) (*firestore.Client, error) {
	client, err := firestore.NewClientWithDatabase(ctx, project, database)
	if err != nil {
		return nil, fmt.Errorf("open Firestore of project %s: %w (run `gcloud auth application-default login`, or give the relay "+
			"a service account)", project, err)
	}
	return client, nil
}

// open writes and reads once before anything listens: the emulator may never answer a listener that is its
// very first request.
func (s *Store) open(ctx context.Context) error {
	fresh := meta{Log: event.NewLogID()}
	if _, err := s.meta().Create(ctx, fresh); err != nil && status.Code(err) != codes.AlreadyExists {
		return err
	}
	stored, err := content[meta](s.meta().Get(ctx))
	if err != nil {
		return err
	}
	if !event.ValidLogID(stored.Log) {
		return fmt.Errorf("the log's id in %s is damaged", s.meta().Path)
	}
	s.log, s.former = stored.Log, stored.Former
	b, err := s.bounds(ctx)
	if err != nil {
		return err
	}
	s.head, s.confirmed = b.Head, s.now()
	return nil
}

// explained adds to an error of the open database what to do about it, if that is known. What is not found there is a
// document.
func explained(err error) error {
	if remedy := remedy(err); remedy != "" && status.Code(err) != codes.NotFound {
		return fmt.Errorf("%w%s", err, remedy)
	}
	return err
}

// remedy returns what to do about an error, if that is known.
func remedy(err error) string {
	code := status.Code(err)
	if errors.Is(err, context.DeadlineExceeded) {
		code = codes.DeadlineExceeded
	}
	switch code {
	case codes.NotFound:
		return " (create the database with `gcloud firestore databases create`)"
	case codes.PermissionDenied, codes.Unauthenticated:
		return " (the relay's account needs the role roles/datastore.user)"
	case codes.Unavailable, codes.DeadlineExceeded:
		return " (no answer from Firestore: check the network, and FIRESTORE_EMULATOR_HOST if it is set)"
	}
	return ""
}

func (s *Store) meta() *firestore.DocumentRef     { return s.client.Doc("relay-meta/log") }
func (s *Store) blocks() *firestore.CollectionRef { return s.client.Collection("relay-log") }
func (s *Store) chunks() *firestore.CollectionRef { return s.client.Collection("relay-chunks") }
func (s *Store) noteAt(name string) *firestore.DocumentRef {
	return s.client.Collection("relay-notes").Doc(url.PathEscape(name))
}

// Close closes the connection to the database.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close Firestore: %w", err)
	}
	return nil
}

// content returns what a document holds that was just read.
func content[T any](doc *firestore.DocumentSnapshot, err error) (held T, _ error) {
	if err == nil {
		err = doc.DataTo(&held)
	}
	return held, err
}

// Bounds implements hub.Store.
func (s *Store) Bounds(ctx context.Context) (hub.Bounds, error) {
	b, err := s.bounds(ctx)
	if err != nil {
		return hub.Bounds{}, explained(err)
	}
	return b, nil
}

func (s *Store) bounds(ctx context.Context) (hub.Bounds, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.call)
	defer cancel()
	var stored meta
	var newest int64
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { stored, err = content[meta](s.meta().Get(ctx)); return err })
	group.Go(func() (err error) { newest, err = s.newest(ctx); return err })
	if err := group.Wait(); err != nil {
		return hub.Bounds{}, fmt.Errorf("read bounds: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stored.Log != s.log {
		s.replaced = true
		return hub.Bounds{}, errReplaced
	}
	s.floor = max(s.floor, stored.Floor)
	return hub.Bounds{Log: s.log, Floor: s.floor, Head: max(newest, s.floor)}, nil
}

// ends returns the head and the floor as far as this store knows them.
func (s *Store) ends() (head, floor int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head, s.floor
}

// errReplaced is returned when the log that this relay knows is no longer the database's log.
var errReplaced = errors.New("the database's log is not the one this relay started with: restart the relay")

// newest queries the number of the log's newest event; zero if there never was one. The newest block's
// document stays even when its events are removed.
func (s *Store) newest(ctx context.Context) (int64, error) {
	known, _ := s.ends()
	docs, err := s.blocks().OrderBy("last", firestore.Desc).Limit(1).Select("last").Documents(ctx).GetAll()
	if err != nil {
		return 0, err
	}
	var b block
	if len(docs) == 1 {
		if err := docs[0].DataTo(&b); err != nil {
			return 0, err
		}
	}
	if b.Last < known {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.replaced = true
		return 0, errReplaced
	}
	return b.Last, nil
}

// Note implements hub.Store.
func (s *Store) Note(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.call)
	defer cancel()
	stored, err := content[note](s.noteAt(name).Get(ctx))
	if err != nil && status.Code(err) != codes.NotFound {
		return "", fmt.Errorf("read the note %q: %w", name, explained(err))
	}
	return stored.Text, nil
}

// note is a document of relay-notes.
type note struct {
	Text string `firestore:"text"`
}

// SetNote implements hub.Store.
func (s *Store) SetNote(ctx context.Context, name, text string) error {
	if len(text) > maxDocumentBytes {
		return fmt.Errorf("store the note %q: it has %d bytes; Firestore allows at most %d", name, len(text), maxDocumentBytes)
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.call)
	defer cancel()
	if _, err := s.noteAt(name).Set(ctx, note{Text: text}); err != nil {
		return fmt.Errorf("store the note %q: %w", name, explained(err))
	}
	return nil
}

// ChangeNote implements token.Shared.
func (s *Store) ChangeNote(ctx context.Context, name string, change func(text string) (string, error)) error {
	ctx, cancel := context.WithTimeout(ctx, s.limits.call)
	defer cancel()
	var unchanged error // why change failed, which is not the database's error
	err := s.client.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		stored, err := content[note](tx.Get(s.noteAt(name)))
		if err != nil && status.Code(err) != codes.NotFound {
			return err
		}
		if stored.Text, unchanged = change(stored.Text); unchanged != nil {
			return nil
		}
		if len(stored.Text) > maxDocumentBytes {
			unchanged = fmt.Errorf("it would have %d bytes; Firestore allows at most %d", len(stored.Text), maxDocumentBytes)
			return nil
		}
		return tx.Set(s.noteAt(name), stored)
	}, firestore.MaxAttempts(noteAttempts))
	if err != nil {
		return fmt.Errorf("change the note %q: %w", name, explained(err))
	}
	return unchanged
}

// noteAttempts is how often a change of a note is tried while others change it too.
const noteAttempts = 20

// stale reports whether the head may have moved unnoticed because trusted has passed. It asks both the
// monotonic clock, which stands still while the machine sleeps, and the wall clock, which may be set back.
// The caller holds the lock.
func (s *Store) stale() bool {
	now := s.now()
	return now.Sub(s.confirmed) > trusted || now.Round(0).Sub(s.confirmed.Round(0)).Abs() > trusted
}

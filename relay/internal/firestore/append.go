package firestore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/googleapis/gax-go/v2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

const (
	// trusted is how long a relay believes that it knows the head. It is far below the grace period after
	// which documents are deleted: otherwise a relay that was suspended could create a block again that has
	// been removed.
	trusted = time.Minute
	// maxKeysPerQuery is Firestore's limit for array-contains-any.
	maxKeysPerQuery = 30
)

// Append implements hub.Store. All events go into one block, which is written completely or not at all.
func (s *Store) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, s.limits.append)
	defer cancel()
	a := appender{store: s, events: events}
	for _, e := range events {
		a.keys = append(a.keys, key(e.Source, e.Delivery))
		a.signatures = append(a.signatures, signatureKey(e))
	}
	results, err := a.run(limited)
	if err != nil {
		return nil, fmt.Errorf("append: %w", explained(errors.Join(err, ctx.Err())))
	}
	return results, nil
}

// appender is the state of one append.
type appender struct {
	store  *Store
	events []event.Event
	// keys has the delivery key of each event, signatures its signature key, which may be empty.
	keys, signatures []string

	stored map[string]int64 // the event numbers of those keys that the log holds up to head
	head   int64            // the store's own head may be further: it moves as others append
}

func (a *appender) run(ctx context.Context) ([]hub.Appended, error) {
	s := a.store
	s.mu.Lock()
	stale, replaced := s.stale(), s.replaced
	a.head = s.head
	s.mu.Unlock()
	if replaced {
		return nil, errReplaced
	}
	if stale {
		if err := a.learn(ctx, nil); err != nil {
			return nil, err
		}
	}
	var err error
	known := slices.DeleteFunc(slices.Concat(a.keys, a.signatures), func(key string) bool { return key == "" })
	if a.stored, err = s.lookUp(ctx, known); err != nil {
		return nil, err
	}
	for {
		results, fresh := a.plan()
		if len(fresh) == 0 {
			return results, nil
		}
		p, err := a.prepare(fresh)
		if err != nil {
			return nil, err
		}
		won, err := s.put(ctx, p)
		if err != nil {
			return nil, err
		}
		// If the number was taken, the block may be from an earlier attempt of this append whose answer was
		// lost. Otherwise the block may hold some of the same deliveries.
		if !won {
			err = a.learn(ctx, func(b block) {
				won = won || b.Writer == p.block.Writer
				if !s.knows(b) {
					return
				}
				maps.Insert(a.stored, b.keys())
			})
		}
		if won || err != nil {
			return results, err
		}
	}
}

// plan numbers the events after the head and selects those that are not stored yet.
func (a *appender) plan() (results []hub.Appended, fresh []int) {
	results = make([]hub.Appended, len(a.events))
	taken := map[string]int64{}
	find := func(key string) (seq int64, found bool) {
		if seq, found = a.stored[key]; !found {
			seq, found = taken[key]
		}
		return seq, found && key != ""
	}
	for i := range a.events {
		seq, duplicate := find(a.keys[i])
		again := false
		if !duplicate {
			seq, again = find(a.signatures[i])
		}
		if !duplicate && !again {
			seq = a.head + 1 + int64(len(fresh))
			taken[a.keys[i]], taken[a.signatures[i]] = seq, seq
			fresh = append(fresh, i)
		}
		results[i] = hub.Appended{Seq: seq, Duplicate: duplicate || again, OtherDelivery: again}
	}
	return results, fresh
}

// learn reads the blocks after the append's head and moves that head past them.
func (a *appender) learn(ctx context.Context, visit func(b block)) error {
	return a.store.learn(ctx, a.head, func(b block) {
		a.head = b.Last
		if visit != nil {
			visit(b)
		}
	})
}

// prepared is a block ready to be written.
type prepared struct {
	first  int64
	block  block
	chunks [][]byte
}

func (a *appender) prepare(fresh []int) (prepared, error) {
	p := prepared{first: a.head + 1, block: block{Last: a.head + int64(len(fresh)), Writer: rand.Text()}}
	var events []event.Event
	var signatures []string
	for _, i := range fresh {
		events = append(events, a.events[i])
		p.block.IDs = append(p.block.IDs, a.keys[i])
		signatures = append(signatures, a.signatures[i])
		p.block.Received = max(p.block.Received, a.events[i].ReceivedAt.UnixMilli())
	}
	if slices.ContainsFunc(signatures, func(key string) bool { return key != "" }) {
		p.block.IDs = append(p.block.IDs, signatures...)
	}
	data, err := encode(events)
	if err != nil {
		return prepared{}, fmt.Errorf("encode events: %w", err)
	}
	p.block.Sum = p.block.checksum(a.store.log, p.first, data)
	if len(data) <= maxDocumentBytes {
		p.block.Data = data
		return p, nil
	}
	p.chunks = slices.Collect(slices.Chunk(data, maxDocumentBytes))
	p.block.Chunks = len(p.chunks)
	return p, nil
}

// put writes the block, its chunks first, and reports whether its number was free. After an error the outcome
// is unknown: the block may still be written.
func (s *Store) put(ctx context.Context, p prepared) (won bool, err error) {
	var group errgroup.Group
	group.SetLimit(4)
	for i, data := range p.chunks {
		group.Go(func() error {
			return s.persist(ctx, func(ctx context.Context) error {
				_, err := s.chunk(p.first, p.block.Writer, i).Set(ctx, chunk{Data: data})
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return false, fmt.Errorf("write chunk: %w", err)
	}
	err = s.persist(ctx, func(ctx context.Context) error {
		_, err := s.blocks().Doc(name(p.first)).Create(ctx, p.block)
		return err
	})
	if status.Code(err) == codes.AlreadyExists {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write block: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head = max(s.head, p.block.Last)
	s.confirmed = s.now()
	return true, nil
}

// persist repeats a write until it succeeds, fails permanently, or ctx ends.
func (s *Store) persist(ctx context.Context, write func(context.Context) error) error {
	pause := gax.Backoff{Initial: 20 * time.Millisecond, Max: time.Second, Multiplier: 2}
	for {
		attempt, cancel := context.WithTimeout(ctx, s.limits.attempt)
		err := write(attempt)
		cancel()
		if err == nil || !transient(err) || ctx.Err() != nil {
			return err
		}
		if gax.Sleep(ctx, pause.Pause()) != nil {
			return err
		}
	}
}

// transient reports whether the same write may succeed later
// (https://cloud.google.com/firestore/docs/understand-error-codes).
func transient(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.Internal, codes.Unknown,
		codes.ResourceExhausted, codes.Canceled:
		return true
	}
	return false
}

// lookUp returns the event numbers of those keys that the log holds, or has removed but still remembers. It
// sees every block that was written before it began.
func (s *Store) lookUp(ctx context.Context, keys []string) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.call)
	defer cancel()
	found := make([]map[string]int64, 0, len(keys)/maxKeysPerQuery+1)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for some := range slices.Chunk(keys, maxKeysPerQuery) {
		part := map[string]int64{}
		found = append(found, part)
		group.Go(func() error {
			return s.lookUpSome(ctx, some, part)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("look up deliveries: %w", err)
	}
	all := map[string]int64{}
	for _, part := range found {
		maps.Copy(all, part)
	}
	return all, nil
}

// knows reports whether a block's deliveries count as stored.
func (s *Store) knows(b block) bool {
	_, floor := s.ends()
	return b.Last > floor || b.age < s.remembered
}

func (s *Store) lookUpSome(ctx context.Context, keys []string, into map[string]int64) error {
	docs, err := s.blocks().Where("ids", "array-contains-any", keys).Select("last", "ids").Documents(ctx).GetAll()
	if err != nil {
		return err
	}
	for _, doc := range docs {
		b, err := blockOf(doc)
		if err != nil {
			return err
		}
		if !s.knows(b) {
			continue
		}
		for k, seq := range b.keys() {
			if slices.Contains(keys, k) {
				into[k] = max(into[k], seq)
			}
		}
	}
	return nil
}

// Stored implements hub.Store.
func (s *Store) Stored(ctx context.Context, source string, deliveries []string) (map[string]bool, error) {
	keys := make([]string, len(deliveries))
	for i, delivery := range deliveries {
		keys[i] = key(source, delivery)
	}
	found, err := s.lookUp(ctx, keys)
	if err != nil {
		return nil, err
	}
	stored := map[string]bool{}
	for i, delivery := range deliveries {
		if found[keys[i]] > 0 {
			stored[delivery] = true
		}
	}
	return stored, nil
}

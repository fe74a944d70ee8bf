package firestore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// Read implements hub.Store.
func (s *Store) Read(ctx context.Context, after int64, limit, maxBytes int) ([]event.Event, error) {
	c := collector{limit: limit, maxBytes: maxBytes}
	s.mu.Lock()
	c.after = max(after, s.floor)
	for !c.full() {
		events := s.recent.find(c.after + 1)
		if events == nil {
			break
		}
		c.take(events)
	}
	complete := c.full() || len(c.events) > 0 && c.after >= s.head
	s.mu.Unlock()
	if complete {
		return c.events, nil
	}
	var damage *hub.Damage
	err := s.scan(ctx, c.after, limit-len(c.events), func(_ block, d decoded) bool {
		damage = d.damage
		if damage == nil && d.first > c.after+1 {
			damage = &hub.Damage{First: c.after + 1, Last: d.first - 1, Cause: errMissing}
		}
		if damage == nil {
			c.take(d.events)
		}
		return damage == nil && !c.full()
	})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", explained(err))
	}
	if damage != nil && len(c.events) == 0 {
		return s.readDamaged(ctx, damage, limit, maxBytes)
	}
	return c.events, nil
}

// errMissing is about events missing between others.
var errMissing = errors.New("it is missing")

// readDamaged makes sure that missing events were not removed by retention, of which this relay may not know
// yet.
func (s *Store) readDamaged(ctx context.Context, damage *hub.Damage, limit, maxBytes int) ([]event.Event, error) {
	bounds, err := s.Bounds(ctx)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	if bounds.Floor >= damage.First {
		return s.Read(ctx, bounds.Floor, limit, maxBytes)
	}
	return nil, damage
}

// collector collects what one Read returns.
type collector struct {
	after           int64
	limit, maxBytes int
	events          []event.Event
	bytes           int
}

func (c *collector) full() bool { return len(c.events) >= c.limit || c.bytes >= c.maxBytes }

// take adds a block's events after c.after, until the collector is full.
func (c *collector) take(events []event.Event) {
	for _, e := range events {
		if c.full() {
			return
		}
		if e.ID.Seq > c.after {
			c.after = e.ID.Seq
			c.bytes += len(e.Payload)
			c.events = append(c.events, e)
		}
	}
}

// scan passes the blocks with events numbered above after to visit, in order and at most limit of them, until
// visit returns false.
func (s *Store) scan(ctx context.Context, after int64, limit int, visit func(block, decoded) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A long answer is fine; an answer that stops arriving is not.
	silence := time.AfterFunc(s.limits.call, func() { cancel(context.DeadlineExceeded) })
	defer silence.Stop()
	docs := s.blocks().Where("last", ">", after).OrderBy("last", firestore.Asc).Limit(min(limit, math.MaxInt32)).Documents(ctx)
	defer docs.Stop()
	for {
		doc, err := docs.Next()
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause // the error says only that the context has ended
			}
			return err
		}
		silence.Reset(s.limits.call)
		b, d, err := s.load(ctx, doc)
		if err != nil {
			return err
		}
		silence.Reset(s.limits.call)
		if !visit(b, d) {
			return nil
		}
	}
}

// load decodes a block's document and adds it to the recent blocks.
func (s *Store) load(ctx context.Context, doc *firestore.DocumentSnapshot) (block, decoded, error) {
	b, err := blockOf(doc)
	if err != nil {
		return block{}, decoded{}, fmt.Errorf("block %s: %w", doc.Ref.ID, err)
	}
	d, err := s.unpack(ctx, doc, &b)
	if err != nil {
		return block{}, decoded{}, fmt.Errorf("block %s: %w", doc.Ref.ID, err)
	}
	if !b.Emptied && d.damage == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.recent.add(d)
	}
	return b, d, nil
}

func (s *Store) unpack(ctx context.Context, doc *firestore.DocumentSnapshot, b *block) (decoded, error) {
	first, err := strconv.ParseInt(doc.Ref.ID, 10, 64)
	if err != nil {
		return decoded{}, fmt.Errorf("its name is not a number: %w", err)
	}
	d := decoded{first: first, last: b.Last}
	if b.Emptied {
		return d, nil
	}
	data, err := s.data(ctx, first, b)
	if err == nil {
		d.events, err = b.events(s.log, s.writtenUnder(first), first, data)
	}
	if errors.Is(err, errDamaged) {
		d.events, d.damage = nil, &hub.Damage{First: first, Last: max(first, b.Last), Cause: err}
		return d, nil
	}
	if err != nil {
		return decoded{}, err
	}
	for _, e := range d.events {
		d.bytes += len(e.Payload) + 512
	}
	return d, nil
}

// errDamaged is wrapped by errors about blocks that are not what was appended.
var errDamaged = errors.New("the block is damaged")

// events decodes the data of a block, which has to be as it was written, when the log's id was the given one.
func (b *block) events(log, written string, first int64, data []byte) ([]event.Event, error) {
	if b.Sum != 0 && b.Sum != b.checksum(written, first, data) {
		return nil, fmt.Errorf("%w: its checksum differs", errDamaged)
	}
	events, err := decode(data, log, first)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if len(events) == 0 || len(events) != b.count() || first+int64(len(events))-1 != b.Last {
		return nil, fmt.Errorf("%w: it holds %d events with %d keys, up to number %d", errDamaged, len(events), b.count(), b.Last)
	}
	return events, nil
}

// data joins a block's chunks, if it has any.
func (s *Store) data(ctx context.Context, first int64, b *block) ([]byte, error) {
	if b.Chunks == 0 {
		return b.Data, nil
	}
	if b.Chunks < 0 || b.Chunks > maxBlockBytes/maxDocumentBytes+1 {
		return nil, fmt.Errorf("%w: it has %d chunks", errDamaged, b.Chunks)
	}
	refs := make([]*firestore.DocumentRef, b.Chunks)
	for i := range refs {
		refs[i] = s.chunk(first, b.Writer, i)
	}
	docs, err := s.client.GetAll(ctx, refs)
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, doc := range docs {
		if !doc.Exists() {
			return nil, fmt.Errorf("%w: its chunk %s is missing", errDamaged, doc.Ref.ID)
		}
		var c chunk
		if err := doc.DataTo(&c); err != nil {
			return nil, err
		}
		data = append(data, c.Data...)
	}
	return data, nil
}

func (s *Store) chunk(first int64, writer string, i int) *firestore.DocumentRef {
	return s.chunks().Doc(fmt.Sprintf("%s-%s-%03d", name(first), writer, i))
}

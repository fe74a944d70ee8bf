package firestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
)

// trimBlocks is how many blocks one step of Trim reads or removes.
const trimBlocks = 100

// Trim implements hub.Store. It removes whole blocks: the floor moves first, and sweep removes the documents
// below it later. The newest block's document stays, because the next block's number follows from it.
// Firestore's clock decides what is old, because the clocks of the relays may differ.
func (s *Store) Trim(ctx context.Context, before time.Time) (int, error) {
	_, old := s.ends()
	floor, err := s.findFloor(ctx, old, before)
	if err != nil {
		return 0, fmt.Errorf("find old events: %w", err)
	}
	removed := 0
	if floor > old {
		if removed, err = s.raiseFloor(ctx, floor); err != nil {
			return 0, fmt.Errorf("record the floor: %w", err)
		}
	}
	if err := s.sweep(ctx); err != nil {
		return removed, fmt.Errorf("remove old events: %w", err)
	}
	return removed, nil
}

// findFloor returns the number of the last event that is too old, in the blocks after the floor. Usually
// there is none, so it looks at one block before it looks at many.
func (s *Store) findFloor(ctx context.Context, floor int64, before time.Time) (int64, error) {
	for _, limit := range []int{1, trimBlocks} {
		ctx, cancel := context.WithTimeout(ctx, s.limits.call)
		defer cancel()
		docs, err := s.blocks().Where("last", ">", floor).OrderBy("last", firestore.Asc).
			Limit(limit).Select("last").Documents(ctx).GetAll()
		if err != nil {
			return 0, err
		}
		for _, doc := range docs {
			b, err := blockOf(doc)
			if err != nil {
				return 0, err
			}
			if !doc.CreateTime.Before(s.there(before, doc.ReadTime)) {
				return floor, nil
			}
			floor = b.Last
		}
		if len(docs) == 0 {
			break
		}
	}
	return floor, nil
}

// inexact is how far two equal clocks may seem apart, because an answer takes a moment.
const inexact = 2 * time.Second

// there converts a moment of this machine's clock to Firestore's clock; read is Firestore's time of an answer
// that came just now. A slow answer makes the result earlier, so that nothing is removed too soon.
func (s *Store) there(moment, read time.Time) time.Time {
	ahead := s.now().Sub(read)
	if ahead.Abs() < inexact {
		return moment
	}
	return moment.Add(-ahead)
}

// raiseFloor returns how many events it removed; other relays remove old events too.
func (s *Store) raiseFloor(ctx context.Context, floor int64) (removed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.call)
	defer cancel()
	err = s.client.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		stored, err := content[meta](tx.Get(s.meta()))
		if err != nil {
			return err
		}
		removed = int(max(0, floor-stored.Floor))
		if removed == 0 {
			return nil
		}
		return tx.Update(s.meta(), []firestore.Update{{Path: "floor", Value: floor}})
	})
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor = max(s.floor, floor)
	return removed, nil
}

// sweep cleans up the documents of removed events, once no relay can take their numbers for free. Blocks are
// emptied, and deleted when their deliveries are forgotten. Chunks are deleted at once, including those of a
// block that was never written.
func (s *Store) sweep(ctx context.Context) error {
	head, floor := s.ends()
	if floor == 0 {
		return nil
	}
	blocks := s.blocks().Where("last", "<=", min(floor, head-1)).OrderBy("last", firestore.Asc)
	if err := s.each(ctx, func() firestore.Query { return blocks.Select("last") }, s.forget); err != nil {
		return err
	}
	if err := s.empty(ctx, blocks); err != nil {
		return err
	}
	chunks := s.chunks().Where(firestore.DocumentID, "<", s.chunks().Doc(name(floor+1)))
	return s.each(ctx, func() firestore.Query { return chunks.Select() }, remove)
}

// empty removes the events from blocks, unless another relay has done so.
func (s *Store) empty(ctx context.Context, blocks firestore.Query) error {
	s.mu.Lock()
	at := s.emptied
	s.mu.Unlock()
	rest := func() firestore.Query { return blocks.Where("last", ">", at).Select("last", "emptied") }
	err := s.each(ctx, rest, func(w *firestore.BulkWriter, doc *firestore.DocumentSnapshot) (*firestore.BulkWriterJob, error) {
		b, err := blockOf(doc)
		if err != nil {
			return nil, err
		}
		at = b.Last
		if b.Emptied {
			return nil, nil
		}
		return w.Update(doc.Ref, []firestore.Update{{Path: "emptied", Value: true}, {Path: "data", Value: []byte{}}})
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emptied = max(s.emptied, at)
	return nil
}

// deed acts on a document, does nothing to it, or fails with errYoung.
type deed func(*firestore.BulkWriter, *firestore.DocumentSnapshot) (*firestore.BulkWriterJob, error)

// errYoung ends a sweep at a document that has to stay unchanged for now, like those after it.
var errYoung = errors.New("it cannot be removed yet")

// forget deletes a block whose deliveries need not be remembered any more.
func (s *Store) forget(w *firestore.BulkWriter, doc *firestore.DocumentSnapshot) (*firestore.BulkWriterJob, error) {
	if doc.ReadTime.Sub(doc.CreateTime) < s.remembered {
		return nil, errYoung
	}
	return w.Delete(doc.Ref)
}

func remove(w *firestore.BulkWriter, doc *firestore.DocumentSnapshot) (*firestore.BulkWriterJob, error) {
	return w.Delete(doc.Ref)
}

// each calls do for each document of a query that is older than the grace period, a bounded number at a time;
// query selects the documents that are left.
func (s *Store) each(ctx context.Context, query func() firestore.Query, do deed) error {
	for more := true; more; {
		var err error
		if more, err = s.some(ctx, query().Limit(trimBlocks), do); err != nil {
			return err
		}
	}
	return nil
}

// some calls do for the documents of one query, and reports whether there may be more.
func (s *Store) some(ctx context.Context, query firestore.Query, do deed) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.call)
	defer cancel()
	docs, err := query.Documents(ctx).GetAll()
	if err != nil {
		return false, err
	}
	writer := s.client.BulkWriter(ctx)
	var jobs []*firestore.BulkWriterJob
	for _, doc := range docs {
		var job *firestore.BulkWriterJob
		if err = errYoung; doc.ReadTime.Sub(doc.CreateTime) >= s.grace {
			job, err = do(writer, doc)
		}
		if err != nil {
			break
		}
		if job != nil {
			jobs = append(jobs, job)
		}
	}
	writer.End()
	more = err == nil && len(docs) == trimBlocks
	if errors.Is(err, errYoung) {
		err = nil
	}
	for _, job := range jobs {
		_, failed := job.Results()
		err = errors.Join(err, failed)
	}
	return more, err
}

package firestore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
)

// trimBlocks is how many blocks one step of Trim looks at or removes.
const trimBlocks = 100

// Trim implements hub.Store. Events go by whole blocks: the floor moves first, and the
// documents below it go once no relay can take their places for free. The newest block's
// document stays, because the next one is numbered by it.
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

// findFloor returns the number of the last event that is too old, in the blocks behind
// the floor. Mostly there is none, which is worth a look at one block before at many.
func (s *Store) findFloor(ctx context.Context, floor int64, before time.Time) (int64, error) {
	for _, limit := range []int{1, trimBlocks} {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		docs, err := s.blocks().Where("last", ">", floor).OrderBy("last", firestore.Asc).
			Limit(limit).Select("last", "received").Documents(ctx).GetAll()
		if err != nil {
			return 0, err
		}
		for _, doc := range docs {
			var b block
			if err := doc.DataTo(&b); err != nil {
				return 0, err
			}
			if b.Received >= before.UnixMilli() {
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

// raiseFloor returns how many events went; other relays remove old events too.
func (s *Store) raiseFloor(ctx context.Context, floor int64) (removed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err = s.client.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
		var stored meta
		doc, err := tx.Get(s.meta())
		if err == nil {
			err = doc.DataTo(&stored)
		}
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

// sweep deletes the documents of removed events, those of chunks whose block was never
// written among them.
func (s *Store) sweep(ctx context.Context) error {
	head, floor := s.ends()
	if floor == 0 {
		return nil
	}
	blocks := s.blocks().Where("last", "<=", min(floor, head-1)).OrderBy("last", firestore.Asc)
	chunks := s.chunks().Where(firestore.DocumentID, "<", s.chunks().Doc(name(floor+1)))
	for _, query := range []firestore.Query{blocks, chunks} {
		for more := true; more; {
			var err error
			if more, err = s.deleteOld(ctx, query.Limit(trimBlocks).Select()); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteOld deletes those of the query's documents that are older than the grace, and
// reports whether there may be more of them.
func (s *Store) deleteOld(ctx context.Context, query firestore.Query) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	docs, err := query.Documents(ctx).GetAll()
	if err != nil {
		return false, err
	}
	writer := s.client.BulkWriter(ctx)
	var jobs []*firestore.BulkWriterJob
	for _, doc := range docs {
		if doc.ReadTime.Sub(doc.CreateTime) < s.grace {
			break
		}
		job, err := writer.Delete(doc.Ref)
		if err != nil {
			return false, err
		}
		jobs = append(jobs, job)
	}
	writer.End()
	var errs []error
	for _, job := range jobs {
		_, err := job.Results()
		errs = append(errs, err)
	}
	return len(jobs) == trimBlocks, errors.Join(errs...)
}

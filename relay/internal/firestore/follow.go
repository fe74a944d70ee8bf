package firestore

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"
	"golang.org/x/sync/errgroup"
)

// pollInterval is how long an event of another relay stays unseen at most if the listener reports nothing: it
// can fall silent without an error.
const pollInterval = 5 * time.Second

// Follow implements hub.Store. A realtime listener wakes it, and a poll catches what the listener misses.
func (s *Store) Follow(ctx context.Context, changed func(ctx context.Context, head int64) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.listen(ctx) })
	group.Go(func() error { return s.poll(ctx) })
	group.Go(func() error {
		for {
			head, _ := s.ends()
			if err := changed(ctx, head); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-s.news:
			}
		}
	})
	return group.Wait()
}

// listen learns each block as it becomes the newest one. It listens to that one alone, because every change
// sends the whole result again.
func (s *Store) listen(ctx context.Context) error {
	changes := s.blocks().OrderBy("last", firestore.Desc).Limit(1).Snapshots(ctx)
	defer changes.Stop()
	for {
		change, err := changes.Next()
		if err != nil {
			return fmt.Errorf("listen for events of other relays: %w", explained(err))
		}
		newest, err := change.Documents.GetAll()
		if err != nil {
			return fmt.Errorf("listen for events of other relays: %w", explained(err))
		}
		if len(newest) == 0 {
			continue
		}
		if err := s.learnNewest(ctx, newest[0]); err != nil {
			return err
		}
	}
}

// learnNewest takes the block itself if it follows the head, and otherwise reads the blocks between.
func (s *Store) learnNewest(ctx context.Context, doc *firestore.DocumentSnapshot) error {
	head, _ := s.ends()
	switch {
	case doc.Ref.ID <= name(head):
		return nil
	case doc.Ref.ID > name(head+1):
		return s.catchUp(ctx)
	}
	b, _, err := s.load(ctx, doc)
	if err != nil {
		return err
	}
	s.advance(b.Last)
	return nil
}

// poll looks for blocks that the listener missed, and notices when the log was replaced.
func (s *Store) poll(ctx context.Context) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if err := s.look(ctx); err != nil {
			return err
		}
	}
}

func (s *Store) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.limits.call)
	defer cancel()
	newest, err := s.newest(ctx)
	if err != nil {
		return fmt.Errorf("find events of other relays: %w", explained(err))
	}
	s.mu.Lock()
	missed := newest > s.head
	if !missed {
		s.confirmed = s.now()
	}
	s.mu.Unlock()
	if missed {
		return s.catchUp(ctx)
	}
	return nil
}

// catchUp learns the blocks after the head.
func (s *Store) catchUp(ctx context.Context) error {
	head, _ := s.ends()
	return s.learn(ctx, head, func(block) {})
}

// learn reads the blocks with events numbered above after and moves the head past them: all of them, or as
// many as are kept in memory.
func (s *Store) learn(ctx context.Context, after int64, visit func(b block)) error {
	err := s.scan(ctx, after, maxRecentBlocks, func(b block, _ decoded) bool {
		visit(b)
		s.advance(b.Last)
		return true
	})
	if err != nil {
		return fmt.Errorf("read events of other relays: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.confirmed = s.now()
	return nil
}

// advance moves the head and wakes the followers.
func (s *Store) advance(last int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last <= s.head {
		return
	}
	s.head = last
	select {
	case s.news <- struct{}{}:
	default: // they are woken already
	}
}

package sqlite

import (
	"context"

	"touchstone/worktree/pause"
)

// Follow implements hub.Store. The lock keeps other relays away, so the only events to report are those of an append that
// failed in or after its commit.
func (s *Store) Follow(ctx context.Context, changed func(ctx context.Context, head int64) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.doubts:
		}
		bounds, err := s.Bounds(ctx)
		if err == nil {
			if err := changed(ctx, bounds.Head); err != nil {
				s.doubt()
				return err
			}
			continue
		}
		// The append has reported the fault of the file already.
		s.doubt()
		if !pause.For(ctx, lookInterval) {
			return ctx.Err()
		}
	}
}

// doubt notes that the log may hold events that no append returned.
func (s *Store) doubt() {
	select {
	case s.doubts <- struct{}{}:
	default: // it is noted already
	}
}

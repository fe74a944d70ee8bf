package sqlite

import "context"

// Follow implements hub.Store. The lock keeps other relays away, and Append knows the outcome of each commit
// before the next one begins, so there is never an event to report.
func (s *Store) Follow(ctx context.Context, _ func(ctx context.Context, head int64) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// Package pause waits between two tries. It owns no state and imports nothing of this module.
package pause

import (
	"context"
	"time"
)

// For waits for d. It returns false if the context ends first.
func For(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

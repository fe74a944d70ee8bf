package token

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/rs/zerolog"
)

// usesEvery is the time between two writes of the times of use.
const usesEvery = time.Minute

// Uses says when tokens were last used, by their ids: to the second, and for an open stream to the minute. It
// is stored apart from the tokens: a relay that records a use must never undo what an administrator did at
// the same moment.
type Uses map[string]time.Time

// note keeps the later of two times.
func (u Uses) note(id string, at time.Time) {
	if at.After(u[id]) {
		u[id] = at
	}
}

func encodeUses(uses Uses) ([]byte, error) {
	text, err := json.MarshalIndent(uses, "", "  ")
	return append(text, '\n'), err
}

// decodeUses reads what encodeUses wrote. Unreadable text counts as empty rather than as an error: nothing
// depends on it, and the next write replaces it.
func decodeUses(text []byte) Uses {
	uses := Uses{}
	if len(text) > maxStoredBytes || json.Unmarshal(text, &uses) != nil || uses == nil {
		return Uses{}
	}
	return uses
}

// keepUses merges what this checker saw into the store, where other relays write too. If two do so at the
// same moment, one update is lost until that relay writes again.
func (c *Checker) keepUses(ctx context.Context) error {
	seen := c.seen()
	if len(seen) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	stored, err := c.store.Uses(ctx)
	if err != nil {
		return fmt.Errorf("read when access tokens were last used: %w", err)
	}
	news := false
	for id, at := range seen {
		news = news || at.After(stored[id])
		stored.note(id, at)
	}
	if !news {
		return nil
	}
	if err := c.store.SetUses(ctx, stored); err != nil {
		return fmt.Errorf("record when access tokens were last used: %w", err)
	}
	return nil
}

// noteUses calls keepUses and logs a failure: a statistic is nothing to stop for.
func (c *Checker) noteUses(ctx context.Context) {
	if err := c.keepUses(ctx); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot record when access tokens were last used; touchstone-relay token list shows older times")
	}
}

// use counts the requests and streams that a grant has open.
func (c *Checker) use(grant *Grant, more int) {
	if grant.ID == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	grant.open += more
	c.uses.note(grant.ID, clock())
}

// seen returns when this checker last saw each token in use; for an open stream that is now.
func (c *Checker) seen() Uses {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, grant := range c.grants {
		if grant.open > 0 {
			c.uses.note(id, clock())
		}
	}
	return maps.Clone(c.uses)
}

// clock returns the time with the precision that tokens have.
func clock() time.Time { return time.Now().UTC().Truncate(time.Second) }

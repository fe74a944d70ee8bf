package token

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/rs/zerolog"
)

// usesEvery is the time between two notes of which tokens were used.
const usesEvery = time.Minute

// Uses says when tokens were last used, by their ids: to the second, and of a stream that
// is open to the minute. It is kept apart from the tokens: a relay that notes a use must
// never undo what an administrator did at the same moment.
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

// decodeUses reads what encodeUses wrote. What it cannot read is unknown, and no reason
// to fail: nothing is decided by it, and the next note replaces it.
func decodeUses(text []byte) Uses {
	uses := Uses{}
	if len(text) > maxStoredBytes || json.Unmarshal(text, &uses) != nil || uses == nil {
		return Uses{}
	}
	return uses
}

// keepUses adds what this checker saw to what is stored, where other relays note theirs.
// Of two that do so at the same moment one is lost, until its next turn.
func (c *Checker) keepUses(ctx context.Context) error {
	seen := c.seen()
	if len(seen) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	stored, err := c.store.Uses(ctx)
	if err != nil {
		return fmt.Errorf("read when access tokens were used: %w", err)
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
		return fmt.Errorf("note when access tokens were used: %w", err)
	}
	return nil
}

// noteUses keeps what was seen, or says in the log that it could not: a statistic is
// nothing to stop for.
func (c *Checker) noteUses(ctx context.Context) {
	if err := c.keepUses(ctx); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("when access tokens were last used is not up to date in touchstone-relay token list")
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

// seen is when this checker saw each token; of one with an open stream that is now.
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

// clock is the time as tokens have it.
func clock() time.Time { return time.Now().UTC().Truncate(time.Second) }

package sqlite

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Bounds of what the machine's clock is believed.
const (
	// maxLeap is how far it may go ahead between two looks without a doubt, where that is a
	// small part of the retention.
	maxLeap = time.Hour
	// patience is for how long, of the time that relays run, it has to stay further ahead until
	// it is believed, where that is no more than the retention.
	patience = 24 * time.Hour
	// noteEvery is how often the time is written down, for the relay that opens the file next.
	noteEvery = 10 * time.Minute
)

// clockNote is the note with what is believed.
const clockNote = "clock"

// clock keeps a machine's clock that goes ahead by hours or years from making all events too
// old. A relay that was off for long looks the same: then old events stay a day longer.
type clock struct {
	mu       sync.Mutex
	believed time.Time     // zero before the first look
	at       time.Duration // for how long the relay had run then
	doubted  time.Duration // for how long relays have run while the clock was ahead
	noted    time.Time     // what stands in the note
}

// look takes what the clock says and for how long the relay has run, which no one sets. It
// returns how far what is believed lies behind.
func (c *clock) look(ctx context.Context, now time.Time, ran, retention time.Duration) (lag time.Duration) {
	now = now.Round(0)
	if c.believed.IsZero() || retention <= 0 {
		c.believed, c.at = now, ran
		return 0
	}
	passed := ran - c.at
	c.believed, c.at = c.believed.Add(passed), ran
	lag = now.Sub(c.believed)
	wait, log := min(patience, retention), zerolog.Ctx(ctx).Warn().Stringer("by", lag.Round(time.Second))
	switch {
	case lag <= min(maxLeap, retention/24):
		c.believed, c.doubted = now, 0
		return 0
	case c.doubted == 0:
		log.Stringer("believed_after", wait).Msg("the clock went ahead, or this relay was off for long: set the clock right if it is wrong; " +
			"until it is believed, it makes no event too old")
		c.doubted = 1
	case c.doubted+passed >= wait:
		log.Msg("the clock has stayed ahead for long, and is believed: events go that are too old by it")
		c.believed, c.doubted = now, 0
		return 0
	default:
		c.doubted += passed
	}
	return lag
}

// recallClock reads what the relay before this one believed. Without that the clock is believed.
func (s *Store) recallClock(ctx context.Context) error {
	text, err := s.Note(ctx, clockNote)
	if err != nil || text == "" {
		return err
	}
	var believed, doubted int64
	if _, err := fmt.Sscan(text, &believed, &doubted); err == nil && doubted >= 0 {
		s.clock.believed, s.clock.doubted = time.UnixMilli(believed), time.Duration(doubted)
	}
	return nil
}

// honest is a time by the clock that is believed, before which events are too old.
func (s *Store) honest(ctx context.Context, before time.Time) (time.Time, error) {
	c := &s.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	now, ran := s.now()
	before = before.Add(-c.look(ctx, now, ran, now.Sub(before)))
	if c.believed.Sub(c.noted).Abs() < noteEvery {
		return before, nil
	}
	if err := s.SetNote(ctx, clockNote, fmt.Sprint(c.believed.UnixMilli(), int64(c.doubted))); err != nil {
		return before, err
	}
	c.noted = c.believed
	return before, nil
}

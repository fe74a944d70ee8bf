package sqlite

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Bounds of how far the machine's clock is trusted.
const (
	// maxLeap is how far the clock may go ahead between two looks and still be trusted, if that is a small
	// part of the retention.
	maxLeap = time.Hour
	// patience is how long, in running time of relays, the clock has to stay further ahead before it is
	// trusted, if the retention is not shorter.
	patience = 24 * time.Hour
	// noteEvery is how often the trusted time is stored, for the next relay that opens the file.
	noteEvery = 10 * time.Minute
)

// clockNote is the note with the trusted time.
const clockNote = "clock"

// clock prevents that a machine's clock that goes ahead, by hours or years, makes all events too old. A relay
// that was off for long looks the same; old events then stay a day longer.
type clock struct {
	mu       sync.Mutex
	believed time.Time     // the trusted time; zero before the first look
	at       time.Duration // how long the relay had run by then
	doubted  time.Duration // how long relays have run while the clock was ahead
	noted    time.Time     // the time in the note
}

// look takes the clock's time and how long the relay has run, which cannot be set. It returns how far the
// trusted time is behind the clock.
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
		log.Stringer("believed_after", wait).Msg("the clock jumped ahead, or this relay was off for long; correct the clock if it is wrong. " +
			"Until then retention removes nothing by this clock")
		c.doubted = 1
	case c.doubted+passed >= wait:
		log.Msg("the clock has been ahead for long, so retention now removes old events by it")
		c.believed, c.doubted = now, 0
		return 0
	default:
		c.doubted += passed
	}
	return lag
}

// recallClock reads the trusted time of the relay before this one. Without it the clock is trusted.
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

// honest converts a time of the machine's clock, before which events are too old, into trusted time. It also
// returns the time after which no event can have been received: the clock was ahead when one was. That goes by the clock as it
// is now, even if it is doubted: it may be right, as after a long break.
func (s *Store) honest(ctx context.Context, before time.Time) (old, future time.Time, err error) {
	c := &s.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	now, ran := s.now()
	old = before.Add(-c.look(ctx, now, ran, now.Sub(before)))
	future = now.Add(maxLeap)
	if c.believed.Sub(c.noted).Abs() < noteEvery {
		return old, future, nil
	}
	if err := s.SetNote(ctx, clockNote, fmt.Sprint(c.believed.UnixMilli(), int64(c.doubted))); err != nil {
		return old, future, err
	}
	c.noted = c.believed
	return old, future, nil
}

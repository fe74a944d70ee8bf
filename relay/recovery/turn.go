package recovery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// Lease is a good value for Config.Lease.
const Lease = 20 * time.Second

// turnNote is the note that says whose turn it is: a text that its holder keeps changing. A relay that sees
// it unchanged for a whole lease takes the holder for dead. Each relay uses only its own clock.
const turnNote = "recovery turn"

// errTurnLost ends a pass when another relay has taken over.
var errTurnLost = errors.New("another relay has taken over, because this one did not renew its lease in time")

// turn is this relay's right to compare, among relays that share a log. Without it, each of them would ask
// GitHub for everything that is missing. It is not a lock, which notes cannot provide: if two relays take it
// at once, a delivery is requested twice and stored once.
type turn struct {
	notes notebook
	lease time.Duration
	text  string // the text that this relay last wrote into the note
}

// notebook is the part of a Log that a turn is kept in.
type notebook interface {
	Note(ctx context.Context, name string) (string, error)
	SetNote(ctx context.Context, name, text string) error
}

// take waits until it is this relay's turn.
func (t *turn) take(ctx context.Context) error {
	for seen, since := "", time.Now(); ; {
		note, err := t.notes.Note(ctx, turnNote)
		if err != nil {
			return err
		}
		if note != seen {
			seen, since = note, time.Now()
		}
		if note == "" || time.Since(since) > t.lease {
			won, err := t.claim(ctx)
			if won || err != nil {
				return err
			}
		}
		if err := sleep(ctx, t.lease/20); err != nil {
			return err
		}
	}
}

// claim writes the note, and waits as long as another relay that saw the old note may take to write it too.
// The last writer has the turn.
func (t *turn) claim(ctx context.Context) (won bool, err error) {
	if err := t.sign(ctx); err != nil {
		return false, err
	}
	if err := sleep(ctx, t.lease/20); err != nil {
		return false, err
	}
	return t.held(ctx)
}

// sign gives a sign of life.
func (t *turn) sign(ctx context.Context) error {
	t.text = rand.Text()
	return t.notes.SetNote(ctx, turnNote, t.text)
}

func (t *turn) held(ctx context.Context) (bool, error) {
	note, err := t.notes.Note(ctx, turnNote)
	return note == t.text, err
}

// keep gives signs of life until ctx ends. It returns earlier, with the reason, if it cannot go on.
func (t *turn) keep(ctx context.Context) error {
	for {
		if err := sleep(ctx, t.lease/5); err != nil {
			return nil
		}
		held, err := t.held(ctx)
		if err == nil && !held {
			err = errTurnLost
		}
		if err == nil {
			err = t.sign(ctx)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("renew the lease: %w", err)
		}
	}
}

// end gives up the turn, so that another relay can take it at once. If end fails, the lease runs out.
func (t *turn) end(ctx context.Context) error {
	if held, err := t.held(ctx); err != nil || !held {
		return err
	}
	return t.notes.SetNote(ctx, turnNote, "")
}

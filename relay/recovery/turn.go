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

// turnNote is the note that says whose turn it is: a text that its holder changes again
// and again. Who sees it unchanged for as long as the lease takes the holder for dead.
// No clocks are compared, only times that one relay measures by its own.
const turnNote = "recovery turn"

// errTurnLost ends a pass that another relay goes on with.
var errTurnLost = errors.New("another relay has taken over, for this one gave no sign of life")

// turn is this relay's right to compare, among relays that share a log. Without it each
// of them would ask GitHub for all that is missing. It is not more than that: notes know
// no locks, and if two relays ever take it at once, a delivery is asked for twice and
// stored once.
type turn struct {
	notes notebook
	lease time.Duration
	text  string // the note, as this relay wrote it last
}

// notebook is of a Log what turns are kept in.
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

// claim writes the note and waits for as long as another relay may take that saw the
// same and writes it too. The last one has it.
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

// keep gives signs of life until ctx ends, or returns earlier why it could not.
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
			return fmt.Errorf("keep the turn: %w", err)
		}
	}
}

// end lets another relay have the turn at once. If it fails, the lease runs out.
func (t *turn) end(ctx context.Context) error {
	if held, err := t.held(ctx); err != nil || !held {
		return err
	}
	return t.notes.SetNote(ctx, turnNote, "")
}

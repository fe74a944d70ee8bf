package recovery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"touchstone/worktree/pause"
)

// Lease is a good value for Config.Lease.
const Lease = 20 * time.Second

// leaseNote is the note that the lease is kept in: a text that its holder keeps changing. A relay that sees it
// unchanged for the lease's whole length takes the holder for dead. Each relay uses only its own clock.
const leaseNote = "recovery turn" // as older relays store it

// errLeaseLost ends a pass when another relay has taken over.
var errLeaseLost = errors.New("another relay has taken over, because this one did not renew its lease in time")

// lease is this relay's right to compare, among relays that share a log. Without it, each of them would ask
// GitHub for everything that is missing. It is not a lock, which notes cannot provide: if two relays take it
// at once, a delivery is requested twice and stored once.
type lease struct {
	notes  notebook
	length time.Duration
	text   string // the text that this relay last wrote into the note
}

// notebook is the part of a Log that a lease is kept in.
type notebook interface {
	Note(ctx context.Context, name string) (string, error)
	SetNote(ctx context.Context, name, text string) error
}

// take waits until this relay holds the lease.
func (l *lease) take(ctx context.Context) error {
	for seen, since := "", time.Now(); ; {
		note, err := l.notes.Note(ctx, leaseNote)
		if err != nil {
			return err
		}
		if note != seen {
			seen, since = note, time.Now()
		}
		if note == "" || time.Since(since) > l.length {
			won, err := l.claim(ctx)
			if won || err != nil {
				return err
			}
		}
		if !pause.For(ctx, l.length/20) {
			return context.Cause(ctx)
		}
	}
}

// claim writes the note, and waits as long as another relay that saw the old note may take to write it too.
// The last writer holds the lease.
func (l *lease) claim(ctx context.Context) (won bool, err error) {
	if err := l.renew(ctx); err != nil {
		return false, err
	}
	if !pause.For(ctx, l.length/20) {
		return false, context.Cause(ctx)
	}
	return l.held(ctx)
}

// renew changes the note, as a sign of life.
func (l *lease) renew(ctx context.Context) error {
	l.text = rand.Text()
	return l.notes.SetNote(ctx, leaseNote, l.text)
}

func (l *lease) held(ctx context.Context) (bool, error) {
	note, err := l.notes.Note(ctx, leaseNote)
	return note == l.text, err
}

// keep renews the lease until ctx ends. It returns earlier, with the reason, if it cannot go on.
func (l *lease) keep(ctx context.Context) error {
	for {
		if !pause.For(ctx, l.length/5) {
			return nil
		}
		held, err := l.held(ctx)
		if err == nil && !held {
			err = errLeaseLost
		}
		if err == nil {
			err = l.renew(ctx)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("renew the lease: %w", err)
		}
	}
}

// release lets another relay take the lease at once. If it fails, the lease runs out.
func (l *lease) release(ctx context.Context) error {
	if held, err := l.held(ctx); err != nil || !held {
		return err
	}
	return l.notes.SetNote(ctx, leaseNote, "")
}

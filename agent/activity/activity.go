// Package activity knows what one agent does at the moment, for those who look at it: the relay's
// page and `touchstone status`. It decides and stores nothing.
package activity

import (
	"context"
	"slices"
	"sync"
	"time"

	"touchstone/relay/event"
)

// Tracker keeps what one agent does. Its zero value is ready; its methods may be called from
// several goroutines at once.
type Tracker struct {
	mu      sync.Mutex
	work    []*event.Work
	queued  int
	resting []string
	changed chan struct{}
}

type workKey struct{}

// work is a piece of work in a context.
type work struct {
	tracker *Tracker
	at      *event.Work
}

// Begin notes that something is done to a pull request until the returned function is called.
// Phase, under the returned context, says how far it is.
func (t *Tracker) Begin(ctx context.Context, pull, act string) (under context.Context, end func()) {
	w := &event.Work{Pull: pull, Act: act, Since: time.Now().UTC().Truncate(time.Second)}
	t.change(func() { t.work = append(t.work, w) })
	return context.WithValue(ctx, workKey{}, work{t, w}), func() {
		t.change(func() { t.work = slices.DeleteFunc(t.work, func(other *event.Work) bool { return other == w }) })
	}
}

// Queue notes that one more pull request waits, until the returned function is called.
func (t *Tracker) Queue() (end func()) {
	t.change(func() { t.queued++ })
	return func() { t.change(func() { t.queued-- }) }
}

// Rest notes which models are left alone for a while.
func (t *Tracker) Rest(models []string) {
	t.change(func() { t.resting = slices.Clone(models) })
}

// Phase notes which part of the work of a context has begun; without such work it does nothing.
func Phase(ctx context.Context, name string) {
	if w, ok := ctx.Value(workKey{}).(work); ok {
		w.tracker.change(func() { w.at.Phase = name })
	}
}

// change makes a change and signals it.
func (t *Tracker) change(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do()
	select {
	case t.signal() <- struct{}{}:
	default:
	}
}

// signal is the channel of changes. The caller holds mu.
func (t *Tracker) signal() chan struct{} {
	if t.changed == nil {
		t.changed = make(chan struct{}, 1)
	}
	return t.changed
}

// Changed receives a value after one or more changes.
func (t *Tracker) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.signal()
}

// Fill writes into a beacon what is done now: its Work, Queued and Resting.
func (t *Tracker) Fill(b *event.Beacon) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b.Work, b.Queued, b.Resting = []event.Work{}, t.queued, append([]string{}, t.resting...)
	for _, w := range t.work {
		b.Work = append(b.Work, *w)
	}
}

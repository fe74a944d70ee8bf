package dashboard

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"touchstone/relay/event"
)

// changesPause is the least time between two notices to open pages. All pages of a scope are told at
// once, so that they ask for the same version of what they show, which is written once.
const changesPause = 500 * time.Millisecond

// changes tells open pages when what they show may have changed.
type changes struct {
	mu     sync.Mutex
	scopes map[string]*scopeChanges // those that pages are open of
}

// scopeChanges is what the pages of one scope are told.
type scopeChanges struct {
	scope event.Filter
	pages int
	at    int64
	moved chan struct{} // closed when at moves
}

// Watch is an open page's view of the changes within its scope. It belongs to one goroutine.
type Watch struct {
	dashboard *Dashboard
	key       string
	told      *scopeChanges
}

// Watch begins to watch what changes within a scope. The caller closes it.
func (d *Dashboard) Watch(scope event.Filter) *Watch {
	w := &Watch{dashboard: d, key: scopeKey(scope)}
	d.changes.mu.Lock()
	defer d.changes.mu.Unlock()
	if w.told = d.changes.scopes[w.key]; w.told == nil {
		w.told = &scopeChanges{scope: scope, at: d.config.Projection.At(), moved: make(chan struct{})}
		d.changes.scopes[w.key] = w.told
	}
	w.told.pages++
	return w
}

// At is the newest change within the scope that pages are told of, or one before the first of
// them. The channel is closed when there is a newer one.
func (w *Watch) At() (event.Cursor, <-chan struct{}) {
	w.dashboard.changes.mu.Lock()
	defer w.dashboard.changes.mu.Unlock()
	return event.Cursor{Log: w.dashboard.config.Relay.Head().Log, Seq: w.told.at}, w.told.moved
}

// Close ends the watch.
func (w *Watch) Close() {
	w.dashboard.changes.mu.Lock()
	defer w.dashboard.changes.mu.Unlock()
	if w.told.pages--; w.told.pages == 0 {
		delete(w.dashboard.changes.scopes, w.key)
	}
}

// Run tells open pages of changes until ctx ends.
func (d *Dashboard) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		moved := d.config.Projection.Moved()
		if d.tell() {
			select {
			case <-ctx.Done():
			case <-time.After(changesPause):
			}
			continue
		}
		select {
		case <-ctx.Done():
		case <-moved:
		}
	}
	return nil
}

// tell tells the pages of each scope of what has changed there, and reports whether anything has.
func (d *Dashboard) tell() (any bool) {
	d.changes.mu.Lock()
	defer d.changes.mu.Unlock()
	for _, told := range d.changes.scopes {
		if at := d.config.Projection.Newest(told.scope); at > told.at {
			any, told.at = true, at
			close(told.moved)
			told.moved = make(chan struct{})
		}
	}
	return any
}

// scopeKey is the same for scopes that let the same through.
func scopeKey(scope event.Filter) string {
	text, _ := json.Marshal(scope) // of lists of strings, which cannot fail
	return string(text)
}

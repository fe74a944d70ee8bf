package dashboard

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"touchstone/relay/event"
)

// changesPause is the minimum time between two notices to open pages. All pages of a scope are notified at
// once, so that they request the same version, which is rendered once.
const changesPause = 500 * time.Millisecond

// changes notifies open pages when what they show may have changed.
type changes struct {
	mu     sync.Mutex
	scopes map[string]*scopeChanges // the scopes with open pages
}

// scopeChanges is the state of the pages of one scope.
type scopeChanges struct {
	scope event.Filter
	pages int
	at    int64
	moved chan struct{} // closed when at moves
}

// Watch is an open page's view of the changes within its scope. One goroutine uses it.
type Watch struct {
	dashboard *Dashboard
	key       string
	told      *scopeChanges
}

// Watch begins to watch the changes within a scope. The caller closes the Watch.
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

// At returns the newest change within the scope that pages were notified of or, before the first notice, a
// position before it. The channel is closed when there is a newer change.
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

// Run notifies open pages of changes until ctx ends.
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

// tell notifies the pages of each scope that has changed, and reports whether there was one.
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

// scopeKey returns the same key for scopes that let the same events through.
func scopeKey(scope event.Filter) string {
	text, _ := json.Marshal(scope) // of lists of strings, which cannot fail
	return string(text)
}

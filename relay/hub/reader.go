package hub

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"touchstone/relay/event"
)

// Reader follows the log from a position, behind filters. It belongs to one goroutine.
type Reader struct {
	// Drop, if set before the first Next, is called when the reader has held a batch for
	// longer than all others and they need the memory. It has to make the reader's owner
	// close it soon, and must not call the hub or wait.
	Drop func()
	// Unsent, if set before the first Next, says that the reader sends nothing on and so needs no frames.
	Unsent bool

	hub     *Hub
	filters []event.Filter
	wake    chan struct{}

	// The hub's mu guards the rest.
	at      int64 // up to here the reader has been handed the log, or it was left out
	waiting bool  // nothing behind at matches, except from match on
	match   int64 // the first event since waiting that may match; zero for none
	held    []*Entry
	place   *list.Element // among those that hold something
}

// Batch is the next piece of the log for one reader.
type Batch struct {
	// GoneThrough is the last event that is missing behind the reader's position; zero
	// when nothing is. Entries then begin after it.
	GoneThrough int64
	// Damaged says why: what is missing is damaged in the store. Otherwise retention
	// removed it.
	Damaged bool
	// Entries are the next events in order that the reader wants. They are shared:
	// do not change them. They count as held until Release, Next or Close.
	Entries []*Entry
	// Through is the reader's position once it has dealt with the entries.
	Through int64
	// More is true when the log goes on behind Through; if not, wait for Wake.
	More bool
}

// NewReader makes a reader that stands behind the event numbered after and wants the
// events that every one of the filters lets through, and all controls. The caller closes it.
func (h *Hub) NewReader(after int64, filters ...event.Filter) *Reader {
	r := &Reader{hub: h, filters: filters, wake: make(chan struct{}, 1), at: after}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers.add(r)
	return r
}

// Close forgets the reader.
func (r *Reader) Close() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.hub.readers.remove(r)
	r.hub.held.remove(r)
}

// Release lets go of what Next has returned last.
func (r *Reader) Release() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.hub.held.remove(r)
}

// Wake signals that the log may hold something new for this reader. Calling Next
// without it does no harm, and tells how far the log has come meanwhile.
func (r *Reader) Wake() <-chan struct{} { return r.wake }

// Next returns what follows the reader's position, from memory where it can and else
// from the store, and moves the position behind it.
func (r *Reader) Next(ctx context.Context) (Batch, error) {
	entries, after, head := r.advance()
	if after == head {
		return Batch{Through: after}, nil
	}
	var batch Batch
	if entries == nil {
		stored, err := r.hub.past.after(ctx, after)
		if damage := (*Damage)(nil); errors.As(err, &damage) {
			return r.passDamage(ctx, damage, after, head), nil
		}
		if err != nil {
			return Batch{}, fmt.Errorf("read the log: %w", err)
		}
		for _, entry := range stored {
			if entry.ID.Seq <= head { // what lies beyond comes when its turn to be shown has come
				entries = append(entries, entry)
			}
		}
		if len(entries) == 0 {
			// All of it went between the look at the bounds and the read.
			return Batch{GoneThrough: head, Through: head, More: r.moveTo(head)}, nil
		}
		if first := entries[0].ID.Seq; first > after+1 {
			batch.GoneThrough = first - 1
		}
		batch.More = r.moveTo(entries[len(entries)-1].ID.Seq)
	} else {
		batch.More = entries[len(entries)-1].ID.Seq < head
	}
	batch.Through = entries[len(entries)-1].ID.Seq
	batch.Entries = r.wanted(entries)
	r.hold(batch.Entries)
	return batch, nil
}

// passDamage moves the position behind damaged events, or first behind what retention
// removed before them.
func (r *Reader) passDamage(ctx context.Context, damage *Damage, after, head int64) Batch {
	r.hub.damages.meet(ctx, damage)
	through, damaged := min(damage.Last, head), true
	if damage.First > after+1 {
		through, damaged = damage.First-1, false
	}
	return Batch{GoneThrough: through, Damaged: damaged, Through: through, More: r.moveTo(through)}
}

func (r *Reader) hold(entries []*Entry) {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.hub.held.add(r, entries)
}

// advance skips what is known to match nothing and takes what memory holds behind
// that. A reader that thereby reaches the head is waiting from now on.
func (r *Reader) advance() (entries []*Entry, after, head int64) {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	head = r.hub.tail.bounds.Head
	switch {
	case r.waiting && r.match == 0:
		r.at = head
	case r.waiting:
		r.at = r.match - 1
	}
	after = r.at
	if after < head {
		entries = r.hub.tail.after(after)
	}
	if len(entries) > 0 {
		r.at = entries[len(entries)-1].ID.Seq
	}
	r.waiting, r.match = r.at >= head, 0
	return entries, min(after, head), head
}

// moveTo moves the position to an event, and reports whether the log goes on behind it. A reader that
// thereby reaches the head is waiting from now on.
func (r *Reader) moveTo(seq int64) (more bool) {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.at = seq
	more = seq < r.hub.tail.bounds.Head
	r.waiting, r.match = !more, 0
	return more
}

// wanted drops in place what a filter leaves out.
func (r *Reader) wanted(entries []*Entry) []*Entry {
	kept := entries[:0]
	for _, entry := range entries {
		if r.wants(entry.Event) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// wants lets controls through any filter: they are for all readers.
func (r *Reader) wants(e event.Event) bool {
	if e.IsControl() {
		return true
	}
	for _, filter := range r.filters {
		if !filter.Match(e) {
			return false
		}
	}
	return true
}

// readers finds the readers that an event may concern without a look at the others:
// each is filed under the narrowest keys that its filters allow.
type readers map[string]map[*Reader]struct{}

func (all readers) add(r *Reader) {
	for _, key := range readerKeys(r.filters) {
		if all[key] == nil {
			all[key] = map[*Reader]struct{}{}
		}
		all[key][r] = struct{}{}
	}
}

func (all readers) remove(r *Reader) {
	for _, key := range readerKeys(r.filters) {
		delete(all[key], r)
		if len(all[key]) == 0 {
			delete(all, key)
		}
	}
}

// notice marks the waiting readers that want the event and returns those that did not
// know yet that there is something for them.
func (all readers) notice(e event.Event) []*Reader {
	var wake []*Reader
	keys := eventKeys(e)
	if e.IsControl() {
		keys = slices.Collect(maps.Keys(all))
	}
	for _, key := range keys {
		for r := range all[key] {
			if r.waiting && r.match == 0 && r.wants(e) {
				r.match = e.ID.Seq
				wake = append(wake, r)
			}
		}
	}
	return wake
}

// noticeUnknown does the same when events from first on are there that the hub has not seen.
func (all readers) noticeUnknown(first int64) []*Reader {
	var wake []*Reader
	for _, some := range all {
		for r := range some {
			if r.waiting && r.match == 0 {
				r.match = first
				wake = append(wake, r)
			}
		}
	}
	return wake
}

// eventKeys are the keys under which readers of an event can be filed.
func eventKeys(e event.Event) []string {
	repo := strings.ToLower(e.Repo)
	owner, _ := path.Split(repo)
	return []string{"", "source " + e.Source, "type " + e.Type, "owner " + owner, "repo " + repo}
}

// readerKeys files a reader under its repositories or their owners; else under its
// types, else under its sources, else under the empty key, where every event looks.
func readerKeys(filters []event.Filter) []string {
	for _, filter := range filters {
		if keys := repoKeys(filter.Repos); keys != nil {
			return keys
		}
	}
	for _, filter := range filters {
		if len(filter.Types) > 0 {
			return prefixed("type ", filter.Types)
		}
	}
	for _, filter := range filters {
		if len(filter.Sources) > 0 {
			return prefixed("source ", filter.Sources)
		}
	}
	return []string{""}
}

// repoKeys is nil unless every glob names at least an owner. A class such as [^a] could
// match the slash behind the owner, so globs with classes are not among those.
func repoKeys(globs []string) []string {
	var keys []string
	for _, glob := range globs {
		glob = strings.ToLower(glob)
		owner, name := path.Split(glob)
		switch {
		case owner == "" || strings.ContainsAny(owner, `*?`) || strings.ContainsAny(glob, `[\`):
			return nil
		case strings.ContainsAny(name, `*?`):
			keys = append(keys, "owner "+owner)
		default:
			keys = append(keys, "repo "+glob)
		}
	}
	return keys
}

func prefixed(prefix string, values []string) []string {
	keys := make([]string, len(values))
	for i, value := range values {
		keys[i] = prefix + value
	}
	return keys
}

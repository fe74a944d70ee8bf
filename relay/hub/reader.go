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

// Reader follows the log from a position and applies filters. One goroutine uses it.
type Reader struct {
	// Drop, if set before the first Next, is called when readers hold too much memory and this one has held
	// its batch longest. It must make the owner close the reader soon, and must neither call the hub nor
	// block.
	Drop func()
	// Unsent, if set before the first Next, says that the reader sends nothing on, so that it needs no
	// frames.
	Unsent bool

	hub     *Hub
	filters []event.Filter
	wake    chan struct{}

	// The hub's mu guards the rest.
	at      int64 // the reader has been given the log, or skipped it, up to here
	waiting bool  // no event after at matches, except from match on
	match   int64 // the first event since the reader began to wait that may match; zero for none
	held    []*Entry
	place   *list.Element // in the list of readers that hold entries
}

// Batch is the next piece of the log for one reader.
type Batch struct {
	// GoneThrough is the last of the events that are missing after the reader's position; zero if none are.
	// Entries then begin after it.
	GoneThrough int64
	// Damaged says that the missing events are damaged in the store. Otherwise retention removed them.
	Damaged bool
	// Entries are the next events that the reader wants, in order. They are shared: do not change them. They
	// count as held until Release, Next or Close.
	Entries []*Entry
	// Through is the reader's position once it has processed the entries.
	Through int64
	// More is true when the log has events after Through; otherwise wait for Wake.
	More bool
}

// NewReader creates a reader whose position is the event numbered after. It wants all settings, and the
// events that pass every filter. The caller closes it.
func (h *Hub) NewReader(after int64, filters ...event.Filter) *Reader {
	r := &Reader{hub: h, filters: filters, wake: make(chan struct{}, 1), at: after}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers.add(r)
	return r
}

// Close removes the reader from the hub.
func (r *Reader) Close() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.hub.readers.remove(r)
	r.hub.held.remove(r)
}

// Release gives back the entries of the last Next.
func (r *Reader) Release() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.hub.held.remove(r)
}

// Wake signals that the log may hold something new for this reader. Calling Next without the signal is
// harmless, and shows how far the log has grown.
func (r *Reader) Wake() <-chan struct{} { return r.wake }

// Next returns the events after the reader's position and moves the position past them. They come from memory
// if possible, otherwise from the store.
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
			if entry.ID.Seq <= head { // events beyond the head are not visible yet
				entries = append(entries, entry)
			}
		}
		if len(entries) == 0 {
			// Retention removed all of it after advance looked at the bounds.
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
	batch.Entries = slices.DeleteFunc(entries, func(e *Entry) bool { return !r.wants(e.Event) })
	r.hold(batch.Entries)
	return batch, nil
}

// Again returns an event from before the reader's position once more; nil if the log does not hold it. It counts as held,
// like those of Next.
func (r *Reader) Again(ctx context.Context, seq int64) (*Entry, error) {
	r.hub.mu.Lock()
	var entries []*Entry
	known := seq <= r.hub.tail.bounds.Head
	if known {
		entries = r.hub.tail.after(seq - 1)
	}
	r.hub.mu.Unlock()
	if known && entries == nil {
		var err error
		if entries, err = r.hub.past.after(ctx, seq-1); err != nil && !errors.As(err, new(*Damage)) {
			return nil, fmt.Errorf("read the log: %w", err)
		}
	}
	if len(entries) == 0 || entries[0].ID.Seq != seq {
		return nil, nil
	}
	r.hold(entries[:1])
	return entries[0], nil
}

// passDamage moves the position past damaged events. If retention removed events before the damaged ones, it
// first moves past those alone.
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

// advance skips events that are known not to match and takes the cached entries after them. A reader that
// reaches the head this way waits from now on.
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

// moveTo moves the position to an event and reports whether the log goes on after it. A reader that reaches
// the head this way waits from now on.
func (r *Reader) moveTo(seq int64) (more bool) {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.at = seq
	more = seq < r.hub.tail.bounds.Head
	r.waiting, r.match = !more, 0
	return more
}

// wants lets settings pass any filter: they are meant for all readers.
func (r *Reader) wants(e event.Event) bool {
	return e.IsSettings() || !slices.ContainsFunc(r.filters, func(f event.Filter) bool { return !f.Match(e) })
}

// readers is an index that finds the readers an event may concern without looking at the others. Each reader
// stands under the narrowest keys that its filters allow.
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

// notice marks the waiting readers that want the event. It returns those that were not marked before, which
// have to be woken.
func (all readers) notice(e event.Event) []*Reader {
	var wake []*Reader
	keys := eventKeys(e)
	if e.IsSettings() {
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

// noticeUnknown is notice for events from first on that the hub has not seen: they may concern any reader.
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

// eventKeys returns the keys under which an event looks for readers.
func eventKeys(e event.Event) []string {
	repo := strings.ToLower(e.Repo)
	owner, _ := path.Split(repo)
	return []string{"", "source " + e.Source, "type " + e.Type, "owner " + owner, "repo " + repo}
}

// readerKeys returns the keys under which a reader stands: its repositories or their owners, otherwise its
// types, otherwise its sources, otherwise the empty key, which every event looks up.
func readerKeys(filters []event.Filter) []string {
	for _, keys := range []func(event.Filter) []string{
		func(f event.Filter) []string { return repoKeys(f.Repos) },
		func(f event.Filter) []string { return prefixed("type ", f.Types) },
		func(f event.Filter) []string { return prefixed("source ", f.Sources) },
	} {
		for _, filter := range filters {
			if found := keys(filter); len(found) > 0 {
				return found
			}
		}
	}
	return []string{""}
}

// repoKeys returns nil unless every glob names at least an owner. Globs with a class or an escape do not
// qualify: a class such as [^a] could match the slash after the owner.
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

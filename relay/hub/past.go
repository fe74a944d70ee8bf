package hub

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Bounds of what replaying readers share. Pieces end at multiples of pieceEvents, so that readers soon ask
// for the same ones wherever they began.
const (
	pieceEvents  = 64
	maxPastBytes = 16 << 20
	pieceTimeout = 30 * time.Second
)

// past reads the stored log in pieces. A piece is read, encoded and compressed once for all readers that need
// it at about the same time.
type past struct {
	store Store
	reads singleflight.Group

	mu     sync.Mutex
	pieces map[int64]piece // by the number of the event before the piece
	order  []int64         // the keys of pieces, the oldest first
	bytes  int
}

type piece struct {
	entries []*Entry
	damage  *Damage // instead of entries
	size    int
}

// result returns the piece as after does.
func (p piece) result() ([]*Entry, error) {
	if p.damage != nil {
		return nil, p.damage
	}
	return p.entries, nil
}

// after returns the stored events after seq, or none if there are none. The entries and the slice are shared.
// For damaged events the error is a *Damage.
func (p *past) after(ctx context.Context, seq int64) ([]*Entry, error) {
	p.mu.Lock()
	known, ok := p.pieces[seq]
	p.mu.Unlock()
	if ok {
		return known.result()
	}
	// The first caller may go away while the others still need the result.
	read := p.reads.DoChan(strconv.FormatInt(seq, 10), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pieceTimeout)
		defer cancel()
		return p.read(ctx, seq)
	})
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case result := <-read:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(piece).result()
	}
}

func (p *past) read(ctx context.Context, seq int64) (piece, error) {
	events, err := p.store.Read(ctx, seq, int(pieceEvents-seq%pieceEvents), maxBatchBytes)
	added := piece{entries: make([]*Entry, len(events))}
	switch {
	case errors.As(err, &added.damage):
		added.size = entryOverhead
	case err != nil || len(events) == 0:
		return piece{}, err
	}
	for i, e := range events {
		added.entries[i] = &Entry{Event: e}
		added.size += added.entries[i].size()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.pieces[seq]; !ok && added.size <= maxPastBytes {
		p.pieces[seq] = added
		p.order = append(p.order, seq)
		p.bytes += added.size
	}
	for p.bytes > maxPastBytes {
		p.bytes -= p.pieces[p.order[0]].size
		delete(p.pieces, p.order[0])
		p.order = p.order[1:]
	}
	return added, nil
}

package projection

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/faults"
)

// Limits of one transaction and of one read of the log. A transaction writes each pull request and commit once,
// however many events are about it.
const (
	batchEvents = 20_000
	readEvents  = 5000
	readBytes   = 32 << 20
)

// The minimum time between two transactions while events arrive: events that arrive in between are written
// together. It is shorter while somebody waits for an event.
const (
	gathering = 250 * time.Millisecond
	hurrying  = 50 * time.Millisecond
)

// Run processes the log until ctx ends. The page must never make the relay fail: Run logs errors, the same one once a
// minute, and tries again. It rebuilds a damaged file.
func (p *Projection) Run(ctx context.Context) error {
	var tended sync.WaitGroup
	defer tended.Wait()
	tended.Go(func() { p.tendOn(ctx) })
	var said faults.Log
	for rebuilding := false; ctx.Err() == nil; {
		err := p.follow(ctx)
		p.cache = newCache() // it may have held what was not committed
		if ctx.Err() != nil {
			break
		}
		// What failed to rebuild the file has closed it.
		if rebuilding = rebuilding || isDamage(err); !rebuilding {
			said.Write(ctx, zerolog.ErrorLevel, err, "cannot update the page's projection; trying again")
		} else if failure := p.rebuild(ctx); failure != nil {
			err = failure
			said.Write(ctx, zerolog.ErrorLevel, err, "cannot rebuild the page's projection, whose file was damaged; trying again")
		} else {
			rebuilding = false
			said.Write(ctx, zerolog.WarnLevel, err, "the file of the page's projection was damaged; a new one is made from the log")
		}
		p.setState(err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

func (p *Projection) rebuild(ctx context.Context) error {
	p.swap.Lock()
	defer p.swap.Unlock()
	if err := errors.Join(p.file.Close(), remove(p.config.Path)); err != nil {
		return err
	}
	return p.open(ctx)
}

// follow catches up with the store in large pieces, and then follows the log in memory.
func (p *Projection) follow(ctx context.Context) error {
	if err := p.catchUp(ctx); err != nil {
		return err
	}
	reader := p.config.Log.NewReader(p.At())
	reader.Unsent = true
	defer reader.Close()
	for last := (time.Time{}); ; last = time.Now() {
		if err := p.gather(ctx, last); err != nil {
			return err
		}
		next, more, err := p.collect(ctx, reader)
		if err != nil {
			return err
		}
		if next.through > p.At() {
			if err := p.take(ctx, next); err != nil {
				return err
			}
		}
		reader.Release()
		if p.setState(nil) != nil {
			zerolog.Ctx(ctx).Info().Msg("updating the page's projection works again")
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-reader.Wake():
		}
	}
}

// gather waits until the next transaction is due.
func (p *Projection) gather(ctx context.Context, last time.Time) error {
	select {
	case <-ctx.Done():
	case <-time.After(gathering - time.Since(last)):
	case <-p.awaited:
		select {
		case <-ctx.Done():
		case <-time.After(hurrying - time.Since(last)):
		}
	}
	return ctx.Err()
}

// collect reads the events for one transaction, and reports whether the log has more.
func (p *Projection) collect(ctx context.Context, reader *hub.Reader) (next piece, more bool, err error) {
	size := 0
	for more = true; more && len(next.events) < batchEvents && size < readBytes; {
		batch, err := reader.Next(ctx)
		if err != nil {
			return piece{}, false, err
		}
		for _, entry := range batch.Entries {
			next.events = append(next.events, entry.Event)
			size += len(entry.Payload)
		}
		next.through, more = batch.Through, batch.More
	}
	next.parsed = p.parse(next.events)
	return next, more, nil
}

// piece is a part of the log up to an event, with the parsed payloads.
type piece struct {
	events  []event.Event
	parsed  []parsed
	through int64
}

// catchUp processes what the log holds so far. It reads the next piece while it writes one.
func (p *Projection) catchUp(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	pieces := make(chan piece, 1)
	group.Go(func() error {
		defer close(pieces)
		for at := p.At(); p.config.Log.Bounds().Head-at >= readEvents/10; {
			next, err := p.read(ctx, at)
			if err != nil {
				return err
			}
			at = next.through
			select {
			case pieces <- next:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	group.Go(func() error {
		for next := range pieces {
			if err := p.take(ctx, next); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// read reads the piece of the log after an event. It skips damaged events.
func (p *Projection) read(ctx context.Context, at int64) (next piece, err error) {
	head := p.config.Log.Bounds().Head
	for next.through = at; next.through < head && len(next.events) < batchEvents; {
		events, err := p.config.Store.Read(ctx, next.through, readEvents, readBytes)
		if damage := (*hub.Damage)(nil); errors.As(err, &damage) {
			next.through = damage.Last
			continue
		}
		if err != nil {
			return piece{}, err
		}
		if len(events) == 0 {
			next.through = head
			break
		}
		next.parsed = append(next.parsed, p.parse(events)...)
		for i := range events {
			events[i].Payload, events[i].Headers = nil, nil // they are long, and already parsed
		}
		next.events, next.through = append(next.events, events...), events[len(events)-1].ID.Seq
	}
	return next, nil
}

// take processes a piece in one transaction: all of it or nothing.
func (p *Projection) take(ctx context.Context, next piece) error {
	lasting := context.WithoutCancel(ctx)
	b := &batch{p: p, touched: map[pullKey]bool{}, commits: map[commitKey]bool{}, heads: map[commitKey]int{},
		ids: map[globally]pullKey{}, places: map[place]int64{}, counts: map[int64]*count{}, days: map[int64]bool{},
		prepared: map[string]*sql.Stmt{}}
	err := p.change(lasting, func(tx *sql.Tx) error {
		if p.forget.Swap(false) {
			p.cache = newCache()
		}
		b.tx = tx
		return b.run(lasting, next, ctx.Err)
	})
	if err != nil {
		return fmt.Errorf("write the projection: %w", err)
	}
	p.cache.shed()
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.places, b.places)
	for at, c := range b.counts {
		p.newest[at] = c.seq
	}
	if p.since.IsZero() && len(next.events) > 0 {
		p.since = next.events[0].ReceivedAt
	}
	p.at = next.through
	close(p.moved)
	p.moved = make(chan struct{})
	return nil
}

// parse reads what the payloads say, on all processors if there are many.
func (p *Projection) parse(events []event.Event) []parsed {
	all := make([]parsed, len(events))
	var group sync.WaitGroup
	share := max(64, (len(events)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < len(events); from += share {
		group.Go(func() {
			for i := from; i < min(from+share, len(events)); i++ {
				if e := events[i]; p.reads(e) {
					all[i] = parse(e)
				}
			}
		})
	}
	group.Wait()
	return all
}

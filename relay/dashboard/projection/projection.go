// Package projection owns the read model behind the relay's page: what the log tells of pull
// requests, of their rounds and findings, and where in the log each event lies. It keeps all
// that in a SQLite file of its own, which can be deleted at any time: it is built from the log
// alone, anew where it is missing, damaged or of another version, and else from where it
// stopped.
//
// Like the agents, it believes a review's record only if a configured reviewer other than the
// author posted it and it was not changed since. It shows other records with the reason why it
// does not believe them.
package projection

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// Config is what a projection is made from.
type Config struct {
	// Path is its file.
	Path string
	// Log is the relay's log, Store where it is kept.
	Log   *hub.Hub
	Store hub.Store
	// Reviewers are the logins whose records are believed.
	Reviewers []string
	// GitHub are the sources whose events have GitHub's shape.
	GitHub []string
}

// Projection is the read model. Its methods may be called from many goroutines.
type Projection struct {
	config Config
	github map[string]bool

	swap  sync.RWMutex // held for writing while the file is replaced
	files *files
	cache cache // of the goroutine in Run

	awaited chan struct{} // holds something while somebody waits

	mu     sync.Mutex
	at     int64 // the last event that was taken in
	since  time.Time
	moved  chan struct{} // closed when at moves
	places map[place]int64
	newest map[int64]int64 // by place, the last event that was taken in since the start
	state  error           // why it stands still; nil while it does not

	forget atomic.Bool // the cache holds what the file does not any more
}

// place is where an event comes from.
type place struct{ source, repo string }

// Bounds of one transaction. What many of its events are about is written once.
const (
	batchEvents = 5000
	batchBytes  = 32 << 20
)

// The least time between two transactions while the log moves: what comes meanwhile is written at once. It is
// shorter while somebody waits for what the log holds.
const (
	gathering = 250 * time.Millisecond
	hurrying  = 50 * time.Millisecond
)

// Open opens the projection's file. Run brings it up to date.
func Open(ctx context.Context, config Config) (*Projection, error) {
	p := &Projection{
		config: config, github: map[string]bool{}, moved: make(chan struct{}), awaited: make(chan struct{}, 1), newest: map[int64]int64{},
	}
	for _, name := range config.GitHub {
		p.github[name] = true
	}
	return p, p.open(ctx)
}

func (p *Projection) open(ctx context.Context) error {
	bounds := p.config.Log.Bounds()
	reviewers := slices.Sorted(slices.Values(p.config.Reviewers))
	identity := map[string]string{
		"format": format, "log": bounds.Log, "reviewers": strings.ToLower(strings.Join(reviewers, ",")),
		"github": strings.Join(slices.Sorted(slices.Values(p.config.GitHub)), ","),
	}
	f, fresh, err := openFiles(ctx, p.config.Path, identity)
	if err != nil {
		return fmt.Errorf("open the projection %s: %w", p.config.Path, err)
	}
	p.files = f
	if err := p.recall(ctx); err != nil {
		return fmt.Errorf("open the projection %s: %w", p.config.Path, errors.Join(err, f.close()))
	}
	if p.at > bounds.Head {
		// The log was restored from a backup: what was taken in is not what it holds.
		if err := errors.Join(f.close(), remove(p.config.Path)); err != nil {
			return err
		}
		return p.open(ctx)
	}
	if fresh && bounds.Head > bounds.Floor {
		zerolog.Ctx(ctx).Info().Str("file", p.config.Path).Int64("events",
			bounds.Head-bounds.Floor).Msg("the page's projection is built from the log")
	}
	return nil
}

// recall reads how far the file has come.
func (p *Projection) recall(ctx context.Context) error {
	at, since, places := int64(0), int64(0), map[place]int64{}
	rows, err := p.files.writer.QueryContext(ctx, "SELECT name, value FROM meta WHERE name IN ('at', 'since')")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return errDamaged
		}
		if name == "at" {
			at = n
		} else {
			since = n
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rows, err = p.files.writer.QueryContext(ctx, "SELECT id, source, repo FROM places")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var at place
		if err := rows.Scan(&id, &at.source, &at.repo); err != nil {
			return err
		}
		places[at.key()] = id
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.since, p.places, p.cache = at, fromMillis(since), places, cache{}
	return rows.Err()
}

// FromGitHub reports whether a source's events have GitHub's shape.
func (p *Projection) FromGitHub(source string) bool { return p.github[source] }

func (at place) key() place { return place{at.source, strings.ToLower(at.repo)} }

// Close closes the file, after Run.
func (p *Projection) Close() error {
	p.swap.Lock()
	defer p.swap.Unlock()
	return p.files.close()
}

// Run takes the log in until ctx ends. The page is worth no failure of the relay: what goes
// wrong is logged and tried again, and a file that proves damaged is built anew.
func (p *Projection) Run(ctx context.Context) error {
	var tended sync.WaitGroup
	defer tended.Wait()
	tended.Go(func() { p.tendOn(ctx) })
	for ctx.Err() == nil {
		err := p.follow(ctx)
		if ctx.Err() != nil {
			break
		}
		p.setState(err)
		zerolog.Ctx(ctx).Error().Err(err).Msg("the page's projection cannot go on; trying again")
		p.cache = cache{}
		if isDamage(err) {
			if err := p.rebuild(ctx); err != nil {
				zerolog.Ctx(ctx).Error().Err(err).Msg("the page's projection cannot be built anew; trying again")
			}
		}
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
	if err := errors.Join(p.files.close(), remove(p.config.Path)); err != nil {
		return err
	}
	return p.open(ctx)
}

// follow catches up with the store in large pieces and then follows the log from memory.
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
		p.setState(nil)
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

// gather waits until it is time for the next transaction.
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

// collect reads what the log holds for one transaction, and whether there is more.
func (p *Projection) collect(ctx context.Context, reader *hub.Reader) (next piece, more bool, err error) {
	size := 0
	for more = true; more && len(next.events) < batchEvents && size < batchBytes; {
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

// piece is a part of the log: what it holds up to an event, with its payloads as they were read.
type piece struct {
	events  []event.Event
	parsed  []payload
	through int64
}

// catchUp takes in what the log holds by now. It reads on while it writes.
func (p *Projection) catchUp(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	pieces := make(chan piece, 1)
	group.Go(func() error {
		defer close(pieces)
		for at := p.At(); p.config.Log.Bounds().Head-at >= batchEvents/10; {
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

// read is the piece of the log behind an event. Damaged events are left out.
func (p *Projection) read(ctx context.Context, at int64) (piece, error) {
	head := p.config.Log.Bounds().Head
	events, err := p.config.Store.Read(ctx, at, batchEvents, batchBytes)
	if damage := (*hub.Damage)(nil); errors.As(err, &damage) {
		return piece{through: damage.Last}, nil
	}
	if err != nil || len(events) == 0 {
		return piece{through: head}, err
	}
	return piece{events, p.parse(events), events[len(events)-1].ID.Seq}, nil
}

// take takes a piece in, all of it or nothing.
func (p *Projection) take(ctx context.Context, next piece) error {
	events, parsed, through := next.events, next.parsed, next.through
	lasting := context.WithoutCancel(ctx)
	tx, err := p.files.writer.BeginTx(lasting, nil)
	if err != nil {
		return fmt.Errorf("write the projection: %w", err)
	}
	defer tx.Rollback()
	if p.forget.Swap(false) {
		p.cache = cache{}
	}
	b := &batch{p: p, tx: tx, touched: map[pullKey]bool{}, commits: map[commitKey]bool{}, heads: map[commitKey]int{},
		places: map[place]int64{}, counts: map[int64]*count{}, kinds: map[kind]int64{}, prepared: map[string]*sql.Stmt{}}
	if err := b.run(lasting, events, parsed, through, ctx.Err); err != nil {
		p.cache = cache{}
		return fmt.Errorf("write the projection: %w", err)
	}
	if err := tx.Commit(); err != nil {
		p.cache = cache{}
		return fmt.Errorf("write the projection: %w", err)
	}
	if p.cache.kinds == nil {
		p.cache.kinds = map[kind]int64{}
	}
	maps.Copy(p.cache.kinds, b.kinds)
	p.cache.shed()
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.places, b.places)
	for at, c := range b.counts {
		p.newest[at] = c.seq
	}
	if p.since.IsZero() && len(events) > 0 {
		p.since = events[0].ReceivedAt
	}
	p.at = through
	close(p.moved)
	p.moved = make(chan struct{})
	return nil
}

// parse reads the payloads, on all processors where there are many.
func (p *Projection) parse(events []event.Event) []payload {
	parsed := make([]payload, len(events))
	var group sync.WaitGroup
	share := max(64, (len(events)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < len(events); from += share {
		group.Go(func() {
			for i := from; i < min(from+share, len(events)); i++ {
				if e := events[i]; p.github[e.Source] && read[e.Type] {
					parsed[i] = parse(e)
					parsed[i].text = describe(e, parsed[i])
				}
			}
		})
	}
	group.Wait()
	return parsed
}

// At is the last event that was taken in.
func (p *Projection) At() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// Since is from when on the log is known; zero while nothing is.
func (p *Projection) Since() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since
}

// Cursor is At as it stands on the wire.
func (p *Projection) Cursor() string {
	return event.Cursor{Log: p.config.Log.Bounds().Log, Seq: p.At()}.String()
}

// Moved is closed when At moves.
func (p *Projection) Moved() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved
}

// Newest is the last event within a scope that was taken in since the start; 0 if none was. Settings
// are within every scope.
func (p *Projection) Newest(scope event.Filter) (newest int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, id := range p.places {
		e := event.Event{Source: at.source, Repo: at.repo, Type: "any"}
		if p.newest[id] > newest && (at.source == event.ControlSource || scope.Match(e)) {
			newest = p.newest[id]
		}
	}
	return newest
}

// Await waits until all that the log held when it was called is taken in, or ctx ends.
func (p *Projection) Await(ctx context.Context) { p.Reach(ctx, p.config.Log.Bounds().Head) }

// Reach waits until the event with a number is taken in, or ctx ends.
func (p *Projection) Reach(ctx context.Context, seq int64) {
	for {
		p.mu.Lock()
		at, moved := p.at, p.moved
		p.mu.Unlock()
		if at >= seq {
			return
		}
		select {
		case p.awaited <- struct{}{}:
		default:
		}
		select {
		case <-ctx.Done():
			return
		case <-moved:
		}
	}
}

// Size is how many bytes the file takes.
func (p *Projection) Size() (bytes int64) {
	for _, end := range []string{"", "-wal"} {
		if info, err := os.Stat(p.config.Path + end); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// State is why the projection stands still; nil while it does not.
func (p *Projection) State() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *Projection) setState(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = err
}

// query runs a read while the file stays the one that it is.
func (p *Projection) query(ctx context.Context, each func(*sql.Rows) error, query string, args ...any) error {
	p.swap.RLock()
	defer p.swap.RUnlock()
	rows, err := p.files.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read the projection: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return fmt.Errorf("read the projection: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the projection: %w", err)
	}
	return nil
}

func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

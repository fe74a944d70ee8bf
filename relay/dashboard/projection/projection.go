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
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

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

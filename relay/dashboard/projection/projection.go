// Package projection owns the read model of the relay's page: what the log says about pull requests, their
// rounds and findings, and where in the log each event lies. It keeps all that in a SQLite file of its own,
// which can be deleted at any time, because it is built from the log alone. The projection continues where it
// stopped, and rebuilds the file if it is missing, damaged or of another version.
//
// Like the agents, the projection believes a review's record only if a configured reviewer other than the
// author posted it and it was not changed since. It shows other records with the reason why it does not believe
// them.
package projection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/sqlitefile"
)

// Config is the configuration of a projection.
type Config struct {
	// Path is the path of the projection's file.
	Path string
	// Log is the relay's log, Store its storage.
	Log   *hub.Hub
	Store hub.Store
	// Reviewers are the logins whose records are believed.
	Reviewers []string
	// NeedsHuman is the label with which the agents call a person; empty means the constant of that name.
	NeedsHuman string
	// GitHub are the sources that send events in GitHub's format.
	GitHub []string
}

// Projection is the read model. Its methods are safe for concurrent use.
type Projection struct {
	config Config

	swap  sync.RWMutex // held for writing while the file is replaced
	file  *sqlitefile.File
	cache cache // belongs to Run's goroutine

	awaited chan struct{} // contains a value while somebody waits

	mu     sync.Mutex
	at     int64 // the last processed event
	since  time.Time
	moved  chan struct{} // closed when at moves
	places map[place]int64
	newest map[int64]int64 // by place, the last event processed since the start
	state  error           // why processing is stuck; nil while it is not

	forget atomic.Bool // set when the cache holds rows that the file no longer has
}

// place is where an event comes from.
type place struct{ source, repo string }

// Open opens the projection's file. Run brings it up to date.
func Open(ctx context.Context, config Config) (*Projection, error) {
	config.NeedsHuman = cmp.Or(config.NeedsHuman, NeedsHuman)
	p := &Projection{config: config, moved: make(chan struct{}), awaited: make(chan struct{}, 1), newest: map[int64]int64{}}
	return p, p.open(ctx)
}

func (p *Projection) open(ctx context.Context) error {
	bounds := p.config.Log.Bounds()
	reviewers := slices.Sorted(slices.Values(p.config.Reviewers))
	identity := map[string]string{
		"format": format, "log": bounds.Log, "reviewers": strings.ToLower(strings.Join(reviewers, ",")),
		"github": strings.Join(slices.Sorted(slices.Values(p.config.GitHub)), ","),
	}
	if identity["needs_human"] = p.config.NeedsHuman; p.config.NeedsHuman == NeedsHuman {
		identity["needs_human"] = "" // as in files from before the setting
	}
	recall := func(f *sqlitefile.File) error { return p.recall(ctx, f, identity, bounds.Head) }
	file, err := openFile(ctx, p.config.Path, recall)
	fresh := isDamage(err)
	if fresh {
		if err = remove(p.config.Path); err == nil {
			file, err = openFile(ctx, p.config.Path, func(f *sqlitefile.File) error {
				if err := create(ctx, f, identity); err != nil {
					return err
				}
				return recall(f)
			})
		}
	}
	if err != nil {
		return fmt.Errorf("open the projection %s: %w", p.config.Path, err)
	}
	p.file = file
	if fresh && bounds.Head > bounds.Floor {
		zerolog.Ctx(ctx).Info().Str("file", p.config.Path).Int64("events",
			bounds.Head-bounds.Floor).Msg("rebuilding the page's projection from the log")
	}
	return nil
}

// recall reads from the file how far processing has come. The error is errDamaged if the file has another identity, where a value
// that it does not have is empty, or a position beyond head: then the log was restored from a backup, so the file holds events
// that the log does not.
func (p *Projection) recall(ctx context.Context, file *sqlitefile.File, identity map[string]string, head int64) error {
	var name, value string
	meta := map[string]string{}
	rows, err := file.Writer.QueryContext(ctx, "SELECT name, value FROM meta")
	err = sqlitefile.Scan(rows, err, []any{&name, &value}, func() error {
		meta[name] = value
		return nil
	})
	if err != nil {
		return errDamaged // such as one without tables
	}
	for name, want := range identity {
		if meta[name] != want {
			return errDamaged
		}
	}
	at, errAt := strconv.ParseInt(cmp.Or(meta["at"], "0"), 10, 64)
	since, errSince := strconv.ParseInt(cmp.Or(meta["since"], "0"), 10, 64)
	if errAt != nil || errSince != nil || at > head {
		return errDamaged
	}
	var from place
	var id int64
	places := map[place]int64{}
	rows, err = file.Writer.QueryContext(ctx, "SELECT id, source, repo FROM places")
	err = sqlitefile.Scan(rows, err, []any{&id, &from.source, &from.repo}, func() error {
		places[from.key()] = id
		return nil
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.since, p.places, p.cache = at, fromMillis(since), places, newCache()
	return nil
}

// FromGitHub reports whether a source sends events in GitHub's format.
func (p *Projection) FromGitHub(source string) bool { return slices.Contains(p.config.GitHub, source) }

func (at place) key() place { return place{at.source, strings.ToLower(at.repo)} }

// Close closes the file. Call it after Run has returned.
func (p *Projection) Close() error {
	p.swap.Lock()
	defer p.swap.Unlock()
	return p.file.Close()
}

// At returns the number of the last processed event.
func (p *Projection) At() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// Since returns the time from which on the log is known; zero while nothing is known.
func (p *Projection) Since() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since
}

// Cursor returns At as a cursor for the API.
func (p *Projection) Cursor() string {
	return event.Cursor{Log: p.config.Log.Bounds().Log, Seq: p.At()}.String()
}

// Moved returns a channel that is closed when At moves.
func (p *Projection) Moved() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved
}

// Newest returns the number of the last event within a scope that was processed since the start; 0 if there is
// none. Settings are within every scope.
func (p *Projection) Newest(scope event.Filter) (newest int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, id := range p.places {
		if p.newest[id] > newest && (at.source == event.SettingsSource || at.matches(scope)) {
			newest = p.newest[id]
		}
	}
	return newest
}

// Await waits until everything that the log holds at the time of the call is processed, or until ctx ends.
func (p *Projection) Await(ctx context.Context) { p.Reach(ctx, p.config.Log.Bounds().Head) }

// Reach waits until the event with the number seq is processed, or until ctx ends.
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

// Size returns the size of the file in bytes.
func (p *Projection) Size() int64 { return sqlitefile.Size(p.config.Path) }

// State returns why processing is stuck; nil while it is not.
func (p *Projection) State() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// setState notes why the projection has stopped, and returns what was noted before.
func (p *Projection) setState(err error) (before error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.state = p.state, err
	return before
}

// query runs a read, as sqlitefile.Scan does, and prevents the replacement of the file meanwhile.
func (p *Projection) query(ctx context.Context, into []any, each func() error, query string, args ...any) error {
	p.swap.RLock()
	defer p.swap.RUnlock()
	rows, err := p.file.Reader.QueryContext(ctx, query, args...)
	if err := sqlitefile.Scan(rows, err, into, each); err != nil {
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

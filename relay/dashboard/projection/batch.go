package projection

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"

	"touchstone/relay/event"
	"touchstone/relay/internal/sqlitefile"
)

type pullKey struct {
	place  int64
	number int
}

type commitKey struct {
	place int64
	sha   string
}

// cache holds the rows that the last batches touched, as they are in the file or, while a batch is processed, as it leaves
// them.
type cache struct {
	pulls   map[pullKey]*cached
	commits map[commitKey]*cachedCommit
	kinds   map[placedKind]int64
	days    days
}

func newCache() cache {
	return cache{map[pullKey]*cached{}, map[commitKey]*cachedCommit{}, map[placedKind]int64{}, days{}}
}

// cachedCommit is a commit with the pull requests that list it as a head in the file.
type cachedCommit struct {
	Commit
	pulls []int
}

// cached is a pull request with its row in the file; row is 0 while it has none.
type cached struct {
	Pull
	row int64
	// trimmed reports that the file has the row, but no longer the data from which it was made.
	trimmed bool
	heads   map[string]bool  // those in the file
	share   map[int64]*daily // its contribution to the figures of days, as the file has it
	// findings are the findings that were written last; nil if unknown.
	findings []datedFinding
}

// The maximum number of entries in each part of the cache.
const (
	maxCached     = 4000
	maxCachedDays = 40
)

// shed empties the parts that have too many entries.
func (c *cache) shed() {
	shed(c.pulls, maxCached)
	shed(c.commits, maxCached)
	shed(c.kinds, maxCached)
	shed(c.days, maxCachedDays)
}

func shed[K comparable, V any](part map[K]V, most int) {
	if len(part) > most {
		clear(part)
	}
}

// batch processes events within one transaction.
type batch struct {
	p       *Projection
	tx      *sql.Tx
	touched map[pullKey]bool
	commits map[commitKey]bool
	heads   map[commitKey]int    // of the pull requests that this batch touched
	ids     map[globally]pullKey // new ones
	places  map[place]int64      // new ones
	counts  map[int64]*count
	days    map[int64]bool // those whose figures changed
	// prepared are the prepared statements of this transaction.
	prepared map[string]*sql.Stmt
}

// prepare returns a statement, which is compiled once per transaction.
func (b *batch) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if known := b.prepared[query]; known != nil {
		return known, nil
	}
	made, err := b.tx.PrepareContext(ctx, query)
	if err == nil {
		b.prepared[query] = made
	}
	return made, err
}

func (b *batch) exec(ctx context.Context, query string, args ...any) error {
	statement, err := b.prepare(ctx, query)
	if err == nil {
		_, err = statement.ExecContext(ctx, args...)
	}
	return err
}

// one reads the single row that a query returns; the error is sql.ErrNoRows if there is none.
func (b *batch) one(ctx context.Context, query string, args []any, into ...any) error {
	statement, err := b.prepare(ctx, query)
	if err != nil {
		return err
	}
	return statement.QueryRowContext(ctx, args...).Scan(into...)
}

// query calls each for every row that a query returns, as sqlitefile.Scan does.
func (b *batch) query(ctx context.Context, into []any, each func() error, query string, args ...any) error {
	statement, err := b.prepare(ctx, query)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx, args...)
	return sqlitefile.Scan(rows, err, into, each)
}

// count is what a batch received from one place: the number of events, the sequence number of the newest, and
// when the last event and the last ping arrived.
type count struct{ events, seq, last, ping int64 }

func (b *batch) receive(at int64, e event.Event) {
	c := b.counts[at]
	if c == nil {
		c = &count{}
		b.counts[at] = c
	}
	c.events++
	c.seq = e.ID.Seq
	c.last = max(c.last, toMillis(e.ReceivedAt))
	if e.Type == "ping" {
		c.ping = max(c.ping, toMillis(e.ReceivedAt))
	}
}

// rowsAtOnce is the number of events that one statement inserts if there are many.
const rowsAtOnce = 64

const insertEvent = "INSERT INTO events (seq, place, number, type, action, sender, at, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

var insertEvents = insertEvent + strings.Repeat(", (?, ?, ?, ?, ?, ?, ?, ?)", rowsAtOnce-1)

// run processes a piece of the log. Its statements use a context that never ends, because each statement whose context
// can end costs a goroutine. Instead, run calls done before each event to learn whether to continue.
func (b *batch) run(ctx context.Context, next piece, done func() error) error {
	const columns = 8
	values := make([]any, 0, rowsAtOnce*columns)
	for i, e := range next.events {
		if err := done(); err != nil {
			return err
		}
		at, err := b.place(ctx, e)
		if err != nil {
			return err
		}
		b.receive(at, e)
		number := e.Number
		if b.p.reads(e) {
			if number, err = b.take(ctx, e, next.parsed[i], at); err != nil {
				return err
			}
		}
		values = append(values, e.ID.Seq, at, number, e.Type, e.Action, Plain(e.Sender, maxName), toMillis(e.ReceivedAt),
			next.parsed[i].text)
		if len(values) == cap(values) {
			if err := b.exec(ctx, insertEvents, values...); err != nil {
				return err
			}
			values = values[:0]
		}
	}
	for row := range slices.Chunk(values, columns) {
		if err := b.exec(ctx, insertEvent, row...); err != nil {
			return err
		}
	}
	if err := b.flush(ctx, next.through); err != nil {
		return err
	}
	if b.p.Since().IsZero() && len(next.events) > 0 {
		if err := b.set(ctx, "since", toMillis(next.events[0].ReceivedAt)); err != nil {
			return err
		}
	}
	return b.set(ctx, "at", next.through)
}

func (b *batch) set(ctx context.Context, name string, value int64) error {
	return b.exec(ctx, "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", name, strconv.FormatInt(value, 10))
}

// place returns the number of the place that an event comes from.
func (b *batch) place(ctx context.Context, e event.Event) (int64, error) {
	at := place{e.Source, e.Repo}
	b.p.mu.Lock()
	id, ok := b.p.places[at.key()]
	b.p.mu.Unlock()
	if !ok {
		id, ok = b.places[at.key()]
	}
	if ok {
		return id, nil
	}
	err := b.one(ctx, "INSERT INTO places (source, repo) VALUES (?, ?) RETURNING id", []any{at.source, at.repo}, &id)
	if err == nil {
		b.places[at.key()] = id
	}
	return id, err
}

// take applies an event to its commit and its pull request, and returns the number of the pull request.
func (b *batch) take(ctx context.Context, e event.Event, in parsed, at int64) (int, error) {
	if e.Type == "repository" && e.Action == "deleted" {
		return 0, b.deleted(ctx, e, at)
	}
	number := e.Number
	if sha, apply := onCommit(e, in); sha != "" {
		pull, err := b.takeCommit(ctx, commitKey{at, sha}, apply)
		if err != nil {
			return 0, err
		}
		number = cmp.Or(number, pull)
	}
	if number <= 0 || e.Repo == "" || in.PullRequest == nil && (in.Issue == nil || in.Issue.PullRequest == nil) {
		return number, nil
	}
	pull, err := b.pull(ctx, pullKey{at, number})
	if err != nil {
		return 0, err
	}
	if pull.Number == 0 && !pull.trimmed && in.PullRequest == nil {
		return number, nil // a comment alone tells neither its head nor whether it is open
	}
	if pull.trimmed {
		if in.PullRequest == nil || in.PullRequest.State != "open" {
			return number, nil // it ended long ago, and stays unchanged
		}
		pull.trimmed = false
	}
	before, gone := pull.ID, pull.Gone != ""
	pull.Source, pull.Repo, pull.Number = e.Source, e.Repo, number
	pull.apply(e, in, b.p.config.NeedsHuman)
	key := pullKey{at, number}
	b.heads[commitKey{at, pull.Head}] = number
	b.touched[key] = true
	if fresh := pull.ID != before; (gone || fresh) && pull.ID > 0 && pull.Gone == "" {
		if err := b.move(ctx, key, pull, fresh); err != nil {
			return 0, err
		}
		b.ids[globally{pull.Source, pull.ID}] = key
	}
	return number, nil
}

// takeCommit changes a commit, and marks the pull requests that have it as a head to be rewritten. It returns the number of one
// of them; 0 if there is none.
func (b *batch) takeCommit(ctx context.Context, key commitKey, apply func(*Commit)) (number int, err error) {
	commit, err := b.commit(ctx, key)
	if err != nil {
		return 0, err
	}
	apply(&commit.Commit)
	b.commits[key] = true
	number = b.heads[key]
	for _, number = range commit.pulls {
		b.touched[pullKey{key.place, number}] = true
	}
	return number, nil
}

// pull returns a pull request as it is known so far.
func (b *batch) pull(ctx context.Context, key pullKey) (*cached, error) {
	c := &b.p.cache
	if pull, ok := c.pulls[key]; ok {
		return pull, nil
	}
	pull := &cached{heads: map[string]bool{}}
	err := b.one(ctx, "SELECT id, "+docOrNull+", share FROM pulls WHERE place = ? AND number = ?", []any{key.place, key.number},
		&pull.row, document{&pull.Pull}, document{&pull.share})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	pull.trimmed = err == nil && pull.Number == 0
	for _, h := range pull.Heads {
		pull.heads[h.SHA] = true
	}
	c.pulls[key] = pull
	return pull, nil
}

// commit returns a commit as it is known so far.
func (b *batch) commit(ctx context.Context, key commitKey) (*cachedCommit, error) {
	c := &b.p.cache
	if commit, ok := c.commits[key]; ok {
		return commit, nil
	}
	commit := &cachedCommit{}
	err := b.one(ctx, "SELECT doc FROM commits WHERE place = ? AND sha = ?", []any{key.place, key.sha}, document{&commit.Commit})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	if commit.pulls, err = b.pullsOf(ctx, key); err != nil {
		return nil, err
	}
	c.commits[key] = commit
	return commit, nil
}

// pullsOf returns the numbers of the pull requests that have a commit as a head in the file.
func (b *batch) pullsOf(ctx context.Context, key commitKey) (numbers []int, err error) {
	var number int
	err = b.query(ctx, []any{&number}, func() error {
		numbers = append(numbers, number)
		return nil
	}, "SELECT pulls.number FROM heads JOIN pulls ON pulls.id = heads.pull WHERE heads.place = ? AND heads.sha = ?", key.place, key.sha)
	return numbers, err
}

package projection

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"touchstone/relay/event"
)

type pullKey struct {
	place  int64
	number int
}

type commitKey struct {
	place int64
	sha   string
}

// cache holds what the last batches touched, as the file has it.
type cache struct {
	pulls   map[pullKey]*cached
	commits map[commitKey]*Commit
}

// cached is a pull request with its row in the file; 0 while it has none.
type cached struct {
	Pull
	row   int64
	heads map[string]bool // those that the file knows
}

// maxCached bounds each of the two, in entries.
const maxCached = 4000

func (c *cache) shed() {
	if len(c.pulls) > maxCached {
		c.pulls = nil
	}
	if len(c.commits) > maxCached {
		c.commits = nil
	}
}

// batch takes events in, within one transaction.
type batch struct {
	p       *Projection
	tx      *sql.Tx
	touched map[pullKey]bool
	commits map[commitKey]bool
	heads   map[commitKey]int // of the pull requests that this batch has touched
	places  map[place]int64   // new ones
	counts  map[int64]*count
}

// count is what a batch brought from one place.
type count struct{ events, last, ping int64 }

func (b *batch) count(at int64, e event.Event) {
	c := b.counts[at]
	if c == nil {
		c = &count{}
		b.counts[at] = c
	}
	c.events++
	c.last = max(c.last, toMillis(e.ReceivedAt))
	if e.Type == "ping" {
		c.ping = max(c.ping, toMillis(e.ReceivedAt))
	}
}

func (b *batch) run(ctx context.Context, events []event.Event, parsed []payload, through int64) error {
	insert, err := b.tx.PrepareContext(ctx, "INSERT OR REPLACE INTO events (seq, place, number, type, action, sender, at, text) VALUES (?, "+
		"?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i, e := range events {
		at, err := b.place(ctx, e)
		if err != nil {
			return err
		}
		b.count(at, e)
		number, text := e.Number, ""
		if b.p.github[e.Source] && read[e.Type] {
			if number, err = b.take(ctx, e, parsed[i], at); err != nil {
				return err
			}
			text = describe(e, parsed[i])
		}
		if _, err := insert.ExecContext(ctx, e.ID.Seq, at, number, e.Type, e.Action, Plain(e.Sender, maxName), toMillis(e.ReceivedAt),
			text); err != nil {
			return err
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	if b.p.Since().IsZero() && len(events) > 0 {
		if err := b.set(ctx, "since", toMillis(events[0].ReceivedAt)); err != nil {
			return err
		}
	}
	return b.set(ctx, "at", through)
}

func (b *batch) set(ctx context.Context, name string, value int64) error {
	_, err := b.tx.ExecContext(ctx, "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", name, strconv.FormatInt(value, 10))
	return err
}

// place is the number of the place that an event comes from.
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
	result, err := b.tx.ExecContext(ctx, "INSERT INTO places (source, repo) VALUES (?, ?)", at.source, at.repo)
	if err != nil {
		return 0, err
	}
	if id, err = result.LastInsertId(); err == nil {
		b.places[at.key()] = id
	}
	return id, err
}

// take applies an event to what it is about, and returns the number of the pull request.
func (b *batch) take(ctx context.Context, e event.Event, in payload, at int64) (int, error) {
	var sha string
	switch e.Type {
	case "status":
		sha = in.SHA
	case "check_run":
		if in.CheckRun != nil {
			sha = in.CheckRun.HeadSHA
		}
	case "push":
		sha = in.After
	}
	number := e.Number
	if sha = Plain(sha, 64); sha != "" {
		pull, err := b.takeCommit(ctx, e, in, commitKey{at, sha})
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
	pull.Source, pull.Repo, pull.Number = e.Source, e.Repo, number
	pull.apply(e, in)
	b.heads[commitKey{at, pull.Head}] = number
	b.touched[pullKey{at, number}] = true
	return number, nil
}

// takeCommit applies an event to a commit, and has the pull requests of which it is a head
// written anew. It returns the number of one of those; 0 if there is none.
func (b *batch) takeCommit(ctx context.Context, e event.Event, in payload, key commitKey) (number int, err error) {
	commit, err := b.commit(ctx, key)
	if err != nil {
		return 0, err
	}
	switch e.Type {
	case "status":
		commit.status(e, in)
	case "check_run":
		commit.run(in.CheckRun, e)
	case "push":
		commit.push(in)
	}
	b.commits[key] = true
	number = b.heads[key]
	rows, err := b.tx.QueryContext(ctx, "SELECT pulls.number FROM heads JOIN pulls ON pulls.id = heads.pull WHERE heads.place = ? AND "+
		"heads.sha = ?", key.place, key.sha)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&number); err != nil {
			return 0, err
		}
		b.touched[pullKey{key.place, number}] = true
	}
	return number, rows.Err()
}

// pull is a pull request as it is known by now.
func (b *batch) pull(ctx context.Context, key pullKey) (*cached, error) {
	c := &b.p.cache
	if pull, ok := c.pulls[key]; ok {
		return pull, nil
	}
	pull, doc := &cached{heads: map[string]bool{}}, ""
	err := b.tx.QueryRowContext(ctx, "SELECT id, doc FROM pulls WHERE place = ? AND number = ?", key.place, key.number).Scan(&pull.row, &doc)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal([]byte(doc), &pull.Pull); err != nil {
			return nil, errDamaged
		}
		for _, h := range pull.Heads {
			pull.heads[h.SHA] = true
		}
	}
	if c.pulls == nil {
		c.pulls = map[pullKey]*cached{}
	}
	c.pulls[key] = pull
	return pull, nil
}

// commit is a commit as it is known by now.
func (b *batch) commit(ctx context.Context, key commitKey) (*Commit, error) {
	c := &b.p.cache
	if commit, ok := c.commits[key]; ok {
		return commit, nil
	}
	commit, doc := &Commit{}, ""
	err := b.tx.QueryRowContext(ctx, "SELECT doc FROM commits WHERE place = ? AND sha = ?", key.place, key.sha).Scan(&doc)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal([]byte(doc), commit); err != nil {
			return nil, errDamaged
		}
	}
	if c.commits == nil {
		c.commits = map[commitKey]*Commit{}
	}
	c.commits[key] = commit
	return commit, nil
}

// flush writes what was touched.
func (b *batch) flush(ctx context.Context) error {
	for at, c := range b.counts {
		if _, err := b.tx.ExecContext(ctx, "UPDATE places SET events = events + ?, last = MAX(last, ?), ping = MAX(ping, ?) WHERE id = ?",
			c.events, c.last, c.ping, at); err != nil {
			return err
		}
	}
	for key := range b.commits {
		commit, err := b.commit(ctx, key)
		if err != nil {
			return err
		}
		doc, err := json.Marshal(commit)
		if err == nil {
			_, err = b.tx.ExecContext(ctx, "INSERT OR REPLACE INTO commits (place, sha, doc) VALUES (?, ?, ?)", key.place, key.sha, string(doc))
		}
		if err != nil {
			return err
		}
	}
	for key := range b.touched {
		pull, err := b.pull(ctx, key)
		if err == nil {
			err = b.write(ctx, key, pull)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes one pull request and all that is derived from it.
func (b *batch) write(ctx context.Context, key pullKey, pull *cached) error {
	commits := map[string]*Commit{}
	for _, h := range pull.Heads {
		commit, err := b.commit(ctx, commitKey{key.place, h.SHA})
		if err != nil {
			return err
		}
		commits[h.SHA] = commit
	}
	v := newView(&pull.Pull, b.p.config.Reviewers, commits)
	s := v.summary()
	summary, err := json.Marshal(s)
	if err != nil {
		return err
	}
	doc, err := json.Marshal(pull.Pull)
	if err != nil {
		return err
	}
	f := v.figures(s)
	row := []any{
		key.place, key.number, s.State, s.Turn, s.Author, "," + strings.Join(s.WaitingOn, ",") +
			",", toMillis(s.Since), toMillis(s.UpdatedAt), toMillis(pull.OpenedAt),
		toMillis(f.reviewed), toMillis(pull.MergedAt), toMillis(pull.ClosedAt), s.Round, s.CostUSD, f.tokens, len(pull.Escalated), f.unattended,
		string(summary), string(doc),
	}
	err = b.tx.QueryRowContext(ctx, `INSERT INTO pulls (place, number, state, turn, author, waiting, since, updated, opened,
		reviewed, merged, closed, rounds, cost, tokens, escalations, unattended, summary, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (place, number) DO UPDATE SET state = excluded.state, turn = excluded.turn, author = excluded.author, waiting = excluded.waiting,
		since = excluded.since, updated = excluded.updated, opened = excluded.opened, reviewed = excluded.reviewed, merged = excluded.merged,
		closed = excluded.closed, rounds = excluded.rounds, cost = excluded.cost, tokens = excluded.tokens, escalations = excluded.escalations,
		unattended = excluded.unattended, summary = excluded.summary, doc = excluded.doc RETURNING id`, row...).Scan(&pull.row)
	if err != nil {
		return err
	}
	for _, h := range pull.Heads {
		if pull.heads[h.SHA] {
			continue
		}
		if _, err := b.tx.ExecContext(ctx, "INSERT OR IGNORE INTO heads (place, sha, pull) VALUES (?, ?, ?)", key.place, h.SHA,
			pull.row); err != nil {
			return err
		}
		pull.heads[h.SHA] = true
	}
	return b.writeRounds(ctx, pull.row, f)
}

// writeRounds replaces the rounds and findings of a pull request.
func (b *batch) writeRounds(ctx context.Context, row int64, f figures) error {
	if len(f.rounds) == 0 {
		return nil
	}
	for _, table := range []string{"rounds", "findings"} {
		if _, err := b.tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE pull = ?", row); err != nil {
			return err
		}
	}
	for _, r := range f.rounds {
		if _, err := b.tx.ExecContext(ctx, "INSERT INTO rounds (pull, review, at, verdict, model, cost, tokens, findings) VALUES (?, ?, ?, ?, "+
			"?, ?, ?, ?)",
			row, r.id, toMillis(r.At), r.Verdict, r.Model, r.CostUSD, r.tokens, r.Findings.Blocking()+r.Findings.Nit); err != nil {
			return err
		}
	}
	for _, e := range f.findings {
		if _, err := b.tx.ExecContext(ctx, `INSERT OR REPLACE INTO findings (pull, id, rule, dimension, severity, status, at, model, guidelines)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, row, e.ID, e.Rule, e.Dimension, e.Severity, e.Status, toMillis(e.at), e.model,
			e.guidelines); err != nil {
			return err
		}
	}
	return nil
}

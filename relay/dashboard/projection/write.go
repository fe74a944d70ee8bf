package projection

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"touchstone/verdict"
)

// flush writes what was touched.
func (b *batch) flush(ctx context.Context, through int64) error {
	for at, c := range b.counts {
		if _, err := b.exec(ctx, "UPDATE places SET events = events + ?, last = MAX(last, ?), ping = MAX(ping, ?) WHERE id = ?",
			c.events, c.last, c.ping, at); err != nil {
			return err
		}
	}
	for key := range b.commits {
		commit, err := b.commit(ctx, key)
		if err != nil {
			return err
		}
		doc, err := json.Marshal(commit.Commit)
		if err == nil {
			_, err = b.exec(ctx, "INSERT OR REPLACE INTO commits (place, sha, seq, doc) VALUES (?, ?, ?, ?)", key.place, key.sha, through,
				string(doc))
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
		commits[h.SHA] = &commit.Commit
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
	rank, sorted := order(s)
	row := []any{
		key.place, key.number, s.State, s.Turn, s.Author, "," + strings.Join(s.WaitingOn, ",") +
			",", toMillis(s.Since), toMillis(s.UpdatedAt), toMillis(pull.OpenedAt),
		toMillis(f.reviewed), toMillis(pull.MergedAt), toMillis(pull.ClosedAt), s.Round, s.CostUSD, f.tokens, len(pull.Escalated), f.unattended,
		rank, sorted, string(summary), string(doc),
	}
	err = b.one(ctx, `INSERT INTO pulls (place, number, state, turn, author, waiting, since, updated, opened,
		reviewed, merged, closed, rounds, cost, tokens, escalations, unattended, rank, sorted, summary, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (place, number) DO UPDATE SET state = excluded.state, turn = excluded.turn, author = excluded.author,
		waiting = excluded.waiting, since = excluded.since, updated = excluded.updated, opened = excluded.opened,
		reviewed = excluded.reviewed, merged = excluded.merged,
		closed = excluded.closed, rounds = excluded.rounds, cost = excluded.cost, tokens = excluded.tokens, escalations = excluded.escalations,
		unattended = excluded.unattended, rank = excluded.rank, sorted = excluded.sorted,
		summary = excluded.summary, doc = excluded.doc RETURNING id`, row, &pull.row)
	if err != nil {
		return err
	}
	for _, h := range pull.Heads {
		if pull.heads[h.SHA] {
			continue
		}
		if _, err := b.exec(ctx, "INSERT OR IGNORE INTO heads (place, sha, pull) VALUES (?, ?, ?)", key.place, h.SHA,
			pull.row); err != nil {
			return err
		}
		pull.heads[h.SHA] = true
		commit, err := b.commit(ctx, commitKey{key.place, h.SHA})
		if err != nil {
			return err
		}
		commit.pulls = append(commit.pulls, key.number)
	}
	return b.writeRounds(ctx, key.place, pull.row, f)
}

// writeRounds replaces the rounds and findings of a pull request.
func (b *batch) writeRounds(ctx context.Context, at, row int64, f figures) error {
	if len(f.rounds) == 0 {
		return nil
	}
	for _, table := range []string{"rounds", "findings"} {
		if _, err := b.exec(ctx, "DELETE FROM "+table+" WHERE pull = ?", row); err != nil {
			return err
		}
	}
	for _, r := range f.rounds {
		if _, err := b.exec(ctx, "INSERT INTO rounds (pull, review, place, day, cost, tokens, findings) VALUES (?, ?, ?, ?, ?, ?, ?)",
			row, r.id, at, toMillis(r.At)/dayMillis, r.CostUSD, r.tokens, r.Findings.Blocking()+r.Findings.Nit); err != nil {
			return err
		}
	}
	before := map[string]int64{}
	slices.SortStableFunc(f.findings, func(a, b datedFinding) int { return a.at.Compare(b.at) })
	for _, e := range f.findings {
		of, err := b.kind(ctx, kind{at, e.Rule, e.Dimension, e.Severity, e.Status, e.model, e.guidelines})
		if err != nil {
			return err
		}
		found := toMillis(e.at)
		if _, err := b.exec(ctx, "INSERT OR REPLACE INTO findings (pull, id, kind, at, before) VALUES (?, ?, ?, ?, ?)", row, e.ID, of, found,
			before[e.Rule]); err != nil {
			return err
		}
		before[e.Rule] = found
	}
	return nil
}

// kind is what findings have in common.
type kind struct {
	place             int64
	rule              string
	dimension         verdict.Dimension
	severity          verdict.Severity
	status            verdict.Status
	model, guidelines string
}

// kind is the number of a kind of findings.
func (b *batch) kind(ctx context.Context, k kind) (int64, error) {
	if id, ok := b.p.cache.kinds[k]; ok {
		return id, nil
	}
	if id, ok := b.kinds[k]; ok {
		return id, nil
	}
	values := []any{k.rule, k.place, k.dimension, k.severity, k.status, k.model, k.guidelines}
	var id int64
	err := b.one(ctx, "SELECT id FROM kinds WHERE rule = ? AND place = ? AND dimension = ? AND severity = ? AND status = ? AND model = ? "+
		"AND guidelines = ?", values, &id)
	if errors.Is(err, sql.ErrNoRows) {
		err = b.one(ctx, "INSERT INTO kinds (rule, place, dimension, severity, status, model, guidelines) VALUES (?, ?, ?, ?, ?, ?, ?) "+
			"RETURNING id", values, &id)
	}
	if err == nil {
		b.kinds[k] = id
	}
	return id, err
}

package projection

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"strings"
)

// flush writes what the batch touched.
func (b *batch) flush(ctx context.Context, through int64) error {
	for at, c := range b.counts {
		if err := b.exec(ctx, "UPDATE places SET events = events + ?, last = MAX(last, ?), ping = MAX(ping, ?) WHERE id = ?",
			c.events, c.last, c.ping, at); err != nil {
			return err
		}
	}
	for key := range b.commits {
		commit, err := b.commit(ctx, key)
		if err != nil {
			return err
		}
		if err := b.exec(ctx, "INSERT OR REPLACE INTO commits (place, sha, seq, doc) VALUES (?, ?, ?, ?)", key.place, key.sha, through,
			document{commit.Commit}); err != nil {
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
	for number := range b.days {
		if err := b.exec(ctx, "INSERT INTO days (day, live, noted, fired) VALUES (?, ?, '', '') "+
			"ON CONFLICT (day) DO UPDATE SET live = excluded.live", number, document{placesOf(b.p.cache.days[number])}); err != nil {
			return err
		}
	}
	return nil
}

// write writes one pull request and everything derived from it.
func (b *batch) write(ctx context.Context, key pullKey, pull *cached) error {
	commits := map[string]*Commit{}
	for _, h := range pull.Heads {
		commit, err := b.commit(ctx, commitKey{key.place, h.SHA})
		if err != nil {
			return err
		}
		commits[h.SHA] = &commit.Commit
	}
	v := newView(&pull.Pull, b.p.config, commits)
	s := v.summary()
	f := v.figures(s)
	share := v.share(s, f)
	rank, sorted := order(s)
	row := []any{
		key.place, key.number, pull.ID, s.Turn, s.Author, "," + strings.Join(s.WaitingOn, ",") + ",", toMillis(s.UpdatedAt), rank, sorted,
		document{s}, document{share}, document{pull.Pull},
	}
	err := b.one(ctx, `INSERT INTO pulls (place, number, identity, turn, author, waiting, updated, rank, sorted, summary, share, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (place, number) DO UPDATE SET identity = excluded.identity, turn = excluded.turn,
		author = excluded.author, waiting = excluded.waiting, updated = excluded.updated, rank = excluded.rank,
		sorted = excluded.sorted, summary = excluded.summary, share = excluded.share, doc = excluded.doc RETURNING id`, row, &pull.row)
	if err != nil {
		return err
	}
	if err := b.writeShare(ctx, pull, share); err != nil {
		return err
	}
	for _, h := range pull.Heads {
		if pull.heads[h.SHA] {
			continue
		}
		if err := b.exec(ctx, "INSERT OR IGNORE INTO heads (place, sha, pull) VALUES (?, ?, ?)", key.place, h.SHA,
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
	return b.writeFindings(ctx, key.place, pull, f)
}

// writeShare replaces a pull request's previous contribution to the figures of days with a new one.
func (b *batch) writeShare(ctx context.Context, pull *cached, share map[int64]*daily) error {
	before := pull.share
	if reflect.DeepEqual(share, before) {
		return nil
	}
	at := place{pull.Source, pull.Repo}.key()
	for _, step := range []struct {
		share, other map[int64]*daily
		times        int
		moment       string
	}{
		{before, share, -1, "DELETE FROM moments WHERE moment = ? AND day = ? AND pull = ?"},
		{share, before, 1, "INSERT OR IGNORE INTO moments (moment, day, pull) VALUES (?, ?, ?)"},
	} {
		for number, d := range step.share {
			if err := b.count(ctx, number, at, d, step.times); err != nil {
				return err
			}
			if err := b.writeMoments(ctx, step.moment, number, pull.row, d, step.other[number]); err != nil {
				return err
			}
		}
	}
	pull.share = share
	return nil
}

// count adds a contribution to the figures of a place on a day, or subtracts it if times is -1.
func (b *batch) count(ctx context.Context, number int64, at place, d *daily, times int) error {
	c := &b.p.cache
	if c.days[number] == nil {
		var live string
		err := b.one(ctx, "SELECT live FROM days WHERE day = ?", []any{number}, &live)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if c.days[number], err = decodeDay([]byte(live), nil); err != nil {
			return err
		}
	}
	c.days.of(number, at).count(d, times)
	b.days[number] = true
	return nil
}

// writeMoments runs a statement for each moment that the figures of a day have and but does not.
func (b *batch) writeMoments(ctx context.Context, statement string, number, row int64, d, but *daily) error {
	known := cmp.Or(but, &daily{}).moments()
	for _, moment := range d.moments() {
		if slices.Contains(known, moment) {
			continue
		}
		if err := b.exec(ctx, statement, moment, number, row); err != nil {
			return err
		}
	}
	return nil
}

// writeFindings replaces the findings of a pull request, unless they are unchanged.
func (b *batch) writeFindings(ctx context.Context, at int64, pull *cached, f figures) error {
	slices.SortStableFunc(f.findings, func(a, b datedFinding) int { return a.at.Compare(b.at) })
	if len(f.rounds) == 0 || slices.Equal(f.findings, pull.findings) {
		return nil
	}
	if err := b.exec(ctx, "DELETE FROM findings WHERE pull = ?", pull.row); err != nil {
		return err
	}
	before := map[string]int64{}
	for _, e := range f.findings {
		of, err := b.kind(ctx, placedKind{at, e.kind})
		if err != nil {
			return err
		}
		found := toMillis(e.at)
		if err := b.exec(ctx, "INSERT OR REPLACE INTO findings (pull, id, kind, at, before) VALUES (?, ?, ?, ?, ?)", pull.row, e.id, of, found,
			before[e.Rule]); err != nil {
			return err
		}
		before[e.Rule] = found
	}
	pull.findings = f.findings
	return nil
}

// placedKind is a kind of findings in one place.
type placedKind struct {
	place int64
	kind
}

// kind returns the number of a kind of findings, which it adds if it is new.
func (b *batch) kind(ctx context.Context, k placedKind) (int64, error) {
	if id, ok := b.p.cache.kinds[k]; ok {
		return id, nil
	}
	var id int64
	// SQLite returns the id of a row that is there only if it is updated.
	err := b.one(ctx, "INSERT INTO kinds ("+kindColumns+", place) VALUES (?, ?, ?, ?, ?, ?, ?) "+
		"ON CONFLICT DO UPDATE SET rule = excluded.rule RETURNING id", append(k.columns(), k.place), &id)
	if err == nil {
		b.p.cache.kinds[k] = id
	}
	return id, err
}

package projection

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"touchstone/relay/event"
)

// globally identifies a pull request among all of a source's repositories.
type globally struct {
	source string
	id     int64
}

// renamed says why a pull request left. It does not tell the new name, which the viewer may not be allowed to see.
const renamed = "its repository has another name now"

// open reports whether the pull request waits for somebody.
func (p *Pull) open() bool { return p.MergedAt.IsZero() && !p.Closed && p.Gone == "" }

// end returns when the pull request was merged or closed; zero if it was not.
func (p *Pull) end() time.Time { return cmp.Or(p.MergedAt, p.ClosedAt) }

// leave ends an open pull request that is no longer where it was.
func (p *Pull) leave(why string, at time.Time) { p.Gone, p.GoneAt = why, at.UTC() }

// deleted ends the open pull requests of a deleted repository. GitHub sends no event about each of them.
func (b *batch) deleted(ctx context.Context, e event.Event, at int64) error {
	known, err := b.keys(ctx, "SELECT place, number FROM pulls WHERE place = ? AND rank < ?", at, rankEnded)
	if err != nil {
		return err
	}
	for _, key := range slices.Concat(known, slices.Collect(maps.Keys(b.touched))) {
		if key.place != at {
			continue
		}
		pull, err := b.pull(ctx, key)
		if err != nil {
			return err
		}
		if pull.Number > 0 && pull.open() {
			pull.leave("the repository was deleted", e.ReceivedAt)
			b.touched[key] = true
		}
	}
	return nil
}

// sameIdentity finds a pull request under each name of its repository. SQLite uses the index of identities only if the
// query has the index's condition, too.
const sameIdentity = "SELECT pulls.place, number FROM pulls JOIN places ON places.id = pulls.place " +
	"WHERE identity = ? AND identity > 0 AND source = ? AND number = ?"

// move ends a pull request under its repository's earlier name: after a rename or a transfer, GitHub tells of it under
// the new one. Of two of the same identity, the one that changed last stays, and has the rounds of both. fresh says that
// the log has not told of the pull request under this name before.
func (b *batch) move(ctx context.Context, key pullKey, pull *cached, fresh bool) error {
	id := globally{pull.Source, pull.ID}
	known, err := b.keys(ctx, sameIdentity, pull.ID, pull.Source, key.number)
	if err != nil {
		return err
	}
	if before, ok := b.ids[id]; ok {
		known = append(known, before)
	}
	for _, other := range known {
		if other == key {
			continue
		}
		earlier, err := b.pull(ctx, other)
		if err != nil {
			return err
		}
		if !earlier.trimmed && (earlier.ID != pull.ID || earlier.Number != pull.Number || !earlier.OpenedAt.Equal(pull.OpenedAt)) {
			continue
		}
		switch {
		case !fresh:
		case earlier.trimmed: // it ended long ago
			pull.Moved, pull.Ended = true, pull.end()
		default:
			pull.Moved, pull.Ended = true, later(pull.Ended, earlier.end())
		}
		if earlier.trimmed || !earlier.open() {
			continue
		}
		if earlier.UpdatedAt.After(pull.UpdatedAt) {
			pull.leave(renamed, earlier.UpdatedAt)
			continue
		}
		if err := b.inherit(ctx, key.place, pull, other.place, earlier); err != nil {
			return err
		}
		earlier.leave(renamed, pull.UpdatedAt)
		b.touched[other] = true
	}
	return nil
}

// inherit gives a pull request its reviews, heads and checks from under its repository's earlier name. The figures of
// days count these reviews there.
func (b *batch) inherit(ctx context.Context, at int64, pull *cached, before int64, earlier *cached) error {
	for _, r := range earlier.Reviews {
		if !slices.ContainsFunc(pull.Reviews, func(known Review) bool { return known.ID == r.ID }) {
			r.Moved = true
			pull.Reviews = append(pull.Reviews, r)
		}
	}
	pull.sortReviews()
	pull.LabelledAt = later(pull.LabelledAt, earlier.LabelledAt)
	for _, h := range earlier.Heads {
		pull.addHead(h.SHA, h.At)
		from, err := b.commit(ctx, commitKey{before, h.SHA})
		if err != nil {
			return err
		}
		to := commitKey{at, h.SHA}
		commit, err := b.commit(ctx, to)
		if err != nil {
			return err
		}
		commit.join(&from.Commit)
		b.commits[to] = true
	}
	return nil
}

// keys returns the pull requests that a query finds.
func (b *batch) keys(ctx context.Context, query string, args ...any) (keys []pullKey, err error) {
	var key pullKey
	err = b.query(ctx, []any{&key.place, &key.number}, func() error {
		keys = append(keys, key)
		return nil
	}, query, args...)
	return keys, err
}

package projection

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
)

const (
	// tending is the time between two calls of Tend.
	tending = time.Hour
	// trimmed is the number of rows that one transaction deletes: new events wait meanwhile.
	trimmed = 5000
)

// tendOn calls Tend regularly until ctx ends.
func (p *Projection) tendOn(ctx context.Context) {
	p.Await(ctx)
	for ctx.Err() == nil {
		if err := p.Tend(ctx, time.Now()); err != nil && ctx.Err() == nil {
			zerolog.Ctx(ctx).Error().Err(err).Msg("cannot trim the page's projection or record its figures; trying again in an hour")
		}
		select {
		case <-ctx.Done():
		case <-time.After(tending):
		}
	}
}

// Tend does the regular maintenance as of now. It notes the figures of each day with the log, where they
// outlive retention and this file, and removes from the file the details of what retention removed from the
// log.
func (p *Projection) Tend(ctx context.Context, now time.Time) error {
	today := dayOf(now)
	if err := p.recollect(ctx, today); err != nil {
		return fmt.Errorf("read the daily figures: %w", err)
	}
	if err := p.noteDays(ctx, today); err != nil {
		return fmt.Errorf("record the daily figures: %w", err)
	}
	if err := p.trim(ctx, now); err != nil {
		return fmt.Errorf("trim the projection: %w", err)
	}
	return nil
}

// trim removes the events that the log no longer holds, the details of pull requests that ended before the log
// begins, commits without a pull request, and the pull requests that ended longer ago than trends go back.
func (p *Projection) trim(ctx context.Context, now time.Time) error {
	floor := min(p.config.Log.Bounds().Floor, p.At())
	if floor == 0 {
		return nil
	}
	for more := true; more; {
		err := p.change(ctx, func(tx *sql.Tx) error {
			gone, err := tx.ExecContext(ctx, "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE seq <= ? LIMIT ?)", floor, trimmed)
			if err != nil {
				return err
			}
			n, err := gone.RowsAffected()
			more = n == trimmed
			return err
		})
		if err != nil {
			return err
		}
	}
	return p.change(ctx, func(tx *sql.Tx) error {
		var oldest int64
		err := tx.QueryRowContext(ctx, "SELECT at FROM events ORDER BY seq LIMIT 1").Scan(&oldest)
		if errors.Is(err, sql.ErrNoRows) {
			oldest = toMillis(now)
		} else if err != nil {
			return err
		}
		ever := toMillis(now.AddDate(0, 0, -maxBuckets))
		const ended = "SELECT id FROM pulls WHERE rank = ? AND updated < ?"
		for _, step := range []struct {
			statement string
			args      []any
		}{
			{"UPDATE pulls SET doc = '' WHERE doc <> '' AND rank = ? AND updated < ?", []any{rankEnded, oldest}},
			{"DELETE FROM heads WHERE pull IN (SELECT id FROM pulls WHERE doc = '')", nil},
			{"DELETE FROM commits WHERE seq <= ? AND NOT EXISTS (SELECT 1 FROM heads WHERE heads.place = commits.place AND heads.sha = commits.sha)",
				[]any{floor}},
			{"DELETE FROM moments WHERE day < ?", []any{ever / dayMillis}},
			{"DELETE FROM findings WHERE pull IN (" + ended + ")", []any{rankEnded, ever}},
			{"DELETE FROM pulls WHERE rank = ? AND updated < ?", []any{rankEnded, ever}},
			{"DELETE FROM days WHERE day < ?", []any{ever / dayMillis}},
			{"UPDATE meta SET value = ? WHERE name = 'since' AND CAST(value AS INTEGER) < ?", []any{fmt.Sprint(ever), ever}},
		} {
			if _, err := tx.ExecContext(ctx, step.statement, step.args...); err != nil {
				return err
			}
		}
		p.forget.Store(true) // before the next events are processed: they wait for this transaction
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.since.IsZero() {
			p.since = later(p.since, fromMillis(ever))
		}
		return nil
	})
}

// change writes to the file in one transaction, and prevents the replacement of the file meanwhile.
func (p *Projection) change(ctx context.Context, write func(*sql.Tx) error) error {
	p.swap.RLock()
	defer p.swap.RUnlock()
	tx, err := p.file.Writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := write(tx); err != nil {
		return err
	}
	return tx.Commit()
}

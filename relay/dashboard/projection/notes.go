package projection

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// daysNote is the name of the log's note that holds the first day with noted figures.
	daysNote = "days"
	// maxNoteBytes is the maximum size of the note of a day: Firestore keeps 900,000 bytes.
	maxNoteBytes = 800_000
	// maxDaysRead is the number of notes that are read concurrently.
	maxDaysRead = 8
)

// dayNote returns the name of the log's note that holds a day's figures.
func dayNote(number int64) string {
	return "day-" + startOf(number).Format(time.DateOnly)
}

// readDay reads the note of a day. An unreadable note counts as none.
func (p *Projection) readDay(ctx context.Context, number int64) (map[place]*daily, error) {
	text, err := p.config.Store.Note(ctx, dayNote(number))
	if err != nil {
		return nil, err
	}
	places, _ := decodeDay([]byte(text), nil)
	return places, nil
}

// writeDay writes the note of a day. If the note is too long, it keeps a sample of the durations.
func (p *Projection) writeDay(ctx context.Context, number int64, places map[place]*daily) error {
	list := placesOf(places)
	for {
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		if len(text) <= maxNoteBytes || !thin(list) {
			return p.config.Store.SetNote(ctx, dayNote(number), string(text))
		}
	}
}

// thin drops every second duration of the longest lists, or rare firings once there are no more durations to
// drop. It reports whether there was anything to drop.
func thin(list []placed) bool {
	longest := 1
	for i := range list {
		longest = max(longest, len(list[i].FirstReviews), len(list[i].Merges))
	}
	for i := range list {
		for _, values := range []*[]int64{&list[i].FirstReviews, &list[i].Merges} {
			if len(*values) > longest/2 {
				*values = half(*values)
			}
		}
	}
	return longest > 1 || thinFirings(list)
}

func half(values []int64) (kept []int64) {
	for pair := range slices.Chunk(slices.Sorted(slices.Values(values)), 2) {
		kept = append(kept, pair[0])
	}
	return kept
}

// recollect fills a new file with the figures that were noted with the log earlier.
func (p *Projection) recollect(ctx context.Context, today int64) error {
	var there int
	err := p.query(ctx, []any{&there}, func() error { return nil }, "SELECT COUNT(*) FROM meta WHERE name = 'noted'")
	if err != nil || there > 0 {
		return err
	}
	first, err := p.firstNoted(ctx, today)
	if err != nil {
		return err
	}
	read := make([]map[place]*daily, max(0, today-first+1))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(maxDaysRead)
	for i := range read {
		group.Go(func() (err error) {
			read[i], err = p.readDay(groupCtx, first+int64(i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return p.change(ctx, func(tx *sql.Tx) error {
		for i, places := range read {
			if err := keepDay(ctx, tx, first+int64(i), places); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO meta (name, value) VALUES ('noted', '1')")
		return err
	})
}

// firstNoted returns the first day with noted figures that trends can show; the day after today if there is
// none.
func (p *Projection) firstNoted(ctx context.Context, today int64) (int64, error) {
	text, err := p.config.Store.Note(ctx, daysNote)
	first, wrong := time.Parse(time.DateOnly, text)
	if err != nil || wrong != nil {
		return today + 1, err
	}
	return max(dayOf(first), today-maxBuckets), nil
}

// keepDay stores the noted figures of a day in the file.
func keepDay(ctx context.Context, tx *sql.Tx, number int64, places map[place]*daily) error {
	if len(places) == 0 {
		return nil
	}
	counted, fired := placesOf(places), []placed{}
	for i := range counted {
		if one := &counted[i]; one.Fired != nil {
			fired = append(fired, placed{one.Source, one.Repo, daily{Fired: one.Fired}})
			one.Fired = nil
		}
	}
	var findings any = "" // nothing is known
	if len(fired) > 0 {
		findings = document{fired}
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO days (day, live, noted, fired) VALUES (?, '', ?, ?) "+
		"ON CONFLICT (day) DO UPDATE SET noted = excluded.noted, fired = excluded.fired", number, document{counted}, findings)
	return err
}

// noteDays notes new knowledge about the days with the log. Relays that share a log take over what another
// relay knows better.
func (p *Projection) noteDays(ctx context.Context, today int64) error {
	since := p.Since()
	if since.IsZero() {
		return nil
	}
	from := max(dayOf(since), today-maxBuckets)
	live, noted, err := p.figures(ctx, from)
	if err != nil {
		return err
	}
	if err := errors.Join(p.addFirings(ctx, live, from, today, ""), p.addNotedFirings(ctx, noted, from, today)); err != nil {
		return err
	}
	var changed []int64
	for number, places := range live {
		for at, d := range places {
			known := cmp.Or(noted[number][at], &daily{})
			if number <= today && (d.known() > known.known() || weight(d.Fired) > weight(known.Fired)) {
				changed = append(changed, number)
				break
			}
		}
	}
	slices.Sort(changed)
	for i, number := range changed {
		others, err := p.readDay(ctx, number)
		if err != nil {
			return err
		}
		day := days{number: live[number]}
		day.join(days{number: noted[number]})
		day.join(days{number: others})
		if err := p.writeDay(ctx, number, day[number]); err != nil {
			return err
		}
		if i == 0 {
			if first, err := p.firstNoted(ctx, today); err != nil {
				return err
			} else if number < first {
				if err := p.config.Store.SetNote(ctx, daysNote, startOf(number).Format(time.DateOnly)); err != nil {
					return err
				}
			}
		}
		if err := p.change(ctx, func(tx *sql.Tx) error { return keepDay(ctx, tx, number, day[number]) }); err != nil {
			return err
		}
	}
	return nil
}

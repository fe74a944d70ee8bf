package projection

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/relay/event"
)

// daily is what happened in one repository on one day, in UTC. Lengths of time are in whole seconds.
type daily struct {
	Opened      int     `json:"opened,omitempty"`
	Merged      int     `json:"merged,omitempty"`
	Closed      int     `json:"closed,omitempty"`
	Rounds      int     `json:"rounds,omitempty"`
	Findings    int     `json:"findings,omitempty"`
	CostUSD     float64 `json:"cost_usd,omitempty"`
	Tokens      int64   `json:"tokens,omitempty"`
	Escalations int     `json:"escalations,omitempty"`
	Unattended  int     `json:"unattended,omitempty"`
	// MergedRounds and MergedCostUSD are of all rounds of what was merged then.
	MergedRounds  int     `json:"merged_rounds,omitempty"`
	MergedCostUSD float64 `json:"merged_cost_usd,omitempty"`
	// FirstReviews are the times from opening to the first review, of those opened then, Merges those from opening to
	// the merge, of those merged then.
	FirstReviews []int64 `json:"first_reviews,omitempty"`
	Merges       []int64 `json:"merges,omitempty"`
}

func (d *daily) add(o *daily) {
	d.Opened += o.Opened
	d.Merged += o.Merged
	d.Closed += o.Closed
	d.Rounds += o.Rounds
	d.Findings += o.Findings
	d.CostUSD += o.CostUSD
	d.Tokens += o.Tokens
	d.Escalations += o.Escalations
	d.Unattended += o.Unattended
	d.MergedRounds += o.MergedRounds
	d.MergedCostUSD += o.MergedCostUSD
	d.FirstReviews = append(d.FirstReviews, o.FirstReviews...)
	d.Merges = append(d.Merges, o.Merges...)
}

// known is how much it knows of the day: whoever has read more of the log knows more.
func (d *daily) known() int {
	if d == nil {
		return 0
	}
	return d.Opened + d.Merged + d.Closed + d.Rounds + d.Findings + d.Escalations + d.MergedRounds + len(d.FirstReviews)
}

// better is the one that knows more of the same day.
func better(a, b *daily) *daily {
	if b.known() > a.known() {
		return b
	}
	return a
}

// days are the figures of each place on each day, counted since 1970.
type days map[int64]map[place]*daily

func (all days) of(number int64, at place) *daily {
	if all[number] == nil {
		all[number] = map[place]*daily{}
	}
	d := all[number][at]
	if d == nil {
		d = &daily{}
		all[number][at] = d
	}
	return d
}

// matches reports whether all filters let the events of a place through.
func (at place) matches(filters []event.Filter) bool {
	e := event.Event{Source: at.source, Repo: at.repo, Type: "any"}
	return !slices.ContainsFunc(filters, func(f event.Filter) bool { return !f.Match(e) })
}

// live are the figures of the days from one on, by the pull requests that the file knows.
func (p *Projection) live(ctx context.Context, from int64, filters ...event.Filter) (days, error) {
	all, names := days{}, map[int64]place{}
	p.mu.Lock()
	for at, id := range p.places {
		names[id] = at
	}
	p.mu.Unlock()
	allowed := p.allowed(filters...)
	in := func(id, millis int64) *daily {
		if number := millis / dayMillis; millis > 0 && number >= from {
			return all.of(number, names[id])
		}
		return &daily{}
	}
	err := p.query(ctx, func(rows *sql.Rows) error {
		var id, opened, reviewed, merged, closed int64
		var rounds, escalations, unattended int
		var cost float64
		if err := rows.Scan(&id, &opened, &reviewed, &merged, &closed, &rounds, &escalations, &unattended, &cost); err != nil {
			return err
		}
		o := in(id, opened)
		o.Opened++
		o.Escalations += escalations
		if reviewed != 0 {
			o.FirstReviews = append(o.FirstReviews, max(0, (reviewed-opened)/1000))
		}
		if merged != 0 {
			m := in(id, merged)
			m.Merged++
			m.Unattended += unattended
			m.MergedRounds += rounds
			m.MergedCostUSD += cost
			m.Merges = append(m.Merges, max(0, (merged-opened)/1000))
		} else if closed != 0 {
			in(id, closed).Closed++
		}
		return nil
	}, "SELECT place, opened, reviewed, merged, closed, rounds, escalations, unattended, cost FROM pulls "+
		"INDEXED BY pulls_by_place WHERE MAX(opened, merged, closed) >= ? AND "+allowed, from*dayMillis)
	if err != nil {
		return nil, err
	}
	err = p.query(ctx, func(rows *sql.Rows) error {
		var id, number, tokens int64
		var cost float64
		var rounds, findings int
		if err := rows.Scan(&id, &number, &rounds, &cost, &tokens, &findings); err != nil {
			return err
		}
		d := in(id, number*dayMillis)
		d.Rounds += rounds
		d.CostUSD += cost
		d.Tokens += tokens
		d.Findings += findings
		return nil
	}, "SELECT place, day, COUNT(*), SUM(cost), SUM(tokens), SUM(findings) FROM rounds INDEXED BY rounds_by_day WHERE day >= ? AND "+allowed+
		" GROUP BY day, place", from)
	return all, err
}

// noted are the figures of the days from one on as they were noted with the log.
func (p *Projection) noted(ctx context.Context, from int64, filters ...event.Filter) (days, error) {
	all := days{}
	err := p.query(ctx, func(rows *sql.Rows) error {
		var number int64
		var at place
		var doc string
		if err := rows.Scan(&number, &at.source, &at.repo, &doc); err != nil {
			return err
		}
		if !at.matches(filters) {
			return nil
		}
		return json.Unmarshal([]byte(doc), all.of(number, at))
	}, "SELECT day, source, repo, doc FROM days WHERE day >= ?", from)
	return all, err
}

// join takes in what others know better.
func (all days) join(others days) {
	for number, places := range others {
		for at, d := range places {
			*all.of(number, at) = *better(all.of(number, at), d)
		}
	}
}

const (
	// daysNote is the note of the log that names the first day whose figures are noted.
	daysNote = "days"
	// maxNoteBytes is what a note of a day takes at most: Firestore keeps 900,000 bytes.
	maxNoteBytes = 800_000
	// maxDaysRead is how many notes are read at once.
	maxDaysRead = 8
)

// dayNote is the note of the log that holds a day's figures.
func dayNote(number int64) string {
	return "day-" + time.UnixMilli(number*dayMillis).UTC().Format(time.DateOnly)
}

// notedPlace is one place in the note of a day.
type notedPlace struct {
	Source string `json:"source"`
	Repo   string `json:"repo"`
	daily
}

// readDay reads the note of a day. One that cannot be read tells nothing.
func (p *Projection) readDay(ctx context.Context, number int64) (map[place]*daily, error) {
	text, err := p.config.Store.Note(ctx, dayNote(number))
	if err != nil || text == "" {
		return nil, err
	}
	var list []notedPlace
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil, nil
	}
	places := map[place]*daily{}
	for _, one := range list {
		places[place{one.Source, one.Repo}.key()] = &one.daily
	}
	return places, nil
}

// writeDay writes the note of a day. If it were too long, it keeps a sample of the lengths of time.
func (p *Projection) writeDay(ctx context.Context, number int64, places map[place]*daily) error {
	var list []notedPlace
	for _, at := range slices.SortedFunc(maps.Keys(places), func(a, b place) int {
		return cmp.Or(strings.Compare(a.source, b.source), strings.Compare(a.repo, b.repo))
	}) {
		list = append(list, notedPlace{at.source, at.repo, *places[at]})
	}
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

// thin leaves out every second length of time of the longest lists, and reports whether there were any.
func thin(list []notedPlace) bool {
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
	return longest > 1
}

func half(values []int64) []int64 {
	sorted := slices.Sorted(slices.Values(values))
	var kept []int64
	for i := 0; i < len(sorted); i += 2 {
		kept = append(kept, sorted[i])
	}
	return kept
}

// recollect reads into a new file what was noted with the log before.
func (p *Projection) recollect(ctx context.Context, today int64) error {
	var there int
	err := p.query(ctx, func(rows *sql.Rows) error { return rows.Scan(&there) }, "SELECT COUNT(*) FROM meta WHERE name = 'noted'")
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

// firstNoted is the first day whose figures are noted, not before those that trends show; the day after today if
// there is none.
func (p *Projection) firstNoted(ctx context.Context, today int64) (int64, error) {
	text, err := p.config.Store.Note(ctx, daysNote)
	first, wrong := time.Parse(time.DateOnly, text)
	if err != nil || wrong != nil {
		return today + 1, err
	}
	return max(first.UnixMilli()/dayMillis, today-maxBuckets), nil
}

func keepDay(ctx context.Context, tx *sql.Tx, number int64, places map[place]*daily) error {
	for at, d := range places {
		doc, err := json.Marshal(d)
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO days (day, source, repo, doc) VALUES (?, ?, ?, ?)", number, at.source, at.repo,
				string(doc))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteDays notes with the log what became known of its days. Relays that share a log take over what
// another one knows better.
func (p *Projection) noteDays(ctx context.Context, today int64) error {
	since := p.Since()
	if since.IsZero() {
		return nil
	}
	from := max(toMillis(since)/dayMillis, today-maxBuckets)
	live, err := p.live(ctx, from)
	if err != nil {
		return err
	}
	noted, err := p.noted(ctx, from)
	if err != nil {
		return err
	}
	var changed []int64
	for number, places := range live {
		for at, d := range places {
			if number <= today && d.known() > noted[number][at].known() {
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
				text := time.UnixMilli(number * dayMillis).UTC().Format(time.DateOnly)
				if err := p.config.Store.SetNote(ctx, daysNote, text); err != nil {
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

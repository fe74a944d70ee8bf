package projection

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

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

	// fired are the findings that were found first then; nil where that is not known. Notes and the file keep them apart.
	fired []firing
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

// known is how much it knows of the day: a projection that has read more of the log knows more.
func (d *daily) known() int {
	if d == nil {
		return 0
	}
	return d.Opened + d.Merged + d.Closed + d.Rounds + d.Findings + d.Escalations + d.MergedRounds + len(d.FirstReviews)
}

// better is what is known of the same day by the one that knows more of it, and by the one that knows more of its findings.
func better(a, b *daily) *daily {
	one, fired := *a, a.fired
	if b.known() > a.known() {
		one = *b
	}
	if weight(b.fired) > weight(fired) {
		fired = b.fired
	}
	one.fired = fired
	return &one
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
	all, names := days{}, p.names()
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

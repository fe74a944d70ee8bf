package projection

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"touchstone/relay/event"
)

// daily is what happened in one repository on one day, in UTC. Durations are in whole seconds.
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
	// MergedRounds and MergedCostUSD count all rounds of the pull requests that were merged on the day.
	MergedRounds  int     `json:"merged_rounds,omitempty"`
	MergedCostUSD float64 `json:"merged_cost_usd,omitempty"`
	// FirstReviews are the times from opening to the first review of the pull requests opened on the day.
	// Merges are the times from opening to the merge of those merged on the day.
	FirstReviews []int64 `json:"first_reviews,omitempty"`
	Merges       []int64 `json:"merges,omitempty"`

	// Fired are the findings first found on the day; nil if unknown, as in notes from before rules were noted. The file keeps
	// them in a column of their own.
	Fired []firing `json:"fired,omitzero"`
}

// add adds the counts of another daily.
func (d *daily) add(o *daily) { d.count(o, 1) }

// count adds the counts of another daily, or subtracts them if times is -1.
func (d *daily) count(o *daily, times int) {
	d.Opened += times * o.Opened
	d.Merged += times * o.Merged
	d.Closed += times * o.Closed
	d.Rounds += times * o.Rounds
	d.Findings += times * o.Findings
	d.CostUSD = micros(d.CostUSD + float64(times)*o.CostUSD)
	d.Tokens += int64(times) * o.Tokens
	d.Escalations += times * o.Escalations
	d.Unattended += times * o.Unattended
	d.MergedRounds += times * o.MergedRounds
	d.MergedCostUSD = micros(d.MergedCostUSD + float64(times)*o.MergedCostUSD)
	if times > 0 {
		d.FirstReviews, d.Merges = append(d.FirstReviews, o.FirstReviews...), append(d.Merges, o.Merges...)
	} else {
		d.FirstReviews, d.Merges = without(d.FirstReviews, o.FirstReviews), without(d.Merges, o.Merges)
	}
}

// micros rounds to whole millionths, so that adding and subtracting amounts does not accumulate an error.
func micros(usd float64) float64 { return math.Round(usd*1e6) / 1e6 }

// without removes one occurrence of each of the values from a list.
func without(list, values []int64) []int64 {
	for _, value := range values {
		if i := slices.Index(list, value); i >= 0 {
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// moments returns what happened to the pull request, if the figures are those of a single one.
func (d *daily) moments() (list []Moment) {
	for _, m := range []struct {
		moment   Moment
		happened bool
	}{
		{Opened, d.Opened > 0}, {Answered, len(d.FirstReviews) > 0}, {Reviewed, d.Rounds > 0}, {Found, d.Findings > 0},
		{Escalated, d.Escalations > 0}, {Merged, d.Merged > 0}, {Unattended, d.Unattended > 0},
	} {
		if m.happened {
			list = append(list, m.moment)
		}
	}
	return list
}

// known measures how much is known about the day: a projection that has read more of the log knows more.
func (d *daily) known() int {
	return d.Opened + d.Merged + d.Closed + d.Rounds + d.Findings + d.Escalations + d.MergedRounds + len(d.FirstReviews)
}

// days are the figures of each place, by day since 1970.
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

// matches reports whether all filters accept the events of a place.
func (at place) matches(filters ...event.Filter) bool {
	e := event.Event{Source: at.source, Repo: at.repo, Type: "any"}
	return !slices.ContainsFunc(filters, func(f event.Filter) bool { return !f.Match(e) })
}

// figures returns the figures of the days from one on: live ones come from the pull requests in the file, noted
// ones from the notes of the log.
func (p *Projection) figures(ctx context.Context, from int64, filters ...event.Filter) (live, noted days, err error) {
	live, noted = days{}, days{}
	var number int64
	var liveText, notedText sql.RawBytes
	err = p.query(ctx, []any{&number, &liveText, &notedText}, func() error {
		if live[number], err = decodeDay(liveText, filters); err != nil {
			return err
		}
		if bytes.Equal(liveText, notedText) { // true for most days: the noted and the live figures agree
			noted[number] = live[number]
			return nil
		}
		noted[number], err = decodeDay(notedText, filters)
		return err
	}, "SELECT day, live, noted FROM days WHERE day >= ?", from)
	return live, noted, err
}

// placed are the figures of a place on a day, as JSON stores them.
type placed struct {
	Source string `json:"source"`
	Repo   string `json:"repo"`
	daily
}

// placesOf returns the figures of a day in a fixed order.
func placesOf(day map[place]*daily) []placed {
	list := make([]placed, 0, len(day))
	for at, d := range day {
		list = append(list, placed{at.source, at.repo, *d})
	}
	slices.SortFunc(list, func(a, b placed) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Repo, b.Repo))
	})
	return list
}

// decodeDay decodes the places within the filters. The text of a day about which nothing is known is empty.
func decodeDay(text []byte, filters []event.Filter) (map[place]*daily, error) {
	if len(text) == 0 {
		return map[place]*daily{}, nil
	}
	var list []placed
	if json.Unmarshal(text, &list) != nil {
		return nil, errDamaged
	}
	places := map[place]*daily{}
	for i, one := range list {
		if at := (place{one.Source, one.Repo}).key(); at.matches(filters...) {
			places[at] = &list[i].daily
		}
	}
	return places, nil
}

// join takes over what others know better: the counts of a day where they know more of them, and its findings where
// they know more about findings.
func (all days) join(others days) {
	for number, places := range others {
		for at, other := range places {
			d := all.of(number, at)
			fired := d.Fired
			if weight(other.Fired) > weight(fired) {
				fired = other.Fired
			}
			if other.known() > d.known() {
				*d = *other
			}
			d.Fired = fired
		}
	}
}

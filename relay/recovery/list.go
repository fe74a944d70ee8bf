package recovery

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/go-github/v66/github"
)

const (
	// kept is how long GitHub lists deliveries.
	kept = 3 * 24 * time.Hour
	// overlap is how much is compared again: GitHub may list a delivery later than the time that it names.
	overlap = 10 * time.Minute
	// skew is the allowed difference between GitHub's clock and the log's.
	skew = 5 * time.Minute
	// running is how long a delivery without an answer may still get one; GitHub itself gives up after 10 s.
	running = 2 * time.Minute
	// maxPages bounds one list, at 100 deliveries a page.
	maxPages = 20_000
	// lookup is how many deliveries are looked up in the log at a time.
	lookup = 500
)

var errTooMany = errors.New("GitHub's list of deliveries does not end")

// delivery is one event in GitHub's list, which has an entry for each attempt to deliver it.
type delivery struct {
	id   int64 // of the oldest attempt that was listed
	guid string
	at   time.Time // of that attempt
	// running is set while GitHub may still get an answer, so that the delivery is not missing yet.
	running bool
}

// look decides how far back to compare: as far as both GitHub and the log keep deliveries, but no further
// than needed. The parameter now is GitHub's time: by a clock that is ahead, all deliveries would be out of
// reach.
func (p *pass) look(through, now time.Time) {
	oldest := now.Add(-kept)
	if p.config.Retention > 0 {
		oldest = later(oldest, now.Add(skew-p.config.Retention))
	}
	if !through.IsZero() && through.Before(oldest) {
		p.report.OutOfReach = through
	}
	if !through.IsZero() {
		oldest = later(oldest, through.Add(-overlap))
	}
	p.report.Since = oldest.UTC().Truncate(time.Second)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// list reads GitHub's list as far back as look decides and returns its deliveries, the oldest first. Nothing
// up to through is missing. If a delivery is sought, it reads no further than to that one. It also returns when GitHub
// made the list, by GitHub's clock.
func (p *pass) list(ctx context.Context, through time.Time) ([]delivery, time.Time, error) {
	var listed time.Time
	byGUID := map[string]delivery{}
	query := url.Values{"per_page": {"100"}}
	for pages := 0; ; pages++ {
		if pages == maxPages {
			return nil, time.Time{}, errTooMany
		}
		var page []*github.HookDelivery
		response, err := p.github.call(ctx, p.hook.target, http.MethodGet, p.hook.path+"/deliveries?"+query.Encode(), nil, &page)
		if err != nil {
			return nil, time.Time{}, err
		}
		if listed.IsZero() {
			if listed, err = http.ParseTime(response.Header.Get("Date")); err != nil {
				listed = time.Now()
			}
			p.look(through, listed)
		}
		for _, attempt := range page {
			at := attempt.GetDeliveredAt().Time
			if at.Before(p.report.Since) {
				response.Cursor = ""
				break
			}
			d := delivery{id: attempt.GetID(), guid: attempt.GetGUID(), at: at}
			d.running = byGUID[d.guid].running || attempt.GetStatusCode() == 0 && listed.Sub(at) < running
			byGUID[d.guid] = d
		}
		if _, found := byGUID[p.sought]; response.Cursor == "" || p.sought != "" && found {
			break
		}
		query.Set("cursor", response.Cursor)
	}
	deliveries := slices.SortedFunc(maps.Values(byGUID), func(a, b delivery) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	return deliveries, listed, nil
}

// missing returns the deliveries that the log does not hold, in their order. It leaves those that are still
// running to the next pass.
func (p *pass) missing(ctx context.Context, deliveries []delivery) ([]delivery, error) {
	var missing []delivery
	for part := range slices.Chunk(deliveries, lookup) {
		guids := make([]string, len(part))
		for i, d := range part {
			guids[i] = d.guid
		}
		stored, err := p.config.Log.Stored(ctx, p.hook.source, guids)
		if err != nil {
			return nil, err
		}
		for _, d := range part {
			switch {
			case stored[d.guid]:
			case d.running:
				p.hold(d)
			default:
				missing = append(missing, d)
			}
		}
	}
	return missing, nil
}

package projection

import (
	"context"
	"slices"
	"time"

	"touchstone/relay/event"
)

// Bucket is the length of time that one point of a trend covers.
type Bucket string

// The buckets begin at midnight UTC, weeks on Monday.
const (
	Day  Bucket = "day"
	Week Bucket = "week"
)

// Quantiles are quantiles of durations, in seconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
}

// Trend is what happened in one bucket. The figures of a merge belong to the bucket of the merge.
type Trend struct {
	Start       time.Time `json:"start"`
	Opened      int       `json:"opened"`
	Merged      int       `json:"merged"`
	Closed      int       `json:"closed"` // without a merge
	Rounds      int       `json:"rounds"`
	Findings    int       `json:"findings"`
	CostUSD     float64   `json:"cost_usd"`
	Tokens      int64     `json:"tokens"`
	Escalations int       `json:"escalations"`
	// Unattended counts the merges for which no person was called.
	Unattended int `json:"merged_without_person"`
	// FirstReview is the time from opening to the first review of the pull requests opened in the bucket, Merge
	// the time from opening to the merge; nil if there is none.
	FirstReview    *Quantiles `json:"time_to_first_review_seconds"`
	Merge          *Quantiles `json:"time_to_merge_seconds"`
	RoundsPerMerge float64    `json:"rounds_per_merge"`
	CostPerMerge   float64    `json:"cost_usd_per_merge"`

	sums daily
}

// Start returns the beginning of the bucket that contains t.
func (b Bucket) Start(t time.Time) time.Time {
	day := t.UTC().Truncate(24 * time.Hour)
	if b == Week {
		day = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	return day
}

// Next returns the beginning of the bucket after the one that begins at t.
func (b Bucket) Next(t time.Time) time.Time {
	if b == Week {
		return t.AddDate(0, 0, 7)
	}
	return t.AddDate(0, 0, 1)
}

// dayMillis is the length of a day in milliseconds.
const dayMillis = int64(24 * time.Hour / time.Millisecond)

// dayOf returns the number of the day of a moment, since 1970 in UTC.
func dayOf(t time.Time) int64 { return toMillis(t) / dayMillis }

// startOf returns the beginning of the day with a number.
func startOf(day int64) time.Time { return time.UnixMilli(day * dayMillis).UTC() }

// maxBuckets limits how far back trends go: of more buckets, they have the newest.
const maxBuckets = 750

// TrendsSince returns the time from which on trends are known; zero while nothing is known. It can be before
// the beginning of the log, because the figures of days outlive the log.
func (p *Projection) TrendsSince(ctx context.Context) (time.Time, error) {
	return p.notedSince(ctx, "noted <> ''")
}

// RulesSince is TrendsSince for the rules that fired.
func (p *Projection) RulesSince(ctx context.Context) (time.Time, error) {
	return p.notedSince(ctx, "fired <> ''")
}

func (p *Projection) notedSince(ctx context.Context, condition string) (time.Time, error) {
	since := p.Since()
	var first int64
	err := p.query(ctx, []any{&first}, func() error {
		if at := startOf(first); at.Before(since) {
			since = at
		}
		return nil
	}, "SELECT day FROM days WHERE "+condition+" ORDER BY day LIMIT 1")
	return since, err
}

// begin returns the beginning of the first bucket of a trend: something is known about it, and it is at most
// maxBuckets before that of now.
func (b Bucket) begin(since, known, now time.Time) time.Time {
	days := 1
	if b == Week {
		days = 7
	}
	return later(b.Start(later(since, known)), b.Start(now).AddDate(0, 0, -days*(maxBuckets-1)))
}

// Trends returns the buckets from that of since to that of now, including empty ones, but none before
// TrendsSince.
func (p *Projection) Trends(ctx context.Context, scope event.Filter, repo string, bucket Bucket, since, now time.Time) ([]Trend, error) {
	known, err := p.TrendsSince(ctx)
	if err != nil || known.IsZero() {
		return []Trend{}, err
	}
	begin := bucket.begin(since, known, now)
	from := dayOf(begin)
	all, noted, err := p.figures(ctx, from, within(scope, repo)...)
	if err != nil {
		return nil, err
	}
	all.join(noted)
	trends := []Trend{}
	for at := begin; !at.After(now); at = bucket.Next(at) {
		trend := Trend{Start: at}
		for number := dayOf(at); number < dayOf(bucket.Next(at)); number++ {
			for _, d := range all[number] {
				trend.sums.add(d)
			}
		}
		trend.finish()
		trends = append(trends, trend)
	}
	return trends, nil
}

// quantiles uses the nearest rank.
func quantiles(values []int64) *Quantiles {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	at := func(percent int) float64 { return float64(values[(len(values)*percent+99)/100-1]) }
	return &Quantiles{P50: at(50), P90: at(90)}
}

// Sum returns the totals of some buckets.
func Sum(trends []Trend) (sum Trend) {
	for _, t := range trends {
		sum.sums.add(&t.sums)
	}
	sum.finish()
	return sum
}

// finish computes the exported figures from the sums.
func (t *Trend) finish() {
	s := t.sums
	t.Opened, t.Merged, t.Closed, t.Rounds, t.Findings, t.CostUSD = s.Opened, s.Merged, s.Closed, s.Rounds, s.Findings, s.CostUSD
	t.Tokens, t.Escalations, t.Unattended = s.Tokens, s.Escalations, s.Unattended
	t.FirstReview, t.Merge = quantiles(s.FirstReviews), quantiles(s.Merges)
	if t.Merged > 0 {
		t.RoundsPerMerge, t.CostPerMerge = float64(s.MergedRounds)/float64(t.Merged), s.MergedCostUSD/float64(t.Merged)
	}
}

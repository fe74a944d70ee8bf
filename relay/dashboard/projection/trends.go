package projection

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"touchstone/relay/event"
)

// Bucket is the length of time that one point of a trend stands for.
type Bucket string

// The buckets, which begin at midnight UTC, weeks on Monday.
const (
	Day  Bucket = "day"
	Week Bucket = "week"
)

// Quantiles are of lengths of time, in seconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
}

// Trend is what happened in one bucket. What is told of a merge is told in the bucket of the merge.
type Trend struct {
	Start       time.Time `json:"start"`
	Opened      int       `json:"opened"`
	Merged      int       `json:"merged"`
	Closed      int       `json:"closed"` // without a merge
	Rounds      int       `json:"rounds"`
	Findings    int       `json:"findings"`
	CostUSD     float64   `json:"cost_usd"`
	Tokens      int64     `json:"tokens"`
	Escalations int       `json:"escalations"` // of the pull requests opened then
	// Unattended counts the merges for which no person was called.
	Unattended int `json:"merged_without_person"`
	// FirstReview is the time from opening to the first review, of those opened then, Merge the
	// time from opening to the merge; nil where there is none.
	FirstReview    *Quantiles `json:"time_to_first_review_seconds"`
	Merge          *Quantiles `json:"time_to_merge_seconds"`
	RoundsPerMerge float64    `json:"rounds_per_merge"`
	CostPerMerge   float64    `json:"cost_usd_per_merge"`

	firstReviews, merges []float64
	mergedRounds         int
	mergedCost           float64
}

// Start is the beginning of the bucket that a moment lies in.
func (b Bucket) Start(t time.Time) time.Time {
	day := t.UTC().Truncate(24 * time.Hour)
	if b == Week {
		day = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	return day
}

// Next is the beginning of the bucket that follows the one that begins at t.
func (b Bucket) Next(t time.Time) time.Time {
	if b == Week {
		return t.AddDate(0, 0, 7)
	}
	return t.AddDate(0, 0, 1)
}

// maxBuckets bounds how far back trends go.
const maxBuckets = 750

// Trends are the buckets from the one of since on to the one of now, also those without
// anything.
func (p *Projection) Trends(ctx context.Context, scope event.Filter, repo string, bucket Bucket, since, now time.Time) ([]Trend, error) {
	trends, index := []Trend{}, map[int64]int{}
	for at := bucket.Start(since); !at.After(now) && len(trends) < maxBuckets; at = bucket.Next(at) {
		index[at.Unix()] = len(trends)
		trends = append(trends, Trend{Start: at})
	}
	in := func(millis int64) *Trend {
		if i, ok := index[bucket.Start(fromMillis(millis)).Unix()]; ok && millis != 0 {
			return &trends[i]
		}
		return &Trend{}
	}
	var repos event.Filter
	if repo != "" {
		repos.Repos = []string{repo}
	}
	allowed, from := p.allowed(scope, repos), toMillis(bucket.Start(since))
	err := p.query(ctx, func(rows *sql.Rows) error {
		var opened, reviewed, merged, closed int64
		var rounds, escalations, unattended int
		var cost float64
		if err := rows.Scan(&opened, &reviewed, &merged, &closed, &rounds, &escalations, &unattended, &cost); err != nil {
			return err
		}
		o := in(opened)
		o.Opened++
		o.Escalations += escalations
		if reviewed != 0 {
			o.firstReviews = append(o.firstReviews, max(0, float64(reviewed-opened)/1000))
		}
		if merged != 0 {
			m := in(merged)
			m.Merged++
			m.Unattended += unattended
			m.mergedRounds += rounds
			m.mergedCost += cost
			m.merges = append(m.merges, max(0, float64(merged-opened)/1000))
		} else if closed != 0 {
			in(closed).Closed++
		}
		return nil
	}, "SELECT opened, reviewed, merged, closed, rounds, escalations, unattended, cost FROM pulls "+
		"WHERE MAX(opened, merged, closed) >= ? AND "+allowed, from)
	if err != nil {
		return nil, err
	}
	err = p.query(ctx, func(rows *sql.Rows) error {
		var at, tokens int64
		var cost float64
		var findings int
		if err := rows.Scan(&at, &cost, &tokens, &findings); err != nil {
			return err
		}
		t := in(at)
		t.Rounds++
		t.CostUSD += cost
		t.Tokens += tokens
		t.Findings += findings
		return nil
	}, "SELECT rounds.at, rounds.cost, rounds.tokens, rounds.findings FROM rounds JOIN pulls ON pulls.id = rounds.pull WHERE rounds.at >= "+
		"? AND "+allowed, from)
	for i := range trends {
		trends[i].finish()
	}
	return trends, err
}

// quantiles are by the nearest rank.
func quantiles(values []float64) *Quantiles {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	at := func(percent int) float64 { return values[(len(values)*percent+99)/100-1] }
	return &Quantiles{P50: at(50), P90: at(90)}
}

// Sum is all of some buckets together.
func Sum(trends []Trend) (sum Trend) {
	for _, t := range trends {
		sum.Opened += t.Opened
		sum.Merged += t.Merged
		sum.Closed += t.Closed
		sum.Rounds += t.Rounds
		sum.Findings += t.Findings
		sum.CostUSD += t.CostUSD
		sum.Tokens += t.Tokens
		sum.Escalations += t.Escalations
		sum.Unattended += t.Unattended
		sum.mergedRounds += t.mergedRounds
		sum.mergedCost += t.mergedCost
		sum.firstReviews = append(sum.firstReviews, t.firstReviews...)
		sum.merges = append(sum.merges, t.merges...)
	}
	sum.finish()
	return sum
}

// finish works out what follows from the sums.
func (t *Trend) finish() {
	t.FirstReview, t.Merge = quantiles(t.firstReviews), quantiles(t.merges)
	if t.Merged > 0 {
		t.RoundsPerMerge, t.CostPerMerge = float64(t.mergedRounds)/float64(t.Merged), t.mergedCost/float64(t.Merged)
	}
}

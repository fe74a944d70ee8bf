package projection_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
)

var (
	benchPulls  = flag.Int("pulls", 500, "pull requests in the benchmark's log")
	benchEvents = flag.Int("events", 20_000, "events in the benchmark's log")
)

// filled is a log of many pull requests. Payloads carry as much beside what is read of them as
// GitHub's do.
func filled(b *testing.B) *log {
	l := newLog(b)
	rest := make([]object, 60)
	for i := range rest {
		rest[i] = object{"url": fmt.Sprintf("https://api.github.test/repos/acme/app/%d", i), "node_id": "MDEwOlJlcG9zaXRvcnkxMjk2MjY5",
			"private": false}
	}
	var events []event.Event
	for n := 0; len(events) < *benchEvents; n++ {
		number, round := n%*benchPulls+1, n / *benchPulls
		head := fmt.Sprintf("%d-%d", number, round)
		minutes := round*60 + n%60
		r := record(verdict.RequestChanges, head)
		r.Round = round + 1
		review := object{
			"id": n + 1, "body": body(r, verdict.Signer{}), "state": "changes_requested", "commit_id": head, "user": object{"login": "judge"},
			"submitted_at": began.Add(time.Duration(minutes) * time.Minute),
		}
		events = append(events,
			happened(minutes, "pull_request", "synchronize", number, object{"pull_request": pull(minutes, number, head, nil), "repository": rest}),
			happened(minutes, "check_run", "completed", number,
				object{"check_run": object{"id": n, "name": "test", "head_sha": head, "status": "completed", "conclusion": "success"},
					"repository": rest}),
			happened(minutes, "pull_request_review", "submitted", number,
				object{"review": review, "pull_request": pull(minutes, number, head, nil), "repository": rest}),
			happened(minutes, "workflow_job", "completed", 0, object{"repository": rest}),
			happened(minutes, "check_suite", "completed", number, object{"repository": rest}),
		)
	}
	for i := range events {
		events[i].Delivery = fmt.Sprint(i)
	}
	for part := range slices.Chunk(events, 500) {
		if _, err := l.store.Append(b.Context(), part); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := l.hub.Refresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	return l
}

// BenchmarkRebuild builds the projection from an empty file. Beside it stands the time that
// reading the log and its payloads takes alone.
func BenchmarkRebuild(b *testing.B) {
	l := filled(b)
	for b.Loop() {
		began := time.Now()
		n := 0
		for at := int64(0); ; {
			events, err := l.store.Read(b.Context(), at, 2000, 16<<20)
			if err != nil {
				b.Fatal(err)
			}
			if len(events) == 0 {
				break
			}
			for _, e := range events {
				if at = e.ID.Seq; !json.Valid(e.Payload) {
					b.Fatal("a payload is no JSON")
				}
			}
			n += len(events)
		}
		alone := time.Since(began)
		began = time.Now()
		l.project(filepath.Join(b.TempDir(), "page.db"), "judge")
		took := time.Since(began)
		b.ReportMetric(float64(n)/took.Seconds(), "events/s")
		b.ReportMetric(float64(alone)/float64(took), "of-reading-alone")
	}
}

// BenchmarkViews asks for what each page shows, and reports the median and the 99th percentile.
// Beside it stands the time of the cheapest question that the file answers.
func BenchmarkViews(b *testing.B) {
	l := filled(b)
	p := l.project(filepath.Join(b.TempDir(), "page.db"), "judge")
	ctx, all := b.Context(), event.Filter{}
	measure := func(ask func() error) (p50, p99 time.Duration) {
		var times []time.Duration
		for range 200 {
			began := time.Now()
			if err := ask(); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		return times[100], times[198]
	}
	views := map[string]func() error{
		"board": func() error { _, _, err := p.Pulls(ctx, projection.PullQuery{Limit: 50}); return err },
		"turns": func() error { _, err := p.Turns(ctx, projection.PullQuery{}); return err },
		"pull":  func() error { _, _, err := p.Pull(ctx, all, "acme/app", 1); return err },
		"events": func() error {
			_, _, err := p.Events(ctx, projection.EventQuery{Before: 1 << 40, Limit: 60})
			return err
		},
		"rules": func() error { _, err := p.Rules(ctx, all, "", began); return err },
		"trends": func() error {
			_, err := p.Trends(ctx, all, "", projection.Day, began, began.AddDate(0, 1, 0))
			return err
		},
	}
	for name, ask := range views {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				floor, _ := measure(func() error { _, err := p.Sources(ctx, all); return err })
				p50, p99 := measure(ask)
				b.ReportMetric(float64(p50.Microseconds())/1000, "ms-p50")
				b.ReportMetric(float64(p99.Microseconds())/1000, "ms-p99")
				b.ReportMetric(float64(p50)/float64(floor), "of-cheapest")
			}
		})
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/server"
	"touchstone/scripts/benchmark"
	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

func stored(payload []byte) event.Event {
	return event.Event{Source: "github", Delivery: benchmark.Unique(), Type: "push",
		Repo: "acme/app", ReceivedAt: time.Now().UTC(), Headers: map[string]string{"X-Github-Event": "push"}, Payload: payload}
}

// fill creates a store with n events.
func fill(ctx context.Context, b *bench, name string, n int, payload []byte) {
	store := steps.Got(server.OpenStore(ctx, "sqlite:"+filepath.Join(b.dir, name)))
	defer steps.Finally(store.Close)
	for n > 0 {
		events := make([]event.Event, min(n, 2000))
		for i := range events {
			events[i] = stored(payload)
		}
		steps.Got(store.Append(ctx, events))
		n -= len(events)
	}
}

// rounds is how often the relay and its yardstick take turns, so that other load on the machine affects both
// alike.
const rounds = 7

// beside measures the relay and its yardstick in turns. It returns the medians of both
// and of their ratios.
func beside(relay, yardstick func() float64) (rate, bare, ratio float64) {
	var rates, bares, ratios []float64
	for range rounds {
		bare, rate := yardstick(), relay()
		rates, bares, ratios = append(rates, rate), append(bares, bare), append(ratios, rate/bare)
	}
	return program.Median(rates), program.Median(bares), program.Median(ratios)
}

func ingest(ctx context.Context, b *bench) []string {
	const webhooks, senders = 5000, 32
	discard := b.yardstick(ctx, "discard")
	defer discard.stop()
	relay := b.relay(ctx, "ingest.db")
	defer relay.stop()
	post := func(p *process) func() float64 {
		return func() float64 { return webhooks / p.postAll(ctx, webhooks, senders, webhook).Seconds() }
	}
	rate, bare, ratio := beside(post(relay), post(discard))
	return []string{benchmark.Figure("durable ingest, 8 kB, 32 senders", fmt.Sprintf("%.0f/s", rate),
		fmt.Sprintf("verify and discard %.0f/s: %.2f", bare, ratio), ">= 0.6", ratio >= 0.6)}
}

// bodies has many senders deliver the largest webhooks at once, and again when they are put off, and measures
// what the relay needs for that.
func bodies(ctx context.Context, b *bench) []string {
	const senders = 40
	p := b.relay(ctx, "bodies.db")
	defer p.stop()
	like := realistic(25 << 20)
	var putOff atomic.Int64
	var group errgroup.Group
	for range senders {
		group.Go(func() error {
			body := benchmark.Fresh(like)
			for {
				err := p.post(ctx, body)
				if !errors.Is(err, benchmark.ErrPutOff) {
					return err
				}
				putOff.Add(1)
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	steps.Must(group.Wait())
	_, peak := p.Memory()
	return []string{benchmark.Figure("40 webhooks of 25 MB at once",
		fmt.Sprintf("peak %d MB, %d put off", peak>>20, putOff.Load()), "1,000 MB of bodies",
		"< 1,000 MB", peak < 1000<<20)}
}

func appends(ctx context.Context, b *bench) []string {
	const n, writers = 15_000, 64
	file := steps.Got(os.Create(filepath.Join(b.dir, "bare")))
	defer file.Close()
	queue := make(chan chan error, 4096)
	defer close(queue)
	go groupCommit(file, queue)
	store := steps.Got(server.OpenStore(ctx, "sqlite:"+filepath.Join(b.dir, "append.db")))
	defer steps.Finally(store.Close)
	h := steps.Got(hub.New(ctx, store, 0))
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- h.Run(running) }()
	rate, bare, ratio := beside(
		func() float64 {
			return n / benchmark.Share(ctx, n, writers, func(ctx context.Context) error {
				_, _, err := h.Append(ctx, stored(webhook))
				return err
			}).Seconds()
		},
		func() float64 {
			return n / benchmark.Share(ctx, n, writers, func(context.Context) error {
				done := make(chan error)
				queue <- done
				return <-done
			}).Seconds()
		})
	stop()
	steps.Must(<-done)
	return []string{benchmark.Figure("append, 8 kB, 64 writers", fmt.Sprintf("%.0f/s", rate),
		fmt.Sprintf("bare file %.0f/s: %.2f", bare, ratio), ">= 0.6", ratio >= 0.6)}
}

// groupCommit writes everything that is queued and syncs once for all of it.
func groupCommit(file *os.File, queue <-chan chan error) {
	for first := range queue {
		waiting := []chan error{first}
		for len(queue) > 0 {
			waiting = append(waiting, <-queue)
		}
		var err error
		for range waiting {
			_, writeErr := file.Write(webhook)
			err = errors.Join(err, writeErr)
		}
		err = errors.Join(err, dataSync(file))
		for _, done := range waiting {
			done <- err
		}
	}
}

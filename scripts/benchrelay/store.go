package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/server"
)

func stored(payload []byte) event.Event {
	return event.Event{Source: "github", Delivery: "bench-" + strconv.FormatInt(deliveries.Add(1), 10), Type: "push",
		Repo: "acme/app", ReceivedAt: time.Now().UTC(), Headers: map[string]string{"X-Github-Event": "push"}, Payload: payload}
}

// fill creates a store with n events.
func fill(ctx context.Context, b *bench, name string, n int, payload []byte) (err error) {
	store, err := server.OpenStore(ctx, "sqlite:"+filepath.Join(b.dir, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for n > 0 {
		events := make([]event.Event, min(n, 2000))
		for i := range events {
			events[i] = stored(payload)
		}
		if _, err := store.Append(ctx, events); err != nil {
			return err
		}
		n -= len(events)
	}
	return nil
}

// rounds is how often the relay and its yardstick take turns, so that other load on the machine affects both
// alike.
const rounds = 7

// beside measures the relay and its yardstick in turns. It returns the medians of both
// and of their ratios.
func beside(relay, yardstick func() (float64, error)) (rate, bare, ratio float64, err error) {
	var rates, bares, ratios []float64
	for range rounds {
		bare, err := yardstick()
		if err != nil {
			return 0, 0, 0, err
		}
		rate, err := relay()
		if err != nil {
			return 0, 0, 0, err
		}
		rates, bares, ratios = append(rates, rate), append(bares, bare), append(ratios, rate/bare)
	}
	return median(rates), median(bares), median(ratios), nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func ingest(ctx context.Context, b *bench) ([]figure, error) {
	const webhooks, senders = 5000, 32
	discard, err := b.yardstick(ctx, "discard")
	if err != nil {
		return nil, err
	}
	defer discard.stop()
	relay, err := b.relay(ctx, "ingest.db")
	if err != nil {
		return nil, err
	}
	defer relay.stop()
	post := func(p *process) func() (float64, error) {
		return func() (float64, error) {
			took, err := p.postAll(ctx, webhooks, senders, webhook)
			return webhooks / took.Seconds(), err
		}
	}
	rate, bare, ratio, err := beside(post(relay), post(discard))
	if err != nil {
		return nil, err
	}
	return []figure{{"durable ingest, 8 kB, 32 senders", fmt.Sprintf("%.0f/s", rate),
		fmt.Sprintf("verify and discard %.0f/s: %.2f", bare, ratio), ">= 0.6", ratio >= 0.6}}, nil
}

// bodies has many senders deliver the largest webhooks at once, and again when they are put off, and measures
// what the relay needs for that.
func bodies(ctx context.Context, b *bench) ([]figure, error) {
	const senders = 40
	p, err := b.relay(ctx, "bodies.db")
	if err != nil {
		return nil, err
	}
	defer p.stop()
	like := realistic(25 << 20)
	var putOff atomic.Int64
	var group errgroup.Group
	for range senders {
		group.Go(func() error {
			body := fresh(like)
			for {
				err := p.post(ctx, body)
				if !errors.Is(err, errPutOff) {
					return err
				}
				putOff.Add(1)
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	_, peak := p.Memory()
	return []figure{{"40 webhooks of 25 MB at once", fmt.Sprintf("peak %d MB, %d put off", peak>>20, putOff.Load()), "1,000 MB of bodies",
		"< 1,000 MB", peak < 1000<<20}}, nil
}

// appendAll has 64 writers store n events and returns the rate per second.
func appendAll(n int, store func() error) (float64, error) {
	var left atomic.Int64
	left.Store(int64(n))
	begin := time.Now()
	var group errgroup.Group
	for range 64 {
		group.Go(func() error {
			for left.Add(-1) >= 0 {
				if err := store(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return float64(n) / time.Since(begin).Seconds(), err
}

func appends(ctx context.Context, b *bench) (figures []figure, err error) {
	const n = 15_000
	file, err := os.Create(filepath.Join(b.dir, "bare"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	queue := make(chan chan error, 4096)
	defer close(queue)
	go groupCommit(file, queue)
	store, err := server.OpenStore(ctx, "sqlite:"+filepath.Join(b.dir, "append.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	h, err := hub.New(ctx, store, 0)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- h.Run(running) }()
	rate, bare, ratio, err := beside(
		func() (float64, error) {
			return appendAll(n, func() error {
				_, _, err := h.Append(ctx, stored(webhook))
				return err
			})
		},
		func() (float64, error) {
			return appendAll(n, func() error {
				done := make(chan error)
				queue <- done
				return <-done
			})
		})
	stop()
	return []figure{{"append, 8 kB, 64 writers", fmt.Sprintf("%.0f/s", rate),
		fmt.Sprintf("bare file %.0f/s: %.2f", bare, ratio), ">= 0.6", ratio >= 0.6}}, errors.Join(err, <-done)
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

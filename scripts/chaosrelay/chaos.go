package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/relay/storetest/emulator"
	"touchstone/relay/storetest/host"
	"touchstone/worktree/pause"
	"touchstone/worktree/steps"
)

const (
	senders     = 8
	subscribers = 6
	// settleTimeout bounds how long the subscribers may take for the remaining events once no more faults are
	// injected.
	settleTimeout = time.Minute
)

// plan is one run.
type plan struct {
	store    string
	duration time.Duration
	seed     uint64
	clocks   bool // the relays' clocks differ
}

// faults are injected into the relays' connections to Firestore.
var faults = emulator.Faults{
	Latency: 5 * time.Millisecond, DropBefore: 0.05, DropAfter: 0.05, Hangup: 3 * time.Second,
}

// chaos runs the plan. It fails if the plan cannot be run, whatever the run finds.
func chaos(ctx context.Context, p plan) outcome {
	folder := steps.Got(os.MkdirTemp("", "chaosrelay"))
	defer os.RemoveAll(folder)
	binary := build(ctx, folder, p.clocks)
	w := &world{random: rand.New(rand.NewPCG(p.seed, 1)), acknowledged: map[string]string{}}
	store, environment, count := "sqlite:"+filepath.Join(folder, "relay.db"), []string(nil), 1
	calm := func() {}
	if p.store == "firestore" {
		backend := steps.Got(emulator.Shared())
		proxy := steps.Got(emulator.NewProxy("", backend.Address, faults, p.seed))
		defer proxy.Stop()
		store, environment, count = "firestore:"+emulator.Project(), []string{"FIRESTORE_EMULATOR_HOST=" + proxy.Address}, 3
		calm = proxy.Calm
	}
	for i := range count {
		var flags []string
		if p.clocks {
			environment = append(slices.Clip(environment), fmt.Sprintf("%s=%.0f", aheadVariable, ahead[i].Seconds()))
			flags = []string{"--retention", keep.String()}
		}
		r := &relay{binary: binary, store: store, environment: environment, flags: flags,
			addressFile: filepath.Join(folder, fmt.Sprintf("address-%d", i)), logFile: filepath.Join(folder, fmt.Sprintf("log-%d", i))}
		steps.Must(r.start(ctx, host.Own()+":0"))
		defer r.kill()
		w.relays = append(w.relays, r)
	}
	steps.Must(w.hurt(ctx, p.duration, calm))
	found := w.judge()
	if p.clocks && w.subscribers[0].span() < ahead[1]-ahead[2] {
		steps.Fail("the relays' clocks were only %s apart", w.subscribers[0].span())
	}
	return found
}

// world holds the parts of a run.
type world struct {
	relays      []*relay
	subscribers []*subscriber

	mu           sync.Mutex
	random       *rand.Rand
	kills        int
	acknowledged map[string]string // the cursor with which each delivery was acknowledged
	conflicts    []string          // deliveries that were acknowledged with two cursors
}

// dice returns a decision determined by the seed: a number from 0 up to but excluding n.
func (w *world) dice(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

func (w *world) pick() *relay { return w.relays[w.dice(len(w.relays))] }

// hurt injects all faults for the duration and then waits until the subscribers have settled.
func (w *world) hurt(ctx context.Context, duration time.Duration, calm func()) error {
	followCtx, stopFollowing := context.WithCancel(ctx)
	defer stopFollowing()
	sendCtx, stopSending := context.WithTimeout(ctx, duration)
	defer stopSending()
	var followers errgroup.Group
	for range subscribers {
		s := &subscriber{world: w, seen: map[int64]string{}}
		w.subscribers = append(w.subscribers, s)
		followers.Go(func() error { return s.follow(followCtx, sendCtx) })
	}
	var busy errgroup.Group
	for i := range senders {
		busy.Go(func() error { w.send(ctx, sendCtx, i); return nil })
	}
	busy.Go(func() error { return w.killRelays(ctx, sendCtx) })
	<-sendCtx.Done()
	calm()
	err := busy.Wait()
	// A subscriber that starts last checks that everything is still there.
	last := &subscriber{world: w, seen: map[int64]string{}}
	w.subscribers = append(w.subscribers, last)
	followers.Go(func() error { return last.follow(followCtx, sendCtx) })
	if err == nil {
		w.settle(ctx)
	}
	stopFollowing()
	return errors.Join(err, followers.Wait(), context.Cause(ctx))
}

// killRelays kills one relay after the other and starts it again on its address.
func (w *world) killRelays(ctx, until context.Context) error {
	for pause.For(until, time.Duration(500+w.dice(1500))*time.Millisecond) {
		victim := w.pick()
		victim.kill()
		w.mu.Lock()
		w.kills++
		w.mu.Unlock()
		if err := victim.start(ctx, victim.address); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until each subscriber has seen everything, or until it is clear that it never will.
func (w *world) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for _, s := range w.subscribers {
		for s.missing() > 0 {
			if !pause.For(ctx, 20*time.Millisecond) {
				return
			}
		}
	}
}

package hub

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// probeLife is how long the outcome of a probe holds, from its beginning: strangers may ask whether the relay is
	// ready, and a store such as Firestore is paid by the read.
	probeLife = 2 * time.Second
	// probeTimeout is how long the store may take until it counts as unreachable, whether or not it has given up by then. It
	// is no longer than probeLife, so that probes never begin more often than that.
	probeTimeout = 2 * time.Second
	// probeLead is how much sooner the store is told to give up, so that whoever waits learns what it says.
	probeLead = 100 * time.Millisecond
)

// A probe writes as much as the failed append and what the store adds to one, such as headers and indexes: a
// smaller write may still fit into a nearly full store. maxProbe bounds it because notes are meant to be
// small.
const (
	probeExtra = 64 << 10
	maxProbe   = 512 << 10
)

// probes asks the store how it is, once for all who want to know at about the same time.
type probes struct {
	running singleflight.Group

	mu       sync.Mutex
	begun    time.Time // the last probe that has ended
	write    bool      // whether it wrote
	failures int64     // how many appends had failed when it began
	err      error
}

// Ready reports whether the store can be reached and, after a failed append, whether such an append would
// succeed now: a full store can still be read. To find out, it writes a note of that append's size, at most
// 512 KiB; only the next append shows whether a larger one succeeds. All callers within two seconds share one
// answer, unless an append fails or succeeds again meanwhile.
func (h *Hub) Ready(ctx context.Context) error {
	failures, write := h.failures.Load(), h.failing.Load() != 0
	outcome := h.probes.running.DoChan(fmt.Sprint(failures, write), func() (any, error) {
		if err, known := h.probes.recall(failures, write); known {
			return nil, err
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout-probeLead) // other callers share it
		defer cancel()
		err := h.probe(ctx)
		h.probes.keep(begun, failures, write, err)
		return nil, err
	})
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(probeTimeout):
		return fmt.Errorf("the store has not answered within %s", probeTimeout)
	case result := <-outcome:
		return result.Err
	}
}

// recall returns the outcome of the last probe if it still holds. That a probe succeeded says nothing once another append
// has failed: that one may have been larger.
func (p *probes) recall(failures int64, write bool) (err error, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err, p.write == write && (p.err != nil || p.failures == failures) && time.Since(p.begun) < probeLife
}

func (p *probes) keep(begun time.Time, failures int64, write bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun, p.failures, p.write, p.err = begun, failures, write, err
}

func (h *Hub) probe(ctx context.Context) error {
	if _, err := h.store.Bounds(ctx); err != nil {
		return err
	}
	size := h.failing.Load()
	if size == 0 {
		return nil
	}
	// Write another text each time: a store may skip writing the text that is there already.
	now := time.Now().UTC().Format(time.RFC3339Nano) + "\n"
	size = min(size+probeExtra, maxProbe)
	if err := h.store.SetNote(ctx, "written", strings.Repeat(now, int(size)/len(now)+1)); err != nil {
		return fmt.Errorf("write to the store: %w", err)
	}
	if err := h.store.SetNote(ctx, "written", now); err != nil {
		return fmt.Errorf("write to the store: %w", err)
	}
	return nil
}

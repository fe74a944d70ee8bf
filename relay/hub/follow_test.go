package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
)

// sharedStore makes one log of several hubs, which learn of each other's events through it.
type sharedStore struct {
	hub.Store
	heads chan int64
	peers []*sharedStore
	// deaf keeps this store from telling its hub anything.
	deaf bool
}

// share gives each of n hubs its own view of one log.
func share(t *testing.T, n int) []*sharedStore {
	t.Helper()
	log := openStore(t)
	peers := make([]*sharedStore, n)
	for i := range peers {
		peers[i] = &sharedStore{Store: log, heads: make(chan int64, 1000), peers: peers}
	}
	return peers
}

func (s *sharedStore) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	results, err := s.Store.Append(ctx, events)
	if err == nil {
		for _, peer := range s.peers {
			if peer != s && !peer.deaf {
				peer.heads <- results[len(results)-1].Seq
			}
		}
	}
	return results, err
}

var errInterrupted = errors.New("the connection was lost")

func (s *sharedStore) Follow(ctx context.Context, changed func(context.Context, int64) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case head := <-s.heads:
			if err := changed(ctx, head); err != nil {
				return err
			}
			if head%50 == 0 {
				return errInterrupted
			}
		}
	}
}

// Hubs that append to one log at the same time show the same events in the same order, each once.
func TestHubsShareALog(t *testing.T) {
	const hubs, each = 3, 60
	var all []*hub.Hub
	for _, store := range share(t, hubs) {
		all = append(all, start(t, store, 0))
	}
	seen := make([][]string, hubs)
	var wait sync.WaitGroup
	for i, h := range all {
		wait.Go(func() {
			for _, e := range follow(t, h, 0, hubs*each) {
				seen[i] = append(seen[i], e.Delivery)
			}
		})
		wait.Go(func() {
			for n := range each {
				add(t, h, storetest.Event(fmt.Sprintf("%d-%d", i, n)))
			}
		})
	}
	wait.Wait()
	for i := range seen {
		if len(seen[i]) != hubs*each || !slices.Equal(seen[i], seen[0]) {
			t.Errorf("hub %d showed %d events, in another order than the first", i, len(seen[i]))
		}
	}
}

// A hub that does not know the newest events yet neither hides its readers' positions nor shows an event
// twice, and learns of the events when it is asked to.
func TestAHubThatHeardOfNothingLearnsOfEventsWhenAsked(t *testing.T) {
	stores := share(t, 2)
	stores[1].deaf = true
	ahead, behind := start(t, stores[0], 0), start(t, stores[1], 0)
	add(t, ahead, storetest.Event("a"), storetest.Event("b"))
	r := behind.NewReader(0)
	defer r.Close()
	if batch, err := r.Next(t.Context()); err != nil || batch.Through != 0 || len(batch.Entries) != 0 {
		t.Errorf("before it has heard of anything: %+v, %v", batch, err)
	}
	b, err := behind.Refresh(t.Context())
	if err != nil || b.Head != 2 {
		t.Fatalf("refreshed: %+v, %v", b, err)
	}
	<-r.Wake()
	if batch, err := r.Next(t.Context()); err != nil || len(batch.Entries) != 2 {
		t.Errorf("after it: %+v, %v", batch, err)
	}
	add(t, ahead, storetest.Event("c"))
	add(t, behind, storetest.Event("d"))
	batch, err := r.Next(t.Context())
	if err != nil || len(batch.Entries) != 2 || batch.Entries[0].Delivery != "c" || batch.Through != 4 {
		t.Errorf("its own event behind one it had not heard of: %+v, %v", batch, err)
	}
}

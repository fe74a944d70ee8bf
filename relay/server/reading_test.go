package server

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// slowStore reads each event until free is closed, except the second.
type slowStore struct {
	hub.Store
	free    chan struct{}
	reading atomic.Int32
}

func (s *slowStore) Read(_ context.Context, after int64, _, _ int) ([]event.Event, error) {
	if after == 0 {
		s.reading.Add(1)
		<-s.free
	}
	return []event.Event{{ID: event.Cursor{Seq: after + 1}}}, nil
}

// Who asks for many events at once keeps nobody from elsewhere waiting, and gets them all.
func TestANetworkThatReadsManyEventsLeavesRoomToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{free: make(chan struct{})}
		s := inside{&Server{config: Config{Store: store}, reads: newReads()}}
		read := func(address string, seq int64) {
			claim := s.reads.room.enter(netip.MustParseAddr(address), func() {})
			defer claim.leave()
			if _, err := s.readEvent(t.Context(), claim, seq); err != nil {
				t.Errorf("%s: event %d: %v", address, seq, err)
			}
		}
		var many sync.WaitGroup
		for range 20 {
			many.Go(func() { read("192.0.2.1", 1) })
		}
		synctest.Wait()
		if n := store.reading.Load(); n != maxReading-1 {
			t.Errorf("one network reads %d events at a time", n)
		}
		read("192.0.2.2", 2)
		close(store.free)
		many.Wait()
	})
}

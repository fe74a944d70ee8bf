package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
)

// RunShared runs the suite for stores whose logs several relays have open at once. It calls open several
// times with the same name without a Close between.
func RunShared(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"ConcurrentAppenders", concurrentAppenders},
		{"FollowOthers", followOthers},
		{"TrimmedByAnother", trimmedByAnother},
		{"SettingsBySeveral", settingsBySeveral},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// concurrentAppenders tests that three stores can append at once, with some deliveries in common: each store
// gets the same number for each delivery, and all of them read one log.
func concurrentAppenders(t *testing.T, open Open) {
	stores := make([]hub.Store, 3)
	for i := range stores {
		stores[i] = open(t, "log")
		defer closeStore(t, stores[i])
	}
	appendAtOnce(t, stores)
}

// appendersOfOneStore tests the same with one store.
func appendersOfOneStore(t *testing.T, open Open) {
	store := open(t, "log")
	defer closeStore(t, store)
	appendAtOnce(t, []hub.Store{store, store, store})
}

func appendAtOnce(t *testing.T, stores []hub.Store) {
	const each = 15
	appenders := len(stores)
	told := make([]map[string]int64, appenders)
	fresh := make([]int, appenders)
	var wait sync.WaitGroup
	for i, store := range stores {
		told[i] = map[string]int64{}
		wait.Go(func() {
			for n := range each {
				events := []event.Event{Event(fmt.Sprintf("%d-%d", i, n)), Event(fmt.Sprint("same ", n))}
				results, err := store.Append(t.Context(), events)
				if err != nil {
					t.Error(err)
					return
				}
				for j, result := range results {
					told[i][events[j].Delivery] = result.Seq
					if !result.Duplicate {
						fresh[i]++
					}
				}
			}
		})
	}
	wait.Wait()
	log := read(t, stores[0], 0)
	if len(log) != (appenders+1)*each || fresh[0]+fresh[1]+fresh[2] != len(log) {
		t.Errorf("the log holds %d events, and %v were new; want %d", len(log), fresh, (appenders+1)*each)
	}
	for i, store := range stores {
		if !reflect.DeepEqual(read(t, store, 0), log) {
			t.Errorf("store %d reads another log", i)
		}
		for delivery, seq := range told[i] {
			if e := log[seq-1]; e.Delivery != delivery || e.ID.Seq != seq {
				t.Errorf("store %d was told %d for %s, and %s is there", i, seq, delivery, e.Delivery)
			}
		}
	}
}

var errEnough = errors.New("seen enough")

// followOthers tests that the followers of one store learn of what another store appends.
func followOthers(t *testing.T, open Open) {
	one, two := open(t, "log"), open(t, "log")
	defer closeStore(t, one)
	defer closeStore(t, two)
	appendAll(t, one, Event("before"))
	ready := make(chan struct{})
	var begin sync.Once
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	followed := make(chan error, 1)
	go func() {
		followed <- two.Follow(ctx, func(_ context.Context, head int64) error {
			begin.Do(func() { close(ready) })
			if head >= 3 {
				return errEnough
			}
			return nil
		})
	}()
	<-ready
	appendAll(t, one, Event("a"), Event("b"))
	if err := <-followed; !errors.Is(err, errEnough) {
		t.Fatalf("following ended with %v", err)
	}
	if events := read(t, two, 1); len(events) != 2 || events[0].Delivery != "a" {
		t.Errorf("behind the first event there are %d", len(events))
	}
}

func trimmedByAnother(t *testing.T, open Open) {
	one, two := open(t, "log"), open(t, "log")
	defer closeStore(t, one)
	defer closeStore(t, two)
	appendAll(t, one, received("0"))
	appendAll(t, one, received("1"))
	second := between()
	appendAll(t, one, received("2"))
	trimAll(t, one, second, 2)
	trimAll(t, two, second, 0)
	if b := bounds(t, two); b.Floor != 2 || b.Head != 3 {
		t.Errorf("the other store's bounds are %+v", b)
	}
	if events := read(t, two, 0); len(events) != 1 || events[0].ID.Seq != 3 {
		t.Errorf("the other store reads %d events", len(events))
	}
	if results := appendAll(t, two, Event("2"), Event("3")); !results[0].Duplicate || results[1].Seq != 4 {
		t.Errorf("appending what is there and what is new: %+v", results)
	}
}

// settingsBySeveral tests that relays that change the settings at the same moment lose no change, and that the
// readers of each relay see all changes.
func settingsBySeveral(t *testing.T, open Open) {
	const relays, each = 3, 3
	hubs := make([]*hub.Hub, relays)
	for i := range hubs {
		store := open(t, "log")
		defer closeStore(t, store)
		var stop func()
		hubs[i], stop = run(t, store, 0)
		defer stop()
	}
	var wait sync.WaitGroup
	for i, h := range hubs {
		wait.Go(func() {
			for n := range each {
				_, err := h.ChangeSettings(t.Context(), "ops", func(settings map[string]string) { settings[fmt.Sprintf("%d-%d", i, n)] = "x" })
				if err != nil {
					t.Error(err)
				}
			}
		})
		wait.Go(func() { followSettings(t, h, relays*each) })
	}
	wait.Wait()
}

// followSettings reads a hub's log until an event has want settings; each one before it has one less.
func followSettings(t *testing.T, h *hub.Hub, want int) {
	reader := h.NewReader(0, event.Filter{Repos: []string{"acme/app"}})
	defer reader.Close()
	for seen := 0; seen < want; {
		batch, err := reader.Next(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		for _, entry := range batch.Entries {
			seen++
			if c, err := entry.Settings(); err != nil || len(c.Values) != seen {
				t.Errorf("change %d: %v, %v", seen, c.Values, err)
				return
			}
		}
		if !batch.More && seen < want {
			select {
			case <-reader.Wake():
			case <-time.After(time.Minute):
				t.Errorf("after %d of %d changes, nothing more came", seen, want)
				return
			}
		}
	}
}

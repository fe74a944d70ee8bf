package main

import (
	"testing"
	"time"

	"touchstone/relay/storetest/emulator"
	"touchstone/worktree/steps"
)

// TestKillsLoseAndRepeatNoEvent makes a short run of each kind. `make chaos-relay` makes longer ones.
func TestKillsLoseAndRepeatNoEvent(t *testing.T) {
	for _, store := range []string{"sqlite", "firestore"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			const seed = 42
			var found outcome
			if err := steps.Try(func() { found = chaos(t.Context(), plan{store: store, duration: 10 * time.Second, seed: seed}) }); err != nil {
				emulator.Skip(t, err)
			}
			t.Log(found)
			if !found.clean() || found.kills == 0 {
				t.Errorf("seed %d: %v\n%v", seed, found, found.details)
			}
		})
	}
}

func TestEachKindOfDamageIsCounted(t *testing.T) {
	for name, test := range map[string]struct {
		first, second map[int64]string
		want          outcome
	}{
		"nothing wrong":    {map[int64]string{1: "a", 2: "b"}, map[int64]string{1: "a", 2: "b"}, outcome{acknowledged: 2}},
		"one is missing":   {map[int64]string{1: "a", 2: "b"}, map[int64]string{1: "a"}, outcome{acknowledged: 2, lost: 1}},
		"one came twice":   {map[int64]string{1: "a", 2: "b"}, map[int64]string{1: "a", 2: "b", 3: "b"}, outcome{acknowledged: 2, duplicated: 1}},
		"another order":    {map[int64]string{1: "a", 2: "b"}, map[int64]string{1: "b", 2: "a"}, outcome{acknowledged: 2, reordered: 2}},
		"not as announced": {map[int64]string{1: "b", 2: "a"}, map[int64]string{1: "b", 2: "a"}, outcome{acknowledged: 2, reordered: 2}},
	} {
		w := &world{acknowledged: map[string]string{"a": "q7m2x4ka-1", "b": "q7m2x4ka-2"}}
		w.subscribers = []*subscriber{{world: w, seen: test.first}, {world: w, seen: test.second}}
		got := w.judge()
		got.details = nil
		if got.String() != test.want.String() || got.clean() != (name == "nothing wrong") {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

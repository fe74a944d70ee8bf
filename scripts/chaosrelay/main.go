// Command chaosrelay injects faults into relays for a while and counts the damage:
//
//	go run ./scripts/chaosrelay --store sqlite|firestore --minutes 1 [--seed N] [--clocks]
//
// It starts real relays (three that share the Firestore emulator, or one with SQLite), repeatedly kills them
// with -9, and puts a proxy before the emulator that loses commits and their answers, disconnects listeners
// and adds latency. Senders sign webhooks and send each one until it is acknowledged; subscribers move from
// relay to relay with their cursors. In the end every subscriber, including one that starts last, must have
// seen every acknowledged event once, all in the same order. With --clocks the clocks of the relays on
// Firestore differ by days. The last line states the result; any violation gives exit code 1. The command
// owns nothing outside a directory that it removes.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"touchstone/scripts/command"
	"touchstone/worktree/steps"
)

func main() {
	store := flag.String("store", "firestore", "the store to try: sqlite or firestore")
	minutes := flag.Float64("minutes", 1, "how long to go on, in minutes")
	seed := flag.Uint64("seed", 0, "repeat the decisions of an earlier run; 0 picks a seed")
	clocks := flag.Bool("clocks", false, "have the relays' clocks days apart, with --store firestore")
	command.ParseFlags("usage: go run ./scripts/chaosrelay --store sqlite|firestore --minutes 1 [--seed N] [--clocks]", func() bool {
		return *minutes > 0 && (*store == "firestore" || *store == "sqlite" && !*clocks)
	})
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	fmt.Printf("chaos: store %s, seed %d\n", *store, *seed)
	p := plan{store: *store, duration: time.Duration(*minutes * float64(time.Minute)), seed: *seed, clocks: *clocks}
	command.Run("chaosrelay", func(ctx context.Context) (bool, error) {
		var result outcome
		if err := steps.Try(func() { result = chaos(ctx, p) }); err != nil {
			return false, err
		}
		for _, line := range result.details {
			fmt.Println("  " + line)
		}
		fmt.Println(result)
		return result.clean(), nil
	})
}

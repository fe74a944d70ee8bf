package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"touchstone/scripts/benchmark"
	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

const (
	takenIn  = 30_000 // webhooks of 8 kB
	fanned   = 4      // fan-outs of fanEvents
	readers  = 4      // each replays all ingested events, one after the other: how much they share is chance
	mostMore = 0.03   // of the other build's processor time
)

// against compares this build with another by the processor time for the same work, which other load on the
// machine affects less than rates. The builds take turns in the given number of pairs, which is odd; each
// build begins every other pair.
func against(ctx context.Context, b *bench, other string, pairs int) {
	ratios := make([][]float64, len(work))
	rates := make([][]float64, len(work))
	ours := make([][]float64, len(work))
	for pair := range pairs {
		var spent [2][]cost
		for turn := range 2 {
			build := (pair + turn) % 2
			one := &bench{dir: b.dir, binary: [2]string{b.binary, other}[build]}
			if err := steps.Try(func() { spent[build] = one.spend(ctx) }); err != nil {
				steps.Fail("%s: %w", one.binary, err)
			}
		}
		for i := range work {
			ours[i] = append(ours[i], spent[0][i].cpu.Seconds())
			ratios[i] = append(ratios[i], spent[0][i].cpu.Seconds()/spent[1][i].cpu.Seconds())
			rates[i] = append(rates[i], spent[1][i].took.Seconds()/spent[0][i].took.Seconds())
		}
	}
	for i, w := range work {
		ratio := program.Median(ratios[i])
		fmt.Println(benchmark.Figure(w.name, fmt.Sprintf("%.0f ms of CPU", program.Median(ours[i])*1e3),
			fmt.Sprintf("the other build: %.3f, rate %.2f", ratio, program.Median(rates[i])),
			fmt.Sprintf("<= %.2f", 1+mostMore), ratio <= 1+mostMore))
	}
}

// work is what against compares, in this order on one store.
var work = []struct {
	name string
	do   func(context.Context, *process)
}{
	{fmt.Sprintf("durable ingest of %d, 8 kB", takenIn), func(ctx context.Context, p *process) {
		p.postAll(ctx, takenIn, 32, webhook)
	}},
	{fmt.Sprintf("fan-out of %d to %d, gzip", fanned*fanEvents, fanSubscribers), func(ctx context.Context, p *process) {
		for range fanned {
			p.fanRate(ctx, "gzip", flushMark)
		}
	}},
	{fmt.Sprintf("%d times replay of %d", readers, takenIn+fanned*fanEvents), func(_ context.Context, p *process) {
		for range readers {
			p.replayAll(takenIn + fanned*fanEvents)
		}
	}},
}

// replayAll reads all events as one subscriber.
func (p *process) replayAll(events int) {
	conns := p.subscribers(1, "after=oldest", "identity")
	defer closeAll(conns)
	steps.Must(readAll(conns, frameEnd, events+1)()) // and the greeting
}

// cost is the processor time and the duration of a part of the work.
type cost struct{ cpu, took time.Duration }

// settling is the time that a relay gets for its background work.
const settling = 500 * time.Millisecond

// spend returns the cost of each part of the work, each in a new process.
func (b *bench) spend(ctx context.Context) (spent []cost) {
	defer func() {
		files, _ := filepath.Glob(filepath.Join(b.dir, "against.db*"))
		for _, file := range files {
			steps.Must(os.RemoveAll(file))
		}
	}()
	for _, w := range work {
		p := b.relay(ctx, "against.db")
		before, begun := p.CPU(), time.Now()
		err := steps.Try(func() { w.do(ctx, p) })
		took := time.Since(begun)
		time.Sleep(settling)
		spent = append(spent, cost{p.CPU() - before, took})
		p.stop()
		if err != nil {
			steps.Fail("%s: %w", w.name, err)
		}
	}
	return spent
}

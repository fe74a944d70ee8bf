package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/scripts/benchmark"
	"touchstone/worktree/steps"
)

var (
	frameEnd  = []byte("\n\n")
	flushMark = []byte{0, 0, 0xff, 0xff}
)

// readAll has every connection read n marks and returns a function that waits for the last one.
func readAll(conns []net.Conn, mark []byte, n int) func() error {
	var group errgroup.Group
	for _, conn := range conns {
		group.Go(func() error { return readMarks(conn, make([]byte, readSize), mark, n) })
	}
	return group.Wait
}

func (p *process) subscribers(n int, query, encoding string) (conns []net.Conn) {
	for range n {
		conns = append(conns, p.subscribe(query, encoding))
	}
	return conns
}

func closeAll(conns []net.Conn) {
	for _, conn := range conns {
		conn.Close()
	}
}

// fanRate returns the deliveries per second to all subscribers, including the time to send the webhooks.
func (p *process) fanRate(ctx context.Context, encoding string, mark []byte) float64 {
	conns := p.subscribers(fanSubscribers, "", encoding)
	defer closeAll(conns)
	wait := readAll(conns, mark, fanEvents+1) // and the greeting
	begin := time.Now()
	p.postAll(ctx, fanEvents, 16, webhook)
	steps.Must(wait())
	return fanSubscribers * fanEvents / time.Since(begin).Seconds()
}

// loopRate returns the same rate for a loop that writes to sockets.
func (b *bench) loopRate(ctx context.Context) float64 {
	y := b.yardstick(ctx, "sockets")
	defer y.stop()
	var conns []net.Conn
	defer func() { closeAll(conns) }()
	for range fanSubscribers {
		conns = append(conns, steps.Got(net.Dial("tcp", y.address)))
	}
	begin := time.Now()
	steps.Must(readAll(conns, frameEnd, fanEvents)())
	return fanSubscribers * fanEvents / time.Since(begin).Seconds()
}

func fanOut(ctx context.Context, b *bench) []string {
	p := b.relay(ctx, "fan.db")
	defer p.stop()
	identity := func() float64 { return p.fanRate(ctx, "identity", frameEnd) }
	gzip := func() float64 { return p.fanRate(ctx, "gzip", flushMark) }
	plain, loop, toLoop := beside(identity, func() float64 { return b.loopRate(ctx) })
	packed, again, toPlain := beside(gzip, identity)
	return []string{
		benchmark.Figure("fan-out, 200 subscribers, 8 kB",
			fmt.Sprintf("%.0f/s", plain), fmt.Sprintf("loop over sockets %.0f/s: %.2f", loop, toLoop),
			">= 0.8", toLoop >= 0.8),
		benchmark.Figure("the same, gzip",
			fmt.Sprintf("%.0f/s", packed), fmt.Sprintf("identity %.0f/s: %.2f", again, toPlain), ">= 1.5", toPlain >= 1.5),
	}
}

// latency measures the time from just before a webhook is sent until a subscriber has its event.
func latency(ctx context.Context, b *bench) []string {
	const events, rate, subscribers = 1000, 200, 50
	p := b.relay(ctx, "latency.db")
	defer p.stop()
	conns := p.subscribers(subscribers, "", "identity")
	defer closeAll(conns)
	sent := make([]time.Time, events)
	var mu sync.Mutex
	var times []time.Duration
	var group errgroup.Group
	for _, conn := range conns {
		group.Go(func() error {
			// One buffer for all events: creating one for each would dominate the measured time.
			buffer := make([]byte, readSize)
			for i := -1; i < events; i++ {
				if err := readMarks(conn, buffer, frameEnd, 1); err != nil {
					return err
				}
				if i >= 0 {
					mu.Lock()
					times = append(times, time.Since(sent[i]))
					mu.Unlock()
				}
			}
			return nil
		})
	}
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	for i := range events {
		<-tick.C
		mu.Lock()
		sent[i] = time.Now()
		mu.Unlock()
		steps.Must(p.post(ctx, benchmark.Fresh(webhook)))
	}
	steps.Must(group.Wait())
	slices.Sort(times)
	p50, p99 := times[len(times)/2], times[len(times)*99/100]
	return []string{benchmark.Figure("publish to delivered, 200/s, 50",
		fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", p50.Seconds()*1e3, p99.Seconds()*1e3),
		"mercure: p50 1.9 ms, p99 4.6 ms", "p50 <= 1.2, p99 <= 4", p50 <= 1200*time.Microsecond && p99 <= 4*time.Millisecond)}
}

func replay(ctx context.Context, b *bench) []string {
	const events, subscribers = 100_000, 10
	fill(ctx, b, "replay.db", events, realistic(1<<10))
	p := b.relay(ctx, "replay.db")
	defer p.stop()
	begin := time.Now()
	conns := p.subscribers(subscribers, "after=oldest", "identity")
	defer closeAll(conns)
	steps.Must(readAll(conns, frameEnd, events+1)())
	rate := subscribers * events / time.Since(begin).Seconds()
	_, peak := p.Memory()
	return []string{benchmark.Figure("replay of 100,000 (1 kB) to 10", fmt.Sprintf("%.0f/s, peak %d MB", rate, peak>>20),
		"nchan with Redis 43,000/s", ">= 100,000/s", rate >= 100_000)}
}

func idle(ctx context.Context, b *bench) []string {
	const subscribers = 10_000
	p := b.relay(ctx, "idle.db")
	defer p.stop()
	filesBefore, goroutinesBefore := p.open()
	before, _ := p.Memory()
	conns := p.subscribers(subscribers, "repo=acme/app", "identity")
	defer closeAll(conns)
	time.Sleep(20 * time.Second) // time for a heartbeat and a garbage collection
	after, _ := p.Memory()
	each := float64(after-before) / subscribers / 1000
	closeAll(conns)
	files, goroutines := subscribers, subscribers
	for deadline := time.Now().Add(time.Minute); files+goroutines > 0 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		files, goroutines = p.open()
		files, goroutines = max(0, files-filesBefore), max(0, goroutines-goroutinesBefore)
	}
	return []string{benchmark.Figure("idle subscriber, 10,000",
		fmt.Sprintf("%.1f kB; left of them: %d files, %d goroutines", each, files, goroutines),
		"mercure 25 kB", "<= 16 kB, none left", each <= 16 && files+goroutines == 0)}
}

// filtered compares the processor time per event for 1,000 subscribers, of which each event concerns one,
// with that for this one subscriber alone.
func filtered(ctx context.Context, b *bench) []string {
	var cost [2]time.Duration
	const events = 3000
	for i, subscribers := range []int{1, 1000} {
		p := b.relay(ctx, fmt.Sprintf("filtered-%d.db", subscribers))
		defer p.stop()
		var conns []net.Conn
		for n := range subscribers {
			conns = append(conns, p.subscribe("repo=acme/app"+strconv.Itoa(n), "identity"))
		}
		used := p.CPU()
		tick := time.NewTicker(time.Millisecond)
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(16)
		for n := range events {
			<-tick.C
			body := bytes.Replace(webhook, []byte(`"acme/app"`), fmt.Appendf(nil, `"acme/app%d"`, n%subscribers), 1)
			group.Go(func() error { return p.post(ctx, benchmark.Fresh(body)) })
		}
		steps.Must(group.Wait())
		tick.Stop()
		cost[i] = (p.CPU() - used) / events
		closeAll(conns)
		p.stop()
	}
	ratio := float64(cost[1]) / float64(cost[0])
	return []string{benchmark.Figure("CPU per event, 1,000 filtered", cost[1].String(), fmt.Sprintf("one subscriber %s: %.2f", cost[0], ratio),
		"about 1 (<= 1.25)", ratio <= 1.25)}
}

func coldStart(ctx context.Context, b *bench) []string {
	fill(ctx, b, "cold.db", 1_000_000, []byte(`{"repository":{"full_name":"acme/app"}}`))
	begin := time.Now()
	p := b.relay(ctx, "cold.db")
	defer p.stop()
	response := steps.Got(http.Get("http://" + p.address + "/readyz"))
	response.Body.Close()
	took := time.Since(begin)
	_, peak := p.Memory()
	return []string{benchmark.Figure("cold start, 1,000,000 events", fmt.Sprintf("%.2f s, %d MB", took.Seconds(), peak>>20), "",
		"< 1 s, < 100 MB", response.StatusCode == http.StatusOK && took < time.Second && peak < 100<<20)}
}

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"touchstone/scripts/benchmark"
	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// webhook returns the webhook of an opened pull request, of a size that is typical for GitHub.
func (b *bench) webhook(n int, title string) []byte {
	at := time.Now().UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{"action":"opened","number":%d,"repository":{"full_name":"acme/live"},"sender":{"login":"octocat"},`+
		`"pull_request":{"id":%d,"number":%d,"title":%q,"state":"open","user":{"login":"alice"},"head":{"sha":"%040d","ref":"x"},`+
		`"base":{"ref":"main"},"created_at":%q,"updated_at":%q},"filler":%q}`, n, n, n, title, n, at, at, strings.Repeat("x", b.payload))
}

// follow reads a stream: events, like subscribers, or notices of changes, like an open page. It calls moved
// with each id; the first id says where the stream begins.
func (p *process) follow(ctx context.Context, path string, moved func(id string) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+path, nil)
	if err != nil {
		return err
	}
	response, err := p.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if id, ok := strings.CutPrefix(string(line), "id: "); ok {
			if err := moved(strings.TrimSpace(id)); err != nil {
				return err
			}
		}
	}
}

// refresh requests the content of a page as of a change, like an open page.
func (p *process) refresh(ctx context.Context, path, asOf string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+path, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	request.Header.Set("HX-Request", "true")
	request.Header.Set("Touchstone-As-Of", asOf)
	response, err := p.Client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body := io.Reader(response.Body)
	if response.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			return "", err
		}
	}
	text, err := io.ReadAll(body)
	return string(text), err
}

// live measures the time from just before a webhook is sent until it is on a page that refreshes when it is
// notified of a change.
func live(ctx context.Context, b *bench) []string {
	ready(ctx, b)
	p := start(ctx, b.dir, b.store(), b.page())
	defer p.stop()
	following, stop := context.WithCancel(ctx)
	defer stop()
	moved := make(chan string)
	go func() { _ = p.follow(following, "/changes", func(id string) error { moved <- id; return nil }) }()
	<-moved
	var times []time.Duration
	for i := range 50 {
		title, began := fmt.Sprintf("Live %d of %d", i, time.Now().UnixNano()), time.Now()
		steps.Must(p.post(ctx, b.webhook(i+1, title)))
		if text, err := p.refresh(ctx, "/?repo=acme/live", <-moved); err != nil || !strings.Contains(text, title) {
			steps.Fail("the board does not show %s: %w", title, err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	worst := times[len(times)-1]
	return []string{benchmark.Figure("webhook to open board", fmt.Sprintf("p50 %s, at most %s", ms(times[len(times)/2]), ms(worst)),
		"of which 500 ms between two notices at most", "1 s", worst <= time.Second)}
}

// open makes the given number of readers follow a path, and returns once their streams have begun. The
// returned function ends them.
func (p *process) open(ctx context.Context, readers int, path string, moved func(ctx context.Context, id string) error) (end func()) {
	following, stop := context.WithCancel(ctx)
	var group, ready sync.WaitGroup
	ready.Add(readers)
	for range readers {
		greeting := sync.OnceFunc(ready.Done)
		group.Go(func() {
			_ = p.follow(following, path, func(id string) error { greeting(); return moved(following, id) })
		})
	}
	ready.Wait()
	return func() { stop(); group.Wait() }
}

// postAll sends webhooks from 16 senders, and returns how many seconds that took.
func (p *process) postAll(ctx context.Context, b *bench, webhooks int) float64 {
	var n atomic.Int64
	return benchmark.Share(ctx, webhooks, 16, func(ctx context.Context) error {
		return p.post(ctx, b.webhook(int(n.Add(1)%100+1), "Cost"))
	}).Seconds()
}

// took is the time and the processor time that a relay needed for some work.
type took struct{ time, cpu float64 }

// costs are the measures by which a relay with its page is compared with one without.
var costs = []struct {
	name string
	do   func(ctx context.Context, b *bench, p *process) (seconds float64)
}{
	{"ingest with the page", func(ctx context.Context, b *bench, p *process) float64 {
		return p.postAll(ctx, b, 1500)
	}},
	{"fan-out to 100 with the page", func(ctx context.Context, b *bench, p *process) float64 {
		const readers, webhooks = 100, 300
		var left sync.WaitGroup
		left.Add(readers * (webhooks + 1)) // and the greeting
		defer p.open(ctx, readers, "/events", func(context.Context, string) error { left.Done(); return nil })()
		began := time.Now()
		p.postAll(ctx, b, webhooks)
		left.Wait()
		return time.Since(began).Seconds()
	}},
	{"webhook to its event with the page", func(ctx context.Context, b *bench, p *process) float64 {
		const webhooks = 200
		got := make(chan struct{}, 1)
		defer p.open(ctx, 1, "/events", func(context.Context, string) error { got <- struct{}{}; return nil })()
		<-got
		times := make([]float64, webhooks)
		for n := range times {
			began := time.Now()
			steps.Must(p.post(ctx, b.webhook(n%100+1, "Cost")))
			<-got
			times[n] = time.Since(began).Seconds()
		}
		return program.Median(times)
	}},
}

// cost compares a relay with its page and one without, in turns, by the rate of webhooks from 16 senders, the
// rate of events to subscribers, and the time from a webhook to its event.
func cost(ctx context.Context, b *bench) (figures []string) {
	const turns = 7
	var relays [2]*process
	for i, page := range []string{"none", filepath.Join(b.dir, "cost.page")} {
		p := start(ctx, b.dir, filepath.Join(b.dir, fmt.Sprintf("cost-%d-%d.db", i, time.Now().Unix())), page)
		defer p.stop()
		relays[i] = p
	}
	for _, c := range costs {
		var rates, used []float64
		for range turns {
			var spent [2]took
			for i, p := range relays {
				before := p.CPU()
				spent[i].time = c.do(ctx, b, p)
				spent[i].cpu = (p.CPU() - before).Seconds()
			}
			rates, used = append(rates, spent[0].time/spent[1].time), append(used, spent[1].cpu/spent[0].cpu)
		}
		rate := program.Median(rates)
		figures = append(figures, benchmark.Figure(c.name,
			fmt.Sprintf("%.2f of its speed, %.2f times its processor time", rate, program.Median(used)),
			"the same relay without its page", ">= 0.95 of the speed", rate >= 0.95))
	}
	return figures
}

// boards compares the processor time for 200 open boards with that for 200 subscribers, in turns.
func boards(ctx context.Context, b *bench) []string {
	const readers, events, pause, turns = 200, 100, 50 * time.Millisecond, 3
	ready(ctx, b)
	p := start(ctx, b.dir, b.store(), b.page())
	defer p.stop()
	// spend returns the relay's processor time for the given number of readers of a path, each of which calls
	// moved.
	spend := func(path string, moved func(ctx context.Context, id string) error) time.Duration {
		defer p.open(ctx, readers, path, moved)()
		before := p.CPU()
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for n := range events {
			<-tick.C
			steps.Must(p.post(ctx, b.webhook(n+1, "Boards")))
		}
		return p.CPU() - before
	}
	var subscribers, open, ratios []float64
	for range turns {
		plain := spend("/events", func(context.Context, string) error { return nil })
		boards := spend("/changes", func(ctx context.Context, id string) error {
			_, err := p.refresh(ctx, "/", id)
			return err
		})
		subscribers, open = append(subscribers, plain.Seconds()), append(open, boards.Seconds())
		ratios = append(ratios, boards.Seconds()/plain.Seconds())
	}
	ratio := program.Median(ratios)
	return []string{benchmark.Figure("200 open boards, 20 events/s", fmt.Sprintf("%.2f s of processor time", program.Median(open)),
		fmt.Sprintf("200 subscribers %.2f s: %.2f times", program.Median(subscribers), ratio), "about 1 (<= 1.25)", ratio <= 1.25)}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/hub"
	"touchstone/relay/server"
	"touchstone/scripts/benchmark"
	"touchstone/scripts/program"
	"touchstone/worktree/steps"
)

// rebuild builds the projection from an empty file. The reference is the time for only reading the log and
// checking its payloads.
func rebuild(ctx context.Context, b *bench) []string {
	store := steps.Got(server.OpenStore(ctx, "sqlite:"+b.store()))
	defer steps.Finally(store.Close)
	began, n := time.Now(), 0
	for at := int64(0); ; {
		events := steps.Got(store.Read(ctx, at, 2000, 16<<20))
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			if at = e.ID.Seq; !json.Valid(e.Payload) {
				steps.Fail("the payload of %s is no JSON", e.ID)
			}
		}
		n += len(events)
	}
	alone := time.Since(began)
	for _, end := range []string{"", "-wal", "-shm"} {
		steps.Must(os.RemoveAll(b.page() + end))
	}
	took, used, size := b.catchUp(ctx, store)
	rate := float64(n) / took.Seconds()
	return []string{benchmark.Figure(fmt.Sprintf("rebuild, %d events", n),
		fmt.Sprintf("%.0f/s, %.0f µs of processor time each, file of %d MB", rate,
			used.Seconds()*1e6/float64(n), size>>20),
		fmt.Sprintf("reading and checking alone %.0f/s: %.2f", float64(n)/alone.Seconds(), alone.Seconds()/took.Seconds()),
		">= 20,000/s", rate >= 20_000)}
}

// catchUp makes the projection process the whole log, and returns its size.
func (b *bench) catchUp(ctx context.Context, store hub.Store) (took, used time.Duration, size int64) {
	p := steps.Got(projection.Open(ctx, projection.Config{Path: b.page(), Log: steps.Got(hub.New(ctx, store, 0)), Store: store,
		Reviewers: []string{judge}, GitHub: []string{"github"}}))
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	began, before := time.Now(), program.CPU("self")
	go func() { done <- p.Run(running) }()
	p.Await(ctx)
	took, used = time.Since(began), program.CPU("self")-before
	stop()
	size = p.Size()
	steps.Must(errors.Join(<-done, p.Close(), ctx.Err()))
	return took, used, size
}

// ready makes the projection process the whole log: pages of a relay that is still reading the log are not to
// be measured.
func ready(ctx context.Context, b *bench) {
	store := steps.Got(server.OpenStore(ctx, "sqlite:"+b.store()))
	defer steps.Finally(store.Close)
	b.catchUp(ctx, store)
}

// fetch requests a page like a browser, and measures the time until its first byte.
func (p *process) fetch(ctx context.Context, address string) (first time.Duration, size int) {
	began := time.Now()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Since(began) }})
	request := steps.Got(http.NewRequestWithContext(ctx, http.MethodGet, address, nil))
	request.Header.Set("Accept-Encoding", "gzip")
	response := steps.Got(p.Client.Do(request))
	defer response.Body.Close()
	n := steps.Got(io.Copy(io.Discard, response.Body))
	if response.StatusCode != http.StatusOK {
		steps.Fail("%s was answered %s", address, response.Status)
	}
	return first, int(n)
}

// asked is how often each page is requested.
const asked = 200

func pages(ctx context.Context, b *bench) []string {
	ready(ctx, b)
	p := start(ctx, b.dir, b.store(), b.page())
	defer p.stop()
	newest := p.newest(ctx)
	var figures []string
	for _, path := range []string{
		"/", "/?state=closed", "/?state=all&repo=acme/app-7", "/?waiting=author-7", "/?state=all&merged=2020-01-01..2100-01-01",
		"/pulls/acme/app-7/NUMBER", "/log", "/log?type=push", "/log?type=pull_request_review&repo=acme/app-7",
		"/log?number=NUMBER", "/log/" + newest,
		"/rules", "/rules/security/S2", "/trends", "/trends?since=365d&bucket=week", "/machines", "/health", "/api/v1/trends",
		"/api/v1/pulls?state=all",
	} {
		figures = append(figures, p.page(ctx, path, b.pulls/repos))
	}
	return figures
}

// page measures one page, with another pull request each time if its path contains the number of one.
func (p *process) page(ctx context.Context, path string, pulls int) string {
	var times, beside []time.Duration
	largest := 0
	for i := range asked {
		address := p.address + strings.ReplaceAll(path, "NUMBER", strconv.Itoa(i%pulls+1))
		first, size := p.fetch(ctx, address)
		fixed, _ := p.fetch(ctx, p.static)
		times, beside, largest = append(times, first), append(beside, fixed), max(largest, size)
	}
	slices.Sort(times)
	slices.Sort(beside)
	p50, p99, static50 := times[asked/2], times[asked*99/100], beside[asked/2]
	return benchmark.Figure(path, fmt.Sprintf("p50 %s, p99 %s, %.1f KB", ms(p50), ms(p99), float64(largest)/1000),
		fmt.Sprintf("static 100 KB: p50 %s, p99 %s: %.0f times", ms(static50), ms(beside[asked*99/100]), float64(p50)/float64(static50)),
		"50 ms, 200 ms, 100 KB", p50 <= 50*time.Millisecond && p99 <= 200*time.Millisecond && largest <= 100_000)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

// newest returns the cursor of the newest event.
func (p *process) newest(ctx context.Context) string {
	request := steps.Got(http.NewRequestWithContext(ctx, http.MethodGet, p.address+"/api/v1/events?before=now&limit=1", nil))
	response := steps.Got(p.Client.Do(request))
	defer response.Body.Close()
	var answer struct {
		Events []struct{ ID string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.Events) == 0 {
		steps.Fail("the events were answered %s: %w", response.Status, err)
	}
	return answer.Events[0].ID
}

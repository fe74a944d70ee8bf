package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/source/sourcetest"
	"touchstone/relay/storetest/emulator"
	"touchstone/worktree/await"
)

// status requests a path from the relay and returns its answer.
func (p *process) status(t *testing.T, path string) (int, string) {
	t.Helper()
	response, err := http.Get("http://" + p.address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// expect sends an example and checks the answer's status; a refusal has to say when to send it again.
func (p *process) expect(t *testing.T, i, want int) {
	t.Helper()
	example := allExamples(t)[i]
	response, err := http.DefaultClient.Do(examples.Request(t, "http://"+p.address, testSecret, example.Event, examples.Delivery(i),
		example.Payload))
	if err != nil {
		t.Errorf("example %d: %v", i, err)
		return
	}
	defer response.Body.Close()
	if response.StatusCode != want || want == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		t.Errorf("example %d was answered %s with %v; want %d", i, response.Status, response.Header, want)
	}
}

// unready checks that the relay is alive, and that it says that it accepts nothing for now.
func (p *process) unready(t *testing.T) {
	t.Helper()
	if ready, sentence := p.status(t, "/readyz"); ready != http.StatusServiceUnavailable ||
		!strings.Contains(sentence, "see the relay's log") {
		t.Errorf("without its store the relay is ready: %d %s", ready, sentence)
	}
	if alive, _ := p.status(t, "/healthz"); alive != http.StatusOK {
		t.Errorf("without its store the relay does not live: %d", alive)
	}
}

// says waits until the relay's answer to a path contains a text.
func (p *process) says(t *testing.T, path, text string) {
	t.Helper()
	await.Until(t, path+" to say "+text, func() bool {
		_, body := p.status(t, path)
		return strings.Contains(body, text)
	})
}

// checkRefusals kills the relay and checks that it logged many refusals in only a line or two, with the
// cause.
func (p *process) checkRefusals(t *testing.T, cause string) {
	t.Helper()
	p.kill()
	var lines []string
	for line := range strings.Lines(p.log.String()) {
		if strings.Contains(line, "webhook not stored") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 || len(lines) > 2 || !strings.Contains(lines[0], cause) || !strings.Contains(lines[0], `"level":"error"`) {
		t.Errorf("the refusals made %d log lines, want one or two with %q:\n%s", len(lines), cause, strings.Join(lines, ""))
	}
}

// lock locks the store's file against the relay, as a backup or a shell may, until release is called.
func lock(t *testing.T, store string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(store, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	// The relay may be writing just now, such as what it trims at its start.
	if _, err := db.Exec("PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.Exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}

// endure checks a relay whose store is unavailable: it refuses webhooks and is not ready. Once the store is
// back, everything works without a restart, and a subscriber that was connected throughout has missed
// nothing.
func endure(t *testing.T, p *process, away, back func(), cause string) {
	t.Helper()
	const refused = 5
	throughout := make(chan []*event.Event, 1)
	go func() { throughout <- follow(t, p.address, client.Oldest, 1+refused) }()
	p.expect(t, 0, http.StatusAccepted)
	away()
	var senders sync.WaitGroup
	for i := range refused {
		senders.Go(func() { p.expect(t, 1+i, http.StatusServiceUnavailable) })
	}
	senders.Wait()
	p.unready(t)
	back()
	p.says(t, "/readyz", `"ready"`)
	for i := range refused {
		p.expect(t, 1+i, http.StatusAccepted)
	}
	p.expect(t, 0, http.StatusOK)
	for i, e := range <-throughout {
		if e.ID.Seq != int64(i+1) || e.Delivery != examples.Delivery(i) {
			t.Errorf("at place %d stands %s, delivery %s", i+1, e.ID, e.Delivery)
		}
	}
	p.checkRefusals(t, cause)
}

func TestStoreLocked(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	var release func()
	endure(t, startRelay(t, buildRelay(t), store, ""), func() { release = lock(t, store) }, func() { release() }, "locked")
}

func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	store, host := database(t)
	between := func(listen string) *emulator.Proxy {
		proxy, err := emulator.NewProxy(listen, host, emulator.Faults{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return proxy
	}
	proxy := between("")
	away := func() {
		if err := proxy.Stop(); err != nil {
			t.Error(err)
		}
	}
	defer func() { away() }()
	p := startRelay(t, buildRelay(t), store, "", "FIRESTORE_EMULATOR_HOST="+proxy.Address)
	endure(t, p, away, func() { proxy = between(proxy.Address) }, "store event: append: ")
}

// A webhook whose body is still arriving when the relay is told to stop is stored and answered, streams end
// with the time after which to reconnect, and no new connection is accepted.
func TestTerminatedWithWebhookInFlight(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows has no SIGTERM to send")
	}
	store, example := newStore(t), allExamples(t)[0]
	p := startRelay(t, buildRelay(t), store, "")
	stream, err := http.Get("http://" + p.address + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	webhook := p.begin(t, example)
	defer webhook.Close()

	must(t, p.command.Process.Signal(syscall.SIGTERM))
	checkGoodbye(t, stream.Body)
	// The streams may have ended a moment before nobody listens any more.
	late, err := net.Dial("tcp", p.address)
	for ; err == nil; late, err = net.Dial("tcp", p.address) {
		late.Close()
	}
	if status := webhook.finish(t, example); status != http.StatusAccepted {
		t.Errorf("the webhook in flight was answered %d", status)
	}
	if err := p.command.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.log)
	}
	again := startRelay(t, buildRelay(t), store, "")
	if e := follow(t, again.address, client.Oldest, 1)[0]; e.Delivery != examples.Delivery(0) || !bytes.Equal(e.Payload, example.Payload) {
		t.Errorf("stored is %s", e.Delivery)
	}
}

// A client that never sends the rest of a webhook or a request neither delays the relay's stop nor turns it
// into a failure; the sender of the webhook is told to send it again.
func TestTerminatedWithStalledSenders(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows has no SIGTERM to send")
	}
	p := startRelay(t, buildRelay(t), newStore(t), "")
	webhook := p.begin(t, allExamples(t)[0])
	defer webhook.Close()
	// Behind a first request, half of a second one.
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: relay\r\n\r\nGET /healthz HTTP/1.1\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		t.Fatal(err)
	}

	must(t, p.command.Process.Signal(syscall.SIGTERM))
	response, err := http.ReadResponse(webhook.answers, nil)
	if err != nil {
		t.Fatalf("the webhook in flight was not answered: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("the webhook in flight was answered %s with %v", response.Status, response.Header)
	}
	if err := p.command.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.log)
	}
}

// checkGoodbye reads a stream to its end. The end has to be clean, with the subscriber's position and the
// time after which to reconnect.
func checkGoodbye(t *testing.T, stream io.Reader) {
	t.Helper()
	text, err := io.ReadAll(stream)
	if err != nil {
		t.Errorf("the stream did not end cleanly: %v", err)
	}
	frames := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	if last := frames[len(frames)-1]; len(frames) < 2 || !strings.HasPrefix(last, "retry: ") || !strings.Contains(last, "\nid: ") {
		t.Errorf("the stream ended with %q", text)
	}
}

// inFlight is a webhook of which the relay has read the first half.
type inFlight struct {
	net.Conn
	answers *bufio.Reader
}

// begin sends the first half of a webhook, once the relay asks for its body.
func (p *process) begin(t *testing.T, example examples.Example) inFlight {
	t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"+
		"X-GitHub-Event: %s\r\nX-GitHub-Delivery: %s\r\nX-Hub-Signature-256: %s\r\nContent-Length: %d\r\n\r\n",
		example.Event, examples.Delivery(0), sourcetest.Signature(testSecret, example.Payload), len(example.Payload))
	answers := bufio.NewReader(conn)
	for want := "HTTP/1.1 100 Continue\r\n"; want != ""; {
		line, err := answers.ReadString('\n')
		if err != nil || line != want {
			t.Fatalf("in place of %q came %q, %v", want, line, err)
		}
		want = strings.TrimPrefix("\r\n", line)
	}
	if _, err := conn.Write(example.Payload[:len(example.Payload)/2]); err != nil {
		t.Fatal(err)
	}
	return inFlight{conn, answers}
}

// finish sends the rest and returns the answer's status.
func (f inFlight) finish(t *testing.T, example examples.Example) int {
	t.Helper()
	if _, err := f.Write(example.Payload[len(example.Payload)/2:]); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(f.answers, nil)
	if err != nil {
		t.Fatalf("the webhook in flight was not answered: %v", err)
	}
	return response.StatusCode
}

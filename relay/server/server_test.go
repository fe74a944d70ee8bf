package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/source/sourcetest"
	"touchstone/worktree/await"
)

const secret = "s3cret"

// relay is a running relay and the means to stop it.
type relay struct {
	address string
	token   string // what open asks with; empty for none
	stop    func()
	gone    departures
}

// departures is a log that signals each subscriber that has gone.
type departures chan string

func (d departures) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("subscriber gone")) {
		d <- string(line)
	}
	return len(line), nil
}

// context returns a context with this log.
func (d departures) context() context.Context {
	return zerolog.New(d).WithContext(context.Background())
}

// start runs a relay over a store until the test ends or stop is called. Fields that
// config leaves out are filled in.
func start(tb testing.TB, config server.Config) *relay {
	tb.Helper()
	if config.Store == nil {
		config.Store = openStore(tb, filepath.Join(tb.TempDir(), "relay.db"))
	}
	var err error
	if config.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	if config.Sources == nil {
		config.Sources = map[string]server.Source{"github": source.GitHub{Secret: secret}}
	}
	s, err := server.New(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	gone := make(departures, 100)
	ctx, cancel := context.WithCancel(gone.context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				tb.Error(err)
			}
		})
	}
	tb.Cleanup(stop)
	return &relay{address: "http://" + config.Listener.Addr().String(), stop: stop, gone: gone}
}

// must ends the test unless err is nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openStore(tb testing.TB, path string) hub.Store {
	tb.Helper()
	store, err := server.OpenStore(tb.Context(), "sqlite:"+path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return store
}

// answer is the answer to a webhook.
type answer struct {
	status     int
	retryAfter string
	ID         string `json:"id"`
	Duplicate  bool   `json:"duplicate"`
	Error      string `json:"error"`
}

// request makes a request of the relay, with an Authorization header if one is given.
func (r *relay) request(tb testing.TB, method, path, authorization, body string) *http.Request {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), method, r.address+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	return request
}

func send(tb testing.TB, request *http.Request) answer {
	tb.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Error(err)
		return answer{}
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
	if response.Header.Get("Content-Type") == "text/event-stream" {
		return a // a stream does not end
	}
	body, err := io.ReadAll(response.Body)
	if err == nil && strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		err = json.Unmarshal(body, &a)
	}
	if err != nil {
		tb.Error(err)
	}
	return a
}

// post delivers a payload and expects it to be stored.
func (r *relay) post(tb testing.TB, delivery, payload string) string {
	tb.Helper()
	if payload == `{}` { // the same webhook is stored once
		payload = fmt.Sprintf(`{"delivery":%q}`, delivery)
	}
	a := send(tb, examples.Request(tb, r.address, secret, "push", delivery, []byte(payload)))
	if a.status != http.StatusAccepted {
		tb.Errorf("delivery %s was answered %+v", delivery, a)
	}
	return a.ID
}

// frames reads a stream frame by frame, each as its lines.
type frames struct {
	tb       testing.TB
	response *http.Response
	lines    *bufio.Reader
}

// open requests a stream; query is such as "after=oldest".
func (r *relay) open(tb testing.TB, query, lastEventID string) *frames {
	tb.Helper()
	return r.stream(tb, "/events?"+query, lastEventID)
}

// stream requests the stream at a path.
func (r *relay) stream(tb testing.TB, path, lastEventID string) *frames {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	tb.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address+path, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if lastEventID != "" {
		request.Header.Set("Last-Event-ID", lastEventID)
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		tb.Fatalf("the stream was answered %s", response.Status)
	}
	return &frames{tb, response, bufio.NewReader(response.Body)}
}

// next returns the next frame; at the stream's end it is empty.
func (f *frames) next() string {
	f.tb.Helper()
	var frame strings.Builder
	for {
		line, err := f.lines.ReadString('\n')
		if err == io.EOF && frame.Len() == 0 && line == "" {
			return ""
		}
		if err != nil {
			f.tb.Fatalf("the stream broke off behind %q: %v", frame.String()+line, err)
		}
		if line == "\n" {
			return frame.String()
		}
		frame.WriteString(line)
	}
}

// message returns the next frame that is not a heartbeat.
func (f *frames) message() string {
	f.tb.Helper()
	frame := f.next()
	for strings.HasPrefix(frame, ": ") {
		frame = f.next()
	}
	return frame
}

// event returns the event of the next frame that is not a heartbeat.
func (f *frames) event() event.Event {
	f.tb.Helper()
	frame := f.message()
	var data []string
	for line := range strings.SplitSeq(frame, "\n") {
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			data = append(data, rest)
		}
	}
	var e event.Event
	if err := json.Unmarshal([]byte(strings.Join(data, "\n")), &e); err != nil {
		f.tb.Fatalf("no event: %q: %v", frame, err)
	}
	return e
}

func TestExamplesComeOutAsTheyWentIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	all := examples.All(t)
	store := openStore(t, path)
	r := start(t, server.Config{Store: store})
	live := r.open(t, "", "")
	live.next() // its position
	for i, example := range all {
		request := examples.Request(t, r.address, secret, example.Event, examples.Delivery(i), example.Payload)
		if i%2 == 1 {
			form := []byte(url.Values{"payload": {string(example.Payload)}}.Encode())
			request = examples.Request(t, r.address, secret, example.Event, examples.Delivery(i), form)
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if a := send(t, request); a.status != http.StatusAccepted {
			t.Fatalf("example %d: %+v", i, a)
		}
	}
	away := r.open(t, "after=oldest", "")
	away.next()
	for i, example := range all {
		for who, stream := range map[string]*frames{"there": live, "away": away} {
			got := stream.event()
			if !bytes.Equal(got.Payload, example.Payload) || got.Delivery != examples.Delivery(i) || got.Type != example.Event {
				t.Fatalf("example %d came out changed to the subscriber that was %s", i, who)
			}
		}
	}
}

func TestWebhookAnswers(t *testing.T) {
	r := start(t, server.Config{})
	signed := func(delivery, body string) *http.Request {
		return examples.Request(t, r.address, secret, "push", delivery, []byte(body))
	}
	first := send(t, signed("a", `{}`))
	if first.status != http.StatusAccepted || first.ID == "" || first.Duplicate {
		t.Fatalf("a webhook: %+v", first)
	}
	if again := send(t, signed("a", `{}`)); again.status != http.StatusOK || again.ID != first.ID || !again.Duplicate {
		t.Errorf("the same delivery: %+v", again)
	}
	unknown := signed("b", `{}`)
	unknown.URL.Path = "/webhooks/gitlab"
	unsigned := signed("b", `{}`)
	unsigned.Header.Del("X-Hub-Signature-256")
	forged := signed("b", `{}`)
	forged.Header.Set("X-Hub-Signature-256", sourcetest.Signature("guess", []byte(`{}`)))
	wrongMethod := signed("b", `{}`)
	wrongMethod.Method = http.MethodPut
	huge := signed("b", strings.Repeat(" ", server.MaxBodyBytes)+`{}`)
	hugeUnannounced := signed("b", "")
	hugeUnannounced.Body, hugeUnannounced.ContentLength = io.NopCloser(io.LimitReader(zeros{}, server.MaxBodyBytes+1)), -1
	for name, test := range map[string]struct {
		request *http.Request
		status  int
	}{
		"unknown source":           {unknown, http.StatusNotFound},
		"unsigned":                 {unsigned, http.StatusUnauthorized},
		"forged":                   {forged, http.StatusUnauthorized},
		"unreadable":               {signed("b", `{`), http.StatusBadRequest},
		"another method":           {wrongMethod, http.StatusMethodNotAllowed},
		"too large":                {huge, http.StatusRequestEntityTooLarge},
		"too large, length unsaid": {hugeUnannounced, http.StatusRequestEntityTooLarge},
	} {
		a := send(t, test.request)
		if a.status != test.status || a.Error == "" && a.status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if id := r.post(t, "b", `{}`); id != strings.TrimSuffix(first.ID, "1")+"2" {
		t.Errorf("after the refused ones the next event is %s", id)
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// brokenStore is a store whose disk can fail.
type brokenStore struct {
	hub.Store
	broken atomic.Bool
}

func (s *brokenStore) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	if s.broken.Load() {
		return nil, errors.New("disk full")
	}
	return s.Store.Append(ctx, events)
}

func (s *brokenStore) Bounds(ctx context.Context) (hub.Bounds, error) {
	if s.broken.Load() {
		return hub.Bounds{}, errors.New("disk full")
	}
	return s.Store.Bounds(ctx)
}

func TestStoreDown(t *testing.T) {
	store := &brokenStore{Store: openStore(t, filepath.Join(t.TempDir(), "relay.db"))}
	r := start(t, server.Config{Store: store})
	get := func(path string) int { return r.get(t, path, "").status }
	store.broken.Store(true)
	a := send(t, examples.Request(t, r.address, secret, "push", "a", []byte(`{}`)))
	if a.status != http.StatusServiceUnavailable || a.retryAfter == "" {
		t.Errorf("with the store down: %+v", a)
	}
	if get("/healthz") != http.StatusOK || get("/readyz") != http.StatusServiceUnavailable {
		t.Error("with the store down the relay is not alive, or is ready")
	}
	store.broken.Store(false)
	await.Until(t, "the relay to be ready with the store back", func() bool { return get("/readyz") == http.StatusOK })
	if id := r.post(t, "a", `{}`); !strings.HasSuffix(id, "-1") {
		t.Errorf("what was refused has left something: the first event is %s", id)
	}
}

func TestStopAnswersWhatItTook(t *testing.T) {
	store := &slowStore{openStore(t, filepath.Join(t.TempDir(), "relay.db")), make(chan struct{}), make(chan struct{})}
	r := start(t, server.Config{Store: store})
	stream := r.open(t, "type=nothing", "")
	stream.next()
	answered := make(chan answer)
	go func() { answered <- send(t, examples.Request(t, r.address, secret, "push", "a", []byte(`{}`))) }()
	<-store.entered
	stopped := make(chan struct{})
	go func() { r.stop(); close(stopped) }()
	if frame := stream.message(); !strings.HasPrefix(frame, "retry: ") || !strings.HasSuffix(frame, "-0\n") {
		t.Errorf("the stream's last words are %q", frame)
	}
	if frame := stream.message(); frame != "" {
		t.Errorf("behind its last words the stream says %q", frame)
	}
	close(store.resume)
	if a := <-answered; a.status != http.StatusAccepted {
		t.Errorf("the webhook that was being taken: %+v", a)
	}
	<-stopped
}

// slowStore delays appends.
type slowStore struct {
	hub.Store
	entered, resume chan struct{}
}

func (s *slowStore) Append(ctx context.Context, events []event.Event) ([]hub.Appended, error) {
	s.entered <- struct{}{}
	<-s.resume
	return s.Store.Append(ctx, events)
}

func TestRefusesToListenForOthers(t *testing.T) {
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, err = server.New(t.Context(), server.Config{Listener: listener, Store: openStore(t, filepath.Join(t.TempDir(), "relay.db"))})
	if err == nil || !strings.Contains(err.Error(), "listen on a loopback address") {
		t.Errorf("listening on every address: %v", err)
	}
}

func TestOpenStoreRefuses(t *testing.T) {
	for _, address := range []string{"", "sqlite:", "relay.db", "postgres://x",
		"sqlite:" + filepath.Join(t.TempDir(), "no", "such", "relay.db")} {
		if store, err := server.OpenStore(t.Context(), address); err == nil {
			store.Close()
			t.Errorf("%q was opened", address)
		}
	}
}

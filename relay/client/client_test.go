package client_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/storetest"
	"touchstone/relay/storetest/host"
)

const secret = "s3cret"

// errEnough ends a Follow that has seen what the test needs.
var errEnough = errors.New("enough")

// collect follows until it has n messages, not counting moves of the cursor.
func collect(t *testing.T, c *client.Client, after string, n int) []event.Message {
	t.Helper()
	var messages []event.Message
	err := c.Follow(t.Context(), after, func(_ context.Context, m event.Message) error {
		if m.Event != nil || m.Gap != nil || m.Reset != nil {
			messages = append(messages, m)
		}
		if len(messages) == n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("follow: %v", err)
	}
	return messages
}

// serve runs a relay until stop is called. An empty address picks a free one.
func serve(t *testing.T, address, storePath string) (url string, stop func()) {
	t.Helper()
	store, err := server.OpenStore(t.Context(), "sqlite:"+storePath)
	if err != nil {
		t.Fatal(err)
	}
	if address == "" {
		address = host.Own() + ":0"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(t.Context(), server.Config{
		Listener: listener, Store: store, Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := errors.Join(<-done, store.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return "http://" + listener.Addr().String(), stop
}

func post(t *testing.T, url, delivery string, payload []byte) {
	t.Helper()
	response, err := http.DefaultClient.Do(examples.Request(t, url, secret, "push", delivery, payload))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		t.Fatalf("delivery %s was answered %s", delivery, response.Status)
	}
}

func TestPayloadsThroughTheWholeChain(t *testing.T) {
	url, _ := serve(t, "", filepath.Join(t.TempDir(), "relay.db"))
	payloads := [][]byte{
		[]byte(`{}`),
		[]byte("{\n\n  \"a\":  1,\n\t\"data: b\": \"id: 7\"\n}"),
		[]byte("{\"a\":\r\n1}"),
		[]byte(" {}\n"),
		[]byte("\"\xff\xfe\""),
		[]byte("\"\u2028 \u0085 é 漢\""),
		[]byte(`"` + strings.Repeat("x", 1<<20) + `"`),     // far above the library's own limit
		[]byte(`" ` + strings.Repeat("x", 1<<20) + "\"\n"), // goes as base64
	}
	for i, payload := range payloads {
		post(t, url, fmt.Sprint(i), payload)
	}
	for i, m := range collect(t, &client.Client{URL: url}, client.Oldest, len(payloads)) {
		if !bytes.Equal(m.Event.Payload, payloads[i]) {
			t.Errorf("payload %d came out as %.60q", i, m.Event.Payload)
		}
	}
}

func TestFollowGetsOnlyWhatTheFilterLetsThrough(t *testing.T) {
	url, _ := serve(t, "", filepath.Join(t.TempDir(), "relay.db"))
	for i, repo := range []string{"acme/app", "other/app", "acme/lib"} {
		post(t, url, fmt.Sprint(i), fmt.Appendf(nil, `{"repository":{"full_name":%q}}`, repo))
	}
	c := &client.Client{URL: url, Filter: event.Filter{Repos: []string{"acme/*"}, Types: []string{"push", "pull_request"}}}
	messages := collect(t, c, client.Oldest, 2)
	if messages[0].Event.Repo != "acme/app" || messages[1].Event.Repo != "acme/lib" {
		t.Errorf("got %s and %s", messages[0].Event.Repo, messages[1].Event.Repo)
	}
}

// A follower that asked for "now" knows its position from the start: it misses no event that arrives while
// the relay is down, even if it had not seen an event before.
func TestRelayRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	url, stop := serve(t, "", path)
	post(t, url, "before", []byte(`{}`))
	states := make(chan client.State, 100)
	c := &client.Client{URL: url, OnState: func(s client.State) { states <- s }}
	messages := make(chan event.Message, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- c.Follow(ctx, client.Now, func(_ context.Context, m event.Message) error {
			messages <- m
			return nil
		})
	}()
	if s := <-states; !s.Connected {
		t.Fatalf("first state: %+v", s)
	}
	if m := <-messages; m.Event != nil || m.Cursor.Seq != 1 {
		t.Fatalf("first message: %+v", m)
	}
	stop()
	if s := <-states; s.Connected || s.Err == nil || s.Retry <= 0 {
		t.Errorf("with the relay gone: %+v", s)
	}
	// An event gets into the log before the follower is back.
	store, err := server.OpenStore(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Append(t.Context(), []event.Event{storetest.Event("meanwhile")}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	serve(t, strings.TrimPrefix(url, "http://"), path)
	post(t, url, "after", []byte(`{"after":1}`))
	var got []string
	for len(got) < 2 {
		if m := <-messages; m.Event != nil {
			got = append(got, m.Event.Delivery)
		}
	}
	if got[0] != "meanwhile" || got[1] != "after" {
		t.Errorf("got %v", got)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("follow ended with %v", err)
	}
}

func TestGapAndReset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	store, err := server.OpenStore(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	fresh := storetest.Event("fresh")
	fresh.ReceivedAt = time.Now()
	if _, err := store.Append(t.Context(), []event.Event{storetest.Event("1"), storetest.Event("2"), fresh}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Trim(t.Context(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	bounds, err := store.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	url, _ := serve(t, "", path)
	c := &client.Client{URL: url}
	gap := collect(t, c, hubCursor(bounds, 1), 2)
	if gap[0].Gap == nil || gap[0].Gap.From.Seq != 2 || gap[0].Gap.To.Seq != 2 || gap[1].Event.Delivery != "fresh" {
		t.Errorf("from before the floor: %+v", gap)
	}
	reset := collect(t, c, "zzzzzzzz-5", 2)
	if reset[0].Reset == nil || reset[0].Reset.Log != bounds.Log || reset[1].Event.Delivery != "fresh" {
		t.Errorf("from another log: %+v", reset)
	}
}

func hubCursor(b hub.Bounds, seq int64) string {
	return event.Cursor{Log: b.Log, Seq: seq}.String()
}

// scripted runs a relay that answers each connection in turn as the test says, and repeats the last answer.
// It records where each connection asked to begin.
func scripted(t *testing.T, answers ...http.HandlerFunc) (url string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var from []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		from = append(from, r.Header.Get("Last-Event-ID")+r.URL.Query().Get("after"))
		answer := answers[min(len(from), len(answers))-1]
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return from }
}

func frame(t *testing.T, seq int64) string {
	t.Helper()
	e := storetest.Event(fmt.Sprint(seq))
	e.ID = event.Cursor{Log: "q7m2x4ka", Seq: seq}
	encoded, err := e.AppendFrame(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// stream answers with text and then closes the connection in an orderly way.
func stream(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// The part of an event that arrived before the cut is neither delivered nor acknowledged, wherever the cut
// is.
func TestCutInTheMiddleOfAnEvent(t *testing.T) {
	second := frame(t, 2)
	for _, cut := range []int{1, 10, len(second) / 2, strings.LastIndex(second, "id:"), len(second) - 3, len(second) - 2, len(second) - 1} {
		url, asked := scripted(t, stream(frame(t, 1)+second[:cut]), stream(second))
		messages := collect(t, &client.Client{URL: url}, client.Now, 2)
		if messages[0].Event.Delivery != "1" || messages[1].Event.Delivery != "2" {
			t.Errorf("cut at %d: got %+v", cut, messages)
		}
		if from := asked(); len(from) != 2 || from[0] != "now" || from[1] != "q7m2x4ka-1" {
			t.Errorf("cut at %d: asked for %q", cut, from)
		}
	}
}

func TestDeadPeer(t *testing.T) {
	// On a busy machine even the first frame may come too late, and is asked for again.
	url, asked := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "" {
			fmt.Fprint(w, frame(t, 2))
			return
		}
		fmt.Fprint(w, frame(t, 1))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	var lost client.State
	c := &client.Client{URL: url, IdleTimeout: 100 * time.Millisecond, OnState: func(s client.State) {
		if !s.Connected && lost.Err == nil {
			lost = s
		}
	}}
	if messages := collect(t, c, client.Oldest, 2); messages[0].Event.Delivery != "1" || messages[1].Event.Delivery != "2" {
		t.Errorf("got %+v", messages)
	}
	if lost.Err == nil || !strings.Contains(lost.Err.Error(), "sent nothing") {
		t.Errorf("the connection was lost because of %v", lost.Err)
	}
	if from := asked(); from[0] != "oldest" || from[len(from)-1] != "q7m2x4ka-1" {
		t.Errorf("asked for %q", from)
	}
}

// piped runs a test whose clock stands still while anybody works. Clients get a relay's answers through pipes, one
// connection after the other.
func piped(t *testing.T, answers []func(net.Conn), test func(t *testing.T)) {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport)
	dial := transport.DialContext
	defer func() { transport.DialContext = dial }()
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		answer := func(relay net.Conn) {
			t.Error("one connection more than there are answers")
			fmt.Fprint(relay, "HTTP/1.1 403 Forbidden\r\n\r\n") // which ends following
		}
		if len(answers) > 0 {
			answer, answers = answers[0], answers[1:]
		}
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			if _, err := http.ReadRequest(bufio.NewReader(far)); err != nil {
				t.Error(err)
				return
			}
			answer(far)
		}()
		return near, nil
	}
	synctest.Test(t, test)
}

const begun = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

// A handler may take its time: only the relay's silence counts, and the timer stops while the handler runs.
func TestSlowHandlerIsNoDeadPeer(t *testing.T) {
	frames := func(relay net.Conn) { fmt.Fprint(relay, begun, frame(t, 1), frame(t, 2)) }
	piped(t, []func(net.Conn){frames}, func(t *testing.T) {
		messages := 0
		err := (&client.Client{URL: "http://localhost"}).Follow(t.Context(), client.Now, func(ctx context.Context, _ event.Message) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Hour):
			}
			if messages++; messages == 2 {
				return errEnough
			}
			return nil
		})
		if !errors.Is(err, errEnough) {
			t.Errorf("follow ended with %v, having handled %d messages", err, messages)
		}
	})
}

func TestHandlerErrorEndsFollowing(t *testing.T) {
	url, asked := scripted(t, stream(frame(t, 1)+frame(t, 2)+frame(t, 3)))
	handled := 0
	err := (&client.Client{URL: url}).Follow(t.Context(), client.Now, func(context.Context, event.Message) error {
		if handled++; handled == 2 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || handled != 2 || len(asked()) != 1 {
		t.Errorf("follow ended with %v, having handled %d messages of %d connections", err, handled, len(asked()))
	}
}

func TestFollowEndsOnlyOnRefusalsThatWillNotChange(t *testing.T) {
	for status, permanent := range map[int]bool{
		http.StatusBadRequest: true, http.StatusUnauthorized: true, http.StatusForbidden: true,
		http.StatusNotFound: false, http.StatusTooManyRequests: false, http.StatusBadGateway: false,
	} {
		refuse := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "the reason", status) }
		url, asked := scripted(t, refuse, stream(frame(t, 1)))
		err := (&client.Client{URL: url, Token: "rly_1_x"}).Follow(t.Context(), client.Now,
			func(context.Context, event.Message) error { return errEnough })
		switch {
		case permanent && (err == nil || !strings.Contains(err.Error(), "the reason") || len(asked()) != 1):
			t.Errorf("%d: %v after %d attempts", status, err, len(asked()))
		case !permanent && !errors.Is(err, errEnough):
			t.Errorf("%d: %v", status, err)
		}
		if err != nil && strings.Contains(err.Error(), "rly_1_x") {
			t.Errorf("%d: the error gives the token away", status)
		}
	}
}

func TestTokenIsSent(t *testing.T) {
	var got string
	url, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		fmt.Fprint(w, frame(t, 1))
	})
	collect(t, &client.Client{URL: url, Token: "rly_1_x"}, client.Now, 1)
	if got != "Bearer rly_1_x" {
		t.Errorf("sent %q", got)
	}
}

func TestNonsenseIsNotAcknowledged(t *testing.T) {
	url, asked := scripted(t, stream(frame(t, 1)+"data: {\nid: q7m2x4ka-2\n\n"+frame(t, 3)), stream(frame(t, 2)))
	messages := collect(t, &client.Client{URL: url}, client.Now, 2)
	if messages[1].Event.Delivery != "2" || asked()[1] != "q7m2x4ka-1" {
		t.Errorf("got %+v, asked for %q", messages, asked())
	}
}

func TestFollowRefusesAMistakenConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		client client.Client
		after  string
	}{
		"no address":     {client.Client{}, ""},
		"no scheme":      {client.Client{URL: "127.0.0.1:8080"}, ""},
		"another scheme": {client.Client{URL: "ftp://relay"}, ""},
		"broken filter":  {client.Client{URL: "http://relay", Filter: event.Filter{Repos: []string{"["}}}, ""},
		"broken cursor":  {client.Client{URL: "http://relay"}, "17"},
	} {
		if err := c.client.Follow(t.Context(), c.after, nil); err == nil {
			t.Errorf("%s: followed", name)
		}
	}
}

// A proxy that leads from http to https does not make the client take the stream behind it for silent.
func TestStreamBehindARedirect(t *testing.T) {
	const idle = time.Minute
	redirect := func(relay net.Conn) {
		fmt.Fprint(relay, "HTTP/1.1 301 Moved Permanently\r\nLocation: /events?after=oldest\r\nContent-Length: 0\r\n\r\n")
	}
	ticks := func(relay net.Conn) {
		fmt.Fprint(relay, begun, frame(t, 1))
		for seq := range int64(3) {
			<-time.After(idle / 2)
			fmt.Fprint(relay, frame(t, seq+2))
		}
	}
	piped(t, []func(net.Conn){redirect, ticks}, func(t *testing.T) {
		collect(t, &client.Client{URL: "http://localhost", IdleTimeout: idle}, client.Now, 4)
	})
}

// A proxy that leads from http to https by 301 would make a question of a change, whose answer says nothing of the change.
func TestAChangeIsNotRedirectedIntoAQuestion(t *testing.T) {
	t.Parallel()
	methods := make(chan string, 10)
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods <- r.Method
		fmt.Fprint(w, `{"settings":{}}`)
	}))
	t.Cleanup(relay.Close)
	proxy := func(status int) *client.Client {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, relay.URL+r.URL.Path, status)
		}))
		t.Cleanup(s.Close)
		return &client.Client{URL: s.URL}
	}
	change := map[string]string{"engine.off": "opus"}
	var answer event.Settings
	err := proxy(http.StatusMovedPermanently).Ask(t.Context(), http.MethodPatch, "control", change, &answer)
	if refusal := (*client.StatusError)(nil); !errors.As(err, &refusal) || refusal.Code != http.StatusMovedPermanently ||
		!strings.Contains(err.Error(), "write "+relay.URL+" as its address") {
		t.Errorf("a change was answered %+v, %v", answer, err)
	}
	if err := proxy(http.StatusPermanentRedirect).Ask(t.Context(), http.MethodPatch, "control", change, &answer); err != nil {
		t.Error(err)
	}
	if err := proxy(http.StatusMovedPermanently).Get(t.Context(), "control", nil, &answer); err != nil {
		t.Error(err)
	}
	signIn := httptest.NewServer(http.RedirectHandler("https://login.example/?then=control", http.StatusFound))
	t.Cleanup(signIn.Close)
	err = (&client.Client{URL: signIn.URL}).Ask(t.Context(), http.MethodPatch, "control", change, &answer)
	if err == nil || strings.Contains(err.Error(), "as its address") || !strings.Contains(err.Error(), "leads to https://login.example/") {
		t.Errorf("a page to sign in was answered %v", err)
	}
	if first, second := <-methods, <-methods; first != http.MethodPatch || second != http.MethodGet {
		t.Errorf("the relay was asked to %s and %s", first, second)
	}
}

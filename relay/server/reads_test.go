package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/relay/storetest"
	"touchstone/worktree/await"
)

// asked is a request for one event, of whose answer nothing but the head was read.
type asked struct {
	net.Conn
	*http.Response
}

// ask requests a path from a loopback address.
func (r *relay) ask(t *testing.T, from byte, path string) asked {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, from)}, Timeout: time.Minute}
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(r.address, "http://"))
	if err != nil {
		t.Skipf("this system has no second loopback address: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return asked{conn, response}
}

// Whoever asks for many large events, and does not read the answers, takes no more of the relay's memory than it has for
// that: further requests are told to wait. One from elsewhere is answered, at the expense of the oldest of the others.
func TestLargeEventsThatAreReadAreBounded(t *testing.T) {
	const large = 16 << 20 // the memory is enough for two of them, each three times
	store := openStore(t, filepath.Join(t.TempDir(), "relay.db"))
	e := storetest.Event("large")
	e.Payload = []byte(`"` + strings.Repeat("x", large) + `"`)
	if _, err := store.Append(t.Context(), []event.Event{e, storetest.Event("small")}); err != nil {
		t.Fatal(err)
	}
	bounds, err := store.Bounds(context.Background())
	must(t, err)
	r := start(t, server.Config{Store: store, Page: &server.Page{File: filepath.Join(t.TempDir(), "page.db")}})
	path := func(seq int64) string { return "/api/v1/events/" + event.Cursor{Log: bounds.Log, Seq: seq}.String() }
	first, second := r.ask(t, 1, path(1)), r.ask(t, 1, path(1))
	third := r.ask(t, 1, path(1))
	var refused struct{ Error string }
	if err := json.NewDecoder(third.Body).Decode(&refused); err != nil || third.StatusCode != http.StatusTooManyRequests ||
		third.Header.Get("Retry-After") == "" || !strings.Contains(refused.Error, "too many large events") {
		t.Errorf("one too many is answered %s with %v: %+v, %v", third.Status, third.Header, refused, err)
	}
	if small := r.ask(t, 1, path(2)); small.StatusCode != http.StatusOK {
		t.Errorf("a small event is answered %s", small.Status)
	}
	other := r.ask(t, 2, path(1))
	if n, err := io.Copy(io.Discard, other.Body); err != nil || n < large || other.StatusCode != http.StatusOK {
		t.Errorf("one from elsewhere gets %d bytes, %s, %v", n, other.Status, err)
	}
	if n, err := io.Copy(io.Discard, first.Body); err == nil {
		t.Errorf("the oldest kept its answer of %d bytes", n)
	}
	if n, err := io.Copy(io.Discard, second.Body); err != nil || n < large {
		t.Errorf("the second lost its answer after %d bytes: %v", n, err)
	}
	await.Until(t, "the memory to be given back", func() bool { return r.ask(t, 1, path(1)).StatusCode == http.StatusOK })
}

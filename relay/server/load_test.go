package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
)

// dial connects to a relay without a word.
func (r *relay) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// announce begins a webhook of so many bytes and waits until they are asked for.
func (r *relay) announce(t *testing.T, size int) net.Conn {
	t.Helper()
	conn := r.dial(t)
	fmt.Fprintf(conn, "POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", size)
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("asked to send the body: %q, %v", line, err)
	}
	return conn
}

// Who announces much and sends nothing takes nothing from the others; who sends more
// than may be in memory at once is put off, and the small ones go on.
func TestBodiesInFlight(t *testing.T) {
	r := start(t, server.Config{})
	var senders []net.Conn
	for range 20 { // twice what there is room for
		senders = append(senders, r.announce(t, 25<<20))
	}
	body := bytes.Repeat([]byte(" "), 25<<20)
	large := func() answer {
		return send(t, examples.Request(t, r.address, "guess", "push", "large", body))
	}
	if a := large(); a.status != http.StatusUnauthorized { // all of it was read
		t.Errorf("beside 20 that only announced: %+v", a)
	}
	for _, conn := range senders[:9] {
		// The relay has read all but what the system buffers, so it holds room for the whole.
		if _, err := conn.Write(make([]byte, 24<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if a := large(); a.status != http.StatusTooManyRequests || a.retryAfter == "" {
		t.Errorf("with 225 MiB on their way, 25 MiB more: %+v", a)
	}
	r.post(t, "small", `{}`)
	for _, conn := range senders {
		conn.Close()
	}
	for a := large(); a.status != http.StatusUnauthorized; a = large() {
		if a.status != http.StatusTooManyRequests {
			t.Fatalf("while the others leave: %+v", a)
		}
	}
}

func TestSlowSenderIsTimedOut(t *testing.T) {
	r := start(t, server.Config{BodyTimeout: tick})
	conn := r.announce(t, 1000)
	fmt.Fprint(conn, "half of")
	lines := bufio.NewReader(conn)
	response, err := http.ReadResponse(lines, nil)
	for err == nil && response.StatusCode == http.StatusContinue {
		response, err = http.ReadResponse(lines, nil)
	}
	if err != nil || response.StatusCode != http.StatusRequestTimeout {
		t.Errorf("a sender that stops halfway: %v, %v", response, err)
	}
}

// Subscribers that read nothing are cut off, and one that reads gets everything meanwhile.
func TestStalledSubscribers(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "relay.db"))
	before := runtime.NumGoroutine()
	r := start(t, server.Config{Store: store, WriteTimeout: time.Second})
	const stalled = 20
	for range stalled {
		conn := r.dial(t)
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil { // so that it stalls soon
			t.Fatal(err)
		}
		fmt.Fprint(conn, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if _, err := conn.Read(make([]byte, 1)); err != nil { // the stream has begun
			t.Fatal(err)
		}
	}
	reading := r.open(t, "", "")
	reading.next()
	ids := make(chan string, 10_000)
	go func() {
		defer close(ids)
		for frame := reading.message(); frame != ""; frame = reading.message() {
			ids <- frame[strings.LastIndex(frame, "id: "):]
		}
	}()
	sent := 0
	payload := `"` + strings.Repeat("x", 256<<10) + `"`
	for gone := 0; gone < stalled; sent++ { // until none of them can be sent more
		r.post(t, fmt.Sprint(sent), payload)
		for more := true; more; {
			select {
			case <-r.gone:
				gone++
			default:
				more = false
			}
		}
	}
	for i := range sent {
		if got := <-ids; !strings.HasSuffix(got, fmt.Sprintf("-%d\n", i+1)) {
			t.Fatalf("in place of event %d came %q", i+1, got)
		}
	}
	r.stop()
	for range ids { // its last words, and the end
	}
	http.DefaultClient.CloseIdleConnections()
	for runtime.NumGoroutine() > before {
		runtime.Gosched() // until all that they needed is gone; the test's timeout tells otherwise
	}
}

// A subscriber that reads nothing does not hold up the relay's end.
func TestStopCutsOffTheStalled(t *testing.T) {
	r := start(t, server.Config{})
	conn := r.dial(t)
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	payload := `"` + strings.Repeat("x", 1<<20) + `"`
	for i := range 8 {
		r.post(t, fmt.Sprint(i), payload)
	}
	begin := time.Now()
	r.stop()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the relay took %s to stop", took)
	}
}

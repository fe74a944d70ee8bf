package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
)

// dial connects to a relay and sends nothing.
func (r *relay) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// announce begins a webhook of so many bytes and waits until the relay asks for them.
func (r *relay) announce(t *testing.T, size int) net.Conn {
	t.Helper()
	conn := r.dial(t)
	fmt.Fprintf(conn, "POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", size)
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("asked to send the body: %q, %v", line, err)
	}
	return conn
}

// A sender that announces much and sends nothing takes no room from the others. One that sends more than fits
// into memory at once is told to try later, and small webhooks still get through.
func TestLargeBodiesLeaveRoomForSmallWebhooks(t *testing.T) {
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
		_, _ = conn.Write(make([]byte, 24<<20)) // one for which no room is left is reset while it sends
	}
	// Once the relay has read what the system buffers, it holds room for the whole of each.
	a := large()
	for a.status == http.StatusUnauthorized {
		a = large()
	}
	if a.status != http.StatusTooManyRequests || a.retryAfter == "" {
		t.Errorf("with more on their way than there is room for, 25 MiB more: %+v", a)
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
	conn := r.dial(t)
	fmt.Fprint(conn, "POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nContent-Length: 1000\r\n\r\nhalf of")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusRequestTimeout {
		t.Errorf("a sender that stops halfway: %v, %v", response, err)
	}
}

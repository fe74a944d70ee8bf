package server_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
)

// Strangers who send little, slowly, or nothing keep out no webhook from another address, however many
// connections they have: they lose theirs.
func TestSilentStrangersKeepNoWebhookOut(t *testing.T) {
	const strangers, each = 8, 400 // more together than the relay lets stay
	for name, opening := range map[string]string{
		"nothing":            "",
		"half a head":        "POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nX-Long: " + strings.Repeat("x", 8<<10),
		"a head and no body": "POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nContent-Length: 65536\r\n\r\n",
		"a body but its end": "POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nContent-Length: 65536\r\n\r\n" + strings.Repeat("x", 60<<10),
		"chunks without ends": "POST /webhooks/github HTTP/1.1\r\nHost: relay\r\nTransfer-Encoding: chunked\r\n\r\nf000\r\n" +
			strings.Repeat("x", 40<<10),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, server.Config{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for i := range strangers * each {
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%strangers+1))}}
				conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(r.address, "http://"))
				if err != nil {
					t.Skipf("this system has no second loopback address: %v", err)
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, opening) // the relay may have closed it
			}
			body := fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", 20_000))
			sender := &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
			defer sender.CloseIdleConnections()
			response, err := sender.Do(examples.Request(t, r.address, secret, "push", "wanted", body))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusAccepted {
				t.Errorf("the webhook is answered %s", response.Status)
			}
		})
	}
}

// A signed webhook is stored once, however often and under whatever ids it is sent again.
func TestReplayedWebhooksAreStoredOnce(t *testing.T) {
	r := start(t, server.Config{})
	body := []byte(`{"action":"submitted"}`)
	first := send(t, examples.Request(t, r.address, secret, "push", "first", body))
	if first.status != http.StatusAccepted {
		t.Fatalf("the first is answered %+v", first)
	}
	for i := range 20 {
		request := examples.Request(t, r.address, secret, "pull_request_review", fmt.Sprint("again-", i), body)
		if i%2 == 0 { // hexadecimal digits are the same in capitals
			digest := strings.TrimPrefix(request.Header.Get("X-Hub-Signature-256"), "sha256=")
			request.Header.Set("X-Hub-Signature-256", "sha256="+strings.ToUpper(digest))
		}
		if a := send(t, request); a.status != http.StatusOK || !a.Duplicate || a.ID != first.ID {
			t.Errorf("sent again it is answered %+v", a)
		}
	}
	// GitHub's own redelivery keeps the id.
	if a := send(t, examples.Request(t, r.address, secret, "push", "first", body)); a.status != http.StatusOK || a.ID != first.ID {
		t.Errorf("the redelivery is answered %+v", a)
	}
}

// A subscriber is not sent the signature, with which a webhook could be sent again.
func TestFollowersGetNoSignature(t *testing.T) {
	r, _, _ := administered(t, server.Config{})
	r.post(t, "a", `{}`)
	stream := r.open(t, "after=oldest", "")
	for frame := stream.next(); ; frame = stream.next() {
		if strings.Contains(frame, "event: github.push") {
			if strings.Contains(strings.ToLower(frame), "signature") || strings.Contains(frame, "sha256=") {
				t.Errorf("a follower is sent %s", frame)
			}
			return
		}
	}
}

// Behind a trusted proxy, senders are distinguished by the proxy's header. A sender cannot pass for another,
// and without trust the proxy counts as one sender.
func TestSendersBehindATrustedProxyAreToldApart(t *testing.T) {
	for name, tc := range map[string]struct {
		trusted []netip.Prefix
		other   int // the answer to another sender than the one that has sent too much
	}{
		"trusted":   {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}, http.StatusUnauthorized},
		"untrusted": {nil, http.StatusTooManyRequests},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, server.Config{TrustedProxies: tc.trusted})
			from := func(hops string) int {
				request := examples.Request(t, r.address, "a wrong secret", "push", "x", []byte(`{}`))
				request.Header.Set("X-Forwarded-For", hops)
				return send(t, request).status
			}
			last := 0
			for range 11 {
				last = from("203.0.113.9, 192.0.2.1, 10.1.2.3")
			}
			if last != http.StatusTooManyRequests {
				t.Errorf("the eleventh is answered %d", last)
			}
			if got := from("192.0.2.2"); got != tc.other {
				t.Errorf("another sender is answered %d", got)
			}
			if got := from("192.0.2.77, 192.0.2.1"); got != http.StatusTooManyRequests {
				t.Errorf("the same one under another's name is answered %d", got)
			}
		})
	}
}

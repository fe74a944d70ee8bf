package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/token"
)

// pipes is a listener whose connections have no buffers: a peer that does not read stalls at once, so that
// tests need not fill a buffer first.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p.conns <- far
	return near, nil
}

// piped is a relay behind pipes, in its own synctest bubble.
type piped struct {
	*pipes
	stop func()
	gone departures
	post func(delivery, payload string)
}

func startPiped(t *testing.T, config server.Config) piped {
	t.Helper()
	listener := &pipes{make(chan net.Conn), make(chan struct{})}
	store, err := server.OpenStore(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	config.Listener, config.Store = listener, store
	config.Sources = map[string]server.Source{"github": source.GitHub{Secret: secret}}
	s, err := server.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(departures, 100)
	ctx, cancel := context.WithCancel(gone.context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	sender := &http.Client{Transport: &http.Transport{DialContext: listener.dial}}
	return piped{
		pipes: listener, gone: gone,
		stop: func() {
			sender.CloseIdleConnections()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		},
		post: func(delivery, payload string) {
			t.Helper()
			response, err := sender.Do(examples.Request(t, "http://localhost", secret, "push", delivery, []byte(payload)))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusAccepted {
				t.Errorf("delivery %s was answered %s", delivery, response.Status)
			}
		},
	}
}

// follow begins a stream and reads its head and its greeting.
func (p piped) follow(t *testing.T) *bufio.Reader {
	t.Helper()
	conn, err := p.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return greeted(t, conn, "")
}

// greeted requests a stream on a connection, with an Authorization header, and reads its head and its
// greeting.
func greeted(t *testing.T, conn net.Conn, authorization string) *bufio.Reader {
	t.Helper()
	if _, err := fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n\r\n", authorization); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	for line, err := "", error(nil); !strings.HasPrefix(line, "id: "); {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

// Subscribers that read nothing are cut off, while one that reads gets everything. Nothing of them is left:
// otherwise the bubble would not end.
func TestStalledSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startPiped(t, server.Config{})
		const stalled, events = 20, 8
		for range stalled {
			r.follow(t)
		}
		reading := r.follow(t)
		ids := make(chan string, events)
		go func() {
			defer close(ids)
			for {
				line, err := reading.ReadString('\n')
				if err != nil {
					return
				}
				if _, id, ok := strings.Cut(line, "id: "); ok && len(ids) < events {
					ids <- strings.TrimSpace(id)
				}
			}
		}()
		begin := time.Now()
		for i := range events {
			r.post(fmt.Sprint(i), fmt.Sprintf(`"%d`, i)+strings.Repeat("x", 256<<10)+`"`)
		}
		for i := range events {
			if got := <-ids; !strings.HasSuffix(got, fmt.Sprintf("-%d", i+1)) {
				t.Errorf("in place of event %d came %q", i+1, got)
			}
		}
		if waited := time.Since(begin); waited > 0 {
			t.Errorf("the one that reads waited %s for those that do not", waited)
		}
		for range stalled {
			if line := <-r.gone; !strings.Contains(line, "it did not read what was sent to it within 30s") {
				t.Errorf("of one that reads nothing the log says %s", line)
			}
		}
		if took := time.Since(begin); took < 30*time.Second || took > 40*time.Second {
			t.Errorf("those that read nothing were cut off after %s", took)
		}
		r.stop()
		for range ids { // the end
		}
	})
}

// A stalled subscriber over TLS is cut off at once too, although TLS would first wait to tell it.
func TestStalledOverTLSIsCutOffAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := token.File{Path: filepath.Join(t.TempDir(), "tokens")}
		text := mint(t, tokens, "laptop-1", token.Subscriber, event.Filter{})
		guard := newChecker(t, tokens)
		certFile, keyFile, _ := certify(t, t.TempDir(), 1)
		certificate, err := server.LoadCertificate(certFile, keyFile)
		if err != nil {
			t.Fatal(err)
		}
		r := startPiped(t, server.Config{Tokens: guard, TLS: certificate.Config()})
		conn, err := r.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		// The bubble's time is long before the certificate's.
		greeted(t, tls.Client(conn, &tls.Config{InsecureSkipVerify: true}), "Bearer "+text)
		revoke(t, tokens, text)
		begin := time.Now()
		<-r.gone
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("it was cut off after %s; the relay looks at the tokens every 2s", took)
		}
		r.stop()
	})
}

// A subscriber that reads nothing does not delay the relay's stop.
func TestStopCutsOffTheStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startPiped(t, server.Config{})
		r.follow(t)
		r.post("a", "{}")
		begin := time.Now()
		r.stop()
		if took := time.Since(begin); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("the relay took %s to stop", took)
		}
	})
}

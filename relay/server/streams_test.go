package server_test

import (
	"bufio"
	"bytes"
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

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/storetest"
)

// withhold sends requests on one HTTP/2 connection and accepts no byte of any answer's body. It reports each
// request that the relay resets.
func withhold(t *testing.T, conn net.Conn, requests int, reset chan<- struct{}) {
	t.Helper()
	var out, head bytes.Buffer
	out.WriteString(http2.ClientPreface)
	frames, fields := http2.NewFramer(&out, nil), hpack.NewEncoder(&head)
	must(t, frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	for i := range requests {
		head.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "relay"}, {":path", "/healthz"}} {
			must(t, fields.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
		}
		id := uint32(2*i + 1)
		if err := frames.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndHeaders: true,
			EndStream: true}); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		for said := http2.NewFramer(nil, conn); ; {
			frame, err := said.ReadFrame()
			if err != nil {
				return // the test is over
			}
			if _, ok := frame.(*http2.RSTStreamFrame); ok {
				reset <- struct{}{}
			}
		}
	}()
	if _, err := conn.Write(out.Bytes()); err != nil {
		t.Fatal(err)
	}
}

// Requests whose answers are not accepted end after 10 s, and a connection has at most 32 at once.
func TestAnswersThatAreNotLetThroughEnd(t *testing.T) {
	const refused, open = 8, 32
	certFile, keyFile, _ := certify(t, t.TempDir(), 1)
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := startPiped(t, server.Config{TLS: certificate.Config()})
		reset := make(chan struct{}, open+refused)
		conn, err := r.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// The bubble's time is long before the certificate's.
		encrypted := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		must(t, encrypted.Handshake())
		withhold(t, encrypted, open+refused, reset)
		synctest.Wait()
		if got := len(reset); got != refused {
			t.Errorf("of %d requests %d were ended at once", open+refused, got)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if got := len(reset); got != open+refused {
			t.Errorf("of %d requests %d were ended in time", open+refused, got)
		}
		conn.Close()
		r.stop()
	})
}

// Of the subscribers on one HTTP/2 connection, those that read nothing lose their streams when they hold too
// much memory, the slowest first. One that reads keeps its stream.
func TestSubscriberKeepsItsStreamWhileOthersOfItsConnectionLoseTheirs(t *testing.T) {
	const stalled, large = 11, 8 << 20 // the hub lets ten of them be held
	store := openStore(t, filepath.Join(t.TempDir(), "relay.db"))
	for i := range stalled + 1 {
		e := storetest.Event(fmt.Sprint(i))
		e.Payload = []byte(`"` + strings.Repeat("x", large) + `"`)
		if _, err := store.Append(t.Context(), []event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	bounds, err := store.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile, roots := certify(t, t.TempDir(), 1)
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, server.Config{Store: store, TLS: certificate.Config(), WriteTimeout: time.Hour})
	connections := 0
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			connections++
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}}
	t.Cleanup(transport.CloseIdleConnections)
	follow := func(after int64) *bufio.Reader {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			fmt.Sprintf("https%s/events?after=%s", strings.TrimPrefix(r.address, "http"), event.Cursor{Log: bounds.Log, Seq: after}), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "identity")
		response, err := transport.RoundTrip(request)
		if err != nil || response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
			t.Fatalf("the stream was answered %+v, %v", response, err)
		}
		t.Cleanup(func() { response.Body.Close() })
		lines := bufio.NewReader(response.Body)
		for line := ""; !strings.HasPrefix(line, "event: "); { // from then on it holds an event
			if line, err = lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		return lines
	}
	reading := follow(stalled)
	until := func(id int64) {
		t.Helper()
		for line := ""; line != fmt.Sprintf("id: %s\n", event.Cursor{Log: bounds.Log, Seq: id}); {
			if line, err = reading.ReadString('\n'); err != nil {
				t.Fatalf("before event %d: %v", id, err)
			}
		}
	}
	until(stalled + 1)
	first := follow(0)
	for after := range int64(stalled - 1) {
		follow(after + 1)
	}
	<-r.gone
	if _, err := first.ReadString('\n'); err == nil {
		t.Error("the one that has read nothing for the longest time got its event")
	}
	webhook := examples.Request(t, "https"+strings.TrimPrefix(r.address, "http"), secret, "push", "live", []byte(`{}`))
	if response, err := transport.RoundTrip(webhook); err != nil || response.StatusCode != http.StatusAccepted {
		t.Fatalf("the webhook was answered %+v, %v", response, err)
	}
	until(stalled + 2)
	if connections != 1 || len(r.gone) > 0 {
		t.Errorf("there were %d connections, and %d more lost their streams", connections, len(r.gone))
	}
}

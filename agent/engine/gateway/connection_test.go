package gateway_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/usage"
	"touchstone/worktree/await"
)

// TestAConnectionThatTheNetworkDroppedIsGivenUp during an answer, so that the CLI asks again over another one. It
// is not parallel, since it changes which certificates are trusted.
func TestAConnectionThatTheNetworkDroppedIsGivenUp(t *testing.T) {
	var asked atomic.Int32
	over := make(chan struct{})
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, r.Proto)
		if asked.Add(1) == 1 {
			_ = http.NewResponseController(w).Flush()
			<-over
		}
	}))
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	t.Cleanup(func() {
		close(over)
		upstream.CloseClientConnections()
		upstream.Close()
	})
	roots := x509.NewCertPool()
	roots.AddCert(upstream.Certificate())
	transport := http.DefaultTransport.(*http.Transport)
	transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	t.Cleanup(func() { transport.TLSClientConfig = nil })
	network, drop := droppable(t, upstream.Listener.Addr().String())
	g := openAt(t, "https://"+network, usage.Open(engine.Request{}, nil))
	turn := g.Begin(func() {})

	response := send(t, http.MethodPost, g.URL+"/responses", question, "X-Api-Key", g.Token)
	begun := make([]byte, len("HTTP/2.0\n"))
	if _, err := io.ReadFull(response.Body, begun); err != nil || string(begun) != "HTTP/2.0\n" {
		t.Fatalf("the answer begins with %q, %v", begun, err)
	}
	drop()
	late := time.AfterFunc(await.Patience, func() {
		t.Error("the CLI still waits for an answer")
		_ = response.Body.Close()
	})
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("the answer ended well")
	}
	late.Stop()
	if refusal, refused := turn.Refused(); !refused || refusal.Class() != engine.Network {
		t.Errorf("what the turn knows of it: %+v", refusal)
	}
	if status, got := ask(t, g, "X-Api-Key", g.Token); got != "HTTP/2.0\n" {
		t.Errorf("the next answer: %d %q", status, got)
	}
}

// droppable is a network before a server. Function drop makes all connections carry nothing any more, without
// closing them; later ones work.
func droppable(t *testing.T, server string) (address string, drop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var drops atomic.Int32
	carry := func(to, from net.Conn, born int32) {
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				to.Close()
				return
			}
			if drops.Load() == born {
				_, _ = to.Write(buffer[:n]) // if it is closed, so will from be
			}
		}
	}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				near.Close()
				continue
			}
			go carry(far, near, drops.Load())
			go carry(near, far, drops.Load())
		}
	}()
	return listener.Addr().String(), func() { drops.Add(1) }
}

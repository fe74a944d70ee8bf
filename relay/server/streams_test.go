package server_test

import (
	"bytes"
	"crypto/tls"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"touchstone/relay/server"
)

// withhold opens requests on one connection by HTTP/2 and lets no byte of an answer's body through. It
// tells of each that the relay resets.
func withhold(t *testing.T, conn net.Conn, requests int, reset chan<- struct{}) {
	t.Helper()
	var out, head bytes.Buffer
	out.WriteString(http2.ClientPreface)
	frames, fields := http2.NewFramer(&out, nil), hpack.NewEncoder(&head)
	if err := frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		t.Fatal(err)
	}
	for i := range requests {
		head.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "relay"}, {":path", "/healthz"}} {
			if err := fields.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
				t.Fatal(err)
			}
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

// Requests whose answers are not let through end at once when there are too many of them, and all of
// them after 10 s.
func TestStreamsAreBounded(t *testing.T) {
	const connections, each, bound = 43, 100, 4096
	certFile, keyFile, _ := certify(t, t.TempDir(), 1)
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		r := startPiped(t, server.Config{TLS: certificate.Config()})
		reset := make(chan struct{}, connections*each)
		var open []net.Conn
		for range connections {
			conn, err := r.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			// The bubble's time is long before the certificate's.
			encrypted := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
			if err := encrypted.Handshake(); err != nil {
				t.Fatal(err)
			}
			withhold(t, encrypted, each, reset)
			open = append(open, conn)
		}
		synctest.Wait()
		if got := len(reset); got != connections*each-bound {
			t.Errorf("of %d requests %d were ended at once", connections*each, got)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if got := len(reset); got != connections*each {
			t.Errorf("of %d requests %d were ended in time", connections*each, got)
		}
		for _, conn := range open {
			conn.Close()
		}
		r.stop()
	})
}

package main

import (
	"crypto/hmac"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"touchstone/relay/source/sourcetest"
	"touchstone/scripts/benchmark"
)

// Fan-out: the number of subscribers and of events.
const (
	fanSubscribers = 200
	fanEvents      = 1500
)

// yardstick runs the reference for the relay's figures: the least that any program would have to do.
func yardstick(kind string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(os.Getenv("ADDRESS_FILE"), []byte(listener.Addr().String()+"\n"), 0o600); err != nil {
		panic(err)
	}
	switch kind {
	case "discard":
		panic(http.Serve(listener, http.HandlerFunc(discard)))
	case "sockets":
		sockets(listener)
	}
}

// discard verifies a webhook and discards it.
func discard(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !hmac.Equal([]byte(r.Header.Get("X-Hub-Signature-256")), []byte(sourcetest.Signature(benchmark.Secret, body))) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// sockets writes the same bytes to many connections, one after the other.
func sockets(listener net.Listener) {
	var conns []net.Conn
	for len(conns) < fanSubscribers {
		conn, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		conns = append(conns, conn)
	}
	frame := []byte("data: " + string(webhook) + "\n\n")
	for range fanEvents {
		for _, conn := range conns {
			if _, err := conn.Write(frame); err != nil {
				return
			}
		}
	}
	select {} // until it is killed
}

// webhook is a payload of 8 kB that resembles GitHub's: mostly addresses and numbers.
var webhook = realistic(8 << 10)

func realistic(size int) []byte {
	var text strings.Builder
	text.WriteString(`{"action":"opened","repository":{"full_name":"acme/app"},"links":{`)
	for state := uint32(1); text.Len() < size; {
		state = state*1664525 + 1013904223
		fmt.Fprintf(&text, `"key_%d_url":"https://api.github.com/repos/acme/app/things/%08x{/number}","key_%d_id":%d,`,
			state>>26, state, state>>27, state>>8)
	}
	text.WriteString(`"end":null}}`)
	return []byte(text.String())
}

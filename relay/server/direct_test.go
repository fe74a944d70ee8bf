package server

import (
	"net/http"
	"testing"
)

func TestOnlyThisMachineIsDirect(t *testing.T) {
	for name, test := range map[string]struct {
		remote, host, header string
		want                 bool
	}{
		"this machine":            {"127.0.0.1:4000", "localhost:8080", "", true},
		"this machine by IPv6":    {"[::1]:4000", "[::1]:8080", "", true},
		"mapped":                  {"[::ffff:127.0.0.1]:4000", "127.0.0.1", "", true},
		"another machine":         {"192.0.2.1:4000", "localhost:8080", "", false},
		"another machine's name":  {"127.0.0.1:4000", "relay.example.com", "", false},
		"a proxy":                 {"127.0.0.1:4000", "localhost:8080", "X-Forwarded-For", false},
		"a proxy by the standard": {"127.0.0.1:4000", "localhost:8080", "Forwarded", false},
		"no address":              {"@", "localhost:8080", "", false},
	} {
		r := &http.Request{Method: http.MethodPost, ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: test.remote, Host: test.host, Header: http.Header{}}
		if test.header != "" {
			r.Header.Set(test.header, "x")
		}
		if got := direct(r); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
		if r.ProtoMinor = 0; direct(r) {
			t.Errorf("%s, by HTTP/1.0: passes for direct", name)
		}
	}
}

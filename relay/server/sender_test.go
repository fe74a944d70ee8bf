package server

import (
	"net/http"
	"net/netip"
	"testing"
)

// However a stranger writes its address, or the one that it claims to ask for, it has one share of the relay's room and
// one count of failures. Only what a trusted proxy has added tells senders apart.
func TestASenderHasOneShareHoweverItsAddressIsWritten(t *testing.T) {
	s := &Server{config: Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32"), netip.MustParsePrefix("fd00::/64")}}}
	for name, test := range map[string]struct {
		remote    string
		forwarded []string
		want      string
	}{
		"IPv4":                         {"192.0.2.1:4000", nil, "192.0.2.1/32"},
		"mapped":                       {"[::ffff:192.0.2.1]:4000", nil, "192.0.2.1/32"},
		"mapped, in digits":            {"[::ffff:c000:201]:4000", nil, "192.0.2.1/32"},
		"IPv6":                         {"[2001:db8::1:2:3:4]:4000", nil, "2001:db8::/64"},
		"with a zone":                  {"[fe80::1%eth0]:4000", nil, "fe80::/64"},
		"a claim without a proxy":      {"192.0.2.1:4000", []string{"198.51.100.1"}, "192.0.2.1/32"},
		"mapped, with a claim":         {"[::ffff:192.0.2.1]:4000", []string{"198.51.100.1"}, "192.0.2.1/32"},
		"behind a proxy":               {"10.0.0.7:4000", []string{"192.0.2.1"}, "192.0.2.1/32"},
		"behind a mapped proxy":        {"[::ffff:10.0.0.7]:4000", []string{"192.0.2.1"}, "192.0.2.1/32"},
		"mapped, behind a proxy":       {"10.0.0.7:4000", []string{"::ffff:192.0.2.1"}, "192.0.2.1/32"},
		"a zone, behind a proxy":       {"10.0.0.7:4000", []string{"fe80::1%25x"}, "fe80::/64"},
		"a claim to the proxy":         {"10.0.0.7:4000", []string{"198.51.100.1, 192.0.2.1"}, "192.0.2.1/32"},
		"a claim in a line of its own": {"10.0.0.7:4000", []string{"198.51.100.1", "192.0.2.1"}, "192.0.2.1/32"},
		"behind two proxies":           {"10.0.0.7:4000", []string{"198.51.100.1, 192.0.2.1, fd00::9"}, "192.0.2.1/32"},
		"a claim to be the proxy":      {"10.0.0.7:4000", []string{"198.51.100.1, ::ffff:10.0.0.7, 192.0.2.1"}, "192.0.2.1/32"},
		"no address before the proxy":  {"10.0.0.7:4000", []string{"198.51.100.1, unknown"}, "10.0.0.7/32"},
		"no header":                    {"10.0.0.7:4000", nil, "10.0.0.7/32"},
	} {
		r := &http.Request{RemoteAddr: test.remote, Header: http.Header{"X-Forwarded-For": test.forwarded}}
		if got := network(s.sender(r)); got.String() != test.want {
			t.Errorf("%s: the share is that of %s, want %s", name, got, test.want)
		}
	}
}

package main

import (
	"strings"
	"testing"
)

// TestTheFirstAddressIsKept checks that the relay, which a service starts from its file, listens where up was
// told to the first time, and not elsewhere.
func TestTheFirstAddressIsKept(t *testing.T) {
	t.Parallel()
	u := setup{dir: t.TempDir(), listen: "127.0.0.1:0"}
	must(t, u.prepare(t.Context()))
	config := defaultConfig()
	if err := config.load(u.file("relay.yaml")); err != nil || config.Listen != u.listen {
		t.Errorf("it listens on %s, want %s: %v", config.Listen, u.listen, err)
	}
}

// TestTheFirstLinkLeadsToThisMachine checks that the link, which is printed once, is one that `touchstone join` takes where the relay
// listens on all addresses.
func TestTheFirstLinkLeadsToThisMachine(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		":8080": "127.0.0.1:8080", "0.0.0.0:8080": "127.0.0.1:8080", "[::]:8080": "127.0.0.1:8080", "127.0.0.1:8080": "127.0.0.1:8080",
		"localhost:8080": "localhost:8080", "10.0.0.7:8080": "10.0.0.7:8080",
	} {
		u := setup{dir: t.TempDir(), listen: "127.0.0.1:0"}
		must(t, u.prepare(t.Context()))
		var out strings.Builder
		must(t, u.greet(t.Context(), &out, Config{Listen: listen}))
		if !strings.Contains(out.String(), "touchstone join 'http://"+want+"/join#inv_") {
			t.Errorf("on %s, up prints\n%s", listen, out.String())
		}
	}
}

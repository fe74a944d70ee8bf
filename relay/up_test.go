package main

import "testing"

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

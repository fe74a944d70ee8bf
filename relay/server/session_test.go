package server

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A browser stays signed in for a month, and no longer because the clock was ahead when it signed in.
func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := OpenStore(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "relay.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		s, err := newSealer(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		for name, test := range map[string]struct {
			life time.Duration
			good bool
		}{
			"now": {sessionLife, true}, "over": {-time.Second, false}, "of a clock a year ahead": {365 * 24 * time.Hour, false},
		} {
			text, err := s.seal("token", forSession, test.life)
			if err != nil {
				t.Fatal(err)
			}
			if what, ok := s.open(text, forSession); ok != test.good || (what.Token == "token") != test.good {
				t.Errorf("%s: good is %t, and the token %q", name, ok, what.Token)
			}
		}
	})
}

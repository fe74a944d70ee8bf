package server

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A browser stays signed in for a month, and no longer if the clock was ahead when it signed in.
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

// A link works once, even if its code is written differently the second time: base64 decoders accept line
// breaks and other last bits.
func TestLinkWorksOnce(t *testing.T) {
	store, err := OpenStore(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := newSealer(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for token := "t"; len(token) < 4; token += "t" { // so that the code ends in each number of unused bits
		code, err := s.seal(token, forLink, linkLife)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := s.redeem(code); !ok || got != token {
			t.Fatalf("the link gives %q, %t", got, ok)
		}
		again := []string{code, code + "\n", code[:9] + "\r\n" + code[9:]}
		for _, last := range strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", "") {
			again = append(again, code[:len(code)-1]+last)
		}
		for _, code := range again {
			if _, ok := s.redeem(code); ok {
				t.Errorf("the link works again as %q", code)
			}
		}
	}
}

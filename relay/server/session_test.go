package server

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/relay/hub"
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

// linking returns a sealer and its store.
func linking(t *testing.T) (*sealer, hub.Store) {
	t.Helper()
	store, err := OpenStore(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := newSealer(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return s, store
}

// A link works once, even after a restart of the relay, and even if its code is written differently the second time:
// base64 decoders accept line breaks and other last bits.
func TestLinkWorksOnce(t *testing.T) {
	s, store := linking(t)
	restarted, err := newSealer(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	for token := "t"; len(token) < 4; token += "t" { // so that the code ends in each number of unused bits
		code, err := s.seal(token, forLink, linkLife)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.redeem(t.Context(), code); err != nil || got != token {
			t.Fatalf("the link gives %q, %v", got, err)
		}
		if got, err := restarted.redeem(t.Context(), code); err != nil || got != "" {
			t.Errorf("after a restart the link gives %q, %v", got, err)
		}
		again := []string{code, code + "\n", code[:9] + "\r\n" + code[9:]}
		for last := range strings.SplitSeq("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", "") {
			again = append(again, code[:len(code)-1]+last)
		}
		for _, code := range again {
			if got, err := s.redeem(t.Context(), code); err != nil || got != "" {
				t.Errorf("the link works again as %q: %q, %v", code, got, err)
			}
		}
	}
}

// However many browsers open a link at once, one of them is signed in.
func TestLinkWorksForOneOfMany(t *testing.T) {
	s, _ := linking(t)
	code, err := s.seal("token", forLink, linkLife)
	if err != nil {
		t.Fatal(err)
	}
	var given atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if got, err := s.redeem(t.Context(), code); err != nil || got == "token" {
				given.Add(1)
			}
		})
	}
	group.Wait()
	if given.Load() != 1 {
		t.Errorf("the link gives its token %d times", given.Load())
	}
}

// The note with the redeemed codes is bounded, and expired codes leave it. While it cannot be read, no link works.
func TestUsedLinksAreBounded(t *testing.T) {
	s, store := linking(t)
	code, err := s.seal("token", forLink, linkLife)
	if err != nil {
		t.Fatal(err)
	}
	full := func(until time.Time) string {
		used := map[string]time.Time{}
		for n := range maxLinks {
			used[fmt.Sprint(n)] = until
		}
		text, err := json.Marshal(used)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, note := range []string{full(time.Now().Add(linkLife)), "damaged"} {
		if err := store.SetNote(t.Context(), linksNote, note); err != nil {
			t.Fatal(err)
		}
		if got, err := s.redeem(t.Context(), code); err == nil || got != "" {
			t.Errorf("beside %.40s it gives %q, %v", note, got, err)
		}
	}
	if err := store.SetNote(t.Context(), linksNote, full(time.Now().Add(-time.Second))); err != nil {
		t.Fatal(err)
	}
	if got, err := s.redeem(t.Context(), code); err != nil || got != "token" {
		t.Errorf("beside expired ones it gives %q, %v", got, err)
	}
	if kept, err := store.Note(t.Context(), linksNote); err != nil || len(kept) > 100 {
		t.Errorf("%d bytes are kept, %v", len(kept), err)
	}
}

package token

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
)

// emptyFile returns an empty token file.
func emptyFile(t *testing.T) File {
	t.Helper()
	return File{Path: filepath.Join(t.TempDir(), "tokens")}
}

// set replaces what a store holds.
func set(t *testing.T, store Store, tokens ...Token) {
	t.Helper()
	if err := store.Update(t.Context(), func([]Token) ([]Token, error) { return tokens, nil }); err != nil {
		t.Fatal(err)
	}
}

// record is a log that can be read while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func newChecker(t *testing.T, store Store) *Checker {
	t.Helper()
	c, err := NewChecker(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checker runs a checker over a store within a synctest bubble.
func checker(t *testing.T, store Store) (*Checker, *record) {
	t.Helper()
	g := newChecker(t, store)
	log := &record{}
	ctx, cancel := context.WithCancel(zerolog.New(log).WithContext(t.Context()))
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return g, log
}

// settle lets the checker refresh once more.
func settle() {
	time.Sleep(2 * refresh) // within the bubble, where time is simulated
	synctest.Wait()
}

func TestCheckerKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := emptyFile(t)
		g, log := checker(t, store)
		anybody, ok := g.Check("")
		if !ok || g.Required() {
			t.Fatal("without tokens not everybody may read")
		}
		open, release := anybody.Context(t.Context())
		defer release()

		made, text := mint(t, "laptop-1", event.Filter{})
		set(t, store, made)
		settle()
		if context.Cause(open) != ErrRevoked {
			t.Error("who reads without a token may go on when there is one")
		}
		if _, ok := g.Check(""); ok || !g.Required() {
			t.Error("with a token everybody may read")
		}
		grant, ok := g.Check(text)
		if !ok || grant.ID != made.ID {
			t.Fatal("a new token is not good")
		}
		reading, release := grant.Context(t.Context())
		defer release()
		settle()
		if reading.Err() != nil {
			t.Error("a token ended by itself")
		}

		begin := time.Now()
		revoked := made
		revoked.Revoked = &begin
		set(t, store, revoked)
		<-reading.Done()
		if context.Cause(reading) != ErrRevoked || time.Since(begin) > 5*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), context.Cause(reading))
		}
		if _, ok := g.Check(text); ok {
			t.Error("a revoked token is good")
		}
		set(t, store)
		settle()
		if _, ok := g.Check(""); ok {
			t.Error("when the tokens are gone, everybody may read")
		}
		for _, act := range []string{"access token added", "access token revoked"} {
			if !strings.Contains(log.String(), act) {
				t.Errorf("the log does not say %q: %s", act, log)
			}
		}
		if strings.Contains(log.String(), text) {
			t.Error("the log gives a token away")
		}
	})
}

func TestNarrowedScopeEndsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, text := mint(t, "a", event.Filter{Repos: []string{"acme/*"}})
		store := emptyFile(t)
		set(t, store, made)
		g, _ := checker(t, store)
		grant, _ := g.Check(text)
		reading, release := grant.Context(t.Context())
		defer release()
		made.Repos = []string{"acme/app"}
		set(t, store, made)
		settle()
		if reading.Err() == nil {
			t.Error("a stream goes on with rights its token no longer has")
		}
		made.Role = Admin
		set(t, store, made)
		settle()
		if grant, _ := g.Check(text); grant.Role != Admin {
			t.Error("a token's new role does not count")
		}
		if grant, ok := g.Check(text); !ok || grant.Scope().Match(event.Event{Repo: "acme/other"}) {
			t.Error("the token has its old rights")
		}
	})
}

func TestCheckerOverBrokenStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, text := mint(t, "a", event.Filter{})
		store := emptyFile(t)
		set(t, store, made)
		g, log := checker(t, store)
		if err := os.WriteFile(store.Path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		settle()
		settle()
		if _, ok := g.Check(text); !ok {
			t.Error("a good token is not good while the store is broken")
		}
		if n := strings.Count(log.String(), "cannot read the access tokens"); n != 1 {
			t.Errorf("the log says %d times that the tokens cannot be read", n)
		}
		if err := errors.Join(os.Remove(store.Path), os.Mkdir(store.Path, 0o700)); err != nil {
			t.Fatal(err)
		}
		settle()
		settle()
		if n := strings.Count(log.String(), "cannot read the access tokens"); n != 2 {
			t.Errorf("with another reason, the log says %d times that the tokens cannot be read:\n%s", n, log)
		}
		if err := os.Remove(store.Path); err != nil {
			t.Fatal(err)
		}
		settle()
		if !strings.Contains(log.String(), "works again") {
			t.Error("the log does not say that it is over")
		}
		if err := os.Mkdir(store.Path, 0o700); err != nil {
			t.Fatal(err)
		}
		settle()
		if n := strings.Count(log.String(), "cannot read the access tokens"); n != 3 {
			t.Errorf("when it fails as before, the log says %d times that the tokens cannot be read:\n%s", n, log)
		}
	})
}

func TestCheckerRefusesWhatIsNoToken(t *testing.T) {
	made, text := mint(t, "a", event.Filter{})
	store := emptyFile(t)
	set(t, store, made)
	g := newChecker(t, store)
	_, other := mint(t, "a", event.Filter{})
	for name, wrong := range map[string]string{
		"none":           "",
		"another":        other,
		"its id":         made.ID,
		"its hash":       event.TokenPrefix + made.ID + "_" + made.Hash,
		"another secret": text[:len(text)-52] + other[len(other)-52:],
		"cut short":      text[:len(text)-1],
		"in capitals":    strings.ToUpper(text),
	} {
		if _, ok := g.Check(wrong); ok {
			t.Errorf("%s: good", name)
		}
	}
}

func TestCheckerNeedsReadableTokens(t *testing.T) {
	store := emptyFile(t)
	if err := os.WriteFile(store.Path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewChecker(t.Context(), store); err == nil {
		t.Error("a relay would begin without the tokens it has")
	}
}

// A use is recorded within a minute, that of an open stream again each minute, and the last one when the
// relay stops. Uses that another relay recorded stay.
func TestUsesAreNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		once, onceText := mint(t, "once", event.Filter{})
		reader, readerText := mint(t, "reader", event.Filter{})
		idle, _ := mint(t, "idle", event.Filter{})
		store := emptyFile(t)
		set(t, store, once, reader, idle)
		elsewhere := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
		if err := store.SetUses(t.Context(), Uses{idle.ID: elsewhere, once.ID: elsewhere}); err != nil {
			t.Fatal(err)
		}
		g := newChecker(t, store)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.Run(ctx) }()
		expect := func(when string, want Uses) {
			t.Helper()
			synctest.Wait()
			if got, err := store.Uses(t.Context()); err != nil || !maps.EqualFunc(got, want, time.Time.Equal) {
				t.Errorf("%s: noted is %v, %v, want %v", when, got, err, want)
			}
		}
		check := func(text string) *Grant {
			grant, ok := g.Check(text)
			if !ok {
				t.Fatal("a token is not good")
			}
			return grant
		}
		if _, ok := g.Check("rly_" + idle.ID + "_guess"); ok {
			t.Fatal("a guess is good")
		}

		begun := clock()
		check(onceText)
		_, release := check(readerText).Context(t.Context())
		time.Sleep(usesEvery + time.Second)
		expect("after a minute", Uses{once.ID: begun, reader.ID: begun.Add(usesEvery), idle.ID: elsewhere})
		time.Sleep(usesEvery)
		expect("after two", Uses{once.ID: begun, reader.ID: begun.Add(2 * usesEvery), idle.ID: elsewhere})
		release()
		stopped := clock()
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		expect("at the end", Uses{once.ID: begun, reader.ID: stopped, idle.ID: elsewhere})
	})
}

// slowStore holds the next reading back until it may be returned.
type slowStore struct {
	Store
	next chan chan struct{}
}

func (s *slowStore) Load(ctx context.Context) ([]Token, error) {
	tokens, err := s.Store.Load(ctx)
	select {
	case proceed := <-s.next:
		<-proceed
	default:
	}
	return tokens, err
}

// A reading of the tokens that takes long does not undo what was read after it began.
func TestASlowReadingOfTheTokensUndoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{Store: emptyFile(t), next: make(chan chan struct{}, 1)}
		code := invite(t, store, "alice", event.ForAuthor)
		c := newChecker(t, store)
		proceed, read := make(chan struct{}), make(chan error, 1)
		store.next <- proceed
		go func() { read <- c.load(t.Context()) }() // as the refresh does
		synctest.Wait()
		redeemed := make(chan string, 1)
		go func() {
			_, text, err := c.Redeem(t.Context(), code)
			if err != nil {
				t.Error(err)
			}
			redeemed <- text
		}()
		synctest.Wait()
		close(proceed)
		if err := <-read; err != nil {
			t.Error(err)
		}
		if _, ok := c.Check(<-redeemed); !ok {
			t.Error("the token of a redeemed invitation is refused")
		}
	})
}

package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/relay/token"
	"touchstone/worktree/await"
)

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

// lines returns the lines that contain a text.
func (j *journal) lines(text string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []string
	for line := range strings.Lines(j.text.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// startJournal runs a relay with a journal until the test ends.
func startJournal(t *testing.T, config server.Config) (*journal, string) {
	t.Helper()
	var err error
	if config.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if config.Store == nil {
		config.Store = openStore(t, t.TempDir()+"/relay.db")
	}
	s, err := server.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	var log journal
	ctx, stop := context.WithCancel(zerolog.New(&log).WithContext(context.Background()))
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &log, config.Listener.Addr().String()
}

// What strangers do is logged, but does not fill the disk.
func TestStrangersLogLittle(t *testing.T) {
	t.Parallel()
	log, address := startJournal(t, server.Config{
		TLS: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("none") }},
	})
	for range 30 {
		if conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}); err == nil {
			conn.Close()
			t.Fatal("a relay without a certificate took a connection")
		}
	}
	found := log.lines("TLS handshake error")
	if len(found) == 0 || len(found) > 10 || !strings.Contains(found[0], `"level":"warn"`) {
		t.Errorf("30 broken handshakes made %d lines:\n%s", len(found), strings.Join(found, ""))
	}
}

// brokenSource panics over each webhook.
type brokenSource struct{}

func (brokenSource) Accept(string, http.Header, []byte, time.Time) (event.Event, error) {
	panic("a defect")
}

// What strangers do hides no defect of the relay.
func TestStrangersHideNoFault(t *testing.T) {
	t.Parallel()
	certFile, keyFile, roots := certify(t, t.TempDir(), 1)
	certificate, err := server.LoadCertificate(certFile, keyFile)
	must(t, err)
	log, address := startJournal(t, server.Config{TLS: certificate.Config(), Sources: map[string]server.Source{"broken": brokenSource{}}})
	for range 30 {
		if conn, err := tls.Dial("tcp", address, &tls.Config{}); err == nil {
			conn.Close()
			t.Fatal("a client without the relay's root trusts it")
		}
	}
	await.Until(t, "ten lines about handshakes", func() bool { return len(log.lines("TLS handshake error")) == 10 })
	for _, protocol := range []string{"http", "http2"} {
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: protocol == "http2"}}
		if response, err := client.Post("https://"+address+"/webhooks/broken", "application/json", strings.NewReader("{}")); err == nil {
			response.Body.Close()
			t.Errorf("%s: a webhook that the relay fails at is answered %s", protocol, response.Status)
		}
		said := `"message":"` + protocol + ": panic serving"
		await.Until(t, "the line with "+said, func() bool { return len(log.lines(said)) > 0 })
		if line := log.lines(said)[0]; !strings.Contains(line, "a defect") || !strings.Contains(line, `"level":"error"`) {
			t.Errorf("of a defect the log says %s", line)
		}
	}
}

func TestUnreadableWebhooksLogLittle(t *testing.T) {
	t.Parallel()
	log, address := startJournal(t, server.Config{Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}}})
	for i := range 30 {
		answer := send(t, examples.Request(t, "http://"+address, secret, "push", fmt.Sprint(i), []byte("{")))
		if answer.status != http.StatusBadRequest {
			t.Fatalf("a webhook that cannot be read was answered %d", answer.status)
		}
	}
	if found := log.lines("webhook refused"); len(found) != 10 {
		t.Errorf("30 webhooks that cannot be read made %d lines", len(found))
	}
}

// failingStore takes nothing, for a reason that changes.
type failingStore struct {
	hub.Store
	why error
}

func (s *failingStore) Append(context.Context, []event.Event) ([]hub.Appended, error) {
	return nil, s.why
}

// Why webhooks are refused is logged once a minute rather than for each, and at once when the reason is another.
func TestAnotherReasonForRefusingWebhooksIsLoggedAtOnce(t *testing.T) {
	t.Parallel()
	store := &failingStore{Store: openStore(t, t.TempDir()+"/relay.db")}
	log, address := startJournal(t, server.Config{Store: store, Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}}})
	reasons := []string{"the file is locked", "the disk is full"}
	for i := range 20 {
		store.why = errors.New(reasons[i/10])
		answer := send(t, examples.Request(t, "http://"+address, secret, "push", fmt.Sprint(i), []byte("{}")))
		if answer.status != http.StatusServiceUnavailable {
			t.Fatalf("a webhook that cannot be stored was answered %d", answer.status)
		}
	}
	for _, reason := range reasons {
		if found := log.lines("webhook not stored"); len(log.lines(reason)) != 1 {
			t.Errorf("of 20 webhooks the log says, want one line with %q:\n%s", reason, strings.Join(found, ""))
		}
	}
}

// Strangers with codes of no invitation make one line about tokens that cannot be read.
func TestCodesThatCannotBeLookedUpLogLittle(t *testing.T) {
	t.Parallel()
	tokens := token.File{Path: filepath.Join(t.TempDir(), "tokens")}
	_, code, err := token.NewInvite("alice", event.ForAuthor, event.Filter{}, nil, time.Hour)
	must(t, err)
	mint(t, tokens, "ops", token.Admin, event.Filter{})
	log, address := startJournal(t, server.Config{Tokens: newChecker(t, tokens)})
	must(t, os.WriteFile(tokens.Path, []byte("{"), 0o600))
	for range 30 {
		response, err := http.Post("http://"+address+"/api/v1/join", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
		must(t, err)
		response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("a code that cannot be looked up was answered %s", response.Status)
		}
	}
	if found := log.lines("cannot redeem an invitation"); len(found) != 1 {
		t.Errorf("30 codes made %d lines", len(found))
	}
}

func TestSubscriberThatHangsUpIsSaidTo(t *testing.T) {
	t.Parallel()
	log, address := startJournal(t, server.Config{})
	response, err := http.Get("http://" + address + "/events")
	if err != nil {
		t.Fatal(err)
	}
	// Who hangs up before the greeting may be met by that instead.
	if _, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	await.Until(t, "the line that the subscriber is gone", func() bool { return len(log.lines("subscriber gone")) > 0 })
	if line := log.lines("subscriber gone")[0]; !strings.Contains(line, `"cause":"the client disconnected"`) {
		t.Errorf("of a subscriber that hung up the log says %s", line)
	}
}

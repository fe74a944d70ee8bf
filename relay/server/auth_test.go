package server_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/server"
	"touchstone/relay/token"
	"touchstone/worktree/await"
)

// guarded starts a relay whose tokens are in the returned store, one for each scope, in the order of the
// returned texts.
func guarded(t *testing.T, scopes ...event.Filter) (*relay, token.File, []string) {
	t.Helper()
	store := token.File{Path: filepath.Join(t.TempDir(), "tokens")}
	var texts []string
	for i, scope := range scopes {
		texts = append(texts, mint(t, store, fmt.Sprint("laptop-", i), token.Subscriber, scope))
	}
	guard := newChecker(t, store)
	return start(t, server.Config{Tokens: guard, Heartbeat: tick}), store, texts
}

func newChecker(t *testing.T, store token.Store) *token.Checker {
	t.Helper()
	checker, err := token.NewChecker(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

func mint(t *testing.T, store token.Store, name string, role token.Role, scope event.Filter) string {
	t.Helper()
	made, text, err := token.New(name, role, scope)
	if err != nil {
		t.Fatal(err)
	}
	must(t, token.Add(t.Context(), store, made))
	return text
}

// revoke ends the token with the given text.
func revoke(t *testing.T, store token.Store, text string) {
	t.Helper()
	if _, err := token.Revoke(t.Context(), store, strings.Split(text, "_")[1]); err != nil {
		t.Fatal(err)
	}
}

// get sends a GET request with an Authorization header, if one is given.
func (r *relay) get(t *testing.T, path, authorization string) answer {
	t.Helper()
	return send(t, r.request(t, http.MethodGet, path, authorization, ""))
}

func TestReadingTakesAToken(t *testing.T) {
	r, _, texts := guarded(t, event.Filter{})
	for name, authorization := range map[string]string{
		"nothing":         "",
		"another scheme":  "Basic " + texts[0],
		"no scheme":       texts[0],
		"another token":   "Bearer " + texts[0][:len(texts[0])-52] + strings.Repeat("a", 52),
		"something else":  "Bearer hunter2",
		"the token twice": "Bearer " + texts[0] + " " + texts[0],
	} {
		if a := r.get(t, "/events", authorization); a.status != http.StatusUnauthorized || strings.Contains(a.Error, texts[0]) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := r.get(t, path, ""); a.status != http.StatusOK {
			t.Errorf("%s without a token: %+v", path, a)
		}
	}
	c := &client.Client{URL: r.address, Token: "rly_aaaaaaaa_" + strings.Repeat("a", 52)}
	err := c.Follow(t.Context(), client.Oldest, func(context.Context, event.Message) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), c.Token) {
		t.Errorf("a follower with a bad token: %v", err)
	}
	id := r.post(t, "a", `{}`)
	good := &client.Client{URL: r.address, Token: texts[0]}
	err = good.Follow(t.Context(), client.Oldest, func(_ context.Context, m event.Message) error {
		if m.Event != nil {
			return fmt.Errorf("got %s", m.Event.ID)
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "got "+id) {
		t.Errorf("a follower with a good token: %v", err)
	}
}

// Of events outside its scope a subscriber gets nothing but ids, whatever it asks for.
func TestASubscriberGetsOnlyIdsOfEventsOutsideItsScope(t *testing.T) {
	r, _, texts := guarded(t, event.Filter{Repos: []string{"acme/*"}}, event.Filter{Sources: []string{"grafana"}}, event.Filter{})
	payload := func(repo string) string { return fmt.Sprintf(`{"repository":{"full_name":%q}}`, repo) }
	r.post(t, "a", payload("secret/plans"))
	inside := r.post(t, "b", payload("acme/app"))
	r.post(t, "c", `{"organization":{"login":"secret"}}`)
	last := r.post(t, "d", payload("acme/last"))
	end := errors.New("everything was sent or left out")
	follow := func(text string, filter event.Filter) []string {
		t.Helper()
		var got []string
		c := &client.Client{URL: r.address, Token: text, Filter: filter}
		err := c.Follow(t.Context(), client.Oldest, func(_ context.Context, m event.Message) error {
			if m.Event != nil {
				got = append(got, m.Event.ID.String())
			}
			if m.Cursor.String() == last {
				return end
			}
			return nil
		})
		if !errors.Is(err, end) {
			t.Errorf("follow: %v", err)
		}
		return got
	}
	for name, test := range map[string]struct {
		text   string
		filter event.Filter
		want   []string
	}{
		"everything":       {texts[0], event.Filter{}, []string{inside, last}},
		"what is outside":  {texts[0], event.Filter{Repos: []string{"secret/*"}}, nil},
		"more":             {texts[0], event.Filter{Repos: []string{"*/*", "secret/plans"}}, []string{inside, last}},
		"less":             {texts[0], event.Filter{Repos: []string{"acme/last"}}, []string{last}},
		"another source's": {texts[1], event.Filter{}, nil},
	} {
		if got := follow(test.text, test.filter); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("asked for %s: got %v, want %v", name, got, test.want)
		}
	}
}

// The streams of a revoked token end soon, on an idle machine within five seconds: that of a waiting
// subscriber, and that of a subscriber that has stopped reading.
func TestRevokedStreamsEnd(t *testing.T) {
	r, store, texts := guarded(t, event.Filter{}, event.Filter{})
	connected := make(chan struct{}, 1)
	waiting := make(chan error, 1)
	go func() {
		c := &client.Client{URL: r.address, Token: texts[0], OnState: func(s client.State) {
			if s.Connected {
				connected <- struct{}{}
			}
		}}
		waiting <- c.Follow(t.Context(), client.Now, func(context.Context, event.Message) error { return nil })
	}()
	<-connected
	stalled, err := net.Dial("tcp", strings.TrimPrefix(r.address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	must(t, stalled.(*net.TCPConn).SetReadBuffer(16<<10))
	fmt.Fprintf(stalled, "GET /events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer %s\r\n\r\n", texts[0])
	if _, err := stalled.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for i := range 8 { // more than the system buffers for the one that reads nothing
		r.post(t, fmt.Sprint(i), fmt.Sprintf(`"%d`, i)+strings.Repeat("x", 1<<20)+`"`)
	}
	begin := time.Now()
	revoke(t, store, texts[0])
	if err := <-waiting; err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("the follower ended with %v", err)
	}
	for range 2 {
		<-r.gone
	}
	// The one that does not read would have been cut off some day without that.
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("the streams went on for %s", took)
	}
	if a := r.get(t, "/events?after=17", "Bearer "+texts[1]); a.status != http.StatusBadRequest {
		t.Errorf("another token is no longer good either: %+v", a)
	}
}

func TestFirstTokenEndsOpenStreams(t *testing.T) {
	r, store, _ := guarded(t)
	c := &client.Client{URL: r.address, OnState: func(s client.State) {
		if s.Connected {
			mint(t, store, "first", token.Subscriber, event.Filter{})
		}
	}}
	err := c.Follow(t.Context(), client.Now, func(context.Context, event.Message) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a follower without a token: %v", err)
	}
}

// After a few bad tokens or signatures, further ones are refused with 429; a good one never is.
func TestFailuresAreLimited(t *testing.T) {
	r, _, texts := guarded(t, event.Filter{})
	forged := func() answer {
		request := examples.Request(t, r.address, "guess", "push", "a", []byte(`{}`))
		return send(t, request)
	}
	guess := func() answer { return r.get(t, "/events", "Bearer hunter2") }
	for i := range 10 {
		try := []func() answer{forged, guess}[i%2]
		if a := try(); a.status != http.StatusUnauthorized {
			t.Fatalf("failure %d: %+v", i, a)
		}
	}
	for _, try := range []func() answer{forged, guess} {
		if a := try(); a.status != http.StatusTooManyRequests || a.retryAfter == "" {
			t.Errorf("one more: %+v", a)
		}
	}
	r.post(t, "good", `{}`)
	if a := r.get(t, "/events?after=17", "Bearer "+texts[0]); a.status != http.StatusBadRequest {
		t.Errorf("a good token from the same address: %+v", a)
	}
}

func TestRecoverIsForOperators(t *testing.T) {
	r, store, texts := guarded(t, event.Filter{})
	admin := mint(t, store, "ops", token.Admin, event.Filter{})
	ask := func(authorization string, headers ...string) int {
		request := r.request(t, http.MethodPost, "/recover", authorization, "")
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			request.Header.Set(name, value)
		}
		return send(t, request).status
	}
	// This relay looks after no webhooks, so an administrator is told 404.
	proxied := "X-Forwarded-For: 192.0.2.1"
	for name, test := range map[string]struct{ got, want int }{
		"this machine":           {ask(""), http.StatusNotFound},
		"a web page":             {ask("", "Sec-Fetch-Site: cross-site"), http.StatusUnauthorized},
		"a proxy":                {ask("", proxied), http.StatusUnauthorized},
		"a subscriber, by proxy": {ask("Bearer "+texts[0], proxied), http.StatusForbidden},
	} {
		if test.got != test.want {
			t.Errorf("%s: %d, want %d", name, test.got, test.want)
		}
	}
	await.Until(t, "the relay to know the new admin", func() bool { return ask("Bearer "+admin, proxied) == http.StatusNotFound })
}

// certify writes a certificate for 127.0.0.1 with the given serial number.
func certify(t *testing.T, folder string, serial int64) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, content := range map[string][]byte{
		certFile: certPEM, keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	} {
		must(t, os.WriteFile(path, content, 0o600))
		// Coarse clocks give two files written soon after another the same time.
		must(t, os.Chtimes(path, time.Time{}, time.Unix(serial, 0)))
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, roots
}

func TestTLS(t *testing.T) {
	folder := t.TempDir()
	certFile, keyFile, roots := certify(t, folder, 1)
	certificate, err := server.LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, server.Config{TLS: certificate.Config()})
	address := "https" + strings.TrimPrefix(r.address, "http")
	get := func(roots *x509.CertPool) (*http.Response, error) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
		t.Cleanup(transport.CloseIdleConnections)
		request := (&relay{address: address}).request(t, http.MethodGet, "/events", "", "")
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err == nil {
			t.Cleanup(func() { response.Body.Close() })
		}
		return response, err
	}
	response, err := get(roots)
	if err != nil || response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
		t.Fatalf("over TLS: %+v, %v", response, err)
	}
	greeting := make([]byte, len("retry:"))
	if _, err := response.Body.Read(greeting); err != nil || !bytes.Equal(greeting, []byte("retry:")) {
		t.Errorf("the stream begins with %q, %v", greeting, err)
	}
	// A renewed certificate counts from the next connection on; half of one does not.
	_, _, renewed := certify(t, folder, 2)
	if response, err := get(renewed); err != nil || response.TLS.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Errorf("with the renewed certificate: %v", err)
	}
	must(t, os.WriteFile(keyFile, []byte("half"), 0o600))
	if _, err := get(renewed); err != nil {
		t.Errorf("while the certificate is being written: %v", err)
	}
	if _, err := server.LoadCertificate(certFile, keyFile); err == nil {
		t.Error("a broken certificate was loaded")
	}
}

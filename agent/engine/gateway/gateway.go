// Package gateway is a loopback proxy between the CLI of one session and its provider. The provider's key
// stays in the gateway: the CLI gets a token that is only valid for this gateway, so nothing in the session
// can read or leak the key. The gateway also sees what CLIs do not report: that the provider is sending, what
// its answers used, that it refuses requests, with which message, and when to retry. It ends a turn whose
// session has spent its budget.
//
// The gateway rejects requests for other models than those that the session started with.
//
// It listens from Open to Close and stores nothing but the session's models and how the present turn's
// requests were answered. It records their cost in the session's account.
package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"touchstone/agent/engine/usage"
)

// Provider is the address and the login for requests.
type Provider struct {
	// URL is the API's base URL, such as https://api.openai.com/v1.
	URL string
	// Key is the login. It replaces the gateway's token in the header that the CLI sent it in: Authorization,
	// X-Api-Key or X-Goog-Api-Key.
	Key string
	// CacheKey, if not empty, replaces the key by which the CLI separates its sessions in the provider's
	// cache, if it sends one. It has letters, digits and dashes.
	CacheKey string
}

// Gateway serves one session.
type Gateway struct {
	// URL is the API's base URL for the CLI, at the loopback address and Port.
	URL  string
	Port uint16
	// Token is the CLI's key.
	Token string
	// Alive receives a value when the CLI has sent a request to a model, or the provider has sent something.
	Alive chan struct{}

	provider Provider
	account  *usage.Account
	server   *http.Server
	served   chan struct{}
	// room holds one element for each answer in progress.
	room chan struct{}

	mu sync.Mutex
	// turn is the present turn, or nil between turns.
	turn *Turn
	// models are the models that the session may ask for. The set is complete once answers is true.
	models  map[string]bool
	answers bool
}

const (
	// maxRefusals is how many refusals in a row one turn accepts. After that, the caller of the session
	// should wait instead.
	maxRefusals = 4
	// maxWait is the longest time that a provider may ask a CLI to wait before it has answered in the session. Nothing
	// is lost yet, and the caller can ask another model.
	maxWait = 10 * time.Second
	// maxWaitBegun is maxWait once the provider has answered. To end the session would cost more than the wait: all that
	// it has read is paid for, and the next session of an account with a low limit would meet the same limit again. A
	// limit is mostly for a minute, and claude fails if it is asked to wait much longer (seen in 2.1.329: not for 60
	// seconds, but for 75).
	maxWaitBegun = time.Minute
	// maxRefusal bounds, in bytes, how much of a refusal is passed on. refusalTime bounds how long it is
	// waited for: the status says most of it.
	maxRefusal  = 64 << 10
	refusalTime = 2 * time.Second
	// maxAtOnce is how many answers of a session may be in progress; the next request waits. The session's
	// bounds can be exceeded by that many answers. A CLI sends one request at a time, and sometimes a small
	// one besides.
	maxAtOnce = 2
	// settleTime bounds the wait for answers whose client is gone.
	settleTime = time.Second
)

// A connection that the network has dropped, such as that of a laptop which slept, looks like a model that
// thinks: until a ping over HTTP/2 goes unanswered, and the CLI can ask again. Together they are less than the
// time after which a silent session is stopped. They are changed only by tests.
var pingAfter, pingTimeout = 30 * time.Second, 15 * time.Second

// Open starts a gateway for the session of an account.
func Open(provider Provider, account *usage.Account) (*Gateway, error) {
	upstream, err := url.Parse(provider.URL)
	if err != nil || upstream.Host == "" || (upstream.Scheme != "http" && upstream.Scheme != "https") {
		return nil, errors.New("the provider's address is not a URL; correct the variable that sets it")
	}
	// A file from another system may have other line endings.
	if provider.Key = strings.TrimSpace(provider.Key); provider.Key == "" {
		return nil, errors.New("a gateway needs a key")
	}
	if strings.ContainsFunc(provider.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key contains a line break or another character that no key has; set its variable again")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a gateway to the provider: %w", err)
	}
	g := &Gateway{
		URL: "http://" + listener.Addr().String(), Port: uint16(listener.Addr().(*net.TCPAddr).Port),
		Token: "ts-" + rand.Text(), Alive: make(chan struct{}, 1),
		provider: provider, account: account, served: make(chan struct{}), room: make(chan struct{}, maxAtOnce),
		models: map[string]bool{},
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, BufferPool: buffers{},
		// The turn reports what goes wrong with a request.
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			// The gateway could not read a compressed refusal.
			r.Out.Header.Del("Accept-Encoding")
			g.swap(r.Out.Header)
		},
		ModifyResponse: g.answered,
		ErrorHandler:   g.unreachable,
	}
	g.server = &http.Server{Handler: g.admit(proxy), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(g.served)
		// It ends with Close. Any other error could not be handled here.
		_ = g.server.Serve(listener)
		transport.CloseIdleConnections()
	}()
	return g, nil
}

// Close closes the gateway and its connections.
func (g *Gateway) Close() error {
	err := g.server.Close()
	<-g.served
	return err
}

// logins are the headers in which a key can be sent.
var logins = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"}

// admit rejects requests without the token, and requests that are not about models: the key may give access
// to other parts of the provider's API, which no session needs.
func (g *Gateway) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !asksModel(r) && !asksAbout(r) {
			http.Error(w, "this gateway serves only requests to models", http.StatusNotFound)
			return
		}
		for _, name := range logins {
			token := strings.TrimPrefix(r.Header.Get(name), "Bearer ")
			if subtle.ConstantTimeCompare([]byte(token), []byte(g.Token)) == 1 {
				g.pass(w, r, next)
				return
			}
		}
		http.Error(w, "this gateway belongs to another session", http.StatusUnauthorized)
	})
}

// pass passes a request on, unless it exceeds a bound or is for a model that is not the session's.
func (g *Gateway) pass(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if asksModel(r) {
		turn := g.present()
		select {
		case g.room <- struct{}{}:
			defer func() { <-g.room }()
		case <-r.Context().Done():
			return
		}
		if over := g.account.Exhausted(); over != nil {
			turn.exhaust(over)
			http.Error(w, over.Message, http.StatusPaymentRequired)
			return
		}
		model, err := modelOf(r, g.provider.CacheKey)
		if err == nil {
			err = g.foreign(model)
		}
		if err != nil {
			turn.deny(err)
			http.Error(w, "this gateway does not forward that: "+err.Error(), http.StatusForbidden)
			return
		}
		if barred := g.account.Barred(model); barred != nil {
			turn.exhaust(barred)
			http.Error(w, barred.Message, http.StatusForbidden)
			return
		}
		g.signal()
		turn.ask()
		r = r.WithContext(context.WithValue(r.Context(), askedKey{}, asked{turn, model, r.ContentLength}))
	}
	next.ServeHTTP(w, r)
}

// swap replaces the token with the key.
func (g *Gateway) swap(header http.Header) {
	for _, name := range logins {
		if value := header.Get(name); value != "" {
			header.Set(name, strings.ReplaceAll(value, g.Token, g.provider.Key))
		}
	}
}

// conceal replaces the key with the token where a provider's headers repeat it.
func (g *Gateway) conceal(header http.Header) {
	for _, values := range header {
		for i, value := range values {
			values[i] = strings.ReplaceAll(value, g.provider.Key, g.Token)
		}
	}
}

// Redact removes the key and the token from a text.
func (g *Gateway) Redact(text string) string {
	return strings.NewReplacer(g.provider.Key, "[redacted]", g.Token, "[redacted]").Replace(text)
}

// Begin starts a turn. giveUp is called once if the provider refuses for too long.
func (g *Gateway) Begin(giveUp context.CancelFunc) *Turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn = &Turn{giveUp: giveUp, begun: g.answers}
	return g.turn
}

// asksModel reports whether a model answers the request.
func asksModel(r *http.Request) bool {
	_, act := googles(r)
	return r.Method == http.MethodPost &&
		(act == "generateContent" || act == "streamGenerateContent" || isOne(r, "/messages", "/responses", "/chat/completions"))
}

// asksAbout reports whether a request asks for information beforehand. If a provider does not answer it, that
// means nothing.
func asksAbout(r *http.Request) bool {
	_, act := googles(r)
	return r.Method == http.MethodGet && isOne(r, "/models") ||
		r.Method == http.MethodPost && (act == "countTokens" || isOne(r, "/messages/count_tokens"))
}

// isOne compares the request's path, with or without the API's version before it.
func isOne(r *http.Request, paths ...string) bool {
	return slices.Contains(paths, strings.TrimPrefix(r.URL.Path, "/v1"))
}

// asked describes a request for a model: its turn, its model and its size.
type asked struct {
	turn  *Turn
	model string
	bytes int64
}

// askedKey is the key of that in the request's context.
type askedKey struct{}

// askedOf returns the description of a request for a model. For any other request the turn is nil, and
// nothing is recorded.
func askedOf(r *http.Request) asked {
	what, _ := r.Context().Value(askedKey{}).(asked)
	return what
}

func (g *Gateway) present() *Turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turn
}

// Settle waits until the answers in progress are accounted for. If the clients are gone that is at once, and
// at most it takes settleTime. It reports whether all are.
func (g *Gateway) Settle() bool {
	late := time.NewTimer(settleTime)
	defer late.Stop()
	for range maxAtOnce {
		select {
		case g.room <- struct{}{}:
			defer func() { <-g.room }()
		case <-late.C:
			return false
		}
	}
	return true
}

// Working reports whether the CLI is busy by itself: in this turn, the provider has given a complete answer,
// refused nothing since, and has no pending request.
func (g *Gateway) Working() bool {
	return !g.Asking() && g.present().answered()
}

// Asking reports whether the provider has still to answer a request, or the rest of it.
func (g *Gateway) Asking() bool { return len(g.room) > 0 }

func (g *Gateway) signal() {
	select {
	case g.Alive <- struct{}{}:
	default:
	}
}

// answered inspects the provider's answer on its way to the CLI.
func (g *Gateway) answered(response *http.Response) error {
	g.signal()
	g.conceal(response.Header)
	what := askedOf(response.Request)
	turn := what.turn
	if err := redirected(response); err != nil {
		return err
	}
	if response.StatusCode < http.StatusBadRequest {
		turn.accept(false)
		w := &witness{ReadCloser: response.Body, gateway: g, turn: turn, gone: response.Request.Context().Done()}
		if turn != nil {
			g.firstAnswer()
			kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
			w.answer = g.account.Answer(what.model, what.bytes, kind == "application/json")
		}
		response.Body = w
		return nil
	}
	late := time.AfterFunc(refusalTime, func() { _ = response.Body.Close() })
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // as much as arrives
	late.Stop()
	said = bytes.ReplaceAll(said, []byte(g.provider.Key), []byte(g.Token))
	g.refuse(turn, refusalOf(response, said), response.Header)
	_ = response.Body.Close() // it was only read from
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(said)), int64(len(said))
	response.Header.Set("Content-Length", strconv.Itoa(len(said)))
	return nil
}

// redirection is why there is no answer from an address that redirects requests to another one. A CLI would
// follow it around the gateway, where its key is not known, or ask without its prompt
// (https://fetch.spec.whatwg.org/#http-redirect-fetch).
type redirection struct{ to *url.URL }

func (r redirection) Error() string {
	to := url.URL{Scheme: r.to.Scheme, Host: r.to.Host, Path: r.to.Path}
	return fmt.Sprintf("the provider's address redirects requests to %s; correct the variable that sets it", to.String())
}

func redirected(response *http.Response) error {
	to, err := response.Location()
	if err != nil || response.StatusCode < http.StatusMultipleChoices || response.StatusCode >= http.StatusBadRequest {
		return nil
	}
	return redirection{to}
}

// unreachable tells the CLI that there was no answer.
func (g *Gateway) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		g.refuse(askedOf(r).turn, Refusal{Message: err.Error()}, nil)
	}
	said := "the provider does not answer"
	if errors.As(err, new(redirection)) {
		said = err.Error()
	}
	http.Error(w, said, http.StatusBadGateway)
}

// buffers makes the buffers through which answers are copied. Larger buffers mean fewer system calls, which
// are most of the cost of copying.
type buffers struct{}

func (buffers) Get() []byte { return make([]byte, 128<<10) }

// Put leaves a buffer to the garbage collector: there are few answers, and they are slow.
func (buffers) Put([]byte) {}

// witness inspects an answer as it passes.
type witness struct {
	io.ReadCloser
	gateway *Gateway
	turn    *Turn
	// answer is nil if it is not the answer of a model.
	answer *usage.Answer
	gone   <-chan struct{}
	// over says that the answer is complete, or broke off.
	over bool
}

func (w *witness) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.gateway.signal()
	}
	if w.answer != nil {
		// Write does not fail.
		_, _ = w.answer.Write(p[:n])
	}
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		w.end()
	default:
		select {
		case <-w.gone:
			// The CLI closed the connection.
		default:
			w.over = true
			w.gateway.refuse(w.turn, Refusal{Message: err.Error(), late: true}, nil)
		}
	}
	return n, err
}

// Close ends the answer, even if the CLI no longer wants it: a CLI that has read the last event may not wait
// for the end of the stream.
func (w *witness) Close() error {
	if w.answer != nil {
		w.answer.Close()
		if !w.over && w.answer.Complete() {
			w.end()
		}
	}
	return w.ReadCloser.Close()
}

// end handles the end of an answer. The provider may have ended it with an error.
func (w *witness) end() {
	w.over = true
	if w.answer == nil {
		return
	}
	w.answer.Close()
	if fault := w.answer.Fault(); fault != nil {
		w.gateway.refuse(w.turn, brokenOff(*fault), nil)
		return
	}
	w.turn.accept(true)
}

// Package gateway is a loopback proxy between the CLI of one session and its
// provider. The provider's key stays here: the CLI is given a token that is good
// for this gateway alone, so that nothing in the session can read or leak the key.
// The gateway also sees what CLIs do not tell: that the provider is sending, what its
// answers have used, that it refuses, in which words, and when it wants to be asked
// again. And it ends a turn whose session has used up what it may spend.
//
// A request for another model than the session has begun with it does not pass on.
//
// It listens from Open to Close and stores nothing but the session's models and how the
// present turn's requests were answered; what they cost it writes into the session's account.
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

// Provider is where requests go, and with what login.
type Provider struct {
	// URL is the API's base, such as https://api.openai.com/v1.
	URL string
	// Key is the login; it replaces the gateway's token in the header in which the CLI has sent
	// it: Authorization, X-Api-Key or X-Goog-Api-Key.
	Key string
	// CacheKey, if not empty, takes the place of what the CLI has the provider's cache tell its
	// sessions apart by, where it does: letters, digits and dashes.
	CacheKey string
}

// Gateway is open for one session.
type Gateway struct {
	// URL is the API's base for the CLI.
	URL string
	// Token is the CLI's key.
	Token string
	// Alive has something in it after the CLI has asked a model, or the provider sent something.
	Alive chan struct{}

	provider Provider
	account  *usage.Account
	server   *http.Server
	served   chan struct{}
	// room has one in it for each answer under way.
	room chan struct{}

	mu sync.Mutex
	// turn is the present turn, or nil between two.
	turn *Turn
	// models are those that the session may ask for, all of them known once answers is true.
	models  map[string]bool
	answers bool
}

const (
	// maxRefusals is how often in a row a provider may refuse in one turn; after
	// that, waiting is better done by the caller of the session.
	maxRefusals = 4
	// maxWait is the longest time a provider may ask a CLI to wait.
	maxWait = 10 * time.Second
	// maxRefusal bounds what is passed on of a refusal, in bytes, and refusalTime how long
	// that is waited for: the status says most of it.
	maxRefusal  = 64 << 10
	refusalTime = 2 * time.Second
	// maxAtOnce is how many answers may be under way in a session; the next request waits.
	// By so many of them may its bounds be overstepped. A CLI asks for one, and a small one
	// beside it.
	maxAtOnce = 2
	// settleTime bounds the wait for answers whose client is gone.
	settleTime = time.Second
)

// Open starts a gateway for the session that an account is of.
func Open(provider Provider, account *usage.Account) (*Gateway, error) {
	upstream, err := url.Parse(provider.URL)
	if err != nil || upstream.Host == "" || (upstream.Scheme != "http" && upstream.Scheme != "https") {
		return nil, errors.New("the provider's address is no web address; mend the variable that says so")
	}
	// A file written elsewhere may end its lines in another way.
	if provider.Key = strings.TrimSpace(provider.Key); provider.Key == "" {
		return nil, errors.New("a gateway without a key would be of no use")
	}
	if strings.ContainsFunc(provider.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key holds a line break or another character that no key has; set its variable again")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a gateway to the provider: %w", err)
	}
	g := &Gateway{
		URL: "http://" + listener.Addr().String(), Token: "ts-" + rand.Text(), Alive: make(chan struct{}, 1),
		provider: provider, account: account, served: make(chan struct{}), room: make(chan struct{}, maxAtOnce),
		models: map[string]bool{},
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, BufferPool: buffers{},
		// What goes wrong with a request, its turn tells.
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			// A compressed refusal could not be read here.
			r.Out.Header.Del("Accept-Encoding")
			g.swap(r.Out.Header)
		},
		ModifyResponse: g.answered,
		ErrorHandler:   g.unreachable,
	}
	g.server = &http.Server{Handler: g.admit(proxy), ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(g.served)
		// It ends with Close, and with nothing else that could be mended here.
		_ = g.server.Serve(listener)
		transport.CloseIdleConnections()
	}()
	return g, nil
}

// Close ends the gateway and its connections.
func (g *Gateway) Close() error {
	err := g.server.Close()
	<-g.served
	return err
}

// logins are the headers in which a key is sent.
var logins = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"}

// admit turns away requests without the token, and those that are not about models: the key may
// open more of the provider's API, which no session needs.
func (g *Gateway) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !asksModel(r) && !asksAbout(r) {
			http.Error(w, "this gateway is for models alone", http.StatusNotFound)
			return
		}
		for _, name := range logins {
			token := strings.TrimPrefix(r.Header.Get(name), "Bearer ")
			if subtle.ConstantTimeCompare([]byte(token), []byte(g.Token)) == 1 {
				g.pass(w, r, next)
				return
			}
		}
		http.Error(w, "this gateway is another session's", http.StatusUnauthorized)
	})
}

// pass passes a request on, unless it is one too many, or for a model that is not the session's.
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
			http.Error(w, "this gateway does not pass that on: "+err.Error(), http.StatusForbidden)
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

// swap puts the key where the token is.
func (g *Gateway) swap(header http.Header) {
	for _, name := range logins {
		if value := header.Get(name); value != "" {
			header.Set(name, strings.ReplaceAll(value, g.Token, g.provider.Key))
		}
	}
}

// conceal puts the token where a provider's headers repeat the key.
func (g *Gateway) conceal(header http.Header) {
	for _, values := range header {
		for i, value := range values {
			values[i] = strings.ReplaceAll(value, g.provider.Key, g.Token)
		}
	}
}

// Redact takes the key and the token out of a text.
func (g *Gateway) Redact(text string) string {
	return strings.NewReplacer(g.provider.Key, "[redacted]", g.Token, "[redacted]").Replace(text)
}

// Begin begins a turn; giveUp is called once if the provider refuses for too long.
func (g *Gateway) Begin(giveUp context.CancelFunc) *Turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn = &Turn{giveUp: giveUp}
	return g.turn
}

// asksModel reports whether a request is one that a model answers.
func asksModel(r *http.Request) bool {
	if _, act := googles(r); act == "generateContent" || act == "streamGenerateContent" {
		return r.Method == http.MethodPost
	}
	return r.Method == http.MethodPost && isOne(r, "/messages", "/responses", "/chat/completions")
}

// asksAbout reports whether a request is for what there is to know beforehand. That
// a provider has no answer to that means nothing.
func asksAbout(r *http.Request) bool {
	if _, act := googles(r); act == "countTokens" {
		return r.Method == http.MethodPost
	}
	return r.Method == http.MethodGet && isOne(r, "/models") || r.Method == http.MethodPost && isOne(r, "/messages/count_tokens")
}

// isOne compares a path, with the version of the API before it or without.
func isOne(r *http.Request, paths ...string) bool {
	return slices.Contains(paths, strings.TrimPrefix(r.URL.Path, "/v1"))
}

// asked is what a request for a model is: of which turn, for which model, with how many bytes.
type asked struct {
	turn  *Turn
	model string
	bytes int64
}

// askedKey is where in its context a request for a model has that.
type askedKey struct{}

// askedOf gives what a request for a model is. Of any other the turn is nil, of which nothing is
// kept.
func askedOf(r *http.Request) asked {
	what, _ := r.Context().Value(askedKey{}).(asked)
	return what
}

func (g *Gateway) present() *Turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turn
}

// Settle waits until the answers under way are accounted for, at once if the clients are gone,
// and for settleTime at the most; it reports whether they are.
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

// Working reports whether the CLI has its own to do: the provider has given a whole answer in
// this turn, refused nothing since, and is asked for nothing now.
func (g *Gateway) Working() bool {
	return len(g.room) == 0 && g.present().answered()
}

func (g *Gateway) signal() {
	select {
	case g.Alive <- struct{}{}:
	default:
	}
}

// answered looks at the provider's answer on its way to the CLI.
func (g *Gateway) answered(response *http.Response) error {
	g.signal()
	g.conceal(response.Header)
	what := askedOf(response.Request)
	turn := what.turn
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
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // as far as it comes
	late.Stop()
	said = bytes.ReplaceAll(said, []byte(g.provider.Key), []byte(g.Token))
	turn.refuse(refusalOf(response, said))
	_ = response.Body.Close() // it was for reading only
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(said)), int64(len(said))
	response.Header.Set("Content-Length", strconv.Itoa(len(said)))
	return nil
}

// unreachable tells the CLI that there was no answer.
func (g *Gateway) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		askedOf(r).turn.refuse(Refusal{Message: err.Error()})
	}
	http.Error(w, "the provider does not answer", http.StatusBadGateway)
}

// buffers makes those through which answers go: the larger, the fewer calls of the system a
// long one takes, which is most of what copying costs.
type buffers struct{}

func (buffers) Get() []byte { return make([]byte, 128<<10) }

// Put leaves one to the garbage collector: there are few answers, and those are slow.
func (buffers) Put([]byte) {}

// witness sees an answer go by.
type witness struct {
	io.ReadCloser
	gateway *Gateway
	turn    *Turn
	// answer is nil if it is not a model's.
	answer *usage.Answer
	gone   <-chan struct{}
	// over says that the answer has come to its end, or broke.
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
			// It was the CLI that went away.
		default:
			w.over = true
			w.turn.refuse(Refusal{Message: err.Error(), late: true})
		}
	}
	return n, err
}

// Close ends the answer, also one that the CLI no longer wanted: that it has read the last event
// does not mean that it waits for the end.
func (w *witness) Close() error {
	if w.answer != nil {
		w.answer.Close()
		if !w.over && w.answer.Complete() {
			w.end()
		}
	}
	return w.ReadCloser.Close()
}

// end is the end of an answer, which the provider may have broken off in words.
func (w *witness) end() {
	w.over = true
	if w.answer == nil {
		return
	}
	w.answer.Close()
	if fault := w.answer.Fault(); fault != nil {
		w.turn.refuse(brokenOff(*fault))
		return
	}
	w.turn.accept(true)
}

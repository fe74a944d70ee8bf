package recovery_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/rs/zerolog"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/recovery"
	"touchstone/relay/server"
	"touchstone/relay/source"
)

const (
	secret = "s3cret"
	token  = "token-of-admin"
	// hookURL is where the hook sends to; the simulator's transport finds the relay.
	hookURL = "http://relay.test/webhooks/github"
)

// world is a GitHub with one pull request and one hook, and the route to a relay.
type world struct {
	*simtest.GitHub
	t      *testing.T
	github *github.Client
	// hooks is a client that sees the hook, and path where the hook is.
	hooks *github.Client
	path  string
	pull  int
	// relay is the address that the hook leads to; nil while the relay is away.
	relay atomic.Pointer[string]
	// answer, when set, may answer a request in GitHub's place.
	answer atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]

	children []*child // the relays that are processes of their own
	// lease is how long those that share a log wait for a dead one's lease.
	lease time.Duration

	mu       sync.Mutex
	requests []string
}

// appKey is the key of the App with the id 7.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// RoundTrip carries the simulator's webhooks to the present address of the relay.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	address := w.relay.Load()
	if address == nil {
		return nil, errors.New("the relay is away")
	}
	r = r.Clone(r.Context())
	r.URL.Host = *address
	return http.DefaultTransport.RoundTrip(r)
}

// newWorld starts the simulator with a hook of the target's.
func newWorld(t *testing.T, target, contentType string) *world {
	t.Helper()
	w := &world{t: t}
	users := append(simtest.Users("admin", "octocat"),
		githubsim.User{Login: "app[bot]", Token: "token-of-app", App: true, AppID: "7", AppKey: &appKey().PublicKey})
	w.GitHub = simtest.Behind(t, githubsim.Config{Transport: w, Users: users},
		githubsim.RepoOptions{Owner: "acme", Name: "app", Files: map[string]string{"a.txt": "a\n"}},
		w.before)
	ctx := t.Context()
	w.github = github.NewClient(nil).WithAuthToken(token)
	w.github.BaseURL, _ = url.Parse(w.URL + "/")
	if _, err := w.Commit(ctx, "admin", "acme/app", "feature", "Change a", map[string]string{"a.txt": "b\n"}); err != nil {
		t.Fatal(err)
	}
	pull, _, err := w.github.PullRequests.Create(ctx, "acme", "app", &github.NewPullRequest{
		Title: new("Change a"), Head: new("feature"), Base: new("main"),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.pull = pull.GetNumber()
	w.Settle()
	w.install(target, contentType)
	w.Settle()
	return w
}

// install directs the target's hook to the relay. An App has a hook from the start.
func (w *world) install(target, contentType string) {
	w.t.Helper()
	config := &github.HookConfig{URL: new(hookURL), ContentType: &contentType, Secret: new(secret)}
	w.hooks = w.github
	switch {
	case target == "app:7":
		w.hooks = github.NewClient(&http.Client{Transport: recovery.SignedBy("7", appKey())})
		w.hooks.BaseURL, w.path = w.github.BaseURL, "app/hook"
		w.ask(http.MethodPatch, "app/hook/config", config, nil)
		return
	case strings.Contains(target, "/"):
		w.path = "repos/" + target + "/hooks"
	default:
		w.path = "orgs/" + target + "/hooks"
	}
	var hook github.Hook
	w.ask(http.MethodPost, w.path, &github.Hook{Name: new("web"), Events: []string{"*"}, Config: config}, &hook)
	w.path += fmt.Sprintf("/%d", hook.GetID())
}

// ask sends a request by the client that sees the hook.
func (w *world) ask(method, path string, body, into any) *github.Response {
	w.t.Helper()
	request, err := w.hooks.NewRequest(method, path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := w.hooks.Do(w.t.Context(), request, into)
	if err != nil {
		w.t.Fatal(err)
	}
	return response
}

// before stands in front of the simulator, counts the requests, and may answer them itself.
func (w *world) before(hub http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.requests = append(w.requests, r.Method+" "+r.URL.Path)
		w.mu.Unlock()
		if answer := w.answer.Load(); answer != nil && (*answer)(rw, r) {
			return
		}
		// GitHub's clock need not be ours.
		rw.Header().Set("Date", w.Now().Add(30*time.Second).Format(http.TimeFormat))
		hub.ServeHTTP(rw, r)
	})
}

// answerTo makes requests whose path ends in suffix get this status and body.
func (w *world) answerTo(suffix string, status int, body string) {
	answer := func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, suffix) {
			return false
		}
		rw.WriteHeader(status)
		_, err := io.WriteString(rw, body)
		return err == nil
	}
	w.answer.Store(&answer)
}

// noteName returns the name under which recovery notes how far it compared the hook.
func (w *world) noteName() string { return "recovery " + w.path }

// comment makes n comments and waits until their webhooks were sent.
func (w *world) comment(n int) {
	w.t.Helper()
	for i := range n {
		text := fmt.Sprintf("comment %d", i)
		if _, _, err := w.github.Issues.CreateComment(w.t.Context(), "acme", "app", w.pull, &github.IssueComment{Body: &text}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.Settle()
}

// deliveries returns the ids of all deliveries of the hook, each once.
func (w *world) deliveries() map[string]bool {
	w.t.Helper()
	all := map[string]bool{}
	for query := (url.Values{"per_page": {"100"}}); ; {
		var page []*github.HookDelivery
		response := w.ask(http.MethodGet, w.path+"/deliveries?"+query.Encode(), nil, &page)
		for _, d := range page {
			all[d.GetGUID()] = true
		}
		if response.Cursor == "" {
			return all
		}
		query.Set("cursor", response.Cursor)
	}
}

// count returns how often a request was made, such as "POST .*/attempts".
func (w *world) count(pattern string) int {
	requests := regexp.MustCompile(pattern)
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, request := range w.requests {
		if requests.MatchString(request) {
			n++
		}
	}
	return n
}

func (w *world) config(targets ...string) recovery.Config {
	w.t.Helper()
	config := recovery.Config{
		GitHub:  recovery.GitHub{API: w.URL, Token: token, AppKey: appKey()},
		Sources: []string{"github"},
		Pace:    1, Arrival: 2 * time.Minute,
	}
	for _, text := range targets {
		target, err := recovery.ParseTarget(text)
		if err != nil {
			w.t.Fatal(err)
		}
		config.Targets = append(config.Targets, target)
	}
	return config
}

// relay is a relay in this process.
type relay struct {
	t       *testing.T
	store   hub.Store
	address string
}

// passes is a relay's log that signals each pass of the recovery.
type passes chan struct{}

func (p passes) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("deliveries compared")) {
		p <- struct{}{}
	}
	return len(line), nil
}

// startRelay runs a relay over a new store, directs GitHub's webhooks to it, and waits for the recovery at
// its start.
func startRelay(t *testing.T, w *world, relaySecret string, config recovery.Config) *relay {
	t.Helper()
	store, err := server.OpenStore(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(t.Context(), server.Config{
		Listener: listener, Store: store, Recovery: config,
		Sources: map[string]server.Source{"github": source.GitHub{Secret: relaySecret}},
	})
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	w.relay.Store(&address) // before it runs: the first thing that it does is to ask for redeliveries
	passed := make(passes, 10)
	ctx, stop := context.WithCancel(zerolog.New(passed).WithContext(context.Background()))
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ran, store.Close()); err != nil {
			t.Error(err)
		}
	})
	<-passed
	return &relay{t, store, address}
}

// recover makes a pass and returns its report.
func (r *relay) recover() recovery.Report {
	r.t.Helper()
	response, err := http.Post("http://"+r.address+"/recover", "", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	var report recovery.Report
	if err := json.NewDecoder(response.Body).Decode(&report); err != nil || response.StatusCode != http.StatusOK {
		r.t.Fatalf("recover: %s, %v", response.Status, err)
	}
	return report
}

// note returns how far recovery says it compared the hook.
func (r *relay) note(w *world) time.Time {
	r.t.Helper()
	text, err := r.store.Note(r.t.Context(), w.noteName())
	if err != nil {
		r.t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		r.t.Fatal(err)
	}
	return at
}

func (r *relay) setNote(w *world, at time.Time) {
	r.t.Helper()
	if err := r.store.SetNote(r.t.Context(), w.noteName(), at.Format(time.RFC3339)); err != nil {
		r.t.Fatal(err)
	}
}

// events returns the whole log.
func (r *relay) events() []event.Event { return read(r.t, r.store) }

func read(t *testing.T, store hub.Store) []event.Event {
	t.Helper()
	events, err := store.Read(t.Context(), 0, 1<<20, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// checkLog checks that the log holds every delivery of the hook, each once.
func (w *world) checkLog(events []event.Event) {
	w.t.Helper()
	missing := w.deliveries()
	for _, e := range events {
		if !missing[e.Delivery] {
			w.t.Errorf("delivery %s stands in the log twice, or was never sent", e.Delivery)
		}
		delete(missing, e.Delivery)
	}
	if len(missing) > 0 {
		w.t.Errorf("%d deliveries are missing from the log of %d", len(missing), len(events))
	}
}

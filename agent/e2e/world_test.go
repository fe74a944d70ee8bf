package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/rs/zerolog"

	"touchstone/agent/bounded"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/engine/process"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
	"touchstone/agent/githubsim/simtest"
	"touchstone/agent/impact/golang"
	"touchstone/agent/quality"
	"touchstone/agent/worker"
	"touchstone/relay/dashboard/chromium"
	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/relay/source"
	access "touchstone/relay/token"
	"touchstone/verdict/decide"
	"touchstone/worktree/await"
)

// The people and the programs of these tests.
const (
	owner    = "acme"   // the organization that holds the repository
	admin    = "root"   // looks and breaks things, is nobody's agent
	author   = "alice"  // opens pull requests; the author agent acts as her
	reviewer = "judge"  // the reviewer agent acts as it
	person   = "walter" // somebody else with write access
	secret   = "a secret that signs webhooks"
)

var repo = forge.Repo{Owner: owner, Name: "app"}

// exeSuffix is what the names of executables end in.
var exeSuffix = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// modelBinary is the scripted model, built once for all tests.
var modelBinary string

func TestMain(m *testing.M) {
	process.Bootstrap()
	bounded.Bootstrap(golang.Task, quality.Task)
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "touchstone-e2e-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		defer chromium.Stop()
		modelBinary = filepath.Join(dir, "scriptedmodel"+exeSuffix)
		build := exec.Command("go", "build", "-trimpath", "-o", modelBinary, "touchstone/scripts/scriptedmodel")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in the Makefile, so that both use what either has compiled
		if out, err := build.CombinedOutput(); err != nil {
			panic(string(out))
		}
		// The scripted model asks no provider; for one of the user's own choice no login is needed.
		if err := os.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// world is one simulated GitHub, one relay and the agents' machines.
type world struct {
	*simtest.GitHub
	t      testing.TB
	relay  *relay
	script string
	agents map[decide.Role]*machine

	mu       sync.Mutex
	conclude func(dir string) string
}

// relay is a relay that can be stopped and started on the same address and log.
type relay struct {
	url   string
	door  door
	store string
	// tokens are the relay's own, of which token is an administrator's.
	tokens access.File
	token  string
	// retention is how long it keeps events; zero is for ever.
	retention time.Duration
	// page is its page, if it has one.
	page *server.Page
	stop func()
}

// machine is where one agent runs: its configuration and state outlive it.
type machine struct {
	w       *world
	role    decide.Role
	login   string
	cfg     config.Config
	inForce *config.Live // the settings, once it was started
	cancel  context.CancelFunc
	stopped chan error

	mu    sync.Mutex
	looks int // GraphQL queries, by which an agent looks
	// killAt is the outward call at which the agent dies, 0 for never; drop
	// tells whether the call is still carried out.
	killAt int
	drop   githubsim.Drop
	calls  int
	dead   bool
	// fault happens to the next faults calls.
	fault  githubsim.Fault
	faults int
	steps  []worker.Step
	errs   []error
	// hinted, if set, hears of every hint before the daemon does.
	hinted func(daemon.Hint)
}

// newWorld starts a simulator and a relay. The agents are configured and not
// yet started.
func newWorld(t testing.TB, script map[string]any) *world {
	t.Helper()
	w := &world{t: t, agents: map[decide.Role]*machine{}}
	ci := w.ci
	if _, measuring := t.(*testing.B); measuring {
		ci = nil // checking out every head would be measured too
	}
	w.GitHub = simtest.Start(t, githubsim.Config{CI: ci, Users: simtest.Users(admin, author, reviewer, person)},
		githubsim.RepoOptions{Owner: owner, Name: repo.Name, Files: baseFiles()})
	w.Intercept(w.intercept)

	entrance, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	w.relay = &relay{store: "sqlite:" + filepath.Join(t.TempDir(), "relay.db"), url: "http://" + entrance.Addr().String(),
		door: door{Listener: entrance}}
	var keeper sync.WaitGroup
	keeper.Go(w.relay.door.keep)
	t.Cleanup(func() { _ = entrance.Close(); keeper.Wait() })
	w.relay.tokens = access.File{Path: filepath.Join(t.TempDir(), "tokens")}
	made, text, err := access.New("ops", access.Admin, event.Filter{})
	w.must(err)
	w.must(access.Add(w.Ctx, w.relay.tokens, made))
	w.relay.token = text
	w.startRelay()
	t.Cleanup(func() { w.relay.stop() })
	w.hook()

	w.script = filepath.Join(t.TempDir(), "script.json")
	w.writeScript(script)
	w.configure(decide.Reviewer, reviewer)
	w.configure(decide.Author, author)
	t.Cleanup(func() {
		for _, m := range w.agents {
			m.halt()
		}
	})
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) startRelay() {
	w.t.Helper()
	store, err := server.OpenStore(w.Ctx, w.relay.store)
	w.must(err)
	ctx, cancel := context.WithCancel(w.Ctx)
	tokens, err := access.NewChecker(ctx, w.relay.tokens)
	w.must(err)
	s, err := server.New(ctx, server.Config{Listener: w.relay.door.open(), Tokens: tokens, Store: store,
		Retention: w.relay.retention, Page: w.relay.page,
		Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}}})
	w.must(err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx)
		_ = store.Close()
	}()
	w.relay.stop = func() { cancel(); <-done }
}

// hook registers the relay's webhook with the repository.
func (w *world) hook() {
	w.t.Helper()
	_, _, err := w.As(admin).Repositories.CreateHook(w.Ctx, owner, repo.Name, &github.Hook{
		Name: github.String("web"), Active: github.Bool(true), Events: []string{"*"},
		Config: &github.HookConfig{URL: github.String(w.relay.url + "/webhooks/github"), ContentType: github.String("json"),
			Secret: github.String(secret)},
	})
	w.must(err)
}

func (w *world) writeScript(script map[string]any) {
	w.t.Helper()
	data, err := json.Marshal(script)
	w.must(err)
	w.must(os.WriteFile(w.script, data, 0o600))
}

// ci is the repository's continuous integration.
func (w *world) ci(_ context.Context, _, _, dir string) githubsim.CIResult {
	w.mu.Lock()
	conclude := w.conclude
	w.mu.Unlock()
	if conclude == nil {
		return githubsim.CIResult{Conclusion: "success"}
	}
	return githubsim.CIResult{Conclusion: conclude(dir), Summary: "checked", Log: "the log"}
}

func (w *world) configure(role decide.Role, login string) *machine {
	cfg := config.Default()
	cfg.GitHub.APIURL = w.URL + "/api/v3/"
	cfg.GitHub.Token = config.Secret(simtest.Token(login))
	cfg.Relay.URL, cfg.Relay.Token = w.relay.url, config.Secret(w.relay.token)
	cfg.Repositories = []string{repo.String()}
	cfg.Reviewers = []string{reviewer}
	// The scripted model counts its sessions beside its script, out of a sandbox's reach.
	cfg.Engine.Command, cfg.Engine.Sandbox = []string{modelBinary, "--script", w.script}, config.Off
	cfg.Rounds.Backoff = config.Duration(10 * time.Millisecond)
	cfg.Sweep = config.Duration(time.Hour)
	cfg.StateDir = w.t.TempDir()
	m := &machine{w: w, role: role, login: login, cfg: cfg}
	w.agents[role] = m
	return m
}

// start starts an agent; it fails the test if the agent refuses.
func (m *machine) start() {
	m.w.t.Helper()
	m.w.must(m.launch())
}

func (m *machine) launch() error {
	log := zerolog.New(zerolog.NewTestWriter(quietly{m.w.t})).With().Str("agent", string(m.role)).Logger()
	ctx, cancel := context.WithCancel(log.WithContext(m.w.Ctx))
	m.mu.Lock()
	m.dead, m.cancel = false, cancel
	m.mu.Unlock()
	d, closeAgent, err := compose.New(ctx, m.cfg, m.role)
	if err != nil {
		cancel()
		return err
	}
	m.inForce = d.Settings
	d.Stepped = func(s worker.Step, err error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.steps, m.errs = append(m.steps, s), append(m.errs, err)
	}
	if m.hinted != nil {
		d.Follow = overheard{d.Follow, m.hinted}
	}
	m.stopped = make(chan error, 1)
	go func() { m.stopped <- errors.Join(d.Run(ctx), closeAgent()) }()
	return nil
}

// halt stops an agent, if it runs, and waits for it.
func (m *machine) halt() {
	if m.stopped == nil {
		return
	}
	m.cancel()
	if err := <-m.stopped; err != nil {
		m.w.t.Errorf("%s agent: %v", m.role, err)
	}
	m.stopped = nil
}

func (w *world) startBoth() {
	w.t.Helper()
	w.agents[decide.Reviewer].start()
	w.agents[decide.Author].start()
}

// intercept counts the outward calls of the agents and cuts off dead ones.
func (w *world) intercept(login string, r *http.Request) githubsim.Fault {
	for _, m := range w.agents {
		if m.login == login && r.UserAgent() != rest.ByHand {
			return m.call(r)
		}
	}
	return githubsim.Fault{}
}

// call is one outward call of an agent. A dead agent's calls go nowhere.
func (m *machine) call(r *http.Request) githubsim.Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return githubsim.Fault{Drop: githubsim.DropBefore}
	}
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		m.looks++
	}
	m.calls++
	if m.faults > 0 {
		m.faults--
		return m.fault
	}
	if m.calls != m.killAt {
		return githubsim.Fault{}
	}
	m.dead = true
	m.cancel()
	return githubsim.Fault{Drop: m.drop}
}

// trouble makes an agent's next n outward calls go wrong.
func (m *machine) trouble(fault githubsim.Fault, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault, m.faults = fault, n
}

// quietly drops the logs of tests that pass without -v.
type quietly struct{ testing.TB }

func (q quietly) Log(args ...any) {
	if testing.Verbose() {
		q.TB.Log(args...)
	}
}

// until waits for a condition, and shows what became of everything if it does not come true.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	if await.Condition(w.Ctx, func() (bool, error) { return holds(), nil }) != nil {
		w.t.Fatalf("still waiting for: %s\n%s", what, w.describe())
	}
}

// describe tells what the pull requests look like, for a test that failed.
func (w *world) describe() string {
	var b strings.Builder
	pulls, _, err := w.As(admin).PullRequests.List(context.Background(), owner, repo.Name, &github.PullRequestListOptions{State: "all"})
	if err != nil {
		return err.Error()
	}
	for _, p := range pulls {
		b.WriteString(github.Stringify(map[string]any{"number": p.GetNumber(), "state": p.GetState(), "merged": p.MergedAt,
			"head": p.GetHead().GetSHA(), "labels": p.Labels}) + "\n")
	}
	for _, m := range w.agents {
		m.mu.Lock()
		for i, s := range m.steps {
			b.WriteString(string(m.role) + ": " + string(s.Action.Kind) + " " + s.Action.SHA + " " + s.Action.Reason)
			if m.errs[i] != nil {
				b.WriteString(": " + m.errs[i].Error())
			}
			b.WriteString("\n")
		}
		m.mu.Unlock()
	}
	return b.String()
}

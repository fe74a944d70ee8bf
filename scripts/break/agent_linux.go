package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
	"touchstone/worktree/steps"
)

// agentAttacks are attempts by a session, or by the code that a verify command runs, on the machine of an
// author's agent. The payload contains what each attempt does.
var agentAttacks = []attack{
	{"cached code decides another pull request's verify", onMachine("caches", caches)},
	{"a command left in a nested .git runs later", onMachine("nested", nested)},
	{"root in the sandbox opens a packet socket", onMachine("packets", inside)},
	{"root in the sandbox sets the clock", onMachine("clock", inside)},
	{"a session writes to its starter's files", onMachine("descriptors", descriptors)},
	{"a session or a verify command gets out of a closed network", onMachine("closed", closed)},
	{"a verify command starts processes without end", onMachine("bomb", bomb)},
}

// The logins; root owns everything.
const (
	owner  = "root"
	author = "alice"
	judge  = "judge"
)

// repository is the simulated repository.
const repository = "acme/app"

// machine is an author's machine, with the payload as its model and verify command, and a simulated GitHub.
type machine struct {
	sim    *githubsim.Sim
	bin    string
	folder string
	config string
	url    string
	stop   func()
	// kind is what the payload attempts.
	kind string
	// network is the setting author.network.
	network string

	mu sync.Mutex
	// reports are the payload's achievements.
	reports []string
}

// onMachine makes an attack of a kind of payload on a machine of its own.
func onMachine(kind string, try func(context.Context, *machine) string) func(context.Context, string) string {
	return func(ctx context.Context, bin string) string {
		m := newMachine(ctx, bin, kind)
		defer m.stop()
		return try(ctx, m)
	}
}

// newMachine starts the simulated GitHub, whose repository has a verify command, and configures an agent.
func newMachine(ctx context.Context, bin, kind string) *machine {
	m := &machine{kind: kind, network: "full", bin: steps.Got(filepath.Abs(filepath.Join(bin, "touchstone")))}
	m.folder = steps.Got(os.MkdirTemp("", "break"))
	ctx, cancel := context.WithCancel(ctx)
	front := steps.Got(net.Listen("tcp", "127.0.0.1:0"))
	m.url = "http://" + front.Addr().String()
	server := &http.Server{Handler: http.HandlerFunc(m.serve), ReadHeaderTimeout: time.Minute}
	var running sync.WaitGroup
	m.stop = func() {
		cancel()
		_ = server.Close() // this also ends running requests, which no longer matter
		running.Wait()
		_ = os.RemoveAll(m.folder)
	}
	if err := steps.Try(func() { m.prepare(ctx) }); err != nil {
		m.stop()
		steps.Must(err)
	}
	running.Go(func() { _ = server.Serve(front) })
	running.Go(func() { _ = m.sim.Run(ctx) })
	return m
}

func (m *machine) prepare(ctx context.Context) {
	program := steps.Got(os.Executable())
	var users []githubsim.User
	for _, login := range []string{owner, author, judge} {
		users = append(users, githubsim.User{Login: login, Token: "token-of-" + login, Admin: login == owner})
	}
	m.sim = steps.Got(githubsim.New(githubsim.Config{
		Dir: filepath.Join(m.folder, "github"), URL: m.url, Users: users,
		// The agent has a session fix this failure.
		CI: func(context.Context, string, string, string) githubsim.CIResult {
			return githubsim.CIResult{Conclusion: "failure", Summary: "It fails."}
		},
	}))
	command := steps.Got(json.Marshal([]string{program, payloadWord, m.kind, m.url, "verify"}))
	steps.Must(m.sim.CreateRepo(ctx, githubsim.RepoOptions{
		Owner: "acme", Name: "app", Permissions: map[string]string{author: "write", judge: "write"},
		Files: map[string]string{"lib/lib.txt": "lib\n", ".touchstone/config.yaml": "verify:\n  command: " + string(command) + "\n"},
	}))
	m.config = filepath.Join(m.folder, "agent.yaml")
	m.configure(map[string]any{})
}

// configure writes the agent's settings, with the engine settings of an attack.
func (m *machine) configure(engine map[string]any) {
	program := steps.Got(os.Executable())
	engine["command"], engine["sandbox"] = []string{program, payloadWord, m.kind, m.url, "session"}, "required"
	text := steps.Got(json.Marshal(map[string]any{ // JSON is also YAML
		"github": map[string]any{"api_url": m.url + "/api/v3/"}, "repositories": []string{repository}, "reviewers": []string{judge},
		"state_dir": filepath.Join(m.folder, "state"), "rounds": map[string]any{"backoff": "10ms"},
		"engine": engine, "author": map[string]any{"network": m.network},
	}))
	steps.Must(os.WriteFile(m.config, text, 0o600))
}

// serve receives the payload's reports, and passes other requests to the simulated GitHub.
func (m *machine) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != reportPath {
		m.sim.Handler().ServeHTTP(w, r)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reports = append(m.reports, r.URL.Query().Get("what"))
}

// achieved returns what the payload has reported, which must at least have run.
func (m *machine) achieved() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.reports, ranReport) {
		steps.Fail("the session or the verify command did not run")
	}
	return strings.Join(slices.DeleteFunc(m.reports, func(report string) bool { return report == ranReport }), "; ")
}

// open opens a pull request of the author whose check fails.
func (m *machine) open(ctx context.Context, branch string) {
	m.push(ctx, branch, "1")
	steps.Must(rest.API{URL: m.url, Token: "token-of-" + author}.Call(ctx, http.MethodPost, "/api/v3/repos/"+repository+"/pulls",
		map[string]string{"title": "Change " + branch, "head": branch, "base": "main", "body": "Why."}, nil))
	steps.Must(m.sim.Settle(ctx))
}

// push adds a commit to a branch, like a person.
func (m *machine) push(ctx context.Context, branch, text string) {
	steps.Got(m.sim.Commit(ctx, author, repository, branch, "Change "+branch, map[string]string{branch + ".txt": text + "\n"}))
	steps.Must(m.sim.Settle(ctx))
}

// fix runs the agent on a pull request until it ends.
func (m *machine) fix(ctx context.Context, number int, inherit ...*os.File) error {
	cmd := exec.CommandContext(ctx, m.bin, "fix", fmt.Sprintf("%s#%d", repository, number), "--config", m.config, "--log-level", "debug")
	cmd.Env = append(os.Environ(), "GITHUB_TOKEN=token-of-"+author, "ANTHROPIC_BASE_URL=http://127.0.0.1:9", "ANTHROPIC_API_KEY=key")
	cmd.ExtraFiles = inherit
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("touchstone fix %d: %w: %s", number, err, said.String())
	}
	return nil
}

// caches has the code of two pull requests write to every build cache, and search it.
func caches(ctx context.Context, m *machine) string {
	m.open(ctx, "first")
	m.open(ctx, "second")
	steps.Must(m.fix(ctx, 1))
	steps.Must(m.fix(ctx, 2))
	return m.achieved()
}

// nested has code leave a repository below a tracked directory, and run git there the next time.
func nested(ctx context.Context, m *machine) string {
	m.open(ctx, "first")
	steps.Must(m.fix(ctx, 1))
	// The fix is on the branch; the next commit on it fails again.
	m.push(ctx, "first", "2")
	steps.Must(m.fix(ctx, 1))
	return m.achieved()
}

// inside has a session and a verify command attempt what the payload does.
func inside(ctx context.Context, m *machine) string {
	m.open(ctx, "first")
	steps.Must(m.fix(ctx, 1))
	return m.achieved()
}

// descriptors starts the agent with an open file, like a careless shell or supervisor.
func descriptors(ctx context.Context, m *machine) string {
	canary := steps.Got(os.Create(filepath.Join(m.folder, "canary")))
	defer canary.Close()
	// Other files soon take some of the low numbers.
	open := slices.Repeat([]*os.File{canary}, 20)
	m.open(ctx, "first")
	steps.Must(m.fix(ctx, 1, open...))
	if text, err := os.ReadFile(canary.Name()); err != nil || len(text) > 0 {
		return fmt.Sprintf("the file holds %q, %v", text, err)
	}
	return m.achieved()
}

// closed has a session and a verify command without network access send something to the simulated GitHub's
// port, in two ways. Their only other visible effect is the fix with which they end.
func closed(ctx context.Context, m *machine) string {
	m.network = "gateway"
	m.configure(map[string]any{})
	datagrams := steps.Got(net.ListenPacket("udp", strings.TrimPrefix(m.url, "http://")))
	defer datagrams.Close()
	m.open(ctx, "first")
	// If the user may not create namespaces, the verify command is not started at all.
	if err := m.fix(ctx, 1); err != nil && !strings.Contains(err.Error(), "cannot be started in its own network namespace") {
		steps.Must(err)
	}
	steps.Must(datagrams.SetReadDeadline(time.Now().Add(time.Millisecond)))
	got := make([]byte, 100)
	if n, _, err := datagrams.ReadFrom(got); err == nil {
		return fmt.Sprintf("a %s sent a datagram", got[:n])
	}
	achieved := ""
	if steps.Try(func() { achieved = m.achieved() }) == nil {
		return "it reported " + achieved
	}
	return ""
}

// bomb has a verify command start more processes than the settings allow. The command ends by itself, so a
// verified fix shows that nothing else ended it.
func bomb(ctx context.Context, m *machine) string {
	m.configure(map[string]any{"max_processes": 200})
	m.open(ctx, "first")
	switch err := m.fix(ctx, 1); {
	case err == nil:
		return "it went on to its end, and the fix was pushed"
	case !strings.Contains(err.Error(), "their limit of 200 processes"):
		steps.Must(err)
	}
	return ""
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// startServers starts the simulated GitHub with the service's repository, and the relay, and registers the
// relay's webhook at GitHub.
func (d *demo) startServers(ctx context.Context) {
	laptop := d.makeRepository(ctx)
	d.startGitHub(ctx)
	d.out.fact("github", fmt.Sprintf("%s, simulated; its CI runs the service's tests", d.github.url))
	if d.live != nil {
		d.upRelay(ctx)
	} else {
		d.startRelay(ctx)
	}
	laptop.git(ctx, "push", "--quiet", d.github.url+"/"+owner+"/"+name+".git", branch)
}

// clone is the author's own clone of the repository.
type clone struct {
	dir string
	env []string
}

func (c clone) git(ctx context.Context, args ...string) {
	watch(ctx, io.Discard, c.dir, c.env, append([]string{"git"}, args...)...)
}

// commit puts the files of an archive into the clone and commits everything.
func (c clone) commit(ctx context.Context, archive []byte, message string) {
	steps.Must(unpack(archive, c.dir))
	c.git(ctx, "add", "--all")
	c.git(ctx, "commit", "--quiet", "--message", message)
}

// makeRepository creates the bare repository that GitHub will serve, with the main branch, and the author's
// clone with the pull request's branch.
func (d *demo) makeRepository(ctx context.Context) clone {
	home, env := d.home("laptop")
	c := clone{dir: filepath.Join(home, name), env: append(env, d.github.gitEnv()...)}
	bare := filepath.Join(d.repositories(), owner, name+".git")
	for _, dir := range []string{c.dir, filepath.Dir(bare)} {
		steps.Must(os.MkdirAll(dir, 0o700))
	}
	c.git(ctx, "init", "--quiet", "--bare", "--initial-branch=main", bare)
	c.git(ctx, "init", "--quiet", "--initial-branch=main")
	c.commit(ctx, baseFiles, "Keep notes")
	c.git(ctx, "push", "--quiet", bare, "main")
	c.git(ctx, "checkout", "--quiet", "-b", branch)
	c.commit(ctx, pullFiles, pullTitle)
	return c
}

func (d *demo) repositories() string { return filepath.Join(d.dir, "github", "repositories") }

func (d *demo) startGitHub(ctx context.Context) {
	home, env := d.home("github")
	var users []map[string]any
	for login := range d.tokens {
		users = append(users, map[string]any{
			"login": login, "token": d.tokens[login], "name": login, "email": login + "@example.com", "admin": login == authorLogin,
		})
	}
	data := steps.Got(json.Marshal(users))
	list := filepath.Join(home, "users.json")
	steps.Must(os.WriteFile(list, data, 0o600))
	_, d.github.url = d.serve(ctx, "github", env, d.program("scripts/githubsim"), "--repo", d.repositories(), "--users", list,
		"--ci", "go test -vet=off ./...", "--ci-timeout", scriptedTime.String())
}

func (d *demo) startRelay(ctx context.Context) {
	home, env := d.home("relay")
	_, d.relay = d.serve(ctx, "relay", append(env, "RELAY_GITHUB_SECRET="+d.secret), d.program("relay"), "serve",
		"--store", "sqlite:"+filepath.Join(home, "relay.db"), "--reviewer", reviewer)
	d.out.fact("relay", d.relay+", storing in SQLite")
	d.github.hook(ctx, d.relay, d.secret)
}

// start starts one of the demo's lasting processes. If the process ends, the demo ends.
func (d *demo) start(party string, env []string, argv ...string) *process {
	p := steps.Got(startProcess(party, filepath.Join(d.dir, party+".log"), d.fail, env, argv...))
	d.running = append(d.running, p)
	return p
}

// serve starts a server on a free port, and returns its process and its URL once it listens.
func (d *demo) serve(ctx context.Context, party string, env []string, argv ...string) (p *process, url string) {
	address := filepath.Join(d.dir, party, "address")
	p = d.start(party, env, append(argv, "--listen", "127.0.0.1:0", "--address-file", address)...)
	return p, steps.Got(p.address(ctx, address))
}

// engine returns the model CLI's command, formatted as a list for the configuration.
func (d *demo) engine() string {
	if d.model != scripted {
		return `"claude"`
	}
	script := steps.Got(scriptFile())
	file := filepath.Join(d.dir, "script.json")
	steps.Must(os.WriteFile(file, script, 0o600))
	return fmt.Sprintf("%q, --script, %q", d.program("scripts/scriptedmodel"), file)
}

// startAgents starts the reviewing agent and the author's.
func (d *demo) startAgents() {
	engine := d.engine()
	for role, login := range map[decide.Role]string{decide.Reviewer: reviewer, decide.Author: authorLogin} {
		d.startAgent(string(role), login, engine)
	}
}

func (d *demo) startAgent(role, user, engine string) {
	home, env := d.home(role)
	login := []string{noProvider}
	if d.model == claude {
		login = steps.Got(claudeEnv())
	}
	env = append(env, login...)
	token, config := filepath.Join(home, "token"), filepath.Join(home, "agent.yaml")
	steps.Must(os.WriteFile(token, []byte(d.tokens[user]+"\n"), 0o600))
	settings := fmt.Sprintf(agentConfig, d.github.url+"/", token, d.relay, filepath.Join(home, "state", "touchstone"), owner, name,
		reviewer, engine)
	steps.Must(os.WriteFile(config, []byte(settings), 0o600))
	d.start(role, env, d.program("agent"), "run", "--mode", role, "--config", config)
}

// agentConfig is an agent's configuration file. It names the state directory because the commands that the
// demo suggests run in the environment of the person who watches the demo: the machine's knowledge of
// reviewers is in that directory.
const agentConfig = `github:
  api_url: %q
  token_file: %q
relay:
  url: %q
state_dir: %q
repositories: [%s/%s]
reviewers: [%s]
engine:
  command: [%s]
rounds:
  backoff: 5s
log:
  format: console
`

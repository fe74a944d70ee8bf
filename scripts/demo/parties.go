package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"touchstone/verdict/decide"
)

// startServers starts the simulated GitHub with the service's repository, and the relay, and registers the
// relay's webhook at GitHub.
func (d *demo) startServers(ctx context.Context) error {
	laptop, err := d.makeRepository(ctx)
	if err != nil {
		return fmt.Errorf("make the service's repository: %w", err)
	}
	if err := d.startGitHub(ctx); err != nil {
		return err
	}
	d.out.fact("github", fmt.Sprintf("%s, simulated; its CI runs the service's tests", d.github.url))
	start := d.startRelay
	if d.live != nil {
		start = d.upRelay
	}
	if err := start(ctx); err != nil {
		return err
	}
	return laptop.git(ctx, "push", "--quiet", d.github.url+"/"+owner+"/"+name+".git", branch)
}

// clone is the author's own clone of the repository.
type clone struct {
	dir string
	env []string
}

func (c clone) git(ctx context.Context, args ...string) error {
	_, err := watch(ctx, io.Discard, c.dir, c.env, append([]string{"git"}, args...)...)
	return err
}

// commit puts the files of an archive into the clone and commits everything.
func (c clone) commit(ctx context.Context, archive []byte, message string) error {
	if err := unpack(archive, c.dir); err != nil {
		return err
	}
	if err := c.git(ctx, "add", "--all"); err != nil {
		return err
	}
	return c.git(ctx, "commit", "--quiet", "--message", message)
}

// makeRepository creates the bare repository that GitHub will serve, with the main branch, and the author's
// clone with the pull request's branch.
func (d *demo) makeRepository(ctx context.Context) (clone, error) {
	home, env, err := d.home("laptop")
	if err != nil {
		return clone{}, err
	}
	c := clone{dir: filepath.Join(home, name), env: append(env, d.github.gitEnv()...)}
	bare := filepath.Join(d.repositories(), owner, name+".git")
	for _, dir := range []string{c.dir, filepath.Dir(bare)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return clone{}, err
		}
	}
	for _, step := range []func() error{
		func() error { return c.git(ctx, "init", "--quiet", "--bare", "--initial-branch=main", bare) },
		func() error { return c.git(ctx, "init", "--quiet", "--initial-branch=main") },
		func() error { return c.commit(ctx, baseFiles, "Keep notes") },
		func() error { return c.git(ctx, "push", "--quiet", bare, "main") },
		func() error { return c.git(ctx, "checkout", "--quiet", "-b", branch) },
		func() error { return c.commit(ctx, pullFiles, pullTitle) },
	} {
		if err := step(); err != nil {
			return clone{}, err
		}
	}
	return c, nil
}

func (d *demo) repositories() string { return filepath.Join(d.dir, "github", "repositories") }

func (d *demo) startGitHub(ctx context.Context) error {
	home, env, err := d.home("github")
	if err != nil {
		return err
	}
	var users []map[string]any
	for login := range d.tokens {
		users = append(users, map[string]any{
			"login": login, "token": d.tokens[login], "name": login, "email": login + "@example.com", "admin": login == authorLogin,
		})
	}
	data, err := json.Marshal(users)
	if err != nil {
		return err
	}
	list := filepath.Join(home, "users.json")
	if err := os.WriteFile(list, data, 0o600); err != nil {
		return err
	}
	_, d.github.url, err = d.serve(ctx, "github", env, d.program("scripts/githubsim"), "--repo", d.repositories(), "--users", list,
		"--ci", "go test -vet=off ./...", "--ci-timeout", scriptedTime.String())
	return err
}

func (d *demo) startRelay(ctx context.Context) error {
	home, env, err := d.home("relay")
	if err != nil {
		return err
	}
	_, d.relay, err = d.serve(ctx, "relay", append(env, "RELAY_GITHUB_SECRET="+d.secret), d.program("relay"), "serve",
		"--store", "sqlite:"+filepath.Join(home, "relay.db"), "--reviewer", reviewer)
	if err != nil {
		return err
	}
	d.out.fact("relay", d.relay+", storing in SQLite")
	if err := d.github.hook(ctx, d.relay, d.secret); err != nil {
		return fmt.Errorf("register the webhook: %w", err)
	}
	return nil
}

// start starts one of the demo's lasting processes. If the process ends, the demo ends.
func (d *demo) start(party string, env []string, argv ...string) (*process, error) {
	p, err := startProcess(party, filepath.Join(d.dir, party+".log"), d.fail, env, argv...)
	if err != nil {
		return nil, err
	}
	d.running = append(d.running, p)
	return p, nil
}

// serve starts a server on a free port, and returns its process and its URL once it listens.
func (d *demo) serve(ctx context.Context, party string, env []string, argv ...string) (p *process, url string, err error) {
	address := filepath.Join(d.dir, party, "address")
	p, err = d.start(party, env, append(argv, "--listen", "127.0.0.1:0", "--address-file", address)...)
	if err != nil {
		return nil, "", err
	}
	url, err = p.address(ctx, address)
	return p, url, err
}

// engine returns the model CLI's command, formatted as a list for the configuration.
func (d *demo) engine() (string, error) {
	if d.model != scripted {
		return `"claude"`, nil
	}
	script, err := scriptFile()
	if err != nil {
		return "", err
	}
	file := filepath.Join(d.dir, "script.json")
	return fmt.Sprintf("%q, --script, %q", d.program("scripts/scriptedmodel"), file), os.WriteFile(file, script, 0o600)
}

// startAgents starts the reviewing agent and the author's.
func (d *demo) startAgents(context.Context) error {
	engine, err := d.engine()
	if err != nil {
		return err
	}
	for role, login := range map[decide.Role]string{decide.Reviewer: reviewer, decide.Author: authorLogin} {
		if err := d.startAgent(string(role), login, engine); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) startAgent(role, user, engine string) error {
	home, env, err := d.home(role)
	if err != nil {
		return err
	}
	login := []string{noProvider}
	if d.model == claude {
		if login, err = claudeEnv(); err != nil {
			return err
		}
	}
	env = append(env, login...)
	token, config := filepath.Join(home, "token"), filepath.Join(home, "agent.yaml")
	if err := os.WriteFile(token, []byte(d.tokens[user]+"\n"), 0o600); err != nil {
		return err
	}
	settings := fmt.Sprintf(agentConfig, d.github.url+"/", token, d.relay, filepath.Join(home, "state", "touchstone"), owner, name,
		reviewer, engine)
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		return err
	}
	_, err = d.start(role, env, d.program("agent"), "run", "--mode", role, "--config", config)
	return err
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

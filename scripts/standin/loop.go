package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
	"touchstone/agent/worker"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/scripts/byhand"
	"touchstone/scripts/ci"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// The logins, whose tokens are "token-of-" and the login, and the repository's owner. person is for comments
// and reviews that you write by hand while the program runs.
const (
	owner    = "acme"
	author   = "alice"
	reviewer = "judge"
	person   = "walter"
	secret   = "a secret that signs webhooks"
)

// loop is the state of the pull request's run.
type loop struct {
	repo, url string
	out       *os.File
	closed    func()

	mu                    sync.Mutex
	begun                 time.Time
	rounds, fixes, called int
	spent                 float64
}

func (o options) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	if err := os.Mkdir(o.dir, 0o700); err != nil {
		return fmt.Errorf("make --dir: %w", err)
	}
	l := &loop{repo: strings.TrimSuffix(filepath.Base(strings.TrimSuffix(o.clone, "/repo")), ".git"), out: os.Stdout, begun: time.Now(),
		closed: cancel}
	if _, name, ok := strings.Cut(l.repo, "+"); ok {
		l.repo = name
	}
	running, ctx := errgroup.WithContext(ctx)
	if err := steps.Try(func() { o.start(ctx, running, l) }); err != nil {
		cancel()
		return errors.Join(err, running.Wait())
	}
	err := running.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%s after %s: %d reviews, %d fixes, %d calls for a person, $%.2f\n", l.repo, time.Since(l.begun).Round(time.Second),
		l.rounds, l.fixes, l.called, l.spent)
	return err
}

// start starts everything, and opens the pull request.
func (o options) start(ctx context.Context, running *errgroup.Group, l *loop) {
	hub := filepath.Join(o.dir, "github")
	title := o.repository(ctx, filepath.Join(hub, owner, l.repo+".git"))
	l.github(ctx, running, hub, ci.Command{Line: o.ci, Timeout: o.timeout}.Run)
	relay := l.relay(ctx, running, filepath.Join(o.dir, "relay.db"))
	l.model(ctx, filepath.Join(o.dir, "asked"), o.timeout)
	for role, login := range map[decide.Role]string{decide.Reviewer: reviewer, decide.Author: author} {
		cfg := o.agent(l, relay, role, login)
		steps.Must(cfg.Validate())
		l.agent(ctx, running, role, cfg)
	}
	l.open(ctx, title, o.body)
}

// github starts the simulated GitHub.
func (l *loop) github(ctx context.Context, running *errgroup.Group, hub string,
	check func(context.Context, string, string, string) githubsim.CIResult) {
	listener := steps.Got(net.Listen("tcp", "127.0.0.1:0"))
	l.url = "http://" + listener.Addr().String()
	var users []githubsim.User
	for _, login := range []string{owner, author, reviewer, person} {
		users = append(users, githubsim.User{Login: login, Token: token(login), Email: login + "@example.com", Admin: login == owner})
	}
	sim := steps.Got(githubsim.New(githubsim.Config{Dir: hub, URL: l.url, Users: users, CI: check, DeliveryTimeout: time.Minute}))
	running.Go(func() error { return sim.Serve(ctx, listener) })
	fmt.Fprintf(l.out, "github %s/%s/%s, as a person with the token %s\n", l.url, owner, l.repo, token(person))
}

func token(login string) string { return "token-of-" + login }

// relay starts the relay, has GitHub send webhooks to it, and returns its URL.
func (l *loop) relay(ctx context.Context, running *errgroup.Group, file string) string {
	store := steps.Got(server.OpenStore(ctx, "sqlite:"+file))
	listener := steps.Got(net.Listen("tcp", "127.0.0.1:0"))
	s := steps.Got(server.New(ctx, server.Config{Listener: listener, Store: store,
		Sources: map[string]server.Source{"github": source.GitHub{Secret: secret}}}))
	running.Go(func() error { return errors.Join(s.Run(ctx), store.Close()) })
	url := "http://" + listener.Addr().String()
	l.call(ctx, owner, "hooks", map[string]any{
		"name": "web", "active": true, "events": []string{"*"},
		"config": map[string]any{"url": url + "/webhooks/github", "content_type": "json", "secret": secret},
	}, nil)
	return url
}

// model starts the endpoint through which you answer for the model. The CLI waits as long as the whole run may take.
func (l *loop) model(ctx context.Context, dir string, wait time.Duration) {
	for _, variable := range steps.Got((&byhand.Endpoint{Dir: dir}).Serve(ctx, wait)) {
		name, value, _ := strings.Cut(variable, "=")
		steps.Must(os.Setenv(name, value))
	}
	fmt.Fprintf(l.out, "requests are in %s\n", dir)
}

// agent returns the configuration of the agent for a role.
func (o options) agent(l *loop, relay string, role decide.Role, login string) config.Config {
	cfg := config.Default()
	cfg.GitHub.APIURL, cfg.GitHub.Token = l.url+"/api/v3/", config.Secret(token(login))
	cfg.Relay.URL = relay
	cfg.Repositories, cfg.Reviewers = []string{owner + "/" + l.repo}, []string{reviewer}
	cfg.Engine.Command = []string{o.cli}
	cfg.Engine.Timeout, cfg.Engine.IdleTimeout = config.Duration(o.timeout), config.Duration(o.timeout)
	if len(o.allow) > 0 {
		cfg.Engine.Allow = o.allow
	}
	cfg.Rounds.Backoff = config.Duration(5 * time.Second)
	cfg.StateDir = filepath.Join(o.dir, string(role))
	return cfg
}

// agent starts an agent like touchstone run, and reports its steps.
func (l *loop) agent(ctx context.Context, running *errgroup.Group, role decide.Role, cfg config.Config) {
	file := steps.Got(os.Create(cfg.StateDir + ".log"))
	log := zerolog.New(zerolog.ConsoleWriter{Out: file, NoColor: true, TimeFormat: time.TimeOnly}).With().Timestamp().Logger()
	ctx = log.WithContext(ctx)
	d, release, err := compose.New(ctx, cfg, role)
	steps.Must(err)
	d.Stepped = func(s worker.Step, err error) { l.tell(role, s, err) }
	running.Go(func() error { return errors.Join(d.Run(ctx), release(), file.Close()) })
}

// tell prints one step, and ends the run at the step that finds the pull request closed.
func (l *loop) tell(role decide.Role, s worker.Step, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Action.Kind == decide.Wait || s.Action.Kind == decide.Skip {
		return
	}
	l.spent += s.CostUSD
	switch {
	case s.Action.Kind == decide.Review && err == nil:
		l.rounds++
	case s.Action.Kind == decide.Fix && s.Paid:
		l.fixes++
	case s.Action.Kind == decide.Escalate && err == nil:
		l.called++
	}
	line := fmt.Sprintf("%6s %s: %s %.7s: %s", time.Since(l.begun).Round(100*time.Millisecond), role, s.Action.Kind, s.Action.SHA,
		s.Action.Reason)
	if s.Verdict != "" {
		line += fmt.Sprintf(" -> %s, %d findings", s.Verdict, s.Findings)
	}
	if s.Head != "" {
		line += fmt.Sprintf(" -> %.7s", s.Head)
	}
	if err != nil {
		line += " -> " + err.Error()
	}
	fmt.Fprintln(l.out, line)
	if s.Action.Kind == decide.Merge && err == nil {
		l.closed()
	}
}

// open opens the pull request and requests its review.
func (l *loop) open(ctx context.Context, title, body string) {
	var pull struct{ Number int }
	l.call(ctx, author, "pulls", map[string]any{"title": title, "body": body, "head": topic, "base": "main"}, &pull)
	l.call(ctx, author, fmt.Sprintf("pulls/%d/requested_reviewers", pull.Number), map[string]any{"reviewers": []string{reviewer}}, nil)
}

// call calls the REST API below the repository, once the repository exists.
func (l *loop) call(ctx context.Context, login, path string, in, out any) {
	steps.Must(rest.API{URL: l.url, Token: token(login)}.Call(ctx, http.MethodPost, fmt.Sprintf("/api/v3/repos/%s/%s/%s", owner, l.repo, path),
		in, out))
}

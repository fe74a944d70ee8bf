// Package arena provides a simulated GitHub for programs that take many pull requests through the whole path:
// real HTTP, real git, agents composed as in their daemons, and any model. It keeps its files below the
// caller's directory.
package arena

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/bare"
	"touchstone/agent/githubsim/rest"
	"touchstone/agent/trust"
	"touchstone/agent/worker"
	"touchstone/verdict/decide"
)

// The logins: the owner of everything, the author whose agent fixes and merges pull requests, the reviewer,
// another person who can push, and CI.
const (
	Owner  = "acme"
	Author = "alice"
	Judge  = "judge"
	Person = "walter"
	CI     = "ci-app"
)

// Arena is a simulated GitHub on which pull requests are reviewed and merged.
type Arena struct {
	Sim *githubsim.Sim

	url   string
	git   string // the executable, which is not looked for again for each of thousands of commands
	dir   string
	http  http.Client
	inbox inbox
	made  atomic.Int64 // number of templates
	key   ed25519.PrivateKey
}

// Within runs do on a new arena with its files below dir, and shuts the arena down afterwards.
func Within(ctx context.Context, dir string, do func(context.Context, *Arena) error) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return fmt.Errorf("agents need git: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	a := &Arena{url: "http://" + listener.Addr().String(), git: git, dir: dir}
	if _, a.key, err = ed25519.GenerateKey(nil); err != nil {
		return err
	}
	var users []githubsim.User
	for _, login := range []string{Owner, Author, Judge, Person, CI} {
		users = append(users, githubsim.User{Login: login, Token: Token(login), Admin: login == Owner, App: login == CI})
	}
	if a.Sim, err = githubsim.New(githubsim.Config{Dir: a.hub(), URL: a.url, Users: users, Transport: &a.inbox}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var running errgroup.Group
	running.Go(func() error { return a.Sim.Serve(ctx, listener) })
	err = do(ctx, a)
	stop()
	a.http.CloseIdleConnections()
	return errors.Join(err, running.Wait())
}

// Each takes things through arenas with their files below dir, several arenas at once: perArena things, one after the other,
// through each arena, which keeps all of them until it ends. open prepares an arena, and returns what takes the nth thing
// of all through it.
func Each(ctx context.Context, dir string, workers, count, perArena int,
	open func(ctx context.Context, a *Arena, dir string) (take func(ctx context.Context, n int) error, err error)) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(workers)
	for from := 0; from < count; from += perArena {
		all.Go(func() error {
			own := filepath.Join(dir, fmt.Sprint(from))
			defer os.RemoveAll(own)
			return Within(ctx, own, func(ctx context.Context, a *Arena) error {
				take, err := open(ctx, a, own)
				for n := from; err == nil && n < min(from+perArena, count); n++ {
					err = take(ctx, n)
				}
				return err
			})
		})
	}
	return all.Wait()
}

// Token returns the token of a login.
func Token(login string) string { return "token-of-" + login }

// hub returns the directory of GitHub's repositories.
func (a *Arena) hub() string { return filepath.Join(a.dir, "github") }

// Template is a repository that is created once and then copied any number of times.
type Template struct{ dir string }

// Template creates a template with these files on main.
func (a *Arena) Template(ctx context.Context, files map[string]string) (Template, error) {
	name := "template-" + strconv.FormatInt(a.made.Add(1), 10)
	err := a.Sim.CreateRepo(ctx, githubsim.RepoOptions{Owner: Owner, Name: name, Files: files})
	return Template{a.Bare(forge.Repo{Owner: Owner, Name: name}).Dir}, err
}

// Create creates the repository of this name as a copy of a template. It sets the options' owner, name and
// directory.
func (a *Arena) Create(ctx context.Context, name string, from Template, options githubsim.RepoOptions) error {
	dir := a.Bare(forge.Repo{Owner: Owner, Name: name}).Dir
	if err := os.CopyFS(dir, os.DirFS(from.dir)); err != nil {
		return fmt.Errorf("copy the template: %w", err)
	}
	options.Owner, options.Name, options.Dir = Owner, name, dir
	return a.Sim.CreateRepo(ctx, options)
}

// send makes one request below the root of the server.
func (a *Arena) send(ctx context.Context, login, method, path string, body, answer any) error {
	return rest.API{URL: a.url, Token: Token(login), Client: &a.http}.Call(ctx, method, path, body, answer)
}

// GraphQL makes a GraphQL request that does not come from an agent.
func (a *Arena) GraphQL(ctx context.Context, login, query string, variables map[string]any) error {
	var answer struct{ Errors []struct{ Message string } }
	err := a.send(ctx, login, http.MethodPost, "/api/graphql", map[string]any{"query": query, "variables": variables}, &answer)
	if err == nil && len(answer.Errors) > 0 {
		err = errors.New(answer.Errors[0].Message)
	}
	return err
}

// Login returns the login of the agents of a role.
func Login(role decide.Role) string {
	return map[decide.Role]string{decide.Reviewer: Judge, decide.Author: Author}[role]
}

// Client returns the agents' client with a login's token.
func (a *Arena) Client(login string) (*forge.Client, error) {
	return forge.New(forge.Config{APIURL: a.url + "/api/v3/", Token: Token(login), Version: "arena"})
}

// Agent returns an agent of a login composed like its daemon's on a machine of this name, except for the model.
// It has no journal.
func (a *Arena) Agent(role decide.Role, login, machine string, m engine.Engine) (*worker.Agent, error) {
	client, err := a.Client(login)
	if err != nil {
		return nil, err
	}
	cfg := config.Default()
	cfg.Review = config.ReviewAll
	cfg.Reviewers = []string{Judge}
	cfg.Merge.RequireChecks = false
	cfg.Author.Email = login + "@example.com"
	cfg.StateDir = filepath.Join(a.dir, machine, string(role))
	agent, err := compose.Assemble(config.NewLive(cfg, nil), role, client, login, m, "", true)
	if err != nil {
		return nil, err
	}
	agent.Worktrees.Git = a.git
	if role != decide.Reviewer {
		return agent, nil
	}
	// All machines of the reviewer share one key, so that the author's machines need to know only one.
	agent.Key, agent.Reviewer.Key = a.key, a.key
	return agent, agent.Trust.Hold(login, trust.Public(a.key))
}

// Bare returns one of GitHub's repositories on disk.
func (a *Arena) Bare(repo forge.Repo) bare.Repo {
	return bare.Open(a.git, filepath.Join(a.hub(), repo.Owner, repo.Name+".git"), time.Now)
}

// Remote makes an agent's git read from disk, without GitHub.
func (a *Arena) Remote(_ context.Context, repo forge.Repo) (url, authorization string, err error) {
	return "file://" + filepath.ToSlash(a.Bare(repo).Dir), "", nil
}

// CloneURL returns the URL of a repository of the owner's over HTTP.
func (a *Arena) CloneURL(name string) string { return a.url + "/" + Owner + "/" + name + ".git" }

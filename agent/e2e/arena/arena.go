// Package arena is a simulated GitHub for programs that take many pull requests
// through the whole path: real HTTP, real git, agents as their daemons compose
// them, and any model. It keeps its files below a directory of its caller's.
package arena

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"touchstone/agent/author"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/merger"
	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree"
)

// The logins: who owns all, who opens pull requests and has an agent that fixes and
// merges them, who reviews, somebody else who may push, and whose token CI has.
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
	dir   string
	rules guidelines.Set
	http  http.Client
}

// Within runs do on an arena of its own, whose files are below dir, and takes the
// arena down when it returns.
func Within(ctx context.Context, dir string, do func(context.Context, *Arena) error) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	a := &Arena{url: "http://" + listener.Addr().String(), dir: dir}
	if a.rules, err = guidelines.Default(); err != nil {
		return err
	}
	var users []githubsim.User
	for _, login := range []string{Owner, Author, Judge, Person, CI} {
		users = append(users, githubsim.User{Login: login, Token: token(login), Admin: login == Owner, App: login == CI})
	}
	if a.Sim, err = githubsim.New(githubsim.Config{Dir: filepath.Join(dir, "github"), URL: a.url, Users: users}); err != nil {
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

func token(login string) string { return "token-of-" + login }

// Call calls the REST API below a repository. Its user agent is not an agent's.
func (a *Arena) Call(ctx context.Context, login, method string, repo forge.Repo, path string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("%s/api/v3/repos/%s/%s", a.url, repo, path), bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token(login))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", ByHand)
	response, err := a.http.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	if answer != nil {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	return nil
}

// ByHand is the user agent of Call.
const ByHand = "by hand"

// Agent is an agent as its daemon would compose it on a machine of this name, but for
// the model. It has no journal.
func (a *Arena) Agent(role verdict.Role, machine string, m engine.Engine) (*daemon.Agent, error) {
	login := map[verdict.Role]string{verdict.Reviewer: Judge, verdict.Author: Author}[role]
	client, err := forge.New(forge.Config{APIURL: a.url + "/api/v3/", Token: token(login), Version: "arena"})
	if err != nil {
		return nil, err
	}
	cfg := config.Default()
	cfg.Review = config.ReviewAll
	cfg.Reviewers = []string{Judge}
	cfg.Merge.RequireChecks = false
	trees := &worktree.Store{Root: filepath.Join(a.dir, machine, string(role))}
	agent := &daemon.Agent{
		Role: role, Config: config.NewLive(cfg, nil).Config, Read: client, Caller: forge.NewSpeaker(client), Approve: forge.NewPoster(client), Worktrees: trees, Remote: client.Remote,
		Reviewer: &reviewer.Reviewer{
			Examiner:  reviewer.Examiner{Engine: m, Guidelines: a.rules},
			Worktrees: trees, Read: client, Post: forge.NewPoster(client), Say: forge.NewSpeaker(client), Resolve: forge.NewResolver(client), Remote: client.Remote,
		},
		Author: &author.Author{
			Worktrees: trees, Engine: m, Read: client, Remote: client.Remote, Reviewers: cfg.Reviewers,
			Identity: worktree.Identity{Name: Author, Email: Author + "@example.com"},
		},
	}
	agent.Merger = &merger.Merger{Read: client, Act: forge.NewMerger(client), Decide: agent.Decide}
	return agent, nil
}

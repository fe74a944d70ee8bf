// Package simtest serves a simulated GitHub to a test, and checks its responses against GitHub's own
// descriptions.
package simtest

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/contract"
	"touchstone/agent/githubsim/rest"
	"touchstone/worktree/await"
)

// GitHub is a simulated GitHub on loopback. Its methods fail the test instead of returning an error.
type GitHub struct {
	*githubsim.Sim
	// URL is the root URL, Dir the directory of the repositories.
	URL, Dir string
	// Ctx ends with the test, or after await.Patience.
	Ctx context.Context

	t testing.TB
}

// Token returns the token of a login.
func Token(login string) string { return "token-of-" + login }

// Users returns accounts with these logins, each with its Token. The first one is an administrator.
func Users(admin string, others ...string) []githubsim.User {
	users := []githubsim.User{{Login: admin, Token: Token(admin), Admin: true}}
	for _, login := range others {
		users = append(users, githubsim.User{Login: login, Token: Token(login)})
	}
	return users
}

// Start serves a GitHub with a repository until the test ends. It sets the directory and the URL of the
// configuration, and the timeout of webhook deliveries if there is none.
func Start(t testing.TB, config githubsim.Config, repository githubsim.RepoOptions) *GitHub {
	t.Helper()
	return Behind(t, config, repository, func(next http.Handler) http.Handler { return contract.Wrap(t, next) })
}

// Behind is Start with front between the simulator and its clients, instead of the check against GitHub's
// descriptions.
func Behind(t testing.TB, config githubsim.Config, repository githubsim.RepoOptions, front func(http.Handler) http.Handler) *GitHub {
	t.Helper()
	dir := t.TempDir() // removed after everything that runs below has ended
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	server := httptest.NewUnstartedServer(nil)
	g := &GitHub{URL: "http://" + server.Listener.Addr().String(), Dir: dir, Ctx: ctx, t: t}
	config.Dir, config.URL = g.Dir, g.URL
	config.DeliveryTimeout = cmp.Or(config.DeliveryTimeout, await.Patience)
	var err error
	if g.Sim, err = githubsim.New(config); err != nil {
		t.Fatal(err)
	}
	if err := g.CreateRepo(ctx, repository); err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = front(g.Handler())
	server.Start()
	t.Cleanup(server.Close)
	running.Go(func() { _ = g.Run(ctx) })
	return g
}

// As returns an API client with a login's token.
func (g *GitHub) As(login string) *github.Client {
	g.t.Helper()
	client, err := github.NewClient(nil).WithAuthToken(Token(login)).WithEnterpriseURLs(g.URL, g.URL)
	if err != nil {
		g.t.Fatal(err)
	}
	client.UserAgent = rest.ByHand
	return client
}

// Settle waits until GitHub has finished its background work.
func (g *GitHub) Settle() {
	g.t.Helper()
	if err := g.Sim.Settle(g.Ctx); err != nil {
		g.t.Fatal("the simulator does not come to rest: ", err)
	}
}

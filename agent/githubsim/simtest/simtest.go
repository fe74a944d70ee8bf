// Package simtest serves a simulated GitHub to a test, and holds its answers to GitHub's own
// descriptions of them.
package simtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/e2e/await"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/contract"
	"touchstone/agent/githubsim/rest"
)

// GitHub is a simulated GitHub on loopback. Its methods fail the test instead of returning an error.
type GitHub struct {
	*githubsim.Sim
	// URL is its root, Dir where its repositories are.
	URL, Dir string
	// Ctx ends with the test, or after await.Patience.
	Ctx context.Context

	t testing.TB
}

// Token is what signs a login in.
func Token(login string) string { return "token-of-" + login }

// Users are accounts with these logins, each signed in by its Token. An administrator is first.
func Users(admin string, others ...string) []githubsim.User {
	users := []githubsim.User{{Login: admin, Token: Token(admin), Admin: true}}
	for _, login := range others {
		users = append(users, githubsim.User{Login: login, Token: Token(login)})
	}
	return users
}

// Start serves a GitHub with a repository until the test ends. Of the configuration it sets the
// directory, the URL and, where there is none, how long a delivery of a webhook may take.
func Start(t testing.TB, config githubsim.Config, repository githubsim.RepoOptions) *GitHub {
	t.Helper()
	return Behind(t, config, repository, func(next http.Handler) http.Handler { return contract.Wrap(t, next) })
}

// Behind is Start with something else between the simulator and its clients than what holds its
// answers to the descriptions.
func Behind(t testing.TB, config githubsim.Config, repository githubsim.RepoOptions, front func(http.Handler) http.Handler) *GitHub {
	t.Helper()
	dir := t.TempDir() // removed once what runs below has ended
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	server := httptest.NewUnstartedServer(nil)
	g := &GitHub{URL: "http://" + server.Listener.Addr().String(), Dir: dir, Ctx: ctx, t: t}
	config.Dir, config.URL = g.Dir, g.URL
	if config.DeliveryTimeout == 0 {
		config.DeliveryTimeout = await.Patience
	}
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

// As is a client of the API with a login's token.
func (g *GitHub) As(login string) *github.Client {
	g.t.Helper()
	client, err := github.NewClient(nil).WithAuthToken(Token(login)).WithEnterpriseURLs(g.URL, g.URL)
	if err != nil {
		g.t.Fatal(err)
	}
	client.UserAgent = rest.ByHand
	return client
}

// Settle waits until GitHub has computed what it computes in the background.
func (g *GitHub) Settle() {
	g.t.Helper()
	if err := g.Sim.Settle(g.Ctx); err != nil {
		g.t.Fatal("the simulator does not come to rest: ", err)
	}
}

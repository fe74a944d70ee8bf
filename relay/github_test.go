package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"touchstone/agent/githubsim"
)

// startGitHub gives a script a GitHub that runs on loopback, with the repository
// acme/app: startgithub sets GITHUB_API and GITHUB_TOKEN.
func startGitHub(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 0 {
		ts.Fatalf("usage: startgithub")
	}
	var handler atomic.Pointer[http.Handler]
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) }))
	sim, err := githubsim.New(githubsim.Config{
		Dir: ts.MkAbs("github"), URL: front.URL, Users: []githubsim.User{{Login: "octocat", Token: "token-of-octocat", Admin: true}},
	})
	ts.Check(err)
	simulated := sim.Handler()
	handler.Store(&simulated)
	ts.Check(sim.CreateRepo(context.Background(), githubsim.RepoOptions{Owner: "acme", Name: "app", Files: map[string]string{"a.txt": "a\n"}}))
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- sim.Run(ctx) }()
	ts.Defer(func() {
		stop()
		<-ran
		front.Close()
	})
	ts.Setenv("GITHUB_API", front.URL)
	ts.Setenv("GITHUB_TOKEN", "token-of-octocat")
}

// askGitHub sends a request as octocat and prints the answer: askgithub METHOD PATH [BODY].
func askGitHub(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: askgithub METHOD PATH [BODY]")
	}
	request, err := http.NewRequest(args[0], ts.Getenv("GITHUB_API")+args[1], strings.NewReader(strings.Join(args[2:], " ")))
	ts.Check(err)
	request.Header.Set("Authorization", "Bearer "+ts.Getenv("GITHUB_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	if response.StatusCode/100 != 2 {
		ts.Fatalf("%s %s: %s\n%s", args[0], args[1], response.Status, body)
	}
	_, err = ts.Stdout().Write(body)
	ts.Check(err)
}

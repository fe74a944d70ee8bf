package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"touchstone/agent/githubsim/rest"
	"touchstone/worktree/steps"
)

// The pull request's repository and users.
const (
	owner, name  = "acme", "app"
	branch       = "add-search"
	authorLogin  = "octocat"
	reviewer     = "hubot"
	answerWithin = 30 * time.Second
)

// github is GitHub as one of its users sees it.
type github struct{ url, token string }

// hook registers the relay's webhook.
func (g github) hook(ctx context.Context, relay, secret string) {
	g.post(ctx, "/repos/"+owner+"/"+name+"/hooks", map[string]any{
		"name": "web", "active": true, "events": []string{"*"},
		"config": map[string]any{"url": relay + "/webhooks/github", "content_type": "json", "secret": secret},
	}, nil)
}

// open opens the pull request and requests its review, unless that is impossible.
func (g github) open(ctx context.Context, ask bool) {
	var pull struct{ Number int }
	g.post(ctx, "/repos/"+owner+"/"+name+"/pulls", map[string]any{
		"title": pullTitle, "body": pullBody, "head": branch, "base": "main",
	}, &pull)
	if ask {
		path := fmt.Sprintf("/repos/%s/%s/pulls/%d/requested_reviewers", owner, name, pull.Number)
		g.post(ctx, path, map[string]any{"reviewers": []string{reviewer}}, nil)
	}
}

// pull is the state of the pull request that ends the demo.
type pull struct {
	State  string
	Merged bool
}

func (g github) pull(ctx context.Context, number int) (p pull) {
	g.call(ctx, http.MethodGet, fmt.Sprintf("/repos/%s/%s/pulls/%d", owner, name, number), nil, &p)
	return p
}

func (g github) post(ctx context.Context, path string, in, out any) {
	g.call(ctx, http.MethodPost, path, in, out)
}

func (g github) call(ctx context.Context, method, path string, in, out any) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	steps.Must(rest.API{URL: g.url, Token: g.token}.Call(ctx, method, path, in, out))
}

// gitEnv configures git's author and its authentication with the token, which stays off the command line.
func (g github) gitEnv() []string {
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + g.token))
	return []string{
		"GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=Authorization: Basic " + basic,
		"GIT_CONFIG_KEY_1=user.name", "GIT_CONFIG_VALUE_1=" + authorLogin,
		"GIT_CONFIG_KEY_2=user.email", "GIT_CONFIG_VALUE_2=" + authorLogin + "@example.com",
	}
}

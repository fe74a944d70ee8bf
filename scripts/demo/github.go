package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"touchstone/agent/githubsim/rest"
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
func (g github) hook(ctx context.Context, relay, secret string) error {
	return g.post(ctx, "/repos/"+owner+"/"+name+"/hooks", map[string]any{
		"name": "web", "active": true, "events": []string{"*"},
		"config": map[string]any{"url": relay + "/webhooks/github", "content_type": "json", "secret": secret},
	}, nil)
}

// open opens the pull request and requests its review, unless that is impossible.
func (g github) open(ctx context.Context, ask bool) error {
	var pull struct{ Number int }
	err := g.post(ctx, "/repos/"+owner+"/"+name+"/pulls", map[string]any{
		"title": pullTitle, "body": pullBody, "head": branch, "base": "main",
	}, &pull)
	if err != nil || !ask {
		return err
	}
	path := fmt.Sprintf("/repos/%s/%s/pulls/%d/requested_reviewers", owner, name, pull.Number)
	return g.post(ctx, path, map[string]any{"reviewers": []string{reviewer}}, nil)
}

// pull is the state of the pull request that ends the demo.
type pull struct {
	State  string
	Merged bool
}

func (g github) pull(ctx context.Context, number int) (pull, error) {
	var p pull
	return p, g.call(ctx, http.MethodGet, fmt.Sprintf("/repos/%s/%s/pulls/%d", owner, name, number), nil, &p)
}

func (g github) post(ctx context.Context, path string, in, out any) error {
	return g.call(ctx, http.MethodPost, path, in, out)
}

func (g github) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return rest.API{URL: g.url, Token: g.token}.Call(ctx, method, path, in, out)
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

// Package loopback provides one repository, acme/app, on a GitHub on loopback, and a model that is a Go
// function, for tests of a single step of the loop.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
	"touchstone/agent/githubsim/simtest"
	"touchstone/verdict"
	"touchstone/worktree"
)

// The logins. Root owns everything, Stranger can only read, and the others can write.
const (
	Root     = "root"
	Author   = "alice"
	Judge    = "judge"
	Person   = "walter"
	Stranger = "mallory"
)

// Repo is the repository on the GitHub.
var Repo = forge.Repo{Owner: "acme", Name: "app"}

// GitHub is a simulated GitHub. Its methods fail the test instead of returning
// an error.
type GitHub struct {
	*simtest.GitHub
	// Worktrees is the worktree store of the agent under test.
	Worktrees *worktree.Store

	t testing.TB
}

// New starts a GitHub whose repository has these files on main, at least one, until the test ends. No check
// reports on its commits unless the test makes one.
func New(t testing.TB, files map[string]string) *GitHub {
	t.Helper()
	worktrees := t.TempDir() // removed after everything that runs below has ended
	hub := simtest.Start(t, githubsim.Config{Users: simtest.Users(Root, Author, Judge, Person, Stranger)}, githubsim.RepoOptions{
		Owner: Repo.Owner, Name: Repo.Name, Files: files,
		Permissions: map[string]string{Author: "write", Judge: "write", Person: "write", Stranger: "read"},
	})
	return &GitHub{GitHub: hub, Worktrees: &worktree.Store{Root: worktrees}, t: t}
}

// Client returns the agents' client with a login's token.
func (g *GitHub) Client(login string) *forge.Client {
	g.t.Helper()
	client, err := forge.New(forge.Config{APIURL: g.URL + "/api/v3/", Token: simtest.Token(login), Version: "test"})
	g.Must(err)
	return client
}

// Commit pushes files to a branch as the author, and returns the new commit. An empty text deletes a file.
func (g *GitHub) Commit(branch, message string, files map[string]string) string {
	g.t.Helper()
	sha, err := g.Sim.Commit(g.Ctx, Author, Repo.String(), branch, message, files)
	g.Must(err)
	return sha
}

// Open opens the author's pull request from a branch into main.
func (g *GitHub) Open(branch string) forge.Ref {
	g.t.Helper()
	var made struct{ Number int }
	g.Call(Author, http.MethodPost, "pulls", map[string]any{"title": "Change " + branch, "head": branch, "base": "main", "body": "Why."},
		&made)
	return forge.Ref{Repo: Repo, Number: made.Number}
}

// Call calls the REST API below the repository, such as "pulls/1".
func (g *GitHub) Call(login, method, path string, body, answer any) {
	g.t.Helper()
	g.Must(rest.API{URL: g.URL, Token: simtest.Token(login)}.Call(g.Ctx, method, fmt.Sprintf("/api/v3/repos/%s/%s", Repo, path), body, answer))
}

// Read returns a pull request as the agent of a login sees it.
func (g *GitHub) Read(login string, ref forge.Ref) forge.PullRequest {
	g.t.Helper()
	g.Settle()
	pr, err := g.Client(login).PullRequest(g.Ctx, ref)
	g.Must(err)
	return pr
}

// Reviewed posts a review of the head with a record, like the reviewing agent, and returns the pull request as
// the author's agent then sees it.
func (g *GitHub) Reviewed(ref forge.Ref, v verdict.Verdict, findings ...verdict.Finding) forge.PullRequest {
	g.t.Helper()
	pr := g.Read(Judge, ref)
	judgement := verdict.Judgement{Verdict: v, Answer: verdict.Answer{Findings: findings}}
	seal, err := verdict.Record{Verdict: v, Head: pr.Head.SHA, Base: pr.Base.SHA, BaseBranch: pr.Base.Name, Tree: g.Tree(pr), Round: 1,
		Ledger: verdict.Ledger(nil).After(1, judgement)}.Seal(verdict.Signer{})
	g.Must(err)
	_, err = forge.NewPoster(g.Client(Judge)).PostReview(g.Ctx, ref,
		forge.Review{SHA: pr.Head.SHA, Event: string(v), Body: "The review.\n\n" + seal})
	g.Must(err)
	return g.Read(Author, ref)
}

// Tree returns the tree that a squash merge of a pull request creates, as in its records; "" if there is a
// conflict.
func (g *GitHub) Tree(pr forge.PullRequest) string {
	g.t.Helper()
	url, authorization, err := g.Client(Root).Remote(g.Ctx, pr.Ref.Repo)
	g.Must(err)
	merge, err := g.Worktrees.Squash(g.Ctx, worktree.Request{
		Remote: worktree.Remote{URL: url, Authorization: authorization}, Repo: pr.Ref.Repo.String(), Number: pr.Ref.Number, Role: "test",
		Head: pr.Head.SHA, HeadRef: fmt.Sprintf("refs/pull/%d/head", pr.Ref.Number), Base: pr.Base.SHA, BaseRef: "refs/heads/" + pr.Base.Name,
	})
	if errors.Is(err, worktree.ErrUnmergeable) {
		return ""
	}
	g.Must(err)
	return merge.Tree
}

// Asked is one turn of a session: the request that opened the session, and the turn's prompt.
type Asked struct {
	engine.Request
	Prompt string
}

// Model is an engine that answers each turn by calling a function, whose text is the answer. It upholds each
// finding that it is asked to refute.
type Model func(Asked) (string, error)

// Name returns the engine's name.
func (Model) Name() string { return "model" }

// Probe always succeeds.
func (Model) Probe(context.Context) (engine.Version, error) { return engine.Version{}, nil }

// Open opens a session.
func (m Model) Open(ctx context.Context, request engine.Request) (engine.Session, error) {
	return reading.Model(func(_ context.Context, request engine.Request, prompt string) (engine.Result, error) {
		if text, ok := reading.Upheld(prompt); ok {
			return engine.Result{Text: text, Started: time.Now()}, nil
		}
		reading.Patches(request, prompt)
		text, err := m(Asked{Request: request, Prompt: prompt})
		return engine.Result{Text: text, Started: time.Now()}, err
	}).Open(ctx, request)
}

// Package schedule runs the loop of one pull request after the other in an order
// that a seed decides: agents look and act at any moment or not at all, people push,
// object, approve and label, the base moves, GitHub fails in between, and agents die
// at any outward call. After that everybody lets the agents finish, and what became
// of the pull request is held against what must never happen.
//
// All but the order is real: HTTP, git, the agents with their journals. That makes
// a schedule take some tenths of a second. Agents take their turns one after the
// other; what happens during a turn happens at one of its outward calls. Left out
// are two machines of one reviewer at work in the same moment: nothing keeps GitHub
// from taking a review that another machine posted since it was last looked at.
package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/journal"
	"touchstone/verdict"
)

// Result is what became of one schedule.
type Result struct {
	Seed uint64
	// Steps tells what happened, in order.
	Steps []string
	// Violations are sentences about what must never happen and did.
	Violations []string
	// Stuck says why nobody would ever touch the pull request again; empty if it ended
	// in one of the ways of End.
	Stuck string
	// End is "merged", "closed", "called" where the label calls a person, "stopped"
	// where a person ordered that, or "objected" where a person's objection stands.
	End string
}

// steps is how many steps a schedule has before everybody lets the agents finish.
const steps = 10

// world is one schedule at work.
type world struct {
	*arena.Arena
	random *rand.Rand
	dir    string
	ref    forge.Ref
	branch string
	file   string
	agents map[verdict.Role]*daemon.Agent
	// twin is an author's agent on another machine of the same person's.
	twin   *daemon.Agent
	result *Result
	// orders are those that people gave.
	orders []verdict.Verb

	mu   sync.Mutex
	plan plan
	// pushed are the commits that people pushed to the branch.
	pushed []string
}

// Run runs the schedule of a seed in a repository of its own on an arena. It takes
// over the arena's interception of requests.
func Run(ctx context.Context, a *arena.Arena, dir string, seed uint64) (Result, error) {
	result := Result{Seed: seed}
	w := &world{
		Arena: a, random: rand.New(rand.NewPCG(seed, seed)), dir: dir, branch: "topic", file: "store/search.go", result: &result,
		ref: forge.Ref{Repo: forge.Repo{Owner: arena.Owner, Name: fmt.Sprintf("seed-%d", seed)}}, agents: map[verdict.Role]*daemon.Agent{},
	}
	if err := w.open(ctx); err != nil {
		return result, err
	}
	defer w.Sim.Intercept(nil)
	defer w.close()
	w.Sim.Intercept(func(login string, r *http.Request) githubsim.Fault { return w.intercept(ctx, login, r) })
	for range steps {
		if err := w.step(ctx); err != nil {
			return result, err
		}
	}
	if err := w.finish(ctx); err != nil {
		return result, err
	}
	return result, w.check(ctx)
}

// open makes the repository and its pull request, and starts both agents.
func (w *world) open(ctx context.Context) error {
	err := w.Sim.CreateRepo(ctx, githubsim.RepoOptions{Owner: w.ref.Owner, Name: w.ref.Name, Files: map[string]string{"README.md": "# App\n", w.file: body("old")}})
	if err == nil {
		err = w.push(ctx, arena.Author, w.branch, map[string]string{w.file: w.text()})
	}
	if err != nil {
		return err
	}
	var made struct{ Number int }
	err = w.Call(ctx, arena.Author, http.MethodPost, w.ref.Repo, "pulls", map[string]any{"title": "Search", "body": "It finds things.", "head": w.branch, "base": "main"}, &made)
	w.ref.Number = made.Number
	for _, role := range []verdict.Role{verdict.Reviewer, verdict.Author} {
		if err == nil {
			err = w.start(role)
		}
	}
	if err == nil {
		w.twin, err = w.launch(verdict.Author, "second", model{rand.New(rand.NewPCG(w.result.Seed, 1)), w.file})
	}
	return err
}

// start starts an agent, again if it died.
func (w *world) start(role verdict.Role) (err error) {
	if old := w.agents[role]; old != nil {
		if err := old.Journal.Close(); err != nil {
			return err
		}
	}
	w.agents[role], err = w.launch(role, "first", model{w.random, w.file})
	return err
}

// launch starts an agent on a machine.
func (w *world) launch(role verdict.Role, machine string, m model) (*daemon.Agent, error) {
	agent, err := w.Agent(role, machine, m)
	if err != nil {
		return nil, err
	}
	cfg := agent.Config()
	cfg.Rounds = config.Rounds{Max: 6, Attempts: 3, Backoff: config.Duration(time.Millisecond)}
	agent.Config = config.NewLive(cfg, nil).Config
	agent.Journal, err = journal.Open(filepath.Join(w.dir, w.ref.Name, machine, string(role)))
	return agent, err
}

func (w *world) close() {
	for _, a := range []*daemon.Agent{w.agents[verdict.Reviewer], w.agents[verdict.Author], w.twin} {
		_ = a.Journal.Close() // nothing of it is read again
	}
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Steps = append(w.result.Steps, fmt.Sprintf(format, args...))
}

// push pushes files to a branch in somebody's name.
func (w *world) push(ctx context.Context, login, branch string, files map[string]string) error {
	sha, err := w.Sim.Commit(ctx, login, w.ref.Repo.String(), branch, "Change", files)
	if err == nil && branch == w.branch {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pushed = append(w.pushed, sha)
	}
	return err
}

// choice is a kind of step and how often it is taken.
type choice struct {
	weight int
	what   string
	do     func(context.Context) error
}

// choices are all kinds of steps.
func (w *world) choices() []choice {
	push := func(branch, file string) func(context.Context) error {
		return func(ctx context.Context) error {
			return w.push(ctx, arena.Person, branch, map[string]string{file: w.text()})
		}
	}
	return []choice{
		{8, "the reviewer's turn", func(ctx context.Context) error { return w.turn(ctx, verdict.Reviewer) }},
		{8, "the author's turn", func(ctx context.Context) error { return w.turn(ctx, verdict.Author) }},
		{2, "a person pushes", push(w.branch, w.file)},
		{1, "the base moves", push("main", fmt.Sprintf("note%d.md", w.random.IntN(9)))},
		{1, "the base conflicts", push("main", w.file)},
		{2, "a person approves", func(ctx context.Context) error { return w.review(ctx, "APPROVE") }},
		{1, "a person objects", func(ctx context.Context) error { return w.review(ctx, "REQUEST_CHANGES") }},
		{1, "somebody calls a person", func(ctx context.Context) error {
			return w.Call(ctx, arena.Person, http.MethodPost, w.ref.Repo, w.path("issues", "labels"), []string{"needs-human"}, nil)
		}},
		{2, "the label is taken off", w.unlabel},
		{1, "a person orders a review", func(ctx context.Context) error { return w.order(ctx, arena.Person, verdict.AskReview) }},
		{1, "a person stops the agents", func(ctx context.Context) error { return w.order(ctx, arena.Person, verdict.Stop) }},
		{2, "a person lets them go on", func(ctx context.Context) error { return w.order(ctx, arena.Person, verdict.Resume) }},
		{1, "the owner breaks the glass", func(ctx context.Context) error { return w.order(ctx, arena.Owner, verdict.BreakGlass+" it burns") }},
		{1, "it is closed or opened again", w.toggle},
	}
}

// step takes one step.
func (w *world) step(ctx context.Context) error {
	choices, total := w.choices(), 0
	for _, c := range choices {
		total += c.weight
	}
	at := w.random.IntN(total)
	for _, c := range choices {
		if at -= c.weight; at < 0 {
			w.note("%s", c.what)
			return c.do(ctx)
		}
	}
	return nil
}

func (w *world) path(kind, what string) string {
	return fmt.Sprintf("%s/%d/%s", kind, w.ref.Number, what)
}

// review is a person's, of the present head. On a pull request that is merged it is
// refused or without effect, which is fine.
func (w *world) review(ctx context.Context, event string) error {
	pull, err := w.pull(ctx)
	if err != nil || pull.State != "open" {
		return err
	}
	return w.Call(ctx, arena.Person, http.MethodPost, w.ref.Repo, w.path("pulls", "reviews"), map[string]any{"commit_id": pull.Head.SHA, "event": event, "body": "I have read it."}, nil)
}

// unlabel takes the label off if it is there.
func (w *world) unlabel(ctx context.Context) error {
	pull, err := w.pull(ctx)
	if err != nil || !pull.called() {
		return err
	}
	return w.Call(ctx, arena.Person, http.MethodDelete, w.ref.Repo, w.path("issues", "labels/needs-human"), nil, nil)
}

// order gives the agents an order in a comment.
func (w *world) order(ctx context.Context, login string, verb verdict.Verb) error {
	w.orders = append(w.orders, verb)
	return w.Call(ctx, login, http.MethodPost, w.ref.Repo, w.path("issues", "comments"), map[string]any{"body": "/touchstone " + string(verb)}, nil)
}

// stopped reports whether the agents are under orders to do nothing.
func (w *world) stopped() bool {
	for _, verb := range slices.Backward(w.orders) {
		if verb == verdict.Stop || verb == verdict.Resume {
			return verb == verdict.Stop
		}
	}
	return false
}

// toggle closes the pull request, or opens it again.
func (w *world) toggle(ctx context.Context) error {
	pull, err := w.pull(ctx)
	if err != nil || pull.Merged {
		return err
	}
	state := map[string]string{"open": "closed", "closed": "open"}[pull.State]
	return w.Call(ctx, arena.Author, http.MethodPatch, w.ref.Repo, fmt.Sprintf("pulls/%d", w.ref.Number), map[string]any{"state": state}, nil)
}

// pull is the pull request as it is.
type pull struct {
	State, MergeCommitSHA string
	Merged                bool
	Head                  struct{ SHA string }
	Labels                []struct{ Name string }
}

func (w *world) pull(ctx context.Context) (p pull, err error) {
	err = w.Call(ctx, arena.Owner, http.MethodGet, w.ref.Repo, fmt.Sprintf("pulls/%d", w.ref.Number), nil, &p)
	return p, err
}

func (p pull) called() bool {
	return slices.ContainsFunc(p.Labels, func(l struct{ Name string }) bool { return l.Name == "needs-human" })
}

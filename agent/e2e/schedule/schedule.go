// Package schedule runs the loop of one pull request after the other in an order that a seed decides: events
// arrive late, twice, out of order or never; agents look and act at any moment or not at all; people push,
// force-push, object, approve, label and order; the base moves; CI reports; GitHub and the model fail in
// between; and agents die at any outward call. Then all people let the agents finish, and the package checks
// the pull request for outcomes that must never happen.
//
// Everything but the order is real: HTTP, git, webhooks, the agents with their journals. Each pull request has
// two machines of its reviewer and two of its author. They take turns; what happens during a turn, even another
// machine's whole turn, happens at one of its outward calls. Before each call, GitHub finishes its background
// work. So a seed always means the same, except for the seconds of GitHub's clock, and for whether a machine still
// reads the answer during which it is told of a newer commit.
package schedule

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/bare"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// Result is the outcome of one schedule.
type Result struct {
	Seed uint64
	// Steps lists what happened, in order.
	Steps []string
	// Violations are sentences about things that must never happen and did.
	Violations []string
	// Stuck says why no agent and no person would ever touch the pull request again; empty if it ended in one
	// of the ways of End.
	Stuck string
	// End is "merged", "closed", "called" if the label calls a person, "stopped" if a person ordered that,
	// "objected" if a person's objection stands, "left" if the author is to merge the pull request, or
	// "dismissed" if a person dismissed the review of the head and the author is told that it waits for another
	// review.
	End string
}

// stepCount is the number of steps before all people let the agents finish.
const stepCount = 10

// Stage runs schedules, one after the other.
type Stage struct {
	*arena.Arena
	template arena.Template
	// dir is the directory of the agents' journals.
	dir string
	// meddle, if set, breaks an agent deliberately when it starts.
	meddle func(*Stage, decide.Role, *worker.Agent)
}

// NewStage makes a stage from an arena, and takes over the arena's webhooks and its interception of requests.
// The agents' journals are below dir.
func NewStage(ctx context.Context, a *arena.Arena, dir string) (*Stage, error) {
	template, err := a.Template(ctx, map[string]string{"README.md": "# App\n", file: body("old")})
	return &Stage{Arena: a, template: template, dir: dir}, err
}

// world is one running schedule.
type world struct {
	*Stage
	arena.Subject
	random *rand.Rand
	// hub is GitHub's own repository, read without a git process.
	hub      bare.Repo
	rules    githubsim.Protection
	machines []*machine
	result   *Result
	// slow makes the models find one defect at a time.
	slow bool
	// orders are the orders that people gave.
	orders []verdict.Verb
	// others are the additional branches that people created.
	others []string
	// judged are the heads on which CI has reported.
	judged map[string]bool
	// freed reports that a stranger has the person's login; strange are the stranger's reviews.
	freed   bool
	strange map[int64]bool
	// silenced are the reviewer's reviews that people edited or dismissed.
	silenced map[int64]bool

	mu   sync.Mutex
	plan plan
	// known are all commits that people pushed to the branch. pushed are those that it must contain: all since
	// its last rewrite. removed are all commits, including the agents', that people removed from it.
	known, pushed, removed []string
}

// The branch of the pull request, the file that it changes, and the check that some repositories require.
const (
	branch   = "topic"
	file     = "store/search.go"
	required = "test"
)

// writers can push to each repository, like its owner.
var writers = map[string]string{arena.Author: "write", arena.Judge: "write", arena.Person: "write", arena.CI: "write"}

// world returns the world of a seed, still empty.
func (s *Stage) world(ctx context.Context, seed uint64) *world {
	subject := s.Subject(ctx, fmt.Sprintf("seed-%d", seed))
	return &world{
		Stage: s, Subject: subject, random: rand.New(rand.NewPCG(seed, seed)), result: &Result{Seed: seed}, judged: map[string]bool{},
		silenced: map[int64]bool{}, strange: map[int64]bool{}, hub: s.Bare(subject.Ref.Repo),
	}
}

// Run runs the schedule of a seed.
func (s *Stage) Run(ctx context.Context, seed uint64) (Result, error) {
	w := s.world(ctx, seed)
	defer w.close()
	err := steps.Try(w.run)
	return *w.result, err
}

func (w *world) run() {
	w.rules = w.protection()
	w.Sim.Advance(time.Hour + time.Second) // hundreds of schedules make more requests than GitHub allows in an hour
	w.open(w.text())
	defer w.Sim.Intercept(nil)
	w.Sim.Intercept(w.intercept)
	for range stepCount {
		steps.Must(w.Sim.Settle(w.Ctx))
		w.step()
	}
	w.finish()
	w.check()
}

// protection returns the branch protection of a seed's repository.
func (w *world) protection() githubsim.Protection {
	tested := []string{required}
	return []githubsim.Protection{
		{Strict: true}, {MergeQueue: true}, {RequiredChecks: tested}, {RequiredChecks: tested, Strict: true},
		{RequiredChecks: tested, MergeQueue: true}, {}, {}, {},
	}[w.random.IntN(8)]
}

// open creates the repository and its pull request, with this text as the file's, and starts all agents.
func (w *world) open(text string) {
	protected := map[string]githubsim.Protection{}
	if w.rules.Strict || w.rules.MergeQueue || len(w.rules.RequiredChecks) > 0 {
		protected["main"] = w.rules
		w.note("main is protected: %+v", w.rules)
	}
	steps.Must(w.Create(w.Ctx, w.Ref.Name, w.template,
		githubsim.RepoOptions{Protected: protected, Permissions: maps.Clone(writers)}))
	for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
		for _, name := range []string{"first", "second"} {
			w.machines = append(w.machines, &machine{role: role, name: name, random: rand.New(rand.NewPCG(w.result.Seed, uint64(len(w.machines))))})
		}
	}
	w.Receive(w.received)
	w.push(arena.Author, branch, map[string]string{file: text})
	w.Open("Search", "It finds things.", branch, "main")
	for _, m := range w.machines {
		w.start(m)
	}
}

func (w *world) close() {
	w.takeBack()
	for _, m := range w.machines {
		if m.agent != nil {
			_ = m.agent.Journal.Close() // nothing reads it again
		}
	}
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Steps = append(w.result.Steps, fmt.Sprintf(format, args...))
}

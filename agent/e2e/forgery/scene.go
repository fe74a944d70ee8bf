package forgery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/worker"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// stage is the state of a pull request before an attack.
type stage struct {
	// text is a line that the pull request adds to the file; empty means a harmless line.
	text string
	// base is the base branch of the pull request; empty means main.
	base string
	// unreviewed keeps the reviewer's agent away for good.
	unreviewed bool
	// by also writes a commit of the pull request, if it is not empty.
	by string
	// early runs before the reviewer's agent looks, late after it. The author's agent looks after the attack.
	early, late func(*scene)
	// settings changes the agents' settings.
	settings func(*config.Config)
	// repository changes the repository's options.
	repository func(*githubsim.RepoOptions)
}

// The branch of the pull request and the files of a repository.
const (
	branch = "topic"
	file   = "store/search.go"
	guard  = "store/rights.go"
)

// ground is an arena that runs cases.
type ground struct {
	*arena.Arena
	template arena.Template
	weaken   func(decide.Role, *worker.Agent)
	dir      string
}

func newGround(ctx context.Context, a *arena.Arena, dir string, weaken func(decide.Role, *worker.Agent)) (*ground, error) {
	for _, user := range actors() {
		if err := a.Sim.AddUser(user); err != nil {
			return nil, err
		}
	}
	template, err := a.Template(ctx, map[string]string{
		"README.md": "# App\n", file: source("old()"), guard: "package store\n\nfunc rights() {\n\t" + protection + "\n}\n",
	})
	return &ground{Arena: a, template: template, weaken: weaken, dir: dir}, err
}

// source returns the file's text with some calls.
func source(calls ...string) string {
	return "package store\n\n// Search finds everything.\nfunc Search() {\n\t" + strings.Join(calls, "\n\t") + "\n}\n"
}

// scene is one running case.
type scene struct {
	*ground
	arena.Subject
	stage stage
	base  string // the base branch of the pull request
	steps []string

	age      int                      // of the next commit, in minutes
	shown    sync.Map                 // the paths that the model saw
	stern    atomic.Bool              // makes the model object to anything
	sessions atomic.Int64             // of the model
	agents   map[string]*worker.Agent // by login

	away bool // the reviewers no longer look
	undo []func() error

	mu   sync.Mutex
	plan plan
}

// scene returns a scene on a repository of this name, and makes it intercept the requests to GitHub.
func (g *ground) scene(ctx context.Context, name string, st stage) *scene {
	s := &scene{ground: g, Subject: g.Subject(ctx, name), stage: st, base: "main", agents: map[string]*worker.Agent{}}
	s.Called = s.called
	g.Sim.Intercept(s.intercept)
	return s
}

// take runs a case to its end.
func (g *ground) take(ctx context.Context, name string, c Case) Result {
	s, result := g.scene(ctx, name, c.stage), Result{Case: c}
	defer g.Sim.Intercept(nil)
	err := steps.Try(func() {
		s.open()
		if c.act != nil {
			c.act(s)
		}
		s.settle()
		s.inspect(&result)
	})
	result.Steps, result.Err = s.steps, errors.Join(err, s.restore())
	return result
}

// open creates the repository and its pull request, and lets the reviewer look at it.
func (s *scene) open() {
	options := githubsim.RepoOptions{Permissions: maps.Clone(roles)}
	if s.stage.repository != nil {
		s.stage.repository(&options)
	}
	steps.Must(s.Create(s.Ctx, s.Ref.Name, s.template, options))
	if s.stage.text != none {
		s.bring()
	}
	if s.stage.early != nil {
		s.stage.early(s)
	}
	if !s.stage.unreviewed {
		s.review()
	}
	if s.stage.late != nil {
		s.stage.late(s)
	}
}

// bring opens the pull request that most stages use.
func (s *scene) bring() {
	if s.stage.base != "" {
		s.base = s.stage.base
		s.push(neutral, s.base, map[string]string{"base.md": "Another base.\n"})
	}
	s.push(arena.Author, branch, map[string]string{file: source(cmp.Or(s.stage.text, "fine()"))})
	if s.stage.by != "" {
		s.push(s.stage.by, branch, map[string]string{"notes.md": "Some notes.\n"})
	}
	s.request(branch)
}

// none is the text of a stage that opens its pull request itself.
const none = "none"

// request opens a pull request for a branch.
func (s *scene) request(head string) { s.Open("Search", "It finds things.", head, s.base) }

// later advances the clock by a minute.
func (s *scene) later() { s.Sim.Advance(time.Minute) }

func (s *scene) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, fmt.Sprintf(format, args...))
}

// called takes note of a call of the API, which comes a minute after the previous step.
func (s *scene) called(login, method, path string, body any) {
	s.later()
	if method != http.MethodGet {
		s.note("%s: %s %s %.300s", login, method, path, fmt.Sprint(body))
	}
}

// push commits files to a branch as a login.
func (s *scene) push(login, to string, files map[string]string) {
	s.commit(login, to, "Change "+to, files)
}

func (s *scene) commit(login, to, message string, files map[string]string) {
	s.later()
	s.note("%s: push to %s %v", login, to, slices.Sorted(maps.Keys(files)))
	steps.Got(s.Sim.Commit(s.Ctx, login, s.Ref.Repo.String(), to, message, files))
}

// permit gives a login a role in the repository.
func (s *scene) permit(login, role string) {
	steps.Must(s.Sim.SetPermission(s.Ref.Repo.String(), login, role))
}

// git runs git in GitHub's own repository.
func (s *scene) git(args ...string) string { return s.gitWith(nil, args...) }

func (s *scene) gitWith(env []string, args ...string) string {
	date := s.Sim.Now().Add(-time.Duration(s.age) * time.Minute).Format(time.RFC3339)
	for _, who := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		env = append(env, who+"_NAME=alice", who+"_EMAIL=alice@example.com", who+"_DATE="+date)
	}
	return strings.TrimSpace(steps.Got(s.Bare(s.Ref.Repo).RunWith(s.Ctx, env, args...)))
}

func (s *scene) rev(name string) string { return s.git("rev-parse", name) }

// agent returns the agent of a login, and creates it at the first call.
func (s *scene) agent(role decide.Role, login string) *worker.Agent {
	if a := s.agents[login]; a != nil {
		return a
	}
	a := steps.Got(s.Agent(role, login, "machine", reading.Model(model{stern: &s.stern, asked: &s.sessions, shown: &s.shown}.ask)))
	cfg := a.Config()
	cfg.Author.Pause = config.Duration(time.Millisecond)
	cfg.Rounds.Backoff = config.Duration(time.Millisecond)
	if s.stage.settings != nil {
		s.stage.settings(&cfg)
	}
	a.Config = func() config.Config { return cfg }
	a.Trust.Settings = func() (map[string][]string, time.Time) { return cfg.Keys, cfg.UnsignedUntil.Time() }
	a.Remote, a.Reviewer.Remote = s.Remote, s.Remote
	if s.weaken != nil {
		s.weaken(role, a)
	}
	s.agents[login] = a
	return a
}

// readFrom makes the git of all agents read from a directory.
func (s *scene) readFrom(dir string) {
	for _, a := range s.agents {
		a.Remote = func(context.Context, forge.Repo) (string, string, error) {
			return "file://" + filepath.ToSlash(dir), "", nil
		}
		a.Reviewer.Remote = a.Remote
	}
}

// look makes an agent look and do what it decides, once. It reports whether there may be more to do.
func (s *scene) look(role decide.Role, login string) (more bool) {
	a := s.agent(role, login)
	steps.Must(s.Sim.Settle(s.Ctx))
	s.later()
	pr, action, err := a.Look(s.Ctx, s.Ref)
	if err != nil {
		s.note("  %s cannot look: %v", login, err)
		return false
	}
	s.note("  %s: %s %.7s, %s", login, action.Kind, action.SHA, action.Reason)
	a.Show(s.Ctx, pr, action)
	switch action.Kind {
	case decide.Skip, decide.Done, decide.Fix: // a fix would only lead to another review
		return false
	case decide.Wait:
		s.Sim.Advance(action.Recheck)
		return action.Recheck > 0
	}
	if _, err := a.Act(s.Ctx, pr, action); err != nil {
		s.note("  %s: %s: %v", login, action.Kind, err)
	}
	return true
}

// enough is how often an agent looks at most.
const enough = 6

// work makes an agent look and act until there is nothing left to do.
func (s *scene) work(role decide.Role, login string) {
	for range enough {
		if !s.look(role, login) {
			return
		}
	}
}

// review makes the reviewers do their work.
func (s *scene) review() {
	for _, login := range s.agent(decide.Author, arena.Author).Config().Reviewers {
		s.work(decide.Reviewer, login)
	}
}

// settle lets all agents work until none has anything left to do.
func (s *scene) settle() {
	for range 2 {
		if !s.stage.unreviewed && !s.away {
			s.review()
		}
		s.work(decide.Author, arena.Author)
	}
}

// merge makes only the author's agent do its work.
func (s *scene) merge() { s.work(decide.Author, arena.Author) }

// restore gives the arena back the accounts that the case changed.
func (s *scene) restore() error {
	for _, undo := range slices.Backward(s.undo) {
		if err := undo(); err != nil {
			return err
		}
	}
	return nil
}

package schedule

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/worker"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// machine is a machine that runs an agent.
type machine struct {
	role  decide.Role
	name  string
	agent *worker.Agent
	// random is the model's source of random numbers.
	random *rand.Rand
	// hints are the events on their way to the machine.
	hints []string
}

func (m *machine) String() string { return string(m.role) + " on the " + m.name + " machine" }

func (m *machine) login() string { return arena.Login(m.role) }

// start starts a machine's agent, or restarts it after it died.
func (w *world) start(m *machine) {
	if m.agent != nil && m.agent.Journal != nil {
		steps.Must(m.agent.Journal.Close())
	}
	agent := steps.Got(w.Agent(m.role, m.login(), m.name, reading.Model(model{random: m.random, slow: w.slow}.ask)))
	cfg := agent.Config()
	cfg.Rounds = config.Rounds{Max: 6, Attempts: 2, Backoff: config.Duration(time.Millisecond)}
	cfg.Author.Pause = config.Duration(time.Millisecond)
	cfg.Budgets.PullRequest = 8 * price
	agent.Config = func() config.Config { return cfg }
	// A fetch over HTTP costs as much as the rest of a round. Agents therefore fetch over HTTP only in every
	// fourth schedule, where they meet its faults; authors also do so whenever they fix.
	if w.result.Seed%4 != 0 {
		agent.Remote, agent.Reviewer.Remote = w.Remote, w.Remote
	}
	if w.shared() {
		agent.Worktrees.Root = filepath.Join(w.dir, w.Ref.Name, m.name, "worktrees")
	}
	if w.meddle != nil {
		w.meddle(w.Stage, m.role, agent)
	}
	agent.Journal = steps.Got(journal.Open(filepath.Join(w.dir, w.Ref.Name, m.name, string(m.role))))
	agent.Journal.Clock = agent.Now
	m.agent = agent
}

// shared reports whether the reviewer and the author named alike run on one machine, with the default settings:
// they have their worktrees from one mirror. In the other schedules, the reviewer and the author know nothing of
// each other's commits.
func (w *world) shared() bool { return w.result.Seed%4 >= 2 }

// received puts an event on its way to every machine.
func (w *world) received(event string, repo forge.Repo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.machines {
		if repo == w.Ref.Repo && event != "ping" { // the repository has this one pull request
			m.hints = append(m.hints, event)
		}
	}
}

// arrive lets a random event on its way to a machine arrive, which gives the machine its turn, or get lost.
// Some events arrive again later. A machine without events on their way sweeps.
func (w *world) arrive(m *machine) {
	w.mu.Lock()
	hints := m.hints
	w.mu.Unlock()
	if len(hints) == 0 {
		w.note("the %s sweeps", m)
		w.turn(m)
		return
	}
	i, fate := w.random.IntN(len(hints)), w.random.IntN(6)
	event := hints[i]
	if fate != 0 {
		w.mu.Lock()
		m.hints = slices.Delete(m.hints, i, i+1)
		w.mu.Unlock()
	}
	if fate == 1 {
		w.note("%s does not reach the %s", event, m)
		return
	}
	w.note("%s reaches the %s", event, m)
	w.turn(m)
}

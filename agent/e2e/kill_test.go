package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"touchstone/agent/githubsim"
	"touchstone/verdict/decide"
)

var every = flag.Int("every", 1, "kill at every so many of an agent's outward calls, from a random one on; 1 takes all")

// TestKilledAtEachCall kills an agent at its first, second, third … outward call (REST, GraphQL or git), before
// or after the call takes effect, and starts it again. The result must be the same: one review for each head
// and one merge. The test ends when a whole loop needs fewer calls than the one at which the agent would die.
func TestKilledAtEachCall(t *testing.T) {
	t.Parallel()
	for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
		for name, drop := range map[string]githubsim.Drop{"before": githubsim.DropBefore, "after": githubsim.DropAfter} {
			t.Run(fmt.Sprintf("%s/%s", role, name), func(t *testing.T) {
				t.Parallel()
				killed, from := true, 1+rand.IntN(*every)
				t.Logf("it is killed at call %d and each %d on", from, *every)
				for at := from; killed; at += *every {
					t.Run(fmt.Sprint(at), func(t *testing.T) { killed = killAt(t, role, at, drop) })
					if t.Failed() {
						return
					}
					if !killed && at < 10 {
						t.Fatalf("a whole loop made only %d calls", at-1)
					}
				}
			})
		}
	}
}

// killAt runs a loop in which one agent dies at a call, and reports whether the agent made that call.
func killAt(t *testing.T, role decide.Role, at int, drop githubsim.Drop) bool {
	w := newWorld(t, twoDefects())
	victim := w.agents[role]
	victim.killAt, victim.drop = at, drop
	for _, m := range w.agents {
		if err := m.launch(); err != nil && m != victim {
			t.Fatal(err)
		}
	}
	ref := w.openBad(false)
	w.until("merged or killed", func() bool { return victim.isDead() || w.merged(ref) })
	if !victim.isDead() {
		return false
	}
	victim.halt()
	victim.start()
	w.finished(ref, 2)
	return true
}

func (m *machine) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

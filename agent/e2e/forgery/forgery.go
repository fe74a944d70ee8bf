// Package forgery attacks the loop like people with and without rights would. The attacks try to make the
// agents merge a change that was not approved in exactly this form, to make them state an untruth about it, and
// to keep them from merging an approved change. An attack is an act of one actor, and each has its own
// repository and pull request.
//
// All attacks come from outside. The agents are a daemon's, GitHub is simulated with its HTTP, webhooks and
// git, and the model is honest: it objects to each defect that it sees. Attackers act through the API or git,
// with their own rights.
package forgery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/agent/worker"
	"touchstone/verdict/decide"
)

// Case is an attack or, for comparison, something legitimate that must be merged.
type Case struct {
	// Name is "actor: means: what for".
	Name string
	// Legitimate reports that the pull request must be merged.
	Legitimate bool

	// stage is the state of the pull request before the attack.
	stage stage
	// act is the actor's act. A step that fails means that the attack could not be made, not that it failed.
	act func(*scene)
	// harmed reports whether the attack succeeded; nil means that it succeeded if the pull request was merged.
	harmed func(*scene) bool
	// unapproved reports that the reviewer does not approve the pull request, though its text is fine.
	unapproved bool
	// moved returns the repository's final name, if it changes.
	moved func(forge.Repo) forge.Repo
	// told is what `touchstone why` must say about it, in any order.
	told []string
}

// Result is the outcome of a case.
type Result struct {
	Case Case
	// Merged reports that an attack succeeded.
	Merged bool
	// Misled are the untruths that the agents stated, as sentences.
	Misled []string
	// HeldUp reports that something legitimate was not merged.
	HeldUp bool
	// Err says why the attack could not be made.
	Err error
	// Steps lists what happened, in order.
	Steps []string
}

// Wrong describes what is wrong with a result; empty if nothing is.
func (r Result) Wrong() string {
	var wrong []string
	if r.Err != nil {
		wrong = append(wrong, "could not be made: "+r.Err.Error())
	}
	if r.Merged {
		wrong = append(wrong, "merged")
	}
	if r.HeldUp {
		wrong = append(wrong, "held up")
	}
	if len(r.Misled) > 0 {
		wrong = append(wrong, "misled: "+strings.Join(r.Misled, "; "))
	}
	return strings.Join(wrong, "; ")
}

// Runner runs cases.
type Runner struct {
	// Dir is the directory for files; it must be empty.
	Dir string
	// Workers is the number of cases that run concurrently.
	Workers int
	// Weaken, if set, breaks each agent deliberately when it starts.
	Weaken func(decide.Role, *worker.Agent)
}

// perArena is the number of cases per arena.
const perArena = 20

// Run runs cases, and passes each result to done as it comes, one at a time.
func (r Runner) Run(ctx context.Context, cases []Case, done func(Result)) error {
	var mu sync.Mutex
	return arena.Each(ctx, r.Dir, r.Workers, len(cases), perArena,
		func(ctx context.Context, a *arena.Arena, dir string) (func(context.Context, int) error, error) {
			ground, err := newGround(ctx, a, dir, r.Weaken)
			return func(ctx context.Context, n int) error {
				result := ground.take(ctx, fmt.Sprintf("case-%d", n), cases[n])
				mu.Lock()
				defer mu.Unlock()
				done(result)
				return nil
			}, err
		})
}

// Cases returns all attacks and all legitimate cases.
func Cases() []Case {
	return slices.Concat(legitimate(), words(), identities(), people(), reviews(), trees(), windows(), nits(), checks(), stops(),
		strangers(), platform(), rules(), renames(), badInput(), orphans(), transfers())
}

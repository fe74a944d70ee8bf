// Package forgery attacks the loop as people with and without rights would: it tries to
// have the agents merge what was not approved for exactly this change, to have them tell
// an untruth about it, and to keep them from merging what is approved. An attack is some
// actor's act, and each has a repository and a pull request of its own.
//
// All of it happens from outside. The agents are those that a daemon runs, GitHub is
// simulated with its HTTP, webhooks and git, and the model is honest: it objects to each
// defect that it is shown. What an attacker does goes through the API or git, with the
// rights that the attacker has.
package forgery

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"touchstone/agent/daemon"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/verdict/decide"
)

// Case is an attack, or what an attack is measured by: something legitimate that has to
// be merged.
type Case struct {
	// Name is "actor: means: what for".
	Name string
	// Legitimate says that it has to be merged.
	Legitimate bool

	// stage says what the pull request is like before the attack.
	stage stage
	// act is what the actor does. An error says that the attack could not be made, not
	// that it failed.
	act func(*scene) error
	// harmed reports whether the attack had its way; nil is that it was merged.
	harmed func(*scene) (bool, error)
	// unapproved says that the reviewer does not approve it, though its text is fine.
	unapproved bool
	// moved is what the repository is called in the end, if otherwise.
	moved func(forge.Repo) forge.Repo
	// told is what `touchstone why` has to say of it, in any order.
	told []string
}

// Result is what became of a case.
type Result struct {
	Case Case
	// Merged says that an attack had its way.
	Merged bool
	// Misled are the untruths that the agents told, as sentences.
	Misled []string
	// HeldUp says that something legitimate was not merged.
	HeldUp bool
	// Err says that the attack could not be made.
	Err error
	// Steps tells what happened, in order.
	Steps []string
}

// Wrong says what is wrong with a result, empty if nothing is.
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
	// Dir is where files are kept; it must be empty.
	Dir string
	// Workers is how many cases run at once.
	Workers int
	// Weaken, if set, breaks each agent on purpose when it starts.
	Weaken func(decide.Role, *daemon.Agent)
}

// perArena is how many cases an arena lives for. It keeps all of them.
const perArena = 20

// Run runs cases and gives each result to done, one at a time, as it comes.
func (r Runner) Run(ctx context.Context, cases []Case, done func(Result)) error {
	results := make(chan Result)
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(r.Workers + 1)
	told := make(chan struct{})
	go func() {
		defer close(told)
		for result := range results {
			done(result)
		}
	}()
	for from := 0; from < len(cases); from += perArena {
		some := cases[from:min(from+perArena, len(cases))]
		all.Go(func() error {
			dir := filepath.Join(r.Dir, fmt.Sprint(from))
			return arena.Within(ctx, dir, func(ctx context.Context, a *arena.Arena) error {
				ground, err := newGround(ctx, a, dir, r.Weaken)
				if err != nil {
					return err
				}
				for i, c := range some {
					results <- ground.take(ctx, fmt.Sprintf("case-%d", i), c)
				}
				return nil
			})
		})
	}
	err := all.Wait()
	close(results)
	<-told
	return err
}

// Cases are all attacks and what they are measured by.
func Cases() []Case {
	var all []Case
	for _, some := range [][]Case{legitimate(), words(), identities(), people(), reviews(), trees(), windows(), nits(), checks(), stops(),
		strangers(), platform(), rules(), renames(), badInput(), orphans(), transfers()} {
		all = append(all, some...)
	}
	return all
}

package schedule

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
)

// choice is a kind of step with its frequency.
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
	label := func(name string) func(context.Context) error {
		return func(ctx context.Context) error {
			return w.call(ctx, arena.Person, http.MethodPost, w.path("issues", "labels"), []string{name}, nil)
		}
	}
	return append(append(w.insiders(), w.strangers()...), []choice{
		{18, "", func(ctx context.Context) error { return w.arrive(ctx, w.machines[w.random.IntN(len(w.machines))]) }},
		{2, "a person pushes", push(branch, file)},
		{1, "a person force-pushes", w.rewrite()},
		{1, "the base moves", push("main", fmt.Sprintf("note%d.md", w.random.IntN(9)))},
		{1, "the base conflicts", push("main", file)},
		{2, "a person approves", func(ctx context.Context) error { return w.review(ctx, "APPROVE") }},
		{1, "a person objects", func(ctx context.Context) error { return w.review(ctx, "REQUEST_CHANGES") }},
		{1, "somebody calls a person", label("needs-human")},
		{2, "the label is taken off", w.unlabel},
		{1, "its author is to merge it", label(manual)},
		{2, "CI reports", w.ci},
		{1, "a person orders a review", func(ctx context.Context) error { return w.order(ctx, arena.Person, verdict.AskReview) }},
		{1, "a person stops the agents", func(ctx context.Context) error { return w.order(ctx, arena.Person, verdict.Stop) }},
		{2, "a person lets them go on", func(ctx context.Context) error { return w.order(ctx, arena.Person, verdict.Resume) }},
		{1, "the owner breaks the glass", func(ctx context.Context) error { return w.order(ctx, arena.Owner, verdict.BreakGlass+" it burns") }},
		{1, "it is closed or opened again", w.toggle},
		{1, "the merge queue pauses", w.pauseQueue},
	}...)
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
			if c.what != "" {
				w.note("%s", c.what)
			}
			return c.do(ctx)
		}
	}
	return nil
}

// call calls the REST API below the repository.
func (w *world) call(ctx context.Context, login, method, path string, in, out any) error {
	return w.Call(ctx, login, method, w.ref.Repo, path, in, out)
}

func (w *world) path(kind, what string) string {
	return fmt.Sprintf("%s/%d/%s", kind, w.ref.Number, what)
}

// push pushes files to a branch as a login.
func (w *world) push(ctx context.Context, login, to string, files map[string]string) error {
	sha, err := w.commit(ctx, login, to, files)
	if err == nil && to == branch {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.known, w.pushed = append(w.known, sha), append(w.pushed, sha)
	}
	return err
}

// commit pushes files to a branch as the account that originally had the login.
func (w *world) commit(ctx context.Context, login, to string, files map[string]string) (sha string, err error) {
	if login == arena.Person && w.freed {
		login = renamed
	}
	return w.Sim.Commit(ctx, login, w.ref.Repo.String(), to, "Change", files)
}

// rewrite returns a person's force-push, which resets the branch to some earlier commit of a person.
func (w *world) rewrite() func(context.Context) error {
	pick := w.random.Int()
	return func(ctx context.Context) error {
		w.mu.Lock()
		sha := w.known[pick%len(w.known)]
		w.pushed = []string{sha}
		w.mu.Unlock()
		return w.reset(ctx, sha)
	}
}

// reset resets the branch to a commit by force, and records the removed commits.
func (w *world) reset(ctx context.Context, sha string) error {
	refs, err := w.hub.Refs()
	if err != nil {
		return err
	}
	goes, err := w.hub.Between(sha, refs["refs/heads/"+branch])
	if err != nil {
		return err
	}
	ofBase := func(sha string) bool {
		return slices.ContainsFunc(append([]string{"main"}, w.others...), func(base string) bool {
			return w.hub.Contains(refs["refs/heads/"+base], sha)
		})
	}
	for _, c := range goes {
		// The commits of a base, which may be any other branch, may come back with it. So may the same merge
		// commit of it, if it is made within the same second.
		if len(c.Parents) < 2 && !ofBase(c.SHA) {
			w.removed = append(w.removed, c.SHA)
		}
	}
	w.removed = slices.DeleteFunc(w.removed, func(s string) bool { return w.hub.Contains(sha, s) })
	return w.set(ctx, branch, sha)
}

// ci makes the required check report on each head once, usually success.
func (w *world) ci(ctx context.Context) error {
	if len(w.rules.RequiredChecks) == 0 {
		return nil
	}
	p, err := w.pull(ctx)
	if err != nil {
		return err
	}
	if w.judged[p.Head.SHA] {
		return nil
	}
	w.judged[p.Head.SHA] = true
	state := "success"
	if w.random.IntN(5) == 0 {
		state = "failure"
	}
	return w.call(ctx, arena.CI, http.MethodPost, "statuses/"+p.Head.SHA, map[string]any{"state": state, "context": required}, nil)
}

// review posts a person's review of the current head.
func (w *world) review(ctx context.Context, event string) error {
	return w.reviewAs(ctx, arena.Person, event)
}

// reviewAs posts a review of the current head. On a merged pull request the review is refused or has no effect,
// which is fine.
func (w *world) reviewAs(ctx context.Context, login, event string) error {
	pull, err := w.pull(ctx)
	if err != nil || pull.State != "open" {
		return err
	}
	var made review
	err = w.call(ctx, login, http.MethodPost, w.path("pulls", "reviews"),
		map[string]any{"commit_id": pull.Head.SHA, "event": event, "body": "I have read it."}, &made)
	w.strange[made.ID] = login == stranger
	return err
}

// pauseQueue stops the merge queue, if there is one, until the end.
func (w *world) pauseQueue(context.Context) error {
	w.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: w.rules.MergeQueue})
	return nil
}

// unlabel removes the label if the pull request has it.
func (w *world) unlabel(ctx context.Context) error {
	pull, err := w.pull(ctx)
	if err != nil || !pull.Labelled("needs-human") {
		return err
	}
	return w.call(ctx, arena.Person, http.MethodDelete, w.path("issues", "labels/needs-human"), nil, nil)
}

// order posts a comment with an order to the agents.
func (w *world) order(ctx context.Context, login string, verb verdict.Verb) error {
	w.orders = append(w.orders, verb)
	return w.call(ctx, login, http.MethodPost, w.path("issues", "comments"), map[string]any{"body": "/touchstone " + string(verb)}, nil)
}

// stopped reports whether the agents are ordered to do nothing.
func (w *world) stopped() bool {
	for _, verb := range slices.Backward(w.orders) {
		if verb == verdict.Stop || verb == verdict.Resume {
			return verb == verdict.Stop
		}
	}
	return false
}

// toggle closes or reopens the pull request.
func (w *world) toggle(ctx context.Context) error {
	pull, err := w.pull(ctx)
	if err != nil || pull.Merged {
		return err
	}
	state := map[string]string{"open": "closed", "closed": "open"}[pull.State]
	return w.call(ctx, arena.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", w.ref.Number), map[string]any{"state": state}, nil)
}

// manual is the label that reserves the merge of a pull request for its author.
const manual = "touchstone-manual"

// pull returns the current state of the pull request.
func (w *world) pull(ctx context.Context) (arena.Pull, error) { return w.Pull(ctx, w.ref) }

package schedule

import (
	"fmt"
	"slices"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
	"touchstone/worktree/steps"
)

// choice is a kind of step with its frequency.
type choice struct {
	weight int
	what   string
	do     func()
}

// choices are all kinds of steps.
func (w *world) choices() []choice {
	push := func(branch, file string) func() {
		return func() { w.push(arena.Person, branch, map[string]string{file: w.text()}) }
	}
	label := func(name string) func() {
		return func() { w.Label(arena.Person, name) }
	}
	return append(append(w.insiders(), w.strangers()...), []choice{
		{18, "", func() { w.arrive(w.machines[w.random.IntN(len(w.machines))]) }},
		{2, "a person pushes", push(branch, file)},
		{1, "a person force-pushes", w.rewrite()},
		{1, "the base moves", push("main", fmt.Sprintf("note%d.md", w.random.IntN(9)))},
		{1, "the base conflicts", push("main", file)},
		{2, "a person approves", func() { w.review("APPROVE") }},
		{1, "a person objects", func() { w.review("REQUEST_CHANGES") }},
		{1, "somebody calls a person", label("needs-human")},
		{2, "the label is taken off", w.unlabel},
		{1, "its author is to merge it", label(manual)},
		{2, "CI reports", w.ci},
		{1, "a person orders a review", func() { w.order(arena.Person, verdict.AskReview) }},
		{1, "a person stops the agents", func() { w.order(arena.Person, verdict.Stop) }},
		{2, "a person lets them go on", func() { w.order(arena.Person, verdict.Resume) }},
		{1, "the owner breaks the glass", func() { w.order(arena.Owner, verdict.BreakGlass+" it burns") }},
		{1, "it is closed or opened again", w.toggle},
		{1, "the merge queue pauses", w.pauseQueue},
	}...)
}

// step takes one step.
func (w *world) step() {
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
			c.do()
			return
		}
	}
}

// push pushes files to a branch as a login.
func (w *world) push(login, to string, files map[string]string) {
	if sha := w.commit(login, to, files); to == branch {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.known, w.pushed = append(w.known, sha), append(w.pushed, sha)
	}
}

// commit pushes files to a branch as the account that originally had the login.
func (w *world) commit(login, to string, files map[string]string) (sha string) {
	if login == arena.Person && w.freed {
		login = renamed
	}
	return steps.Got(w.Sim.Commit(w.Ctx, login, w.Ref.Repo.String(), to, "Change", files))
}

// rewrite returns a person's force-push, which resets the branch to some earlier commit of a person.
func (w *world) rewrite() func() {
	pick := w.random.Int()
	return func() {
		w.mu.Lock()
		sha := w.known[pick%len(w.known)]
		w.pushed = []string{sha}
		w.mu.Unlock()
		w.reset(sha)
	}
}

// reset resets the branch to a commit by force, and records the removed commits.
func (w *world) reset(sha string) {
	refs := steps.Got(w.hub.Refs())
	goes := steps.Got(w.hub.Between(sha, refs["refs/heads/"+branch]))
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
	w.Move(arena.Person, branch, sha)
}

// ci makes the required check report on each head once, usually success.
func (w *world) ci() {
	if len(w.rules.RequiredChecks) == 0 {
		return
	}
	p := w.Pull()
	if w.judged[p.Head.SHA] {
		return
	}
	w.judged[p.Head.SHA] = true
	state := "success"
	if w.random.IntN(5) == 0 {
		state = "failure"
	}
	w.Status(arena.CI, p.Head.SHA, state, required, "")
}

// review posts a person's review of the current head.
func (w *world) review(event string) { w.reviewAs(arena.Person, event) }

// reviewAs posts a review of the current head. On a merged pull request the review is refused or has no effect,
// which is fine.
func (w *world) reviewAs(login, event string) {
	if w.Pull().State == "open" {
		w.strange[w.Submit(login, event, "I have read it.")] = login == stranger
	}
}

// pauseQueue stops the merge queue, if there is one, until the end.
func (w *world) pauseQueue() {
	w.Sim.SetFaults(githubsim.Faults{HoldMergeQueue: w.rules.MergeQueue})
}

// unlabel removes the label if the pull request has it.
func (w *world) unlabel() {
	if w.Pull().Labelled("needs-human") {
		w.Unlabel(arena.Person, "needs-human")
	}
}

// order posts a comment with an order to the agents.
func (w *world) order(login string, verb verdict.Verb) {
	w.orders = append(w.orders, verb)
	w.Comment(login, "/touchstone "+string(verb))
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
func (w *world) toggle() {
	pull := w.Pull()
	if pull.Merged {
		return
	}
	state := map[string]string{"open": "closed", "closed": "open"}[pull.State]
	w.Edit(arena.Author, map[string]any{"state": state})
}

// manual is the label that reserves the merge of a pull request for its author.
const manual = "touchstone-manual"

package schedule

import (
	"fmt"
	"slices"

	"touchstone/agent/e2e/arena"
	"touchstone/worktree/steps"
)

// Attempts of people with write access to have an unapproved change merged.

// sandbox is another base branch for pull requests; fix is a file that a merge brings to main and that no
// change may drop.
const (
	sandbox = "sandbox"
	fix     = "store/fix.go"
)

// insiders are the kinds of steps of these people.
func (w *world) insiders() []choice {
	return []choice{
		{1, "a person gives it another base", w.retarget},
		{1, "a person takes the last commit off the base", w.rewriteBase},
		{1, "a person edits the reviewer's last review", func() { w.silence(w.EditReview, "Nothing.") }},
		{1, "a person dismisses the reviewer's last review", func() { w.silence(w.Dismiss, "It is settled.") }},
		{1, "a merge brings a fix to main, and the branch drops it", w.cross},
	}
}

// retarget changes the base of an open pull request to the other one.
func (w *world) retarget() {
	p := w.Pull()
	if p.State != "open" {
		return
	}
	to := "main"
	if p.Base.Ref == "main" {
		to = sandbox
	}
	if !slices.Contains(w.others, sandbox) {
		w.others = append(w.others, sandbox)
		w.push(arena.Person, sandbox, map[string]string{"sandbox.md": "A sandbox.\n"})
	}
	// GitHub refuses a base that contains the whole change.
	err := steps.Try(func() { w.Edit(arena.Person, map[string]any{"base": to}) })
	if err != nil {
		w.note("  refused: %v", err)
	}
}

// rewriteBase removes the last commit of main, unless it is the first one.
func (w *world) rewriteBase() {
	if last := steps.Got(w.hub.Commit(w.tip("main"))); len(last.Parents) > 0 {
		w.Move(arena.Person, "main", last.Parents[0])
	}
}

// silence makes a person invalidate the reviewer's last review, with a text.
func (w *world) silence(do func(login string, id int64, text string), text string) {
	if w.Pull().State != "open" {
		return
	}
	for _, r := range slices.Backward(w.Reviews()) {
		if r.User.Login == arena.Judge && r.State != "DISMISSED" {
			w.silenced[r.ID] = true
			do(arena.Person, r.ID, text)
			return
		}
	}
}

// cross makes main merge a line with a fix, and makes the branch merge both by hand without the fix, so that
// main and the branch have two merge bases.
func (w *world) cross() {
	p := w.Pull()
	if p.State != "open" {
		return
	}
	tip := w.tip("main")
	// A separate line with the fix, which main merges.
	line := fmt.Sprintf("line-%d", len(w.others))
	w.others = append(w.others, line)
	fixing := w.commit(arena.Person, line, map[string]string{fix: fmt.Sprintf("package store\n\nfunc fix%d() {}\n", len(w.others))})
	merged := w.commitTree(fixing, tip, fixing)
	// A second commit prevents main from being a mere fast-forward of the line.
	beside := w.commitTree(tip, tip)
	both := w.commitTree(merged, beside, fixing)
	head := w.commitTree(p.Head.SHA, p.Head.SHA, beside, fixing)
	w.mu.Lock()
	w.known, w.pushed = append(w.known, head), append(w.pushed, head)
	w.mu.Unlock()
	w.Move(arena.Person, branch, head)
	w.Move(arena.Person, "main", both)
}

// commitTree creates a commit with the tree of another commit.
func (w *world) commitTree(of string, parents ...string) string {
	like := steps.Got(w.hub.Commit(of))
	const person = arena.Person + " <" + arena.Person + "@example.com>"
	return steps.Got(w.hub.CommitTree(like.Tree, person, person, "Merge", parents...))
}

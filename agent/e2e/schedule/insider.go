package schedule

import (
	"context"
	"fmt"
	"net/http"
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
		{1, "a person edits the reviewer's last review", func(ctx context.Context) { w.silence(ctx, w.edit) }},
		{1, "a person dismisses the reviewer's last review", func(ctx context.Context) { w.silence(ctx, w.dismiss) }},
		{1, "a merge brings a fix to main, and the branch drops it", w.cross},
	}
}

// retarget changes the base of an open pull request to the other one.
func (w *world) retarget(ctx context.Context) {
	p := w.pull(ctx)
	if p.State != "open" {
		return
	}
	to := "main"
	if p.Base.Ref == "main" {
		to = sandbox
	}
	if !slices.Contains(w.others, sandbox) {
		w.others = append(w.others, sandbox)
		w.push(ctx, arena.Person, sandbox, map[string]string{"sandbox.md": "A sandbox.\n"})
	}
	// GitHub refuses a base that contains the whole change.
	err := steps.Try(func() {
		w.call(ctx, arena.Person, http.MethodPatch, fmt.Sprintf("pulls/%d", w.ref.Number), map[string]any{"base": to}, nil)
	})
	if err != nil {
		w.note("  refused: %v", err)
	}
}

// rewriteBase removes the last commit of main, unless it is the first one.
func (w *world) rewriteBase(ctx context.Context) {
	if last := steps.Got(w.hub.Commit(w.tip("main"))); len(last.Parents) > 0 {
		w.set(ctx, "main", last.Parents[0])
	}
}

// set moves a branch by force.
func (w *world) set(ctx context.Context, name, sha string) {
	w.call(ctx, arena.Person, http.MethodPatch, "git/refs/heads/"+name, map[string]any{"sha": sha, "force": true}, nil)
}

// silence invalidates the reviewer's last review with do.
func (w *world) silence(ctx context.Context, do func(context.Context, review)) {
	if w.pull(ctx).State != "open" {
		return
	}
	for _, r := range slices.Backward(w.reviews(ctx)) {
		if r.User.Login == arena.Judge && r.State != "DISMISSED" {
			w.silenced[r.ID] = true
			do(ctx, r)
			return
		}
	}
}

func (w *world) edit(ctx context.Context, r review) {
	w.call(ctx, arena.Person, http.MethodPut, w.path("pulls", fmt.Sprintf("reviews/%d", r.ID)), map[string]any{"body": "Nothing."}, nil)
}

func (w *world) dismiss(ctx context.Context, r review) {
	w.call(ctx, arena.Person, http.MethodPut, w.path("pulls", fmt.Sprintf("reviews/%d/dismissals", r.ID)),
		map[string]any{"message": "It is settled."}, nil)
}

// cross makes main merge a line with a fix, and makes the branch merge both by hand without the fix, so that
// main and the branch have two merge bases.
func (w *world) cross(ctx context.Context) {
	p := w.pull(ctx)
	if p.State != "open" {
		return
	}
	tip := w.tip("main")
	// A separate line with the fix, which main merges.
	line := fmt.Sprintf("line-%d", len(w.others))
	w.others = append(w.others, line)
	fixing := w.commit(ctx, arena.Person, line, map[string]string{fix: fmt.Sprintf("package store\n\nfunc fix%d() {}\n", len(w.others))})
	merged := w.commitTree(fixing, tip, fixing)
	// A second commit prevents main from being a mere fast-forward of the line.
	beside := w.commitTree(tip, tip)
	both := w.commitTree(merged, beside, fixing)
	head := w.commitTree(p.Head.SHA, p.Head.SHA, beside, fixing)
	w.mu.Lock()
	w.known, w.pushed = append(w.known, head), append(w.pushed, head)
	w.mu.Unlock()
	w.set(ctx, branch, head)
	w.set(ctx, "main", both)
}

// commitTree creates a commit with the tree of another commit.
func (w *world) commitTree(of string, parents ...string) string {
	like := steps.Got(w.hub.Commit(of))
	const person = arena.Person + " <" + arena.Person + "@example.com>"
	return steps.Got(w.hub.CommitTree(like.Tree, person, person, "Merge", parents...))
}

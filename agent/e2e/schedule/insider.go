package schedule

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"touchstone/agent/e2e/arena"
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
		{1, "a person edits the reviewer's last review", func(ctx context.Context) error { return w.silence(ctx, w.edit) }},
		{1, "a person dismisses the reviewer's last review", func(ctx context.Context) error { return w.silence(ctx, w.dismiss) }},
		{1, "a merge brings a fix to main, and the branch drops it", w.cross},
	}
}

// retarget changes the base of an open pull request to the other one.
func (w *world) retarget(ctx context.Context) error {
	p, err := w.pull(ctx)
	if err != nil || p.State != "open" {
		return err
	}
	to := "main"
	if p.Base.Ref == "main" {
		to = sandbox
	}
	if !slices.Contains(w.others, sandbox) {
		w.others = append(w.others, sandbox)
		if err := w.push(ctx, arena.Person, sandbox, map[string]string{"sandbox.md": "A sandbox.\n"}); err != nil {
			return err
		}
	}
	// GitHub refuses a base that contains the whole change.
	if err := w.call(ctx, arena.Person, http.MethodPatch, fmt.Sprintf("pulls/%d", w.ref.Number), map[string]any{"base": to}, nil); err != nil {
		w.note("  refused: %v", err)
	}
	return nil
}

// rewriteBase removes the last commit of main, unless it is the first one.
func (w *world) rewriteBase(ctx context.Context) error {
	sha, err := w.tip("main")
	if err != nil {
		return err
	}
	last, err := w.hub.Commit(sha)
	if err != nil || len(last.Parents) == 0 {
		return err
	}
	return w.set(ctx, "main", last.Parents[0])
}

// set moves a branch by force.
func (w *world) set(ctx context.Context, name, sha string) error {
	return w.call(ctx, arena.Person, http.MethodPatch, "git/refs/heads/"+name, map[string]any{"sha": sha, "force": true}, nil)
}

// silence invalidates the reviewer's last review with do.
func (w *world) silence(ctx context.Context, do func(context.Context, review) error) error {
	p, err := w.pull(ctx)
	if err != nil || p.State != "open" {
		return err
	}
	all, err := w.reviews(ctx)
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(all) {
		if r.User.Login == arena.Judge && r.State != "DISMISSED" {
			w.silenced[r.ID] = true
			return do(ctx, r)
		}
	}
	return nil
}

func (w *world) edit(ctx context.Context, r review) error {
	return w.call(ctx, arena.Person, http.MethodPut, w.path("pulls", fmt.Sprintf("reviews/%d", r.ID)), map[string]any{"body": "Nothing."}, nil)
}

func (w *world) dismiss(ctx context.Context, r review) error {
	return w.call(ctx, arena.Person, http.MethodPut, w.path("pulls", fmt.Sprintf("reviews/%d/dismissals", r.ID)),
		map[string]any{"message": "It is settled."}, nil)
}

// cross makes main merge a line with a fix, and makes the branch merge both by hand without the fix, so that
// main and the branch have two merge bases.
func (w *world) cross(ctx context.Context) error {
	p, err := w.pull(ctx)
	if err != nil || p.State != "open" {
		return err
	}
	tip, err := w.tip("main")
	if err != nil {
		return err
	}
	// A separate line with the fix, which main merges.
	line := fmt.Sprintf("line-%d", len(w.others))
	w.others = append(w.others, line)
	fixing, err := w.commit(ctx, arena.Person, line, map[string]string{fix: fmt.Sprintf("package store\n\nfunc fix%d() {}\n", len(w.others))})
	if err != nil {
		return err
	}
	merged, err := w.commitTree(fixing, tip, fixing)
	if err != nil {
		return err
	}
	// A second commit prevents main from being a mere fast-forward of the line.
	beside, err := w.commitTree(tip, tip)
	if err != nil {
		return err
	}
	both, err := w.commitTree(merged, beside, fixing)
	if err != nil {
		return err
	}
	head, err := w.commitTree(p.Head.SHA, p.Head.SHA, beside, fixing)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.known, w.pushed = append(w.known, head), append(w.pushed, head)
	w.mu.Unlock()
	if err := w.set(ctx, branch, head); err != nil {
		return err
	}
	return w.set(ctx, "main", both)
}

// commitTree creates a commit with the tree of another commit.
func (w *world) commitTree(of string, parents ...string) (string, error) {
	like, err := w.hub.Commit(of)
	if err != nil {
		return "", err
	}
	const person = arena.Person + " <" + arena.Person + "@example.com>"
	return w.hub.CommitTree(like.Tree, person, person, "Merge", parents...)
}

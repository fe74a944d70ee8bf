package author

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/verdict/guard"
)

// Apply applies the edits that the nits of an approval of pr's head propose, verifies the result and pushes
// it. The push is one commit on top of that head, with no other change. No session is used. Edits are bound
// by the same prohibitions as a fix. Errors: verdict.ErrNoFit if an edit does not fit its file.
func (a *Author) Apply(ctx context.Context, pr forge.PullRequest, edits []verdict.Edit) (Outcome, error) {
	r := &repair{author: a, kind: decide.Apply, begun: pr, allowed: verdict.Allowance{NoModel: true}}
	defer r.release()
	err := step(ctx, "prepare", func(ctx context.Context) error { return r.edit(ctx, pr, edits) })
	if err == nil {
		_, err = r.verified(ctx)
	}
	if err == nil {
		err = step(ctx, "push", func(ctx context.Context) error { return r.push(ctx, pr) })
	}
	return r.out, err
}

// edit commits the edits in a worktree of the branch.
func (r *repair) edit(ctx context.Context, pr forge.PullRequest, edits []verdict.Edit) (err error) {
	if err := r.enter(ctx, pr); err != nil {
		return err
	}
	files, err := verdict.EditedFiles(edits, func(path string) ([]byte, error) { return r.tree.ReadFile(ctx, pr.Head.SHA, path) })
	if err == nil {
		err = write(r.tree.Dir(), files)
	}
	if err != nil {
		return err
	}
	r.own = ownChange{tree: r.tree, since: pr.Head.SHA, head: pr.Head.SHA}
	change, undoes, err := r.own.inspect(ctx)
	if err != nil {
		return err
	}
	r.change = change
	message := editing(pr.Head.SHA, edits, verdict.Repair{Change: change, Undoes: undoes})
	if r.out.Head, err = r.tree.Commit(ctx, message, r.author.Identity); err != nil {
		return err
	}
	alone, err := r.tree.Rewrites(ctx, pr.Head.SHA, r.out.Head, files)
	if err == nil && !alone {
		err = fmt.Errorf("%w: git, by the repository's attributes, records something else", verdict.ErrNoFit)
	}
	r.out.Repaired = map[string]string{}
	for _, e := range edits {
		r.out.Findings = append(r.out.Findings, e.Finding)
		r.out.Repaired[e.Finding] = "the suggestion is applied as it is."
	}
	return err
}

// write writes the contents into existing files. It refuses files that the guard checks.
func write(dir string, files map[string][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if guard.Gates(path) {
			return fmt.Errorf("%w: %s", ErrForbidden, path)
		}
		if err := root.WriteFile(path, files[path], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// editing is the message of a commit that consists of edits only.
func editing(head string, edits []verdict.Edit, fix verdict.Repair) string {
	var m strings.Builder
	m.WriteString("Apply the review's suggestions\n\n")
	fix.Reviewed = head
	for _, e := range edits {
		fix.Findings = append(fix.Findings, e.Finding)
		m.WriteString("- " + line(verdict.Place(e.Path, e.First)) + "\n")
	}
	return m.String() + "\n" + fix.Trailers()
}

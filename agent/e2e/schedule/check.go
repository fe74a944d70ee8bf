package schedule

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/verdict"
)

// review is one of the pull request's, as GitHub has it.
type review struct {
	ID       int64
	User     struct{ Login string }
	State    string
	CommitID string `json:"commit_id"`
	Body     string
}

// check holds what became of the pull request against what must never happen.
func (w *world) check(ctx context.Context) error {
	p, err := w.pull(ctx)
	if err != nil {
		return err
	}
	reviews, err := w.reviews(ctx)
	if err != nil {
		return err
	}
	w.checkReviews(reviews)
	if p.Merged {
		err = w.checkBase(ctx, p, w.checkMerge(p, reviews))
	}
	if err := errors.Join(err, w.checkPushes(ctx), w.checkBranches(ctx, p)); err != nil {
		return err
	}
	_, standing := w.approved(reviews, p.Head.SHA)
	switch {
	case w.result.Stuck != "":
	case p.Merged:
		w.result.End = "merged"
	case p.State == "closed":
		w.result.End = "closed"
	case p.labelled("needs-human"):
		w.result.End = "called"
	case w.stopped():
		w.result.End = "stopped"
	case objected(reviews):
		w.result.End = "objected"
	case p.labelled(manual) && standing && w.told(ctx):
		w.result.End = "left"
	case w.mute(reviews, p.Head.SHA):
		w.result.End = "muted"
	default:
		w.result.Stuck = "it is open, nobody is called, and nobody objects"
	}
	return nil
}

// reviews are all that were submitted, oldest first.
func (w *world) reviews(ctx context.Context) (all []review, err error) {
	return all, w.Call(ctx, arena.Owner, http.MethodGet, w.ref.Repo, w.path("pulls", "reviews")+"?per_page=100", nil, &all)
}

// told reports whether its author was told on the pull request that it waits for them.
func (w *world) told(ctx context.Context) bool {
	var comments []struct{ Body string }
	err := w.Call(ctx, arena.Owner, http.MethodGet, w.ref.Repo, w.path("issues", "comments")+"?per_page=100", nil, &comments)
	return err == nil && slices.ContainsFunc(comments, func(c struct{ Body string }) bool { return strings.Contains(c.Body, "waits for its author") })
}

func (w *world) violated(format string, args ...any) {
	w.result.Violations = append(w.result.Violations, fmt.Sprintf(format, args...))
}

// checkReviews: at most one review for each head and base stands, besides one for each
// word of a person's that let it pass, and one more for each order to review again.
func (w *world) checkReviews(reviews []review) {
	ordered := 0
	for _, verb := range w.orders {
		if verb == verdict.AskReview {
			ordered++
		}
	}
	seen := map[string]int{}
	for _, r := range reviews {
		record, err := verdict.ParseRecord(r.Body)
		if r.User.Login != arena.Judge || r.State == "DISMISSED" || w.silenced[r.ID] {
			continue
		}
		if err != nil {
			w.violated("a review of %.7s has no record: %v", r.CommitID, err)
			continue
		}
		word := ""
		if l := record.Lifted; l != nil {
			word = fmt.Sprint(l.By, l.At)
		}
		key := fmt.Sprintf("%s %s %s", r.CommitID, record.BaseBranch, word)
		if seen[key]++; seen[key] > 1+ordered {
			w.violated("%.7s was reviewed %d times", r.CommitID, seen[key])
		}
	}
}

// checkMerge: what is merged was approved at this very head, and what is held in it
// was let pass by a person. It returns the record of the approval.
func (w *world) checkMerge(p pull, reviews []review) verdict.Record {
	head, passed, held := p.Head.SHA, false, false
	for _, r := range reviews {
		if r.CommitID != head {
			continue
		}
		record, err := verdict.ParseRecord(r.Body)
		switch {
		case r.User.Login == arena.Person && r.State == "APPROVED":
			passed = true
		case r.User.Login == arena.Judge && err == nil:
			held = held || len(record.Holds) > 0
			passed = passed || record.Lifted != nil && record.Lifted.Glass && record.Lifted.By == arena.Owner
		}
	}
	record, ok := w.approved(reviews, head)
	switch {
	case !ok:
		w.violated("%.7s was merged and never approved", head)
	case record.BaseBranch != p.Base.Ref:
		w.violated("%.7s was merged into %s and approved for %s", head, p.Base.Ref, record.BaseBranch)
	}
	if objected(reviews) {
		w.violated("%.7s was merged over a person's objection", head)
	}
	if held && !passed {
		w.violated("%.7s was merged without the person that it was held for", head)
	}
	return record
}

// checkBase: what was merged stands on what it was reviewed against, and drops no fix.
func (w *world) checkBase(ctx context.Context, p pull, record verdict.Record) error {
	commits, err := w.git(ctx, "rev-list", p.MergeCommitSHA)
	if err != nil {
		return err
	}
	if record.Base != "" && !strings.Contains(commits, record.Base) {
		w.violated("%.7s was merged into a base that was rewritten after its review", p.Head.SHA)
	}
	had, err := w.git(ctx, "ls-tree", "-r", "--name-only", p.MergeCommitSHA+"^")
	if err != nil {
		return err
	}
	has, err := w.git(ctx, "ls-tree", "-r", "--name-only", p.MergeCommitSHA)
	if strings.Contains(had, fix) && !strings.Contains(has, fix) {
		w.violated("%.7s was merged and dropped a fix", p.Head.SHA)
	}
	return err
}

// approved is the record of the last review of a head that the agents wrote, if it stands
// and approves. One that a person edited or dismissed leaves none.
func (w *world) approved(reviews []review, head string) (record verdict.Record, ok bool) {
	for _, r := range reviews {
		if r.User.Login != arena.Judge || r.CommitID != head {
			continue
		}
		said, err := verdict.ParseRecord(r.Body)
		switch {
		case w.silenced[r.ID]:
			ok = false
		case err == nil && r.State != "DISMISSED":
			record, ok = said, r.State == "APPROVED" && said.Head == head
		}
	}
	return record, ok
}

// muted is mute of the pull request as it is. Whoever waits for that reviewer looks again
// until hours have passed.
func (w *world) muted(ctx context.Context) bool {
	p, err := w.pull(ctx)
	reviews, unread := w.reviews(ctx)
	return err == nil && unread == nil && w.mute(reviews, p.Head.SHA)
}

// mute reports whether a person took the reviewer's last word on a head from it, or edited
// an objection to an earlier one, which nobody can tell to be overtaken then.
func (w *world) mute(reviews []review, head string) bool {
	last, edited := false, false
	for _, r := range reviews {
		silenced := w.silenced[r.ID]
		if r.User.Login == arena.Judge && r.CommitID == head {
			last = silenced
		}
		edited = edited || silenced && r.State == "CHANGES_REQUESTED"
	}
	return last || edited
}

// barred is why the agents have no business with the pull request, or empty.
func (w *world) barred(p pull) string {
	switch {
	case p.State == "closed":
		return "it is closed"
	case p.labelled("needs-human"):
		return "it waits for a person"
	case w.stopped():
		return "a person stopped them"
	}
	return ""
}

// checkBranches: the agents push to no branch but the pull request's.
func (w *world) checkBranches(ctx context.Context, p pull) error {
	branches, err := w.git(ctx, "for-each-ref", "--format=%(refname:short)", "refs/heads")
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(branches) {
		if name != "main" && name != branch && !slices.Contains(w.others, name) {
			w.violated("somebody made the branch %s", name)
		}
	}
	commits, err := w.git(ctx, "log", "-z", "--format=%H%n%B", "main")
	if err != nil {
		return err
	}
	for commit := range strings.SplitSeq(commits, "\x00") {
		sha, message, _ := strings.Cut(commit, "\n")
		if _, fix := verdict.ParseRepair(message); fix && (!p.Merged || sha != p.MergeCommitSHA) {
			w.violated("%.7s is a fix, and was pushed to main", sha)
		}
	}
	return nil
}

// git asks GitHub's own repository.
func (w *world) git(ctx context.Context, args ...string) (string, error) {
	url, _ := w.Local(w.ref.Repo)
	out, err := exec.CommandContext(ctx, "git", append([]string{"--git-dir", filepath.FromSlash(strings.TrimPrefix(url, "file://"))}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}

// checkPushes: no commit that somebody pushed is gone from the branch, and none is back
// that somebody took off it.
func (w *world) checkPushes(ctx context.Context) error {
	if len(w.pushed) == 0 {
		return nil // the branch is not there any more
	}
	var tip struct{ Commit struct{ SHA string } }
	if err := w.Call(ctx, arena.Owner, http.MethodGet, w.ref.Repo, "branches/"+branch, nil, &tip); err != nil {
		return err
	}
	for _, sha := range w.pushed {
		if in, err := w.contains(ctx, tip.Commit.SHA, sha); err != nil {
			return err
		} else if !in {
			w.violated("%.7s is not in the branch any more", sha)
		}
	}
	for _, sha := range w.removed {
		if in, err := w.contains(ctx, tip.Commit.SHA, sha); err != nil {
			return err
		} else if in {
			w.violated("%.7s was taken off the branch, and is there again", sha)
		}
	}
	return nil
}

// contains reports whether a commit has another one in its history, or is it.
func (w *world) contains(ctx context.Context, commit, ancestor string) (bool, error) {
	var comparison struct{ Status string }
	err := w.Call(ctx, arena.Owner, http.MethodGet, w.ref.Repo, "compare/"+ancestor+"..."+commit, nil, &comparison)
	return comparison.Status == "ahead" || comparison.Status == "identical", err
}

// objected reports whether a person's last word asks for changes.
func objected(reviews []review) bool {
	last := ""
	for _, r := range reviews {
		if r.User.Login == arena.Person && r.State != "COMMENTED" {
			last = r.State
		}
	}
	return strings.EqualFold(last, "CHANGES_REQUESTED")
}

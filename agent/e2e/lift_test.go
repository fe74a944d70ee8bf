package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// relaxed is a change whose only problem is that nobody approves a directory any more, which only a person decides.
var relaxed = map[string]string{"store/OWNERS": "approvers: []\n"}

// review posts a person's review of a head by hand.
func (w *world) review(login string, ref forge.Ref, sha, event string) {
	w.t.Helper()
	_, _, err := w.As(login).PullRequests.CreateReview(w.Ctx, owner, repo.Name, ref.Number, &github.PullRequestReviewRequest{
		CommitID: github.String(sha), Event: github.String(event), Body: github.String("I have read it."),
	})
	w.must(err)
}

// records are the agents' own reviews of a pull request, oldest first.
func (w *world) records(ref forge.Ref) []verdict.Record {
	w.t.Helper()
	var all []verdict.Record
	for _, r := range w.reviews(ref) {
		if record, err := verdict.ParseRecord(r.GetBody()); err == nil && r.GetUser().GetLogin() == reviewer {
			all = append(all, record)
		}
	}
	return all
}

func (w *world) comments(ref forge.Ref) []*github.IssueComment {
	w.t.Helper()
	all, _, err := w.As(admin).Issues.ListComments(w.Ctx, owner, repo.Name, ref.Number, nil)
	w.must(err)
	return all
}

func (w *world) called(ref forge.Ref) bool { return slices.Contains(w.labels(ref), "needs-human") }

func TestPersonLiftsAHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	w.startBoth()
	ref := w.open("Search", relaxed, false)
	w.until("a person is called", func() bool { return w.called(ref) })
	comments := w.comments(ref)
	if len(comments) != 1 || !strings.Contains(comments[0].GetBody(), "Held for a person:\n- quality-bar `store/OWNERS:1`") {
		t.Fatalf("comments are %s", github.Stringify(comments))
	}
	held := w.records(ref)
	if len(held) != 1 || held[0].Verdict != verdict.RequestChanges || len(held[0].Holds) != 1 || !held[0].Settled {
		t.Fatalf("the records are %+v", held)
	}
	head := w.pull(ref).GetHead().GetSHA()
	w.review(person, ref, head, "APPROVE")
	w.until("merged", func() bool { return w.merged(ref) })
	records := w.records(ref)

	if len(records) != 2 || records[1].Head != head || records[1].Lifted == nil || records[1].Lifted.By != person ||
		records[1].Lifted.BrokeGlass {
		t.Errorf("the records are %+v", records)
	}
	if w.called(ref) || len(w.comments(ref)) != 1 {
		t.Errorf("labels %q, %d comments", w.labels(ref), len(w.comments(ref)))
	}
	if got := w.mergesOnMain(); got != 1 {
		t.Errorf("%d merges on main", got)
	}
}

// An approval of a head does not apply to the next head.
func TestApprovalOfAnOlderHeadLiftsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{})
	w.agents[decide.Reviewer].start()
	ref := w.open("Search", relaxed, false)
	w.until("a person is called", func() bool { return w.called(ref) })
	older := w.pull(ref).GetHead().GetSHA()
	newer, err := w.Commit(w.Ctx, author, repo.String(), "search", "More", map[string]string{"store/more.go": "package store\n"})
	w.must(err)
	w.review(person, ref, older, "APPROVE")
	_, err = w.As(person).Issues.RemoveLabelForIssue(w.Ctx, owner, repo.Name, ref.Number, "needs-human")
	w.must(err)
	w.until("a person is called to the new head", func() bool { return w.called(ref) })
	if records := w.records(ref); len(records) != 2 || records[1].Head != newer || len(records[1].Holds) != 1 || records[1].Lifted != nil {
		t.Fatalf("the records are %+v", records)
	}
	w.agents[decide.Author].start()
	w.review(person, ref, newer, "APPROVE")
	w.until("merged", func() bool { return w.merged(ref) })
	if records := w.records(ref); len(records) != 3 || records[2].Head != newer || records[2].Lifted == nil {
		t.Errorf("the records are %+v", records)
	}
}

// retarget points a pull request at another base.
func (w *world) retarget(ref forge.Ref, base string) {
	w.t.Helper()
	_, _, err := w.As(author).PullRequests.Edit(w.Ctx, owner, repo.Name, ref.Number,
		&github.PullRequest{Base: &github.PullRequestBranch{Ref: &base}})
	w.must(err)
}

// A broken glass and an approval that were given for a sandbox do not let the change into main.
func TestAPersonsWordIsForTheBaseItWasGivenFor(t *testing.T) {
	t.Parallel()
	for name, speak := range map[string]func(w *world, ref forge.Ref){
		"glass":    func(w *world, ref forge.Ref) { w.say(admin, ref, "/touchstone break-glass it burns") },
		"approval": func(w *world, ref forge.Ref) { w.review(person, ref, w.pull(ref).GetHead().GetSHA(), "APPROVE") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[string]any{})
			ref := w.open("Search", relaxed, false)
			_, err := w.Commit(w.Ctx, admin, repo.String(), "sandbox", "Play", map[string]string{"sand.txt": "castle\n"})
			w.must(err)
			w.retarget(ref, "sandbox")
			w.Advance(time.Minute)
			w.startBoth()
			w.until("a person is called", func() bool { return w.called(ref) })
			w.agents[decide.Author].halt()
			w.Advance(time.Minute)
			speak(w, ref)
			w.until("it is approved for the sandbox", func() bool { n := len(w.records(ref)); return n > 0 && w.records(ref)[n-1].Lifted != nil })
			w.Advance(time.Minute)
			w.retarget(ref, "main")
			w.Advance(time.Minute)
			w.agents[decide.Author].start()
			w.until("a person is called again", func() bool { return w.called(ref) && len(w.comments(ref)) > 1 })
			if w.merged(ref) || w.mergesOnMain() != 0 {
				t.Fatal("it was merged on a word that was given for another base")
			}
			w.Advance(time.Minute)
			speak(w, ref)
			w.until("merged", func() bool { return w.merged(ref) })
		})
	}
}

package reviewer_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// TestReplayReviewsAnEarlierRoundAfresh: at its head, by the documents that are given, and without a word of what
// was said of it or pushed since. It posts nothing.
func TestReplayReviewsAnEarlierRoundAfresh(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
	first := g.Reviewed(ref, verdict.RequestChanges, finding(1))
	round, err := verdict.ParseRecord(first.Reviews[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	g.Call(loopback.Person, http.MethodPost, "issues/1/comments", map[string]any{"body": "That finding was nonsense."}, nil)
	g.Commit("topic", "Make it safe", map[string]string{"code.txt": "safe()\n"})
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		for _, leak := range []string{"nonsense", "Make it safe", "This is unsafe", "Earlier rounds"} {
			if strings.Contains(r.Prompt, leak) {
				t.Errorf("the session is told %q", leak)
			}
		}
		if !strings.Contains(r.Instructions, "Ours alone.") {
			t.Error("the documents that are given are not the law")
		}
		if text, err := os.ReadFile(filepath.Join(r.Dir, "code.txt")); err != nil || string(text) != "unsafe()\n" {
			t.Errorf("it reviews %q, %v", text, err)
		}
		return answering(finding(1))(r)
	})
	r.Post, r.Say, r.Resolve, r.Withdraw = nil, nil, nil, nil
	own := map[string]string{"own": "# Own\n\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n| own/O1 | minor | all | " +
		"Ours alone. |\n"}
	now := g.Read(loopback.Judge, ref)
	record, err := r.Replay(t.Context(), now, round, own, reviewer.Options{})
	if err != nil || record.Head != round.Head || len(record.Ledger) != 1 || record.Round != round.Round {
		t.Errorf("%v, %+v", err, record)
	}
	if after := g.Read(loopback.Judge, ref); len(after.Reviews) != len(now.Reviews) || len(after.Comments) != len(now.Comments) {
		t.Errorf("%d reviews and %d comments, before %d and %d", len(after.Reviews), len(after.Comments), len(now.Reviews), len(now.Comments))
	}
	if left, err := filepath.Glob(filepath.Join(g.Worktrees.Root, "*", "*", "*-replay")); err != nil || len(left) > 0 {
		t.Errorf("%v, it leaves %q", err, left)
	}
}

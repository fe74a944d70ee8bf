package githubsim_test

import (
	"slices"
	"testing"

	"touchstone/agent/githubsim"
)

func TestTheMergeQueueTellsItsHooks(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": {MergeQueue: true}}})
	inbox := w.listen("json", "pull_request")
	first := w.open("one", map[string]string{"a.txt": "one\n"})
	second := w.open("two", map[string]string{"a.txt": "two\n"})
	w.SetFaults(githubsim.Faults{HoldMergeQueue: true})
	for i, id := range []string{first.GetNodeID(), second.GetNodeID()} {
		a := w.query(author, `mutation($id: ID!) { enqueuePullRequest(input: {pullRequestId: $id}) { mergeQueueEntry { position enqueuer { `+
			`login } pullRequest { isInMergeQueue } } } }`, map[string]any{"id": id})
		if at := a.at(t, "enqueuePullRequest.mergeQueueEntry.position"); at != float64(i+1) {
			t.Errorf("the place in the queue is %v, want %d", at, i+1)
		}
	}
	w.SetFaults(githubsim.Faults{})
	w.Settle()
	for n, merged := range map[int]bool{first.GetNumber(): true, second.GetNumber(): false} {
		if pr := must(w.As(author).PullRequests.Get(t.Context(), "acme", "app", n))(t); pr.GetMerged() != merged {
			t.Errorf("#%d is merged: %t; the second conflicts with the first", n, pr.GetMerged())
		}
	}
	kinds := inbox.kinds()
	for kind, want := range map[string]int{"pull_request/enqueued": 2, "pull_request/dequeued": 2, "pull_request/closed": 1} {
		if got := len(slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k != kind })); got != want {
			t.Errorf("%d webhooks %s, want %d", got, kind, want)
		}
	}
}

package forge_test

import (
	"errors"
	"testing"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

func TestDismissReview(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, sha := w.open("topic")
	posted, err := w.post(ref, sha, forge.Approve, "Fine.")
	if err != nil {
		t.Fatal(err)
	}
	withdraw := forge.NewWithdrawer(w.as(hubot))
	if err := withdraw.DismissReview(t.Context(), ref, posted.ID, "It was posted twice."); err != nil {
		t.Fatal(err)
	}
	if pr := w.read(ref); len(pr.Reviews) != 1 || pr.Reviews[0].State != forge.Dismissed {
		t.Errorf("the reviews are %+v", pr.Reviews)
	}
	if err := withdraw.DismissReview(t.Context(), ref, posted.ID+1, "It is not there."); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("dismissing what is not there: %v", err)
	}
}

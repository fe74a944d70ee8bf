package forge_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

func TestFileIsReadAtItsCommit(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	first := w.commit("main", map[string]string{".touchstone/config.yaml": "merge:\n  auto: false\n"})
	w.commit("main", map[string]string{".touchstone/config.yaml": "newer\n", "big": strings.Repeat("x", 1<<20+1)})
	c := w.as(hubot)
	if text, err := c.File(t.Context(), app, first, ".touchstone/config.yaml"); err != nil || string(text) != "merge:\n  auto: false\n" {
		t.Errorf("at the first commit %q, %v", text, err)
	}
	if text, err := c.File(t.Context(), app, "main", ".touchstone/config.yaml"); err != nil || string(text) != "newer\n" {
		t.Errorf("on main %q, %v", text, err)
	}
	if _, err := c.File(t.Context(), app, "main", "none.yaml"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, path := range []string{".touchstone", "big"} {
		if text, err := c.File(t.Context(), app, "main", path); err == nil || errors.Is(err, forge.ErrNotFound) {
			t.Errorf("%s reads as %d bytes, %v; want an error that is not ErrNotFound", path, len(text), err)
		}
	}
}

func TestChangedPaths(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	files := map[string]string{}
	for i := range 110 {
		files[fmt.Sprintf("dir/%03d.txt", i)] = "a\n"
	}
	files["main.go"], files["moved.go"] = "", "package main\n\nfunc main() {}\n"
	w.commit("topic", files)
	ref, _ := w.open("topic")
	paths, err := w.as(hubot).ChangedPaths(t.Context(), ref)
	if err != nil || len(paths) != 113 || !slices.Contains(paths, "main.go") || !slices.Contains(paths, "moved.go") ||
		!slices.Contains(paths, "dir/109.txt") {
		t.Errorf("%d paths, %v; want 110 files, topic.go, and both names of the one that was renamed", len(paths), err)
	}
}

func TestACommitContainsItsAncestors(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	_, topic := w.open("topic")
	base := w.commit("main", map[string]string{"other.go": "package main\n"})
	c := w.as(hubot)
	for _, test := range []struct {
		descendant, ancestor string
		want                 bool
	}{{topic, topic, true}, {"topic", topic + "~1", true}, {base, topic, false}, {topic, base, false}, {"main", base, true}} {
		ancestor := test.ancestor
		if rev, ok := strings.CutSuffix(ancestor, "~1"); ok {
			commit, _, err := w.As(hubot).Git.GetCommit(t.Context(), app.Owner, app.Name, rev)
			if err != nil {
				t.Fatal(err)
			}
			ancestor = commit.Parents[0].GetSHA()
		}
		if got, err := c.Contains(t.Context(), app, test.descendant, ancestor); err != nil || got != test.want {
			t.Errorf("%s contains %s: %t, %v", test.descendant, test.ancestor, got, err)
		}
	}
	if _, err := c.Contains(t.Context(), app, "main", strings.Repeat("0", 39)+"1"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("a commit that is not there: %v", err)
	}
}

func TestCommitsAreListedOldestFirst(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, first := w.open("topic")
	second := w.commit("topic", map[string]string{"more.go": "package main\n"})
	w.Settle()
	commits, err := w.as(hubot).Commits(t.Context(), ref)
	if err != nil || len(commits) != 2 || commits[0].SHA != first || commits[1].SHA != second {
		t.Fatalf("commits %+v, %v", commits, err)
	}
	if c := commits[0]; c.Message != "Change topic" || c.Name != octocat || c.Login != octocat || c.Email == "" ||
		time.Since(c.At) > time.Hour {
		t.Errorf("the first is %+v", c)
	}
}

// GitHub lists no more than the first 250 commits of a pull request.
func TestManyCommits(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	first := w.commit("topic", map[string]string{"more.go": "package n\n"})
	for i := range 258 {
		w.commit("topic", map[string]string{"more.go": fmt.Sprintf("package n%d\n", i)})
	}
	ref, last := w.open("topic")
	commits, err := w.as(hubot).Commits(t.Context(), ref)
	if err != nil || len(commits) != 260 || commits[0].SHA != first || commits[259].SHA != last {
		t.Errorf("%d commits, %v; want 260, the oldest first", len(commits), err)
	}
}

func TestWhenALabelWasPutOn(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	ref, _ := w.open("topic")
	for _, step := range []struct {
		by, label string
		on        bool
	}{{hubot, "needs-human", true}, {octocat, "needs-human", false}, {octocat, "wip", true}, {octocat, "needs-human", true}} {
		act := forge.NewSpeaker(w.as(step.by)).AddLabel
		if !step.on {
			act = forge.NewSpeaker(w.as(step.by)).RemoveLabel
		}
		if err := act(t.Context(), ref, step.label); err != nil {
			t.Fatal(err)
		}
	}
	pr := w.read(ref)
	if len(pr.Labelled) != 4 || pr.Labelled[0].By.Login != hubot || !pr.Labelled[0].Added || pr.Labelled[1].Added ||
		pr.Labelled[2].Label != "wip" {
		t.Errorf("labelled %+v", pr.Labelled)
	}
	if at := pr.LabelledAt("Needs-Human"); at.IsZero() || !at.Equal(pr.Labelled[3].At) || !pr.LabelledAt("none").IsZero() {
		t.Errorf("put on at %s; want the last time, %s", at, pr.Labelled[3].At)
	}
	pr.Labelled[3].Added = false
	if at := pr.LabelledAt("needs-human"); !at.IsZero() {
		t.Errorf("taken off, yet put on at %s", at)
	}
}

func TestHistoryReachesBackToItsBeginning(t *testing.T) {
	w := start(t, githubsim.RepoOptions{})
	began := time.Now().Add(-time.Minute)
	var refs []forge.Ref
	for i := range 23 {
		ref, sha := w.open(fmt.Sprintf("topic-%d", i))
		refs = append(refs, ref)
		if _, err := w.post(ref, sha, forge.Approve, fmt.Sprintf("Round %d.", i)); err != nil {
			t.Fatal(err)
		}
		if err := forge.NewSpeaker(w.as(hubot)).AddLabel(t.Context(), ref, "seen"); err != nil {
			t.Fatal(err)
		}
	}
	sha := w.read(refs[22]).Head.SHA
	if _, err := forge.NewMerger(w.as(octocat)).SquashMerge(t.Context(), refs[22],
		forge.SquashRequest{SHA: sha, Title: "Add it"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.As(octocat).PullRequests.Edit(t.Context(), app.Owner, app.Name, 1,
		&github.PullRequest{State: github.String("closed")}); err != nil {
		t.Fatal(err)
	}
	all, more, err := w.as(hubot).History(t.Context(), app, began, 100)
	if err != nil || more || len(all) != 23 {
		t.Fatalf("%d, more %t, %v; want all 23", len(all), more, err)
	}
	seen := map[int]forge.Past{}
	for _, past := range all {
		seen[past.Number] = past
	}
	if p := seen[23]; p.Open || p.MergedAt == nil || p.ClosedAt == nil || p.Ref != refs[22] ||
		p.Author.Login != octocat || p.CreatedAt.IsZero() {
		t.Errorf("the merged one is %+v", p)
	}
	if p := seen[1]; p.Open || p.MergedAt != nil || p.ClosedAt == nil {
		t.Errorf("the closed one is %+v", p)
	}
	if p := seen[2]; !p.Open || p.ClosedAt != nil || p.Cut || len(p.Reviews) != 1 || p.Reviews[0].Body != "Round 1." ||
		p.Reviews[0].Author.Login != hubot || len(p.Labelled) != 1 {
		t.Errorf("an open one is %+v", p)
	}
	if all, more, err := w.as(hubot).History(t.Context(), app, began, 12); err != nil || !more || len(all) != 12 {
		t.Errorf("of 12 at most %d, more %t, %v", len(all), more, err)
	}
	if all, more, err := w.as(hubot).History(t.Context(), app, time.Now().Add(time.Minute), 12); err != nil || more || len(all) != 0 {
		t.Errorf("of the future %d, more %t, %v", len(all), more, err)
	}
}

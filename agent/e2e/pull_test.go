package e2e

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim/simtest"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

func baseFiles() map[string]string {
	return map[string]string{
		"README.md":      "# app\n\nA service.\n",
		"store/OWNERS":   "approvers: [somebody, walter]\n",
		"store/store.go": "package store\n\n// Get finds a value.\nfunc Get(key string) string { return key }\n",
	}
}

// defect is code that the scripted reviewer objects to and the scripted author
// replaces.
func defect(path, bad, good, severity string) map[string]any {
	return map[string]any{
		"path": path, "contains": bad, "fix": good,
		"finding": map[string]any{
			"dimension": "Security", "severity": severity, "rule": "security/S1", "quote": bad,
			"claim": "The code says " + bad + ".", "why": "It should not.", "suggestion": good, "verify": "Read it again.",
		},
	}
}

// twoDefects is a script for a change that needs one fix.
func twoDefects() map[string]any {
	return map[string]any{"defects": []any{
		defect("store/search.go", "unsafe()", "safe()", "critical"),
		defect("store/search.go", "vauge", "vague", "minor"),
	}}
}

// with adds a fault list for a role to a script.
func with(script map[string]any, role decide.Role, faults ...string) map[string]any {
	all, _ := script["faults"].(map[string]any)
	if all == nil {
		all = map[string]any{}
		script["faults"] = all
	}
	all[string(role)] = faults
	return script
}

const badSearch = "package store\n\n// Search is vauge.\nfunc Search() { unsafe() }\n"

// open pushes a branch with the given files and opens a pull request for it,
// with the reviewer's review requested.
func (w *world) open(title string, files map[string]string, draft bool) forge.Ref {
	w.t.Helper()
	branch := strings.ReplaceAll(strings.ToLower(title), " ", "-")
	_, err := w.Commit(w.Ctx, author, repo.String(), branch, title, files)
	w.must(err)
	pr, _, err := w.As(author).PullRequests.Create(w.Ctx, owner, repo.Name, &github.NewPullRequest{
		Title: github.String(title), Head: github.String(branch), Base: github.String("main"), Body: github.String("It adds " + title + "."),
		Draft: github.Bool(draft),
	})
	w.must(err)
	_, _, err = w.As(author).PullRequests.RequestReviewers(w.Ctx, owner, repo.Name, pr.GetNumber(),
		github.ReviewersRequest{Reviewers: []string{reviewer}})
	w.must(err)
	return forge.Ref{Repo: repo, Number: pr.GetNumber()}
}

func (w *world) openBad(draft bool) forge.Ref {
	w.t.Helper()
	return w.open("Search", map[string]string{"store/search.go": badSearch}, draft)
}

func (w *world) pull(ref forge.Ref) *github.PullRequest {
	w.t.Helper()
	pr, _, err := w.As(admin).PullRequests.Get(w.Ctx, owner, repo.Name, ref.Number)
	w.must(err)
	return pr
}

func (w *world) merged(ref forge.Ref) bool { return w.pull(ref).GetMerged() }

// reviews are the posted reviews, as "STATE sha" in the order of posting.
func (w *world) reviews(ref forge.Ref) []*github.PullRequestReview {
	w.t.Helper()
	all, _, err := w.As(admin).PullRequests.ListReviews(w.Ctx, owner, repo.Name, ref.Number, &github.ListOptions{PerPage: 100})
	w.must(err)
	// GitHub makes a review of each answer in a thread, too.
	return slices.DeleteFunc(all, func(r *github.PullRequestReview) bool { return r.GetState() == "COMMENTED" && r.GetBody() == "" })
}

func (w *world) labels(ref forge.Ref) []string {
	var names []string
	for _, l := range w.pull(ref).Labels {
		names = append(names, l.GetName())
	}
	return names
}

// file reads a file at a ref of the repository; "" when there is none.
func (w *world) file(at, path string) string {
	w.t.Helper()
	content, _, resp, err := w.As(admin).Repositories.GetContents(w.Ctx, owner, repo.Name, path, &github.RepositoryContentGetOptions{Ref: at})
	if resp != nil && resp.StatusCode == 404 {
		return ""
	}
	w.must(err)
	text, err := content.GetContent()
	w.must(err)
	return text
}

// checkInvariants checks what must always be true of a pull request: at most one review for each head, and a
// merge only of a head that the reviewer's newest record approves.
func (w *world) checkInvariants(ref forge.Ref) {
	w.t.Helper()
	pr := w.pull(ref)
	approved := map[string]bool{}
	seen := map[string]int{}
	for _, r := range w.reviews(ref) {
		record, err := verdict.ParseRecord(r.GetBody())
		if err != nil {
			continue
		}
		seen[r.GetCommitID()]++
		if record.Head != r.GetCommitID() {
			w.t.Errorf("review %d is of %s and says %s", r.GetID(), r.GetCommitID(), record.Head)
		}
		approved[record.Head] = record.Verdict == verdict.Approve && r.GetState() == "APPROVED"
	}
	for sha, n := range seen {
		if n > 1 {
			w.t.Errorf("%d reviews of %s", n, sha)
		}
	}
	if pr.GetMerged() && !approved[pr.GetHead().GetSHA()] {
		w.t.Errorf("merged at %s, which nobody approved", pr.GetHead().GetSHA())
	}
}

// mergesOnMain counts the commits on main since the first. They are squash merges, as long as nobody pushes to
// main.
func (w *world) mergesOnMain() int {
	w.t.Helper()
	n := 0
	ref, _, err := w.As(admin).Git.GetRef(w.Ctx, owner, repo.Name, "heads/main")
	w.must(err)
	for sha := ref.GetObject().GetSHA(); ; n++ {
		commit, _, err := w.As(admin).Git.GetCommit(w.Ctx, owner, repo.Name, sha)
		w.must(err)
		if len(commit.Parents) == 0 {
			return n
		}
		sha = commit.Parents[0].GetSHA()
	}
}

// finished waits for the merge and checks what the happy loop leaves behind.
func (w *world) finished(ref forge.Ref, rounds int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s merged", ref), func() bool { return w.merged(ref) })
	w.checkInvariants(ref)
	if got := len(w.reviews(ref)); got != rounds {
		w.t.Errorf("%d reviews, want %d\n%s", got, rounds, w.describe())
	}
	if got := w.mergesOnMain(); got != 1 {
		w.t.Errorf("%d merges on main, want 1", got)
	}
}

// cloneURL is the repository's address for git, with somebody's token.
func (w *world) cloneURL(login string) string {
	return strings.Replace(w.URL, "://", "://"+login+":"+simtest.Token(login)+"@", 1) + "/" + repo.String() + ".git"
}

// git runs git as somebody at a keyboard would.
func (w *world) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.Ctx, "git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

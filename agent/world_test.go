package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/simtest"
	"touchstone/worktree/await"
)

const (
	root  = "root"  // owns everything, is nobody's agent
	alice = "alice" // opens pull requests
	judge = "judge" // reviews them
)

// world is one script's GitHub, with one repository, acme/app, and its model.
type world struct {
	*simtest.GitHub
	work string // the script's directory
	// draft is how the model rewords a row.
	draft map[string]string
	// traces are those that the agent sent, if it was told to.
	traces  traces
	metrics string // the address of the agent's metrics
}

func newWorld(t testing.TB, work string) *world {
	passes := func(context.Context, string, string, string) githubsim.CIResult {
		return githubsim.CIResult{Conclusion: "success"}
	}
	w := &world{work: work}
	w.GitHub = simtest.Start(t, githubsim.Config{CI: passes, Users: simtest.Users(root, alice, judge, "guest")}, githubsim.RepoOptions{
		Owner: "acme", Name: "app", Files: map[string]string{"README.md": "# app\n"},
		Permissions: map[string]string{alice: "write", judge: "write", "guest": "read"},
	})
	if err := errors.Join(w.config(nil), w.model(nil)); err != nil {
		t.Fatal(err)
	}
	return w
}

// config writes the agent's configuration, with some settings replaced: config [YAML].
func (w *world) config(args []string) error {
	settings := map[string]any{
		"github":       map[string]any{"api_url": w.URL + "/api/v3/"},
		"repositories": []string{"acme/app"},
		"reviewers":    []string{judge},
		// The scripted model counts its sessions beside its script, out of a sandbox's reach.
		"engine": map[string]any{"command": []string{modelBinary, "--script", w.script()}, "sandbox": "off"},
		"rounds": map[string]any{"backoff": "10ms"},
		"log":    map[string]any{"format": "json"},
	}
	if len(args) > 0 {
		var replaced map[string]any
		if err := yaml.Unmarshal([]byte(args[0]), &replaced); err != nil {
			return err
		}
		if engine, ok := replaced["engine"].(map[string]any); ok { // whose command stays
			maps.Copy(settings["engine"].(map[string]any), engine)
			delete(replaced, "engine")
		}
		maps.Copy(settings, replaced)
	}
	text, err := yaml.Marshal(settings)
	if err != nil {
		return err
	}
	dir := filepath.Join(w.work, "config", "touchstone")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "agent.yaml"), text, 0o600)
}

func (w *world) script() string { return filepath.Join(w.work, "script.json") }

// model has the next reviewing sessions go wrong, and counts sessions anew: model
// [FAULT...].
func (w *world) model(faults []string) error {
	if faults == nil {
		faults = []string{""} // sessions are counted only where faults are listed
	}
	unsafe := map[string]any{
		"dimension": "Security", "severity": "critical", "rule": "security/S14", "quote": "unsafe()", "claim": "This is unsafe.",
		"why": "It breaks.", "verify": "Read it.",
	}
	text, err := json.Marshal(map[string]any{
		"faults": map[string]any{"reviewer": faults, "checker": []string{""}, "drafter": []string{""}, "author": []string{""}},
		"draft":  w.draft,
		"defects": []any{
			map[string]any{"path": "code.txt", "contains": "unsafe()", "fix": "safe()", "finding": unsafe},
			// One that is none, as a second look finds out.
			map[string]any{"path": "store.go", "contains": "unsafe()", "fix": "safe()", "finding": unsafe, "refuted": map[string]any{
				"outcome": "refuted", "reason": "It is called for valid ids alone.", "path": "store.go", "quote": "if valid(id) {",
			}},
		},
	})
	if err != nil {
		return err
	}
	if err := os.Remove(w.script() + ".runs"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(w.script(), text, 0o600)
}

// reword has the model word a row in another way from now on: reword SEVERITY SCOPE CRITERION.
func (w *world) reword(args []string) error {
	w.draft = map[string]string{"severity": args[0], "scope": args[1], "criterion": args[2], "reason": "All of them are guarded."}
	return w.model(nil)
}

// strict makes another repository, whose rules the agents cannot meet: strict NAME.
func (w *world) strict(args []string) error {
	return w.CreateRepo(w.Ctx, githubsim.RepoOptions{
		Owner: "acme", Name: args[0], Files: map[string]string{"README.md": "# strict\n"}, NoSquash: true,
		Protected: map[string]githubsim.Protection{"main": {Approvals: 2}},
	})
}

// forbid has GitHub refuse some requests, as it does those that a token has no permission for: forbid METHOD PART-OF-PATH.
func (w *world) forbid(args []string) error {
	w.Sim.Intercept(func(_ string, r *http.Request) (f githubsim.Fault) {
		if r.Method == args[0] && strings.Contains(r.URL.Path, args[1]) {
			f.Status = http.StatusForbidden
		}
		return f
	})
	return nil
}

// push commits files of the script's directory as the author: push BRANCH FILE...
func (w *world) push(args []string) error {
	files := map[string]string{}
	for _, name := range args[1:] {
		text, err := os.ReadFile(filepath.Join(w.work, name))
		if err != nil {
			return err
		}
		files[filepath.Base(name)] = string(text)
	}
	_, err := w.Commit(w.Ctx, alice, "acme/app", args[0], "Change "+args[0], files)
	return err
}

// settings puts the repository's own settings onto its base branch: settings FILE.
func (w *world) settings(args []string) error {
	text, err := os.ReadFile(filepath.Join(w.work, args[0]))
	if err == nil {
		_, err = w.Commit(w.Ctx, root, "acme/app", "main", "Change the settings", map[string]string{".touchstone/config.yaml": string(text)})
	}
	return err
}

// pull pushes and opens a pull request that asks for the reviewer's review: pull BRANCH FILE...
func (w *world) pull(args []string) error {
	if err := w.push(args); err != nil {
		return err
	}
	pulls := w.As(alice).PullRequests
	pr, _, err := pulls.Create(w.Ctx, "acme", "app",
		&github.NewPullRequest{Title: github.String("Change " + args[0]), Head: github.String(args[0]), Base: github.String("main")})
	if err != nil {
		return err
	}
	_, _, err = pulls.RequestReviewers(w.Ctx, "acme", "app", pr.GetNumber(), github.ReviewersRequest{Reviewers: []string{judge}})
	return err
}

// unasked takes back that a pull request's review is asked for: unasked NUMBER.
func (w *world) unasked(args []string) error {
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	_, err = w.As(alice).PullRequests.RemoveReviewers(w.Ctx, "acme", "app", number, github.ReviewersRequest{Reviewers: []string{judge}})
	return err
}

// reviewed waits until a pull request has as many reviews: reviewed NUMBER COUNT.
// More than that is a failure.
func (w *world) reviewed(args []string) error {
	number, want, err := numbers(args)
	if err != nil {
		return err
	}
	return await.Condition(w.Ctx, func() (bool, error) {
		all, _, err := w.As(root).PullRequests.ListReviews(w.Ctx, "acme", "app", number, nil)
		// A reply in a thread is a review of its own.
		all = slices.DeleteFunc(all, func(r *github.PullRequestReview) bool { return r.GetState() == "COMMENTED" && r.GetBody() == "" })
		if err == nil && len(all) > want {
			err = fmt.Errorf("there are %d reviews", len(all))
		}
		return len(all) == want, err
	})
}

// said wants a pattern in one of the reviews of a pull request: said NUMBER PATTERN.
func (w *world) said(args []string) error {
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile(args[1])
	if err != nil {
		return err
	}
	all, _, err := w.As(root).PullRequests.ListReviews(w.Ctx, "acme", "app", number, nil)
	for _, r := range all {
		if pattern.MatchString(r.GetBody()) {
			return nil
		}
	}
	return errors.Join(err, fmt.Errorf("none of %d reviews says %s", len(all), pattern))
}

// dislike has the author give the first finding of a pull request a thumb down: dislike NUMBER.
func (w *world) dislike(args []string) error {
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	all, _, err := w.As(root).PullRequests.ListComments(w.Ctx, "acme", "app", number, nil)
	if err != nil || len(all) == 0 {
		return fmt.Errorf("%d comments, %w", len(all), err)
	}
	return w.Sim.React(alice, "acme/app", all[0].GetID(), "THUMBS_DOWN")
}

// done waits until the journal of a role on this machine tells of as many acts that were
// done: done ROLE COUNT. What GitHub shows is there a moment before that.
func (w *world) done(args []string) error {
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return await.Condition(w.Ctx, func() (bool, error) {
		text, err := os.ReadFile(filepath.Join(w.work, "state", "touchstone", "journal", args[0], "entries.jsonl"))
		return strings.Count(string(text), `"ok":true`) >= want, err
	})
}

// commented waits until a pull request has as many comments: commented NUMBER COUNT.
// More than that is a failure.
func (w *world) commented(args []string) error {
	number, want, err := numbers(args)
	if err != nil {
		return err
	}
	return await.Condition(w.Ctx, func() (bool, error) {
		all, _, err := w.As(root).Issues.ListComments(w.Ctx, "acme", "app", number, nil)
		if err == nil && len(all) > want {
			err = fmt.Errorf("there are %d comments", len(all))
		}
		return len(all) == want, err
	})
}

// settle waits for the checks.
func (w *world) settle([]string) error { return w.Sim.Settle(w.Ctx) }

// merged reports whether a pull request is merged, as the work of its author alone: merged
// NUMBER.
func (w *world) merged(args []string) error {
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	pr, _, err := w.As(root).PullRequests.Get(w.Ctx, "acme", "app", number)
	if err == nil && !pr.GetMerged() {
		err = fmt.Errorf("#%d is not merged", number)
	}
	if err != nil {
		return err
	}
	commit, _, err := w.As(root).Git.GetCommit(w.Ctx, "acme", "app", pr.GetMergeCommitSHA())
	if err == nil && strings.Contains(commit.GetMessage(), "Co-authored-by: ") {
		err = fmt.Errorf("#%d is merged as that of several: %s", number, commit.GetMessage())
	}
	return err
}

// label puts a label on a pull request: label NUMBER NAME.
func (w *world) label(args []string) error {
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	_, _, err = w.As(alice).Issues.AddLabelsToIssue(w.Ctx, "acme", "app", number, args[1:])
	return err
}

// session waits until the model's Nth session of a role has begun: session ROLE N.
func (w *world) session(args []string) error {
	return await.Condition(w.Ctx, func() (bool, error) { return w.sessions(args) == nil, nil })
}

// sessions wants the number of sessions that a role has had: sessions ROLE N.
func (w *world) sessions(args []string) error {
	runs := map[string]int{}
	data, err := os.ReadFile(w.script() + ".runs")
	if err == nil {
		err = json.Unmarshal(data, &runs)
	}
	if got := strconv.Itoa(runs[args[0]]); got != args[1] {
		return fmt.Errorf("%s sessions so far: %s (%v)", args[0], got, err)
	}
	return nil
}

func numbers(args []string) (a, b int, err error) {
	if len(args) != 2 {
		return 0, 0, fmt.Errorf("two numbers are wanted, not %q", slices.Clone(args))
	}
	if a, err = strconv.Atoi(args[0]); err != nil {
		return 0, 0, err
	}
	b, err = strconv.Atoi(args[1])
	return a, b, err
}

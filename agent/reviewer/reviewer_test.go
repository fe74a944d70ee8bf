package reviewer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/forge"
	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/verdict"
)

func newReviewer(t *testing.T, g *loopback.GitHub, session func(loopback.Asked) (string, error)) *reviewer.Reviewer {
	rules, err := guidelines.Default()
	if err != nil {
		t.Fatal(err)
	}
	client := g.Client(loopback.Judge)
	return &reviewer.Reviewer{
		Examiner:  reviewer.Examiner{Engine: loopback.Model(session), Guidelines: rules, TempDir: t.TempDir()},
		Worktrees: g.Worktrees, Read: client, Post: forge.NewPoster(client), Say: forge.NewSpeaker(client), Resolve: forge.NewResolver(client),
		Withdraw: forge.NewWithdrawer(client), Remote: client.Remote,
	}
}

// answering is a session that walks all dimensions and files, and finds these.
func answering(findings ...verdict.Finding) func(loopback.Asked) (string, error) {
	return telling(nil, findings...)
}

// telling is one that also says what became of earlier findings; nil is that all are gone.
func telling(gone []verdict.Gone, findings ...verdict.Finding) func(loopback.Asked) (string, error) {
	return func(r loopback.Asked) (string, error) {
		answer, v := reading.Review(r.Prompt, "Read.", findings...), verdict.Approve
		answer.Refuted = nil
		if gone != nil {
			answer.Gone = gone
		}
		if len(findings) > 0 {
			v = verdict.RequestChanges
		}
		return reading.Answer(r.Prompt, answer, v), nil
	}
}

func finding(line int) verdict.Finding {
	return verdict.Finding{Dimension: verdict.Security, Severity: verdict.Major, Rule: "security/S3", Path: "code.txt", Line: line,
		Quote: "unsafe()", Claim: "This is unsafe.", Why: "It breaks.", Suggestion: "safe()", Verify: "Read."}
}

func opened(t *testing.T, base map[string]string, change map[string]string) (*loopback.GitHub, forge.Ref) {
	g := loopback.New(t, base)
	g.Commit("topic", "Add code\n\nRecurrence: add lint - here", change)
	return g, g.Open("topic")
}

var plain = map[string]string{"README.md": "one\n"}

func TestReviewShowsWhatItHasToJudge(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		for _, want := range []string{"Recurrence: add lint - here", "Change topic", "Why.", "- code.txt (added +1 -0)"} {
			if !strings.Contains(r.Prompt, want) {
				t.Errorf("the prompt lacks %q", want)
			}
		}
		patch, err := os.ReadFile(filepath.Join(r.ReadDirs[0], "0001.patch"))
		if err != nil || !strings.Contains(string(patch), "+unsafe()") {
			t.Errorf("the patch is %q, %v", patch, err)
		}
		return answering(finding(1))(r)
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := g.Read(loopback.Judge, ref)
	if len(now.Reviews) != 1 || now.Reviews[0].State != forge.ChangesRequested || now.Reviews[0].SHA != now.Head.SHA ||
		now.Reviews[0].URL != out.URL {
		t.Errorf("the reviews are %+v", now.Reviews)
	}
	if left, err := os.ReadDir(r.TempDir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if v, _, ok := reviewer.Standing(now); !ok || v != verdict.RequestChanges {
		t.Errorf("standing is %s, %v", v, ok)
	}
	now.Viewer = "JUDGE"
	if _, _, ok := reviewer.Standing(now); !ok {
		t.Error("a login in another case is another login")
	}
}

// TestSessionIsBoundedByItsAllowance: whatever the engine's own settings would let it
// take.
func TestSessionIsBoundedByItsAllowance(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
	var asked loopback.Asked
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		asked = r
		return answering()(r)
	})
	r.Settings = func() config.Engine { return config.Engine{MaxTurns: 7} }
	allowed := verdict.Allowance{USD: 1.5, Time: 90 * time.Second}
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true, Allowance: allowed})
	if err != nil || asked.Budget != allowed.USD || asked.Timeout != allowed.Time || asked.MaxTurns != 7 || out.Record.Lines != 1 {
		t.Errorf("budget %v, timeout %s, %d lines, %v", asked.Budget, asked.Timeout, out.Record.Lines, err)
	}
}

// TestContextIsShown: what people wrote around the change, and what CI says of it.
func TestContextIsShown(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{"README.md": "one\n", "AGENTS.md": "# Guide\n\nRun the linter, README.md says how.\n"},
		map[string]string{"README.md": "two\n"})
	g.Call(loopback.Person, http.MethodPost, "issues", map[string]any{"title": "It is wrong", "body": "It says one."}, nil)
	g.Call(loopback.Author, http.MethodPatch, "pulls/1", map[string]any{"body": "Closes #2"}, nil)
	g.Call(loopback.Person, http.MethodPost, "issues/1/comments", map[string]any{"body": "Mind the third line."}, nil)
	head := g.Read(loopback.Judge, ref).Head.SHA
	g.Call(loopback.Root, http.MethodPost, "statuses/"+head,
		map[string]any{"state": "failure", "context": "build", "description": "It broke in line 7."}, nil)
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		for _, want := range []string{"It is wrong\n\nIt says one.", "Mind the third line.", "- build: failure", "It broke in line 7.",
			"Run the linter", "AGENTS.md:3 (README.md: it is changed)"} {
			if !strings.Contains(r.Prompt, want) {
				t.Errorf("the prompt lacks %q", want)
			}
		}
		return answering()(r)
	})
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true}); err != nil {
		t.Fatal(err)
	}
}

const ownRules = "# [Security] Ours\n\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n| security/S1 | critical | all " +
	"| %s |\n"

func TestRulesAreTheBases(t *testing.T) {
	t.Parallel()
	const path = ".touchstone/guidelines/security.md"
	g, ref := opened(t, map[string]string{path: fmt.Sprintf(ownRules, "The law of the base.")},
		map[string]string{path: fmt.Sprintf(ownRules, "Anything goes."), "code.txt": "unsafe()\n"})
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		if !strings.Contains(r.Instructions+r.Prompt, "The law of the base.") || strings.Contains(r.Instructions+r.Prompt, "Anything goes.") ||
			strings.Contains(r.Instructions+r.Prompt, "security/S3 |") {
			t.Errorf("the rules are not the base's:\n%s", r.Prompt)
		}
		return answering()(r)
	})
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if n := len(g.Read(loopback.Judge, ref).Reviews); n != 0 {
		t.Errorf("a dry run posted %d reviews", n)
	}
}

func TestAnOrganizationsRulesLieBetween(t *testing.T) {
	t.Parallel()
	const row = "| doc/D12 | nit | docs | %s |\n"
	const table = "# Ours\n\n| ID | Severity | Scope | Criterion |\n| --- | --- | --- | --- |\n"
	g, ref := opened(t, map[string]string{".touchstone/guidelines/ours.md": table + fmt.Sprintf(row, "The repository's word.")},
		map[string]string{"code.txt": "fine\n"})
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		for text, want := range map[string]bool{"The organization's own.": true, "The organization's word.": false,
			"The repository's word.": true} {
			if strings.Contains(r.Instructions+r.Prompt, text) != want {
				t.Errorf("%q is in the prompt: %v", text, !want)
			}
		}
		return answering()(r)
	})
	text := table + fmt.Sprintf(row, "The organization's word.") + "| org/O1 | minor | all | The organization's own. |\n"
	r.Layer = func(context.Context) (map[string]string, error) { return map[string]string{"org": text}, nil }
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{}); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("they are not to be had")
	r.Layer = func(context.Context) (map[string]string, error) { return nil, gone }
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true}); !errors.Is(err, gone) {
		t.Errorf("without the organization's rules: %v", err)
	}
}

func TestBrokenRulesEndTheReview(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{".touchstone/guidelines/security.md": fmt.Sprintf(strings.Replace(ownRules, "critical", "whatever",
		1), "x")}, map[string]string{"code.txt": "fine\n"})
	r := newReviewer(t, g, func(loopback.Asked) (string, error) { t.Error("a model was run"); return "", nil })
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{}); !errors.Is(err, reviewer.ErrRules) ||
		!strings.Contains(err.Error(), "S1") {
		t.Errorf("broken rules end in %v", err)
	}
}

func TestBrokenSettingsEndTheReview(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{".touchstone/config.yaml": "review:\n  ratched: true\n"}, map[string]string{"code.txt": "fine\n"})
	r := newReviewer(t, g, func(loopback.Asked) (string, error) { t.Error("a model was run"); return "", nil })
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{}); err == nil ||
		!strings.Contains(err.Error(), "ratched") || !strings.Contains(err.Error(), "the repository's settings are invalid") {
		t.Errorf("broken settings end in %v", err)
	}
}

func TestSettingsBehindAFileEndTheReview(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{".touchstone": "../shared"}, map[string]string{"code.txt": "fine\n"})
	r := newReviewer(t, g, func(loopback.Asked) (string, error) { t.Error("a model was run"); return "", nil })
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{}); err == nil ||
		!strings.Contains(err.Error(), "make it a directory on the base branch") {
		t.Errorf("settings behind a file end in %v", err)
	}
}

// misplacing posts with the first comment on a line that is not in the diff.
type misplacing struct{ reviewer.Poster }

func (m misplacing) PostReview(ctx context.Context, ref forge.Ref, review forge.Review) (forge.Posted, error) {
	if len(review.Comments) > 0 {
		review.Comments[0].Line = 400
	}
	return m.Poster.PostReview(ctx, ref, review)
}

// TestRefusedLinesMoveIntoTheBody: GitHub refuses a review whole for one line
// that it does not know.
func TestRefusedLinesMoveIntoTheBody(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
	r := newReviewer(t, g, answering(finding(1)))
	r.Post = misplacing{r.Post}
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{}); err != nil {
		t.Fatal(err)
	}
	reviews := g.Read(loopback.Judge, ref).Reviews
	if len(reviews) != 1 || !strings.Contains(reviews[0].Body, "`code.txt:1`") || !strings.Contains(reviews[0].Body, "This is unsafe.") {
		t.Fatalf("the reviews are %+v", reviews)
	}
	remarks, err := g.Client(loopback.Judge).ReviewRemarks(t.Context(), ref, reviews[0].ID)
	if err != nil || len(remarks) != 0 {
		t.Errorf("comments on lines: %v, %v", remarks, err)
	}
}

// forgetful is a GitHub that takes a review and loses its first comment.
type forgetful struct{ reviewer.Poster }

func (f forgetful) PostReview(ctx context.Context, ref forge.Ref, review forge.Review) (forge.Posted, error) {
	review.Comments = review.Comments[1:]
	return f.Poster.PostReview(ctx, ref, review)
}

func TestLostCommentsAreSaidInTheConversation(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": "first_unsafe()\nsecond_unsafe()\n"})
	r := newReviewer(t, g, answering(at(1, "first_unsafe()"), at(2, "second_unsafe()")))
	r.Post = forgetful{r.Post}
	if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{}); err != nil {
		t.Fatal(err)
	}
	comments := g.Read(loopback.Judge, ref).Comments
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "Wrong: first_unsafe()") ||
		strings.Contains(comments[0].Body, "second_unsafe()") {
		t.Errorf("the comments are %+v", comments)
	}
}

// TestALongReviewGoesOnInComments: GitHub takes no body beyond its limit.
func TestALongReviewGoesOnInComments(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var found []verdict.Finding
	for i := range 40 {
		quote := fmt.Sprintf("statement_%d()", i)
		fmt.Fprintln(&text, quote)
		f := at(i+1, quote)
		f.Path, f.Claim = "old.txt", fmt.Sprintf("Finding %d. %s", i, strings.Repeat("It goes on. ", 300))
		found = append(found, f)
	}
	g, ref := opened(t, map[string]string{"old.txt": text.String()}, map[string]string{"code.txt": "fine\n"})
	if _, err := newReviewer(t, g, answering(found...)).Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{}); err != nil {
		t.Fatal(err)
	}
	pr := g.Read(loopback.Judge, ref)
	said := pr.Reviews[0].Body
	for _, c := range pr.Comments {
		said += c.Body
	}
	for i := range found {
		if !strings.Contains(said, fmt.Sprintf("Finding %d. ", i)) {
			t.Errorf("finding %d is nowhere", i)
		}
	}
	if len(pr.Comments) == 0 || !strings.Contains(pr.Comments[0].Body, "continued (2 of ") {
		t.Errorf("%d comments", len(pr.Comments))
	}
}

// TestRulesThatTrippedBefore: the session is told, where a rule builds on it, and only of rules that a machine can
// check: by the mark of the built-in row or of a repository's own.
func TestRulesThatTrippedBefore(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{".touchstone/guidelines/ours.md": "# Ours\n\n| ID | Severity | Scope | Criterion |\n" +
		"| --- | --- | --- | --- |\n| ours/O1* | minor | all | No tabs. |\n| ours/O2 | minor | all | It serves its purpose. |\n" +
		"| ours/O3* | minor | docs | It is spelt well. |\n"})
	broken := []verdict.Finding{finding(1)}
	for _, rule := range []string{"ai-antipattern/X6", "ours/O1", "ours/O2", "ours/O3"} {
		f := finding(1)
		f.Rule = rule
		broken = append(broken, f)
	}
	for i := range 3 {
		branch := fmt.Sprintf("earlier-%d", i)
		g.Commit(branch, "Change it", map[string]string{"code.txt": "unsafe()\n"})
		g.Reviewed(g.Open(branch), verdict.RequestChanges, broken...)
	}
	const want = "\n- ours/O1: in 3 other pull requests\n- security/S3: in 3 other pull requests\n"
	told := func(branch string) bool {
		g.Commit(branch, "Repair it", map[string]string{branch + ".go": "package app\n"})
		said := false
		r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
			said = strings.Contains(r.Prompt, want)
			if n := strings.Count(r.Prompt, "in 3 other pull requests"); said && n != 2 {
				t.Errorf("%d rules are told:\n%s", n, r.Prompt)
			}
			return answering()(r)
		})
		if _, err := r.Review(t.Context(), g.Read(loopback.Judge, g.Open(branch)), reviewer.Options{DryRun: true}); err != nil {
			t.Fatal(err)
		}
		return said
	}
	if told("feature") || !told("fix/it") {
		t.Error("what tripped before is told of a fix, and of nothing else")
	}
}

func TestTruncatedChangeIsNotApproved(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, plain, map[string]string{"code.txt": strings.Repeat("a long line of a generated file\n", 1<<16)})
	out, err := newReviewer(t, g, answering()).Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil || out.Record.Verdict != verdict.RequestChanges {
		t.Fatalf("%s, %v", out.Record.Verdict, err)
	}
	if body := g.Read(loopback.Judge, ref).Reviews[0].Body; !strings.Contains(body, "larger than what can be shown") {
		t.Errorf("the review does not say why:\n%s", body)
	}
}

// TestReviewIsOvertaken: what happens on GitHub during the session makes its
// review void.
func TestReviewIsOvertaken(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(g *loopback.GitHub, ref forge.Ref){
		"by a push": func(g *loopback.GitHub, _ forge.Ref) {
			g.Commit("topic", "More", map[string]string{"more.txt": "more\n"})
		},
		"by its closing": func(g *loopback.GitHub, ref forge.Ref) {
			g.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", ref.Number), map[string]any{"state": "closed"}, nil)
		},
		"by a review of this login's": func(g *loopback.GitHub, ref forge.Ref) { g.Reviewed(ref, verdict.Approve) },
		"by one for another base": func(g *loopback.GitHub, ref forge.Ref) {
			g.Commit("release", "Cut it", map[string]string{"version.txt": "1\n"})
			to := func(base string) {
				g.Call(loopback.Author, http.MethodPatch, fmt.Sprintf("pulls/%d", ref.Number), map[string]any{"base": base}, nil)
			}
			to("release")
			g.Reviewed(ref, verdict.Approve)
			to("main")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, plain, map[string]string{"code.txt": "unsafe()\n"})
			r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
				meanwhile(g, ref)
				return answering(finding(1))(r)
			})
			if _, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{}); !errors.Is(err, reviewer.ErrOvertaken) {
				t.Errorf("it ends in %v", err)
			}
			for _, review := range g.Read(loopback.Judge, ref).Reviews {
				if review.State == forge.ChangesRequested {
					t.Error("the review was posted all the same")
				}
			}
			if _, url, ok := reviewer.Standing(g.Read(loopback.Judge, ref)); ok != (name == "by a review of this login's") {
				t.Errorf("%q counts for this head and base: %v", url, ok)
			}
		})
	}
}

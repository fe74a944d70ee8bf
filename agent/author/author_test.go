package author_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/author"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

var finding = verdict.Finding{
	Dimension: verdict.Security, Severity: verdict.Major, Rule: "security/S1", Path: "code.txt", Line: 1, Quote: "unsafe()",
	Claim: "This is\nunsafe.",
}

// newAuthor is the author's agent, and edit what its model does.
func newAuthor(g *loopback.GitHub, edit func(loopback.Asked) (string, error)) *author.Author {
	client := g.Client(loopback.Author)
	return &author.Author{
		Worktrees: g.Worktrees, Engine: loopback.Model(edit), Read: client, Remote: client.Remote,
		Identity: worktree.Identity{Name: "Alice", Email: "alice@example.com"}, Reviewers: []string{"Judge"},
	}
}

// write has a session write files into the worktree, and report all findings as repaired where it
// says that it is done.
func write(answer string, files map[string]string) func(loopback.Asked) (string, error) {
	return func(r loopback.Asked) (string, error) {
		for name, text := range files {
			path := filepath.Join(r.Dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				return "", err
			}
		}
		if strings.HasPrefix(answer, "Done.") {
			return answer + "\n" + reading.Repaired(r.Prompt), nil
		}
		return answer, nil
	}
}

func unexpected(t *testing.T) func(loopback.Asked) (string, error) {
	return func(loopback.Asked) (string, error) {
		t.Error("a model was run")
		return "", nil
	}
}

// pushed is a commit as GitHub has it.
type pushed struct {
	Commit struct {
		Message string
		Author  struct{ Name string }
	}
	Parents []struct{ SHA string }
}

func commitOf(g *loopback.GitHub, sha string) (c pushed) {
	g.Call(loopback.Root, http.MethodGet, "commits/"+sha, nil, &c)
	return c
}

func TestFixAppliesTheReviewOnTopOfTheBase(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)

	var prompt string
	a := newAuthor(g, func(r loopback.Asked) (string, error) {
		prompt = r.Prompt
		if text, err := os.ReadFile(filepath.Join(r.Dir, "README.md")); err != nil || string(text) != "two\n" {
			t.Errorf("the base is not merged in: %q, %v", text, err)
		}
		return write("Done.\n- Recurrence: add lint - here\n", map[string]string{"code.txt": "safe()\n"})(r)
	})
	out, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if now := g.Read(loopback.Author, ref); now.Head.SHA != out.Head || !out.Merged {
		t.Errorf("pushed %+v, the head is %s", out, now.Head.SHA)
	}
	commit := commitOf(g, out.Head)
	for _, line := range []string{
		"Apply review of " + pr.Head.SHA[:7], "- The code does not do that any more.",
		"Touchstone-Reviewed: " + pr.Head.SHA, "Touchstone-Findings: " + out.Findings[0], "Recurrence: add lint - here",
	} {
		if !strings.Contains("\n"+commit.Commit.Message+"\n", "\n"+line+"\n") {
			t.Errorf("the message lacks %q:\n%s", line, commit.Commit.Message)
		}
	}
	if len(commit.Parents) != 1 || commit.Commit.Author.Name != "Alice" {
		t.Errorf("the commit is %+v", commit)
	}
	if !strings.Contains(prompt, "security/S1") || !strings.Contains(prompt, "The review.") {
		t.Errorf("the prompt lacks the review:\n%s", prompt)
	}
}

func TestFixWithoutAModel(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
	ref := g.Open("topic")
	a := newAuthor(g, unexpected(t))
	before := g.Read(loopback.Author, ref)
	if _, err := a.Fix(t.Context(), before, verdict.Allowance{}, nil); !errors.Is(err, author.ErrNothingToFix) {
		t.Errorf("a fix of nothing ends in %v", err)
	}
	// Being behind its base is mended by a merge alone.
	base := g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
	out, err := a.Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	merge := commitOf(g, out.Head)
	if len(merge.Parents) != 2 || merge.Parents[0].SHA != before.Head.SHA || merge.Parents[1].SHA != base ||
		merge.Commit.Message != "Merge branch 'main' into topic" {
		t.Errorf("pushed %+v", merge)
	}
}

// TestFixThatMayHoldNoSession checks that a fix without a session merges the base and leaves everything else.
func TestFixThatMayHoldNoSession(t *testing.T) {
	t.Parallel()
	verify := map[string]string{".touchstone/config.yaml": "verify:\n  command: [test, -e, never]\n"}
	for name, tt := range map[string]struct {
		base map[string]string
		want string // a part of the error
	}{
		"beside a failed check that none requires": {map[string]string{"README.md": "two\n"}, ""},
		"into a conflict":                          {map[string]string{"code.txt": "other\n"}, "no session may start"},
		"that does not hold":                       {verify, "did not pass the repository's verify command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{"README.md": "one\n"})
			sha := g.Commit("topic", "Add code", map[string]string{"code.txt": "fine\n"})
			ref := g.Open("topic")
			g.Call(loopback.Person, http.MethodPost, "statuses/"+sha, map[string]any{"state": "failure", "context": "advice"}, nil)
			g.Commit("main", "Move on", tt.base)
			out, err := newAuthor(g, unexpected(t)).Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{NoModel: true}, nil)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Fatalf("it ends in %v", err)
			}
			if now := g.Read(loopback.Author, ref).Head.SHA; tt.want == "" && now != out.Head || tt.want != "" && now != sha {
				t.Errorf("the head is %s", now)
			}
		})
	}
}

func TestFixResolvesConflicts(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"code.txt": "base\n"})
	g.Commit("topic", "Change it", map[string]string{"code.txt": "ours\n"})
	ref := g.Open("topic")
	g.Commit("main", "Change it too", map[string]string{"code.txt": "theirs\n"})
	pr := g.Read(loopback.Author, ref)
	var prompt string
	leave := newAuthor(g, func(r loopback.Asked) (string, error) { prompt += r.Prompt; return "Cannot.", nil })
	if _, err := leave.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, author.ErrConflicts) ||
		!strings.Contains(err.Error(), "code.txt") {
		t.Errorf("conflicts that are left end in %v", err)
	}
	if now := g.Read(loopback.Author, ref); now.Head.SHA != pr.Head.SHA {
		t.Error("something was pushed")
	}
	if !strings.Contains(prompt, `- "code.txt"`) {
		t.Errorf("the prompt does not name the conflict:\n%s", prompt)
	}
	out, err := newAuthor(g, write("Both.", map[string]string{"code.txt": "ours and theirs\n"})).Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if commit := commitOf(g, out.Head); len(commit.Parents) != 2 ||
		!strings.HasPrefix(commit.Commit.Message, "Resolve conflicts with the base\n") {
		t.Errorf("pushed %+v", commit)
	}
}

// TestFixShowsBothSidesOfAConflict checks that the prompt shows the changes of the two sides separately,
// shortened if they are long. Files contain them completely during the session, and none of it is pushed.
func TestFixShowsBothSidesOfAConflict(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line that nobody touches\n", 2_000)
	g := loopback.New(t, map[string]string{"code.txt": "base\n", "gone.txt": "one\n", "long.txt": "base\n" + long, "other.txt": "x\n"})
	g.Commit("topic", "Change it", map[string]string{"code.txt": "ours\n", "gone.txt": "two\n", "long.txt": "ours\n" + strings.ToUpper(long),
		"other.txt": "y\n"})
	ref := g.Open("topic")
	g.Commit("main", "Change it too", map[string]string{"code.txt": "theirs\n", "gone.txt": "", "long.txt": "theirs\n" + long})
	merged := map[string]string{"code.txt": "both\n", "gone.txt": "three\n", "long.txt": "both\n"}
	var prompt string
	var sides string
	a := newAuthor(g, func(r loopback.Asked) (string, error) {
		prompt = r.Prompt
		if inTree, err := filepath.Glob(filepath.Join(r.Dir, "*conflicts*")); err != nil || len(inTree) > 0 || len(r.ReadDirs) != 1 {
			t.Errorf("in the tree are %q, %v, and it may read %q", inTree, err, r.ReadDirs)
			return "", err
		}
		sides = r.ReadDirs[0]
		whole := filepath.Join(sides, "3-branch.diff")
		if text, err := os.ReadFile(whole); err != nil || strings.Count(string(text), "\n+A LINE") != 2_000 ||
			!strings.Contains(r.Prompt, whole) {
			t.Errorf("%d bytes of it are there, %v, or the prompt does not say where", len(text), err)
		}
		return write("Both.", merged)(r)
	})
	out, err := a.Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(sides); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the sides are still there: %v", err)
	}
	for _, want := range []string{
		"what the branch changed in code.txt", "\n-base\n+ours\n", "what the base changed in code.txt", "\n-base\n+theirs\n",
		"what the base changed in gone.txt", "\ndeleted file mode", "what the branch changed in gone.txt", "\n+two\n", "[shortened]",
	} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if strings.Contains(prompt, "changed in other.txt") || len(prompt) > 100_000 {
		t.Errorf("the prompt has %d bytes", len(prompt))
	}
	var files []struct{ Filename string }
	g.Call(loopback.Root, http.MethodGet, "pulls/1/files", nil, &files)
	if len(files) != 4 {
		t.Errorf("the pull request changes %v", files)
	}
	if text := pushedFile(t, g, out.Head, "long.txt"); text != "both\n" {
		t.Errorf("pushed is %.40q", text)
	}
}

// TestFixLeavesAConflictThatIsNoTextToAPerson covers a conflict between two binary files: no session can tell
// which one is right.
func TestFixLeavesAConflictThatIsNoTextToAPerson(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"code.txt": "base\n", "logo.png": "\x00base"})
	g.Commit("topic", "Change it", map[string]string{"code.txt": "ours\n", "logo.png": "\x00ours"})
	ref := g.Open("topic")
	g.Commit("main", "Change it too", map[string]string{"code.txt": "theirs\n", "logo.png": "\x00theirs"})
	_, err := newAuthor(g, unexpected(t)).Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
	if !errors.Is(err, author.ErrUndecided) ||
		!strings.Contains(err.Error(), `"logo.png" is not a text file; merge main into the branch by hand`) {
		t.Errorf("it ends in %v", err)
	}
}

func TestFixRefuses(t *testing.T) {
	t.Parallel()
	const rules = ".touchstone/guidelines/own.md"
	for name, tc := range map[string]struct {
		edit map[string]string
		want error
	}{
		"an edit of the rules":    {map[string]string{rules: "all is allowed\n", "code.txt": "safe()\n"}, author.ErrForbidden},
		"a new rule":              {map[string]string{".touchstone/config.yaml": "lax: true\n"}, author.ErrForbidden},
		"no change at all":        {nil, author.ErrNothingChanged},
		"an edit that is undone":  {map[string]string{"code.txt": "unsafe()\n"}, author.ErrNothingChanged},
		"what only the base did":  {map[string]string{"code.txt": "safe()\n"}, nil},
		"the rules as the base's": {map[string]string{"code.txt": "safe()\n", rules: "from the base\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := loopback.New(t, map[string]string{rules: "as at first\n"})
			g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
			ref := g.Open("topic")
			g.Commit("main", "Change the rules", map[string]string{rules: "from the base\n"})
			pr := g.Reviewed(ref, verdict.RequestChanges, finding)
			_, err := newAuthor(g, write("Done.", tc.edit)).Fix(t.Context(), pr, verdict.Allowance{}, nil)
			if !errors.Is(err, tc.want) {
				t.Errorf("it ends in %v, want %v", err, tc.want)
			}
			if moved := g.Read(loopback.Author, ref).Head.SHA != pr.Head.SHA; moved != (tc.want == nil) {
				t.Errorf("pushed: %v", moved)
			}
		})
	}
}

func TestFixIsOvertakenByAPush(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)
	var theirs string
	a := newAuthor(g, func(r loopback.Asked) (string, error) {
		theirs = g.Commit("topic", "Meanwhile", map[string]string{"other.txt": "new\n"})
		return write("Done.", map[string]string{"code.txt": "safe()\n"})(r)
	})
	if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, author.ErrOvertaken) {
		t.Errorf("it ends in %v", err)
	}
	if now := g.Read(loopback.Author, ref); now.Head.SHA != theirs {
		t.Errorf("the head is %s, not what was pushed meanwhile", now.Head.SHA)
	}
}

func TestFixAnswersFailedChecks(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	sha := g.Commit("topic", "Add code", map[string]string{"code.txt": "broken\n"})
	ref := g.Open("topic")
	g.Call(loopback.Person, http.MethodPost, "statuses/"+sha,
		map[string]any{"state": "failure", "context": "build", "description": "it does not compile"}, nil)
	var prompt string
	a := newAuthor(g, func(r loopback.Asked) (string, error) {
		prompt = r.Prompt
		return write("Mended.", map[string]string{"code.txt": "whole\n"})(r)
	})
	out, err := a.Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if message := commitOf(g, out.Head).Commit.Message; !strings.HasPrefix(message, "Repair what the checks of "+sha[:7]+" found\n") {
		t.Errorf("the message is %q", message)
	}
	if !strings.Contains(prompt, "failed check 1: build") || !strings.Contains(prompt, "it does not compile") {
		t.Errorf("the prompt lacks the failed check:\n%s", prompt)
	}
}

// TestFixLeavesWhatFailsOnTheBase checks that the session is told that checks that also fail on the base are
// out of scope, and that such checks alone start no session.
func TestFixLeavesWhatFailsOnTheBase(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	sha := g.Commit("topic", "Add code", map[string]string{"code.txt": "broken\n"})
	ref := g.Open("topic")
	fails := func(sha, check string) {
		g.Call(loopback.Person, http.MethodPost, "statuses/"+sha,
			map[string]any{"state": "failure", "context": check, "description": "it fails"}, nil)
	}
	fails(g.Read(loopback.Author, ref).Base.SHA, "build")
	fails(sha, "build")
	if _, err := newAuthor(g, unexpected(t)).Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil); !errors.Is(err,
		author.ErrNothingToFix) {
		t.Errorf("alone it ends in %v", err)
	}
	fails(sha, "vet")
	var prompt string
	a := newAuthor(g, func(r loopback.Asked) (string, error) {
		prompt = r.Prompt
		return write("Mended.", map[string]string{"code.txt": "whole\n"})(r)
	})
	if _, err := a.Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(prompt, "failed check 1: vet") || strings.Contains(prompt, `: build">`) ||
		!strings.Contains(prompt, "fail on the base as well") {
		t.Errorf("the prompt says:\n%s", prompt)
	}
}

func TestFixListensToTheReviewersAlone(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding)
	a := newAuthor(g, unexpected(t))
	a.Reviewers = []string{loopback.Person}
	if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, author.ErrNothingToFix) {
		t.Errorf("the review of somebody who does not count ends in %v", err)
	}
	edited := pr.Reviews[0].SubmittedAt
	pr.Reviews[0].EditedAt = &edited
	a.Reviewers = []string{loopback.Judge}
	if _, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil); !errors.Is(err, author.ErrNothingToFix) {
		t.Errorf("a review that was edited ends in %v", err)
	}
}

func TestFixLeavesWhatAPersonWaived(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\nother()\n"})
	other := finding
	other.Quote, other.Line, other.Claim = "other()", 2, "That is unsafe, too."
	pr := g.Reviewed(g.Open("topic"), verdict.RequestChanges, finding, other)
	a := newAuthor(g, write("Done.", map[string]string{"code.txt": "unsafe()\nsafe()\n"}))
	waived := verdict.Fingerprint(finding)
	a.Orders = func(context.Context, forge.PullRequest) ([]verdict.Command, error) {
		return []verdict.Command{{ID: 1, Verb: verdict.Waive, Finding: waived, By: loopback.Person, Reason: "It is ours."}}, nil
	}
	out, err := a.Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if err != nil || len(out.Findings) != 1 || out.Findings[0] == waived {
		t.Errorf("it answered %q: %v", out.Findings, err)
	}
}

// A fix that only has to merge the base opens no session over a review that its reviewer
// has replaced since.
func TestFixLeavesAReviewThatWasReplaced(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{"README.md": "one\n"})
	g.Commit("topic", "Add code", map[string]string{"code.txt": "unsafe()\n"})
	ref := g.Open("topic")
	g.Reviewed(ref, verdict.RequestChanges, finding)
	g.Reviewed(ref, verdict.Approve)
	g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
	out, err := newAuthor(g, unexpected(t)).Fix(t.Context(), g.Read(loopback.Author, ref), verdict.Allowance{}, nil)
	if err != nil || !out.Merged || len(out.Findings) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestTooManyConflictsAreForAPerson(t *testing.T) {
	g := loopback.New(t, map[string]string{"code.txt": "unsafe()\n"})
	theirs, ours := map[string]string{}, map[string]string{}
	for i := range 301 {
		name := fmt.Sprintf("file%d.txt", i)
		theirs[name], ours[name] = "theirs\n", "ours\n"
	}
	g.Commit("topic", "Add files", ours)
	ref := g.Open("topic")
	g.Commit("main", "Add the same files", theirs)
	pr := g.Reviewed(ref, verdict.RequestChanges, finding)
	_, err := newAuthor(g, func(loopback.Asked) (string, error) {
		t.Error("a session was asked")
		return "", nil
	}).Fix(t.Context(), pr, verdict.Allowance{}, nil)
	if !errors.Is(err, author.ErrUndecided) || !strings.Contains(err.Error(), "301 files conflict") {
		t.Errorf("it ends in %v", err)
	}
}

package author_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"touchstone/agent/author"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/verdict"
)

// edit is of the second line of a file.
func edit(t *testing.T, path, content, text string) verdict.Edit {
	t.Helper()
	e, ok := verdict.NewEdit("0badcafe", path, 2, 2, text, []byte(content))
	if !ok {
		t.Fatalf("%q in %q is no edit", text, content)
	}
	return e
}

const misspelt = "package app\n// Parse raeds.\nfunc Parse() {}\n"

// approvedHead is a pull request that changes these files.
func approvedHead(t *testing.T, base, change map[string]string) (*loopback.GitHub, forge.PullRequest) {
	t.Helper()
	g := loopback.New(t, base)
	g.Commit("topic", "Add code", change)
	return g, g.Read(loopback.Author, g.Open("topic"))
}

func TestApplyPushesTheEditsAndNothingElse(t *testing.T) {
	t.Parallel()
	readme := map[string]string{"README.md": "one\n"}
	g, pr := approvedHead(t, readme, map[string]string{"app/parse.go": misspelt, "notes.txt": "one\r\ntow\r\n"})
	g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
	second := edit(t, "notes.txt", "one\r\ntow\r\n", "two")
	second.Finding = "0ddba115"
	out, err := newAuthor(g, unexpected(t)).Apply(t.Context(), pr,
		[]verdict.Edit{edit(t, "app/parse.go", misspelt, "// Parse reads."), second})
	if err != nil {
		t.Fatal(err)
	}
	now := g.Read(loopback.Author, pr.Ref)
	commit := commitOf(g, out.Head)
	if now.Head.SHA != out.Head || len(commit.Parents) != 1 || commit.Parents[0].SHA != pr.Head.SHA || commit.Commit.Author.Name != "Alice" {
		t.Errorf("pushed %+v, the commit is %+v", out, commit)
	}
	for path, want := range map[string]string{"app/parse.go": strings.Replace(misspelt, "raeds", "reads", 1), "notes.txt": "one\r\ntwo\r\n",
		"README.md": "one\n"} {
		if got := pushedFile(t, g, out.Head, path); got != want {
			t.Errorf("%s is %q", path, got)
		}
	}
	fix, ok := verdict.ParseRepair(commit.Commit.Message)
	if !ok || fix.Reviewed != pr.Head.SHA || strings.Join(fix.Findings, " ") != "0badcafe 0ddba115" || fix.Change == "" || fix.Undoes == "" ||
		fix.Model != "" {
		t.Errorf("the commit says of itself %+v", fix)
	}
	want := "Apply the review's suggestions\n\n- app/parse.go:2\n- notes.txt:2\n\nTouchstone-Reviewed: "
	if !strings.HasPrefix(commit.Commit.Message, want) {
		t.Errorf("the message is\n%s", commit.Commit.Message)
	}
	if len(out.Repaired) != 2 || out.CostUSD != 0 {
		t.Errorf("it comes to %+v", out)
	}
}

func TestApplyPushesNothingThatIsNotWhole(t *testing.T) {
	t.Parallel()
	verify := func(text string) map[string]string {
		return map[string]string{"README.md": "one\n",
			".touchstone/config.yaml": "verify:\n  command: [git, grep, --no-index, -q, " + text + ", --, app]\n"}
	}
	line := edit(t, "app/parse.go", misspelt, "// Parse reads.")
	elsewhere := line
	elsewhere.First, elsewhere.Last = 3, 3
	const workflow = "on: push\nname: tset\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: go test ./...}]}}\n"
	for name, tc := range map[string]struct {
		base, change map[string]string
		edits        []verdict.Edit
		want         error
	}{
		"verify fails":  {base: verify("raeds"), edits: []verdict.Edit{line}, want: author.ErrUnverified},
		"verify passes": {base: verify("reads"), edits: []verdict.Edit{line}},
		"other lines":   {edits: []verdict.Edit{elsewhere}, want: verdict.ErrNoFit},
		"one that fits and another": {edits: []verdict.Edit{line, edit(t, "a.txt", "one\ntow\n", "two")},
			change: map[string]string{"a.txt": "one\ntoo\n"}, want: verdict.ErrNoFit},
		"twice": {edits: []verdict.Edit{line, line}, want: verdict.ErrNoFit},
		"what the guard watches": {change: map[string]string{".github/workflows/ci.yml": workflow},
			edits: []verdict.Edit{edit(t, ".github/workflows/ci.yml", workflow, "name: test")}, want: author.ErrForbidden},
		"a note for later": {edits: []verdict.Edit{edit(t, "app/parse.go", misspelt, "// Parse reads. TODO: fix this later")},
			want: author.ErrDeferred},
		"what git records otherwise": {base: map[string]string{"README.md": "one\n", ".gitattributes": "*.crlf text eol=lf\n"},
			change: map[string]string{"a.crlf": "one\r\ntow\r\n"}, edits: []verdict.Edit{edit(t, "a.crlf", "one\r\ntow\r\n", "two")},
			want: verdict.ErrNoFit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.base == nil {
				tc.base = map[string]string{"README.md": "one\n"}
			}
			change := map[string]string{"app/parse.go": misspelt}
			for path, text := range tc.change {
				change[path] = text
			}
			g, pr := approvedHead(t, tc.base, change)
			_, err := newAuthor(g, unexpected(t)).Apply(t.Context(), pr, tc.edits)
			if !errors.Is(err, tc.want) {
				t.Errorf("it ends in %v, want %v", err, tc.want)
			}
			if pushed := g.Read(loopback.Author, pr.Ref).Head.SHA != pr.Head.SHA; pushed != (tc.want == nil) {
				t.Errorf("pushed: %v", pushed)
			}
		})
	}
}

// TestApplyIsForOneHead checks that nothing is committed on top of a branch that has changed in the meantime,
// even if only the base was merged.
func TestApplyIsForOneHead(t *testing.T) {
	t.Parallel()
	g, pr := approvedHead(t, map[string]string{"README.md": "one\n"}, map[string]string{"app/parse.go": misspelt})
	g.Sim.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		if r.URL.Query().Get("service") == "git-receive-pack" && g.Read(loopback.Root, pr.Ref).Head.SHA == pr.Head.SHA {
			g.Commit("main", "Move on", map[string]string{"README.md": "two\n"})
			g.Call(loopback.Person, http.MethodPut, "pulls/1/update-branch", map[string]any{}, nil)
		}
		return githubsim.Fault{}
	})
	_, err := newAuthor(g, unexpected(t)).Apply(t.Context(), pr, []verdict.Edit{edit(t, "app/parse.go", misspelt, "// Parse reads.")})
	if !errors.Is(err, author.ErrOvertaken) {
		t.Errorf("it ends in %v", err)
	}
	if got := pushedFile(t, g, g.Read(loopback.Author, pr.Ref).Head.SHA, "app/parse.go"); got != misspelt {
		t.Errorf("the branch has %q", got)
	}
}

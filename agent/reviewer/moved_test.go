package reviewer_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/rest"
	"touchstone/agent/githubsim/simtest"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// library is a GitHub with acme/app and, as its submodule, acme/lib.
type library struct {
	*loopback.GitHub
	t *testing.T
	// first, second and third are commits of the default branch, in order; old is on the branch release/1, which began at
	// first; foreign is a fork's, on top of third, in a pull request.
	first, second, third, old, foreign string
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{GitHub: loopback.New(t, plain), t: t}
	create := func(opts githubsim.RepoOptions) { l.Must(l.CreateRepo(l.Ctx, opts)) }
	write := func(repo, branch, text string) string {
		sha, err := l.Sim.Commit(l.Ctx, loopback.Stranger, repo, branch, text, map[string]string{"lib.c": text})
		l.Must(err)
		return sha
	}
	create(githubsim.RepoOptions{Owner: "acme", Name: "lib", Files: plain})
	create(githubsim.RepoOptions{Owner: "acme", Name: "secret", Files: plain, Private: true, Permissions: map[string]string{}})
	l.first = write("acme/lib", "main", "first")
	l.old = write("acme/lib", "release/1", "old")
	l.second, l.third = write("acme/lib", "main", "second"), write("acme/lib", "main", "third")
	create(githubsim.RepoOptions{Owner: loopback.Stranger, Name: "lib", ForkOf: "acme/lib"})
	l.foreign = write(loopback.Stranger+"/lib", "main", "foreign")
	l.Must(rest.API{URL: l.URL, Token: simtest.Token(loopback.Stranger)}.Call(l.Ctx, http.MethodPost, "/api/v3/repos/acme/lib/pulls",
		map[string]any{"title": "t", "head": loopback.Stranger + ":main", "base": "main"}, nil))
	l.Settle()
	return l
}

// git runs git in a repository of the GitHub.
func (l *library) git(repo, stdin string, args ...string) string {
	l.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", filepath.Join(l.Dir, filepath.FromSlash(repo)+".git"),
		"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// side is one side of a pull request in acme/app: its .gitmodules, which has this mode, and its submodules.
type side struct {
	modules, mode string
	links         map[string]string
}

// commit makes a commit of a side. Unlike an index, mktree takes every name and mode.
func (l *library) commit(s side, parent string) string {
	l.t.Helper()
	entries := []string{"100644 blob " + l.git("acme/app", "one\n", "hash-object", "-w", "--stdin") + "\tREADME.md"}
	if s.modules != "" {
		mode := s.mode
		if mode == "" {
			mode = "100644"
		}
		entries = append(entries, mode+" blob "+l.git("acme/app", s.modules, "hash-object", "-w", "--stdin")+"\t.gitmodules")
	}
	for _, name := range slices.Sorted(maps.Keys(s.links)) {
		entries = append(entries, "160000 commit "+s.links[name]+"\t"+name)
	}
	tree := l.git("acme/app", strings.Join(entries, "\n")+"\n", "mktree", "--missing")
	return l.git("acme/app", "", "commit-tree", "-m", "Change", "-p", parent, tree)
}

// open opens a pull request from one side to another, which becomes a branch of this name.
func (l *library) open(name string, before, after side) forge.PullRequest {
	l.t.Helper()
	base := l.commit(before, l.git("acme/app", "", "rev-parse", "main"))
	topic := "topic-of-" + name
	for branch, sha := range map[string]string{name: base, topic: l.commit(after, base)} {
		l.Commit(branch, "Begin", map[string]string{"begin.md": "Begin.\n"})
		l.Call(loopback.Root, http.MethodPatch, "git/refs/heads/"+branch, map[string]any{"sha": sha, "force": true}, nil)
	}
	var made struct{ Number int }
	l.Call(loopback.Author, http.MethodPost, "pulls", map[string]any{"title": "Move lib", "head": topic, "base": name}, &made)
	return l.Read(loopback.Judge, forge.Ref{Repo: loopback.Repo, Number: made.Number})
}

// judged is what a review says of the submodules, by a session that answers all evidence.
func (l *library) judged(pr forge.PullRequest, upstream bool) ([]verdict.Hold, []verdict.Evidence) {
	l.t.Helper()
	r := newReviewer(l.t, l.GitHub, answering())
	if upstream {
		r.Upstream = l.Client(loopback.Judge)
	}
	out, err := r.Review(l.t.Context(), pr, reviewer.Options{DryRun: true})
	if err != nil {
		l.t.Fatal(err)
	}
	return out.Record.Holds, out.Record.Evidence
}

// entry is an entry of .gitmodules with these further lines.
func entry(name, path, url string, lines ...string) string {
	return fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = %s\n%s", name, path, url, strings.Join(append(lines, ""), "\n"))
}

// TestAMovedSubmoduleNeedsAPersonUnlessItIsOrdinary moves a submodule in every way that an attacker has, and in the
// ordinary ones.
func TestAMovedSubmoduleNeedsAPersonUnlessItIsOrdinary(t *testing.T) {
	t.Parallel()
	const (
		near    = "../lib.git"
		added   = "there was no submodule at this path on the base"
		altered = "the change alters its entry in .gitmodules"
		strange = "its address in .gitmodules is not one of http"
		back    = "it moves back, or to another history"
		silent  = "GitHub does not say where its commits stand"
	)
	lib := func(lines ...string) string { return entry("lib", "lib", near, lines...) }
	type moving struct {
		before, after string // .gitmodules; an empty after is that of before
		mode          string // of before
		from, to      string // "" and "second", unless said otherwise
		was           string // the path before, "lib" unless said otherwise
		base          string // the base branch, one of its own unless said otherwise
		held          string // the reason; "" is that it is ordinary
		says          string // what ordinary evidence says
		fault         func(string, *http.Request) githubsim.Fault
	}
	fault := func(part string, f githubsim.Fault) func(string, *http.Request) githubsim.Fault {
		return func(_ string, r *http.Request) githubsim.Fault {
			if strings.Contains(r.URL.Path, part) {
				return f
			}
			return githubsim.Fault{}
		}
	}
	l := newLibrary(t)
	commits := map[string]string{"first": l.first, "second": l.second, "third": l.third, "old": l.old, "foreign": l.foreign}
	filled := strings.NewReplacer("HTTP", l.URL, "HOST", strings.TrimPrefix(l.URL, "http://"), "FOREIGN", l.foreign)
	for name, tc := range map[string]moving{
		"one commit along the default branch": {before: lib(), says: "both on its branch main. This brings 1 commit,"},
		"two commits, to the tip":             {before: lib(), to: "third", says: "This brings 2 commits,"},
		"an address by https":                 {before: entry("lib", "lib", "HTTP/acme/lib"), says: "of acme/lib, both"},
		"an address from the top":             {before: entry("lib", "lib", "../../acme/lib"), says: "of acme/lib, both"},
		"along the branch that it follows": {before: lib("branch = release/1"), to: "old",
			says: "both on its branch release/1. This brings 1 commit,"},
		"along the branch of the base": {before: lib("branch = ."), to: "old", base: "release/1",
			says: "both on its branch release/1."},
		"another entry changes": {before: lib(), after: lib() + entry("x", "x", "../other"),
			says: "This brings 1 commit,"},
		"a name in a folder": {before: entry("vendor/lib", "lib", near), says: "This brings 1 commit,"},

		"a commit of a fork":                      {before: lib(), to: "foreign", held: "the commit is not on the branch main of acme/lib"},
		"a commit of another branch":              {before: lib(), to: "old", held: "the commit is not on the branch main of acme/lib"},
		"a commit of another repository":          {before: lib(), to: strings.Repeat("0", 39) + "1", held: silent},
		"back":                                    {before: lib(), from: "second", to: "first", held: back},
		"from a commit of a fork":                 {before: lib(), from: "foreign", to: "third", held: back},
		"from the branch that it does not follow": {before: lib(), from: "old", to: "third", held: back},
		"off the branch that it follows":          {before: lib("branch = release/1"), to: "third", held: "not on the branch release/1 of acme"},

		"another address as well":             {before: entry("lib", "lib", "../other"), after: lib(), held: altered},
		"another branch as well":              {before: lib(), after: lib("branch = release/1"), to: "old", held: altered},
		"another way to update":               {before: lib(), after: lib("update = none"), held: altered},
		"another name":                        {before: lib(), after: entry("lib2", "lib", near), held: altered},
		"a second address":                    {before: lib(), after: lib("url = ../other"), held: "not give it one address"},
		"a second entry":                      {before: lib(), after: lib() + entry("x", "lib", near), held: "has several entries"},
		"a second entry, before":              {before: lib() + entry("x", "lib/", near), held: "the base's .gitmodules has several entries"},
		"the entry goes":                      {before: lib(), after: entry("x", "x", near), held: "the change's .gitmodules has no entry"},
		"a list that does not parse any more": {before: lib(), after: lib() + "[submodule\n", held: ".gitmodules of the change cannot be read"},

		"a new submodule":            {before: lib(), was: "-", held: added},
		"a submodule that moves":     {before: lib(), was: "old", held: added},
		"no list":                    {held: "the base has no .gitmodules"},
		"no entry":                   {before: entry("x", "x", near), held: "the base's .gitmodules has no entry for it"},
		"no address":                 {before: "[submodule \"lib\"]\npath = lib\n", held: "does not give it one address"},
		"two addresses":              {before: lib("url = " + near), held: "does not give it one address"},
		"two paths":                  {before: lib("path = x"), held: "with another path as well"},
		"a path with a slash":        {before: entry("lib", "lib/", near), held: "with another path as well"},
		"two branches":               {before: lib("branch = main", "branch = main"), held: "does not name one branch"},
		"a branch without a name":    {before: lib("branch"), held: "does not name one branch"},
		"a branch that is gone":      {before: lib("branch = gone"), held: silent},
		"a commit as the branch":     {before: lib("branch = FOREIGN"), to: "foreign", held: silent},
		"a fork's branch":            {before: lib("branch = mallory:main"), to: "foreign", held: "it is not a plain name"},
		"a branch that climbs":       {before: lib("branch = ../../lib"), held: "it is not a plain name"},
		"a name that climbs":         {before: entry("a/../../b", "lib", near), held: "by a name that git refuses"},
		"a list that does not parse": {before: lib() + "[submodule\n", after: lib(), held: ".gitmodules of the base cannot be read"},
		"a list that is a link":      {before: "modules", mode: "120000", after: lib(), held: ".gitmodules of the base is not a plain file"},
		"a list that is too large":   {before: lib() + strings.Repeat("#\n", 1<<19), held: ".gitmodules of the base is too large"},

		"another host":              {before: entry("lib", "lib", "https://gitlab.example/acme/lib"), held: strange},
		"an address with a user":    {before: entry("lib", "lib", "http://judge@HOST/acme/lib"), held: strange},
		"an address on a port":      {before: entry("lib", "lib", "http://127.0.0.1:1/acme/lib"), held: strange},
		"an address with an escape": {before: entry("lib", "lib", "HTTP/acme/%6cib"), held: "its address in .gitmodules has escapes"},
		"an address that climbs":    {before: entry("lib", "lib", "../../acme/../acme/lib"), held: "not that of one repository"},
		"an address outside":        {before: entry("lib", "lib", "../../../acme/lib"), held: "leads out of this GitHub"},
		"a private repository":      {before: entry("lib", "lib", "../secret"), held: silent},

		"GitHub refuses the repository": {before: lib(), fault: fault("/git/ref/", githubsim.Fault{Status: 404}), held: silent},
		"GitHub limits the rate": {before: lib(),
			fault: fault("/acme/lib/compare/", githubsim.Fault{Status: 403, RetryAfter: time.Hour}),
			held:  silent},
		"GitHub refuses the token": {before: lib(), fault: fault("/compare/", githubsim.Fault{Status: 401}), held: silent},
		"GitHub is gone":           {before: lib(), fault: fault("/repos/acme/lib", githubsim.Fault{Drop: githubsim.DropBefore}), held: silent},
	} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			sha := func(name, otherwise string) string {
				switch {
				case name == "":
					return otherwise
				case commits[name] == "":
					return name
				}
				return commits[name]
			}
			before := side{modules: filled.Replace(tc.before), mode: tc.mode, links: map[string]string{"lib": sha(tc.from, l.first)}}
			after := side{modules: before.modules, links: map[string]string{"lib": sha(tc.to, l.second)}}
			if tc.after != "" {
				after.modules = tc.after
			}
			switch tc.was {
			case "":
			case "-":
				before.links = nil
			default: // the same commit at another path
				before.links = map[string]string{tc.was: after.links["lib"]}
			}
			branch := tc.base
			if branch == "" {
				branch = strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(name)
			}
			pr := l.open(branch, before, after)
			l.Intercept(tc.fault)
			defer l.Intercept(nil)
			holds, evidence := l.judged(pr, true)
			if tc.held == "" {
				url := fmt.Sprintf("%s/acme/lib/compare/%s...%s", l.URL, before.links["lib"], after.links["lib"])
				if len(holds) != 0 || len(evidence) != 1 || evidence[0].Kind != "submodule" || evidence[0].Path != "lib" ||
					!strings.Contains(evidence[0].Detail, tc.says) || !strings.Contains(evidence[0].Detail, url) {
					t.Errorf("held %+v, evidence %+v; want evidence that says %q and %s", holds, evidence, tc.says, url)
				}
				return
			}
			if len(evidence) != 0 || len(holds) != 1 || holds[0].Path != "lib" || !strings.Contains(holds[0].Detail, tc.held) {
				t.Errorf("held %+v, evidence %+v; want it held because %q", holds, evidence, tc.held)
			}
		})
	}
}

// TestWhoGivesASubmoduleAnotherAddressNeedsAPerson: along that one, a later change could move it without a person.
func TestWhoGivesASubmoduleAnotherAddressNeedsAPerson(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	lib := entry("lib", "lib", "../lib.git")
	for name, tc := range map[string]struct {
		before, after string
		held          bool
	}{
		"what git cannot read":      {lib, "[submodule\n", true},
		"another repository":        {lib, entry("lib", "lib", "../../mallory/lib"), true},
		"another branch":            {lib, entry("lib", "lib", "../lib.git", "branch = release/1"), true},
		"the first entry":           {"", lib, true},
		"a list that git can read":  {"[submodule\n", lib, true},
		"one of two entries goes":   {lib + entry("x", "lib", "../../mallory/lib"), entry("x", "lib", "../../mallory/lib"), true},
		"another entry's path":      {lib + entry("x", "x", "../../mallory/lib"), entry("x", "lib", "../../mallory/lib"), true},
		"another way to write it":   {lib, entry("lib2", "lib", l.URL+"/Acme/lib"), false},
		"another way to update":     {lib, entry("lib", "lib", "../lib.git", "shallow = true"), false},
		"an entry without anything": {lib, lib + entry("x", "x", "../../mallory/lib"), false},
		// Each later move is held then.
		"another host":     {lib, entry("lib", "lib", "https://gitlab.example/acme/lib"), false},
		"a second address": {lib, entry("lib", "lib", "../lib.git", "url = ../../mallory/lib"), false},
		"a second entry":   {lib, lib + entry("x", "./lib", "../../mallory/lib"), false},
		"no entry":         {lib, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			l.t = t
			links := map[string]string{"lib": l.first}
			holds, evidence := l.judged(l.open(strings.NewReplacer(" ", "-", "'", "").Replace(name), side{modules: tc.before, links: links},
				side{modules: tc.after, links: links}), true)
			if len(evidence) > 0 || (len(holds) == 1) != tc.held || tc.held && (holds[0].Path != ".gitmodules" ||
				!strings.Contains(holds[0].Detail, `that it does not move: "lib". Whoever`) && !strings.Contains(holds[0].Detail, "cannot be read")) {
				t.Errorf("held %+v, evidence %+v", holds, evidence)
			}
		})
	}
}

// TestAnOrdinaryMoveIsAnsweredAndApproved also holds without a GitHub to ask, as a local review has none.
func TestAnOrdinaryMoveIsAnsweredAndApproved(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	modules := entry("lib", "lib", "../lib")
	pr := l.open("base", side{modules: modules, links: map[string]string{"lib": l.first}},
		side{modules: modules, links: map[string]string{"lib": l.third}})

	holds, evidence := l.judged(pr, false)
	if want := "The submodule brings in commit " + l.third + " of another repository, whose content is no part of this review. Look what " +
		"it changes there."; len(evidence) != 0 || len(holds) != 1 || holds[0].Kind != verdict.HiddenText || holds[0].Detail != want {
		t.Errorf("without a GitHub to ask: held %+v, evidence %+v", holds, evidence)
	}

	url := l.URL + "/acme/lib/compare/" + l.first + "..." + l.third
	for answer, want := range map[string]verdict.Verdict{`"refuted":[{"evidence":"E1","reason":"The title says so."}],`: verdict.Approve,
		"": verdict.RequestChanges} {
		asked := 0
		r := newReviewer(t, l.GitHub, func(r loopback.Asked) (string, error) {
			want := "- E1 submodule (security/S14) at lib: The submodule moves from " + l.first[:12] + " to " + l.third[:12] + " of acme/lib"
			if asked++; asked == 1 && (!strings.Contains(r.Prompt, want) || !strings.Contains(r.Prompt, url)) {
				t.Errorf("the prompt does not ask for it:\n%s", r.Prompt)
			}
			r.Prompt = "- lib (modified +1 -1)\n" + r.Prompt
			text, err := answering()(r)
			return strings.Replace(text, `"findings":`, answer+`"findings":`, 1), err
		})
		r.Upstream = l.Client(loopback.Judge)
		out, err := r.Review(t.Context(), pr, reviewer.Options{DryRun: true})
		if err != nil || out.Record.Verdict != want || len(out.Record.Holds) > 0 || !strings.Contains(out.Review.Body, url) {
			t.Errorf("with the answer %q: %s, %v; doubts %q; the review:\n%s", answer, out.Record.Verdict, err, out.Judgement.Doubts,
				out.Review.Body)
		}
	}
}

// TestApprovedMovesAreCarriedOverWhileTheyAreOrdinary: the answer of GitHub may be another one for the next head.
func TestApprovedMovesAreCarriedOverWhileTheyAreOrdinary(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"as before": false, "the branch was reset meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLibrary(t)
			modules := entry("lib", "lib", "../lib")
			after := side{modules: modules, links: map[string]string{"lib": l.third}}
			pr := l.open("base", side{modules: modules, links: map[string]string{"lib": l.first}}, after)
			r := newReviewer(t, l.GitHub, func(r loopback.Asked) (string, error) {
				text, err := answering()(r)
				return strings.Replace(text, `"findings":`, `"refuted":[{"evidence":"E1","reason":"It says so."}],"findings":`, 1), err
			})
			r.Upstream = l.Client(loopback.Judge)
			if out, err := r.Review(t.Context(), pr, reviewer.Options{}); err != nil || out.Record.Verdict != verdict.Approve {
				t.Fatalf("the first round: %s, %v, doubts %q, holds %+v", out.Record.Verdict, err, out.Judgement.Doubts, out.Record.Holds)
			}
			again := l.commit(after, pr.Head.SHA)
			l.Call(loopback.Root, http.MethodPatch, "git/refs/heads/"+pr.Head.Name, map[string]any{"sha": again, "force": true}, nil)
			if back {
				l.Must(rest.API{URL: l.URL, Token: simtest.Token(loopback.Root)}.Call(l.Ctx, http.MethodPatch,
					"/api/v3/repos/acme/lib/git/refs/heads/main", map[string]any{"sha": l.first, "force": true}, nil))
			}
			out, err := r.Review(t.Context(), l.Read(loopback.Judge, pr.Ref), reviewer.Options{})
			if err != nil || out.Carried == back || (len(out.Record.Holds) == 1) != back {
				t.Errorf("carried over: %t, %v; held %+v", out.Carried, err, out.Record.Holds)
			}
		})
	}
}

// TestLongNamesLeaveTheReason moves two submodules of long names, one of them to a fork's commit, off the branch of a long name.
func TestLongNamesLeaveTheReason(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	branch := "stable/" + strings.Repeat("b", 190)
	old, err := l.Sim.Commit(l.Ctx, loopback.Stranger, "acme/lib", branch, "Begin", map[string]string{"lib.c": "stable"})
	l.Must(err)
	l.Settle()
	ordinary, away := "a"+strings.Repeat("o", 240), "b"+strings.Repeat("h", 240)
	modules := entry("a", ordinary, "../lib") + entry("b", away, "../lib", "branch = "+branch)
	pr := l.open("base", side{modules: modules, links: map[string]string{ordinary: l.first, away: old}},
		side{modules: modules, links: map[string]string{ordinary: l.third, away: l.foreign}})
	r := newReviewer(t, l.GitHub, answering())
	r.Upstream = l.Client(loopback.Judge)
	out, err := r.Review(t.Context(), pr, reviewer.Options{DryRun: true})
	if err != nil || len(out.Record.Holds) != 1 || len(out.Record.Evidence) != 1 {
		t.Fatalf("%v, held %+v, evidence %+v", err, out.Record.Holds, out.Record.Evidence)
	}
	for _, want := range []string{"the commit is not on the branch " + branch + " of acme/lib", l.foreign} {
		if !strings.Contains(out.Record.Holds[0].Detail, want) {
			t.Errorf("the record does not keep %q: %q", want, out.Record.Holds[0].Detail)
		}
	}
	if url := l.URL + "/acme/lib/compare/" + l.first + "..." + l.third; !strings.Contains(out.Review.Body, url) {
		t.Errorf("the review does not show %s:\n%s", url, out.Review.Body)
	}
}

// TestOnlyTheKnownGitHubIsAsked puts addresses of another server, and of repositories that the base does not name, into
// .gitmodules, and moves more submodules than are asked about.
func TestOnlyTheKnownGitHubIsAsked(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	var strange atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strange.Add(1) }))
	t.Cleanup(elsewhere.Close)
	before, after := side{links: map[string]string{}}, side{links: map[string]string{}}
	for i := range 12 {
		name := fmt.Sprintf("lib%02d", i)
		before.modules += entry(name, name, "../lib")
		before.links[name], after.links[name] = l.first, l.second
	}
	after.modules = before.modules
	before.modules += entry("away", "away", elsewhere.URL+"/acme/lib") + entry("changed", "changed", "../lib")
	after.modules += entry("away", "away", elsewhere.URL+"/acme/lib") + entry("changed", "changed", elsewhere.URL+"/acme/lib")
	after.modules += entry("new", "new", "../secret")
	before.links["away"], after.links["away"] = l.first, l.second
	before.links["changed"], after.links["changed"] = l.first, l.second
	after.links["new"] = l.second
	pr := l.open("base", before, after)
	var asked atomic.Int64
	l.Intercept(func(_ string, r *http.Request) githubsim.Fault {
		switch {
		case strings.Contains(r.URL.Path, "/compare/"):
			asked.Add(1)
		case strings.Contains(r.URL.Path, "secret"), strings.Contains(r.URL.Path, "/acme/lib.git"):
			t.Errorf("asked for %s", r.URL.Path)
		}
		return githubsim.Fault{}
	})
	holds, evidence := l.judged(pr, true)
	// The two at the beginning, by name, take two of the ten.
	if len(evidence) != 8 || len(holds) != 7 || asked.Load() != 16 || strange.Load() != 0 {
		t.Errorf("%d are evidence, %d held, after %d comparisons, and %d requests went elsewhere: %+v", len(evidence), len(holds), asked.Load(),
			strange.Load(), holds)
	}
	var why []string
	for _, h := range holds {
		why = append(why, h.Path+": "+h.Detail)
	}
	for _, want := range []string{"away: ", "its address in .gitmodules is not one of " + l.URL, "changed: ", "the change alters its entry",
		"new: ", "no submodule at this path on the base", "lib11: ", "the change moves more than 10 submodules"} {
		if !strings.Contains(strings.Join(why, "\n"), want) {
			t.Errorf("no hold says %q: %q", want, why)
		}
	}
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/config"
	source "touchstone/scripts/clones"
	"touchstone/verdict"
	"touchstone/worktree/steps"
)

// fixed makes a clone of acme/app in a new directory, whose last commit repairs a defect with a test
// and a change log, and returns the directory and the commit.
func fixed(t *testing.T) (clones, commit string) {
	t.Helper()
	clones = t.TempDir()
	r := source.Repository{Context: t.Context(), Dir: filepath.Join(clones, "acme", "app")}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string { return r.Git(nil, args...) }
	write := func(files map[string]string) {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "--all")
	}
	git("init", "--quiet", "--initial-branch=main")
	write(map[string]string{"app.go": "package app\n\nfunc Max() int { return 9 }\n", "old.go": "package app\n",
		"CHANGELOG.md": "# Changes\n"})
	git("commit", "--quiet", "--message", "Begin")
	if err := os.Remove(filepath.Join(r.Dir, "old.go")); err != nil {
		t.Fatal(err)
	}
	write(map[string]string{
		"app.go": "package app\n\nfunc Max() int { return 10 }\n", "app_test.go": "package app\n", "CHANGELOG.md": "# Changes\n\n- Max is 10\n",
		"new.go": "package app\n",
	})
	git("commit", "--quiet", "--message", "Fix Max (#7)\n\nIt is ten: see below.\n\n"+
		"Signed-off-by: A <a@example.org>\nCo-authored-by: B <b@example.org>")
	return clones, git("rev-parse", "HEAD")
}

func TestACaseIsCheckedOutAsItsChange(t *testing.T) {
	clones, commit := fixed(t)
	for name, tc := range map[string]struct {
		change
		changed []string
		title   string
		body    string
	}{
		"forward": {change{Direction: "forward"}, []string{"M\tCHANGELOG.md", "M\tapp.go", "A\tapp_test.go", "A\tnew.go", "D\told.go"},
			"Fix Max (#7)", ""},
		"its own words": {change{Direction: "forward", Body: true}, []string{"M\tCHANGELOG.md", "M\tapp.go", "A\tapp_test.go", "A\tnew.go",
			"D\told.go"}, "Fix Max (#7)", "It is ten: see below."},
		"revert": {change{Direction: "revert", Title: "Simplify Max", Description: "Nine is enough.", Body: true},
			[]string{"M\tapp.go", "D\tnew.go", "A\told.go"}, "Simplify Max", "Nine is enough."},
	} {
		t.Run(name, func(t *testing.T) {
			tc.Repository, tc.Commit = "acme/app", commit
			dir := filepath.Join(t.TempDir(), "app")
			base := tc.checkout(t.Context(), clones, dir, nil)
			r := source.Repository{Context: t.Context(), Dir: dir}
			if out := r.Git(nil, "diff", "--name-status", "--no-renames", base, "HEAD"); !slices.Equal(strings.Split(out, "\n"), tc.changed) {
				t.Error(out)
			}
			if left := r.Git(nil, "status", "--porcelain"); left != "" {
				t.Errorf("the files are not those of the head:\n%s", left)
			}
			if log := r.Git(nil, "log", "--format=%s"); log != tc.title+"\nBase" {
				t.Errorf("its history is %q", log)
			}
			if body := r.Git(nil, "log", "-1", "--format=%b"); body != tc.body {
				t.Errorf("its description is %q", body)
			}
		})
	}
	other := change{Repository: "acme/other", Commit: commit, Direction: "forward"}
	if steps.Try(func() { other.checkout(t.Context(), clones, t.TempDir(), nil) }) == nil {
		t.Error("a case without a clone is built")
	}
}

// TestHowItIsReviewedIsChosenByTheRepository checks that the review reads the settings from the base, and
// does not see them as a change.
func TestHowItIsReviewedIsChosenByTheRepository(t *testing.T) {
	clones, commit := fixed(t)
	c := change{Repository: "acme/app", Commit: commit, Direction: "forward"}
	for _, o := range []options{
		{strategy: config.StrategySession, check: config.CheckCritical},
		{strategy: config.StrategySpecialists, check: config.CheckCritical},
		{strategy: config.StrategySession, check: config.Off},
		{strategy: config.StrategySession, check: config.CheckBlocking},
	} {
		dir := filepath.Join(t.TempDir(), "app")
		base := c.checkout(t.Context(), clones, dir, o.settings())
		r := source.Repository{Context: t.Context(), Dir: dir}
		text := ""
		err := steps.Try(func() { text = r.Git(nil, "show", base+":"+config.RepositoryPath) })
		if o.settings() == nil {
			if err == nil || o.strategy != config.StrategySession || o.check != config.CheckCritical {
				t.Errorf("%+v: the settings are %q", o, text)
			}
			continue
		}
		if settings, broken := config.ParseRepository([]byte(text)); err != nil || broken != nil ||
			settings.Review.Strategy != o.strategy || settings.Review.Check != o.check {
			t.Errorf("%+v: %v, %v, %q", o, err, broken, text)
		}
		if out := r.Git(nil, "diff", "--name-only", base, "HEAD", "--", ".touchstone"); out != "" {
			t.Errorf("%+v: the settings are part of the change: %q", o, out)
		}
	}
	cmd := newCommand()
	cmd.SetArgs([]string{"--strategy", "committee"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "session or specialists") {
		t.Errorf("an unknown strategy: %v", err)
	}
	cmd = newCommand()
	cmd.SetArgs([]string{"--check", "all"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "off, critical or blocking") {
		t.Errorf("an unknown check: %v", err)
	}
}

func TestReviewsAreScoredByThePlantedDefect(t *testing.T) {
	bad := change{Repository: "acme/app", Commit: "0123456789", Defect: &defect{Paths: []string{"app.go"}}}
	good := change{Repository: "acme/app", Commit: "0123456789"}
	for name, tc := range map[string]struct {
		of     change
		review string
		want   string
	}{
		"found": {bad, `{"verdict":"REQUEST_CHANGES","findings":[{"path":"app.go","severity":"major","rule":"architecture/A1"}]}`,
			"defect found"},
		"named elsewhere": {bad, `{"verdict":"REQUEST_CHANGES","findings":[{"path":"b.go","severity":"major","rule":"architecture/A1"}]}`,
			"defect missed"},
		"named as a nit": {bad, `{"verdict":"APPROVE","findings":[{"path":"app.go","severity":"nit","rule":"architecture/A1"}]}`,
			"defect missed"},
		"approved": {good, `{"verdict":"APPROVE","findings":[]}`, "good change approved"},
		"held up": {good, `{"verdict":"REQUEST_CHANGES","findings":[{"path":"app.go","severity":"minor","rule":"doc/D2"}]}`,
			"good change held up"},
	} {
		text, err := json.Marshal(answer{Seconds: 2, Review: json.RawMessage(tc.review)})
		if err != nil {
			t.Fatal(err)
		}
		j, err := read(tc.of, text)
		if err != nil || j.outcome() != tc.want {
			t.Errorf("%s: %s, %v", name, j.outcome(), err)
		}
	}
	text := `{"seconds":2,"tools":3,"review":{"verdict":"REQUEST_CHANGES","findings":[{"path":"app.go","severity":"minor",` +
		`"rule":"doc/D2"}],"record":{"cost_usd":0.5}}}`
	held, err := read(good, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"doc/D2                              0             2", "1.0 findings, $0.50", "3.0 calls of tools",
		"2 of 2 cases reviewed; defects found: none; good changes held up: 2 of 2 (1.00)"} {
		if got := table([]judged{held, held}); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestCasesAreSound(t *testing.T) {
	cases, err := readCases("")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
		if len(c.Commit) != 40 || c.Language == "" || seen[c.Commit] || c.Direction == "revert" && c.Title == "" {
			t.Errorf("%+v", c)
		}
		if c.Defect != nil && len(c.Defect.Paths) == 0 {
			t.Errorf("%s: a defect needs its place", c.Commit)
		}
		if seen[c.says()] {
			t.Errorf("%s says what another case says: %s", c.Commit, c.says())
		}
		seen[c.Commit], seen[c.says()] = true, c.says() != ""
		other := change{Repository: c.Repository, Commit: c.Commit, Direction: c.Direction + "x"}
		if strings.Contains(c.blind(), c.Commit[:7]) || other.blind() == c.blind() {
			t.Errorf("who answers %s by hand is told %s", c.Commit, c.blind())
		}
	}
}

// TestSentencesAreParsedStrictly checks what may name a defect.
func TestSentencesAreParsedStrictly(t *testing.T) {
	for name, tc := range map[string]struct{ says, refused string }{
		"a sentence":         {`"Max gives 9 for ten."`, ""},
		"none":               {"", ""},
		"the longest":        {`"` + strings.Repeat("é", maxSentence-1) + `."`, ""},
		"too long":           {`"` + strings.Repeat("é", maxSentence) + `."`, "at most 160 characters"},
		"empty":              {`""`, "ends with a full stop"},
		"a number":           {"12.", "takes a sentence"},
		"a list":             {`["Max gives 9."]`, "takes a sentence"},
		"no full stop":       {`"Max gives 9"`, "ends with a full stop"},
		"space around it":    {`" Max gives 9."`, "no space around it"},
		"two lines":          {`"Max gives 9.\nIt is ten."`, "on one line"},
		"control characters": {`"Max gives \e[1m9."`, "printable"},
		"hidden characters":  {`"Max gives \u202e9."`, "printable"},
		"given twice":        {`"Max gives 9.", says: "It is ten."`, "already defined"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "cases.yaml")
			says := ""
			if tc.says != "" {
				says = ", says: " + tc.says
			}
			text := "- {repository: acme/app, commit: 0123456789, direction: forward, defect: {paths: [app.go]" + says + "}}\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cases, err := readCases(file)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("%s: %v", text, err)
				}
				return
			}
			if err != nil || len(cases) != 1 || fmt.Sprintf("%q", cases[0].says()) != cmp.Or(tc.says, `""`) {
				t.Errorf("%+v, %v", cases, err)
			}
		})
	}
}

// TestTheSentenceStandsBesideWhatWasFound checks what a person reads to settle whether a finding names the cause.
func TestTheSentenceStandsBesideWhatWasFound(t *testing.T) {
	bad := change{Repository: "acme/app", Commit: "0123456789", Defect: &defect{Paths: []string{"app.go"}, Says: "Max gives 9 for ten."}}
	unsaid := change{Repository: "acme/app", Commit: "0123456789", Defect: &defect{Paths: []string{"app.go"}}}
	for name, tc := range map[string]struct {
		judged
		want string
	}{
		"findings at the place": {judged{change: bad, Findings: []verdict.Finding{
			{Path: "app.go", Line: 3, Severity: verdict.Major, Rule: "architecture/A1", Claim: "The limit\nis \x1b[1mnine."},
			{Path: "b.go", Line: 4, Severity: verdict.Major, Rule: "architecture/A1", Claim: "Elsewhere."},
			{Path: "app.go", Severity: verdict.Nit, Rule: "doc/D2", Claim: strings.Repeat("x", maxClaim+1)},
		}}, "  defect:  Max gives 9 for ten.\n  finding: major architecture/A1, app.go:3: The limit is \uFFFD[1mnine.\n" +
			"  finding: nit doc/D2, app.go: " + strings.Repeat("x", maxClaim-3) + "…\n"},
		"none there": {judged{change: bad, Findings: []verdict.Finding{{Path: "b.go"}}},
			"  defect:  Max gives 9 for ten.\n  finding: none at its place\n"},
		"no review":     {judged{change: bad, Error: "no clone"}, ""},
		"no sentence":   {judged{change: unsaid, Findings: []verdict.Finding{{Path: "app.go"}}}, ""},
		"a good change": {judged{change: change{Repository: "acme/app"}}, ""},
	} {
		if got := tc.beside(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestTheSentenceIsKeptAndToldToNoModel looks at all that the reviewing program can see: what does not reach
// it is in no prompt.
func TestTheSentenceIsKeptAndToldToNoModel(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	clones, commit := fixed(t)
	dir := t.TempDir()
	program, seen := filepath.Join(dir, "program"), filepath.Join(dir, "seen")
	script := "#!/bin/sh\nset -e\n{ printf '%s\\n' \"$@\"; env; pwd; cat; git cat-file --batch-all-objects --batch; " +
		"find .. -type f -exec cat {} +; } >" + seen + "\n" +
		`echo '{"verdict":"APPROVE","findings":[{"path":"app.go","severity":"nit","rule":"doc/D2"}]}'` + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := change{Repository: "acme/app", Commit: commit, Direction: "revert", Title: "Simplify Max", Description: "Nine is enough.",
		Defect: &defect{Paths: []string{"app.go"}, Says: "Max gives 9 for ten."}}
	o := options{program: program, clones: clones, out: dir, engine: "claude", model: "opus", strategy: config.StrategySpecialists,
		check: config.CheckBlocking}
	for _, o.show = range []bool{true, false} {
		j := o.judge(t.Context(), c)
		told, err := os.ReadFile(seen)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"review\n--local", "Simplify Max", "Nine is enough.", "func Max() int { return 9 }", "engine:",
			"strategy: specialists"} {
			if !strings.Contains(string(told), want) {
				t.Errorf("the program is not seen to be told %q", want)
			}
		}
		if strings.Contains(string(told), "Max gives") {
			t.Errorf("the program is told the sentence (--show-prompt %t)", o.show)
		}
		if err := os.Remove(seen); err != nil {
			t.Fatal(err)
		}
		if !o.show && j.Says != "Max gives 9 for ten." {
			t.Errorf("the answer says %q", j.Says)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, c.id()+".json"))
	if err != nil || !strings.Contains(string(text), `"says": "Max gives 9 for ten."`) {
		t.Errorf("what is kept is %s, %v", text, err)
	}
	again := o.judge(t.Context(), c)
	if again.Says != "Max gives 9 for ten." || again.outcome() != "defect missed" {
		t.Errorf("what was kept is read as %+v", again)
	}
}

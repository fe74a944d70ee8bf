package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/config"
	source "touchstone/scripts/clones"
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
	git := func(args ...string) string {
		out, err := r.Git(nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
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

func TestCheckout(t *testing.T) {
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
			base, err := tc.checkout(t.Context(), clones, dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := source.Repository{Context: t.Context(), Dir: dir}
			out, err := r.Git(nil, "diff", "--name-status", "--no-renames", base, "HEAD")
			if err != nil || !slices.Equal(strings.Split(out, "\n"), tc.changed) {
				t.Errorf("%v\n%s", err, out)
			}
			if left, err := r.Git(nil, "status", "--porcelain"); err != nil || left != "" {
				t.Errorf("the files are not those of the head: %v\n%s", err, left)
			}
			if log, err := r.Git(nil, "log", "--format=%s"); err != nil || log != tc.title+"\nBase" {
				t.Errorf("its history is %q, %v", log, err)
			}
			if body, err := r.Git(nil, "log", "-1", "--format=%b"); err != nil || body != tc.body {
				t.Errorf("its description is %q, %v", body, err)
			}
		})
	}
	if _, err := (change{Repository: "acme/other", Commit: commit, Direction: "forward"}).checkout(t.Context(), clones, t.TempDir(),
		nil); err == nil {
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
		base, err := c.checkout(t.Context(), clones, dir, o.settings())
		if err != nil {
			t.Fatal(err)
		}
		r := source.Repository{Context: t.Context(), Dir: dir}
		text, err := r.Git(nil, "show", base+":"+config.RepositoryPath)
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
		if out, err := r.Git(nil, "diff", "--name-only", base, "HEAD", "--", ".touchstone"); err != nil || out != "" {
			t.Errorf("%+v: the settings are part of the change: %v, %q", o, err, out)
		}
	}
	cmd := command()
	cmd.SetArgs([]string{"--strategy", "committee"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "session or specialists") {
		t.Errorf("an unknown strategy: %v", err)
	}
	cmd = command()
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
		seen[c.Commit] = true
		other := change{Repository: c.Repository, Commit: c.Commit, Direction: c.Direction + "x"}
		if strings.Contains(c.blind(), c.Commit[:7]) || other.blind() == c.blind() {
			t.Errorf("who answers %s by hand is told %s", c.Commit, c.blind())
		}
	}
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"touchstone/worktree/strictyaml"
)

// environment looks names up in a user's environment with some more variables.
func environment(home string, more ...string) func(string) string {
	variables := map[string]string{
		"HOME": home, "USERPROFILE": home,
		"APPDATA": filepath.Join(home, ".config"), "LOCALAPPDATA": filepath.Join(home, ".local", "state"),
	}
	for i := 0; i < len(more); i += 2 {
		variables[more[i]] = more[i+1]
	}
	return func(name string) string { return variables[name] }
}

// write makes a file with that text, and its folder.
func write(t *testing.T, text string, mode os.FileMode, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(file, []byte(text), mode), os.Chmod(file, mode)); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return file
}

func TestLoadOverlaysTheDefaults(t *testing.T) {
	home := t.TempDir()
	state := filepath.Join(home, ".local", "state", "touchstone")
	for name, test := range map[string]struct {
		text  string
		wants func(*Config)
	}{
		"nothing":                {"", func(*Config) {}},
		"only comments":          {"# sweep: 1m\n", func(*Config) {}},
		"an empty document":      {"---\n", func(*Config) {}},
		"a section of comments":  {"rounds:\n  # max: 1\nsweep:\n", func(*Config) {}},
		"a byte order mark":      {"\ufeffsweep: 1m\n", func(c *Config) { c.Sweep = Duration(time.Minute) }},
		"one of a section":       {"merge: {auto: false}\n", func(c *Config) { c.Merge.Auto = false }},
		"a list instead of ours": {"engine:\n  command: [nice, claude]\n", func(c *Config) { c.Engine.Command = []string{"nice", "claude"} }},
		"a program beside the file": {"engine:\n  command: [bin/claude, ./x, x/y, ~/z, --in=./x]\n", func(c *Config) {
			c.Engine.Command = []string{filepath.Join(home, "bin", "claude"), filepath.Join(home, "x"), "x/y", filepath.Join(home, "z"), "--in=./x"}
		}},
		"a script for a shell": {"engine:\n  command: [sh, -c, '~/bin/claude --settings https://acme.example/x', ./x]\n", func(c *Config) {
			c.Engine.Command = []string{"sh", "-c", "~/bin/claude --settings https://acme.example/x", filepath.Join(home, "x")}
		}},
		"a program at home": {"engine: {acp: {command: [~/bin/goose, acp]}}\n",
			func(c *Config) { c.Engine.ACP.Command = []string{filepath.Join(home, "bin", "goose"), "acp"} }},
		"state beside the file":      {"state_dir: state\n", func(c *Config) { c.StateDir = filepath.Join(home, "state") }},
		"guidelines beside it":       {"guidelines: guides\n", func(c *Config) { c.Guidelines = filepath.Join(home, "guides") }},
		"guidelines of a repository": {"guidelines: acme/rules@v2\n", func(c *Config) { c.Guidelines = "acme/rules@v2" }},
		"a clone at home": {"worktrees: {clones: {acme/app: ~/src/app}}\n",
			func(c *Config) { c.Worktrees.Clones = map[string]string{"acme/app": filepath.Join(home, "src", "app")} }},
		"words that are no booleans": {"engine: {gateway: off, sandbox: off}\n",
			func(c *Config) { c.Engine.Gateway, c.Engine.Sandbox = Off, Off }},
		"state at home": {"state_dir: ~/state\n", func(c *Config) { c.StateDir = filepath.Join(home, "state") }},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Load(write(t, test.text, 0o600, home, "agent.yaml"), environment(home))
			want := Default()
			want.StateDir, want.path, want.written = state, filepath.Join(home, "agent.yaml"), got.written
			want.stamp = stamp(want.path)
			test.wants(&want)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

func TestLoadFindsTheUsersFile(t *testing.T) {
	empty, home, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, "concurrency: 4", 0o600, home, ".config", "touchstone", "agent.yaml")
	write(t, "concurrency: 5", 0o600, elsewhere, "touchstone", "agent.yaml")
	for name, test := range map[string]struct {
		getenv      func(string) string
		concurrency int
		state       string
	}{
		"no file":   {environment(empty), 3, filepath.Join(empty, ".local", "state", "touchstone")},
		"at home":   {environment(home), 4, filepath.Join(home, ".local", "state", "touchstone")},
		"elsewhere": {environment(home, "XDG_CONFIG_HOME", elsewhere, "XDG_STATE_HOME", elsewhere), 5, filepath.Join(elsewhere, "touchstone")},
		"relative XDG": {environment(home, "XDG_CONFIG_HOME", "x", "XDG_STATE_HOME", "x"), 4,
			filepath.Join(home, ".local", "state", "touchstone")},
		"no home": {func(string) string { return "" }, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Load("", test.getenv)
			if err != nil || got.Concurrency != test.concurrency || got.StateDir != test.state {
				t.Errorf("concurrency %d, state in %q, %v; want %d and %q", got.Concurrency, got.StateDir, err, test.concurrency, test.state)
			}
		})
	}
}

func TestAMistakeInTheFileIsNamedWithItsPlace(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"an unknown key":        {"sweeep: 5m\n", `line 1:1: unknown field "sweeep", did you mean "sweep"?`},
		"an unknown inner key":  {"engine:\n  kommand: [claude]\n", `line 2:3: unknown field "kommand", did you mean "command"?`},
		"a token in the file":   {"github:\n  token: hunter2\n", `"token"`},
		"a token in its place":  {"github: hunter2\n", "line 1:9: github: it takes settings of its own, as key: value"},
		"a key twice":           {"sweep: 5m\nsweep: 6m\n", "line 2:1: mapping key \"sweep\" already defined"},
		"a time without a unit": {"concurrency: 1\nsweep: 5\n", "line 2:8: sweep: it takes a time, such as 90s"},
		"a list for a time":     {"sweep: [1]\n", "line 1:8: sweep: it takes a time"},
		"a word for a number":   {"concurrency: hunter2\n", "line 1:14: concurrency: it takes a number;"},
		"a large number":        {"concurrency: 99999999999999999999\n", "line 1:14: concurrency: the number is too large"},
		"a word for a switch":   {"merge:\n  auto: perhaps\n", "line 2:9: auto: it takes true or false"},
		"a word for a sum":      {"budgets: {day: lots}\n", "line 1:16: day: it takes a number"},
		"a lone one in brackets": {"engine: {fallback: [codex:gpt]}\n",
			`line 1:26: an entry with a colon must be quoted, such as "codex:gpt-5"`},
		"an entry with a colon": {"engine:\n  off:\n    - codex: gpt\n", `line 3:12: an entry with a colon must be quoted`},
		"a word for a list":     {"repositories: acme/app\n", "line 1:15: repositories: it takes a list, such as [a, b]"},
		"no words in a list":    {"repositories: [{a: b}]\n", "line 1:16: it takes a text"},
		"a comma in a fraction": {"budgets: {round: 5,5}\n", "line 1:20: a key must be a word; write a fraction with a point"},
		"a number for a key":    {"budgets:\n  5:\n", "line 2:3: a key must be a word"},
		"an octal number":       {"budgets:\n  round: 010\n", "line 2:10: a number with a leading zero"},
		"what is not YAML":      {"engine: [\n", "line 1:9: engine: sequence end token"},
		"one mistake, once":     {"budgets: {day: lots}\n", ": line 1:16: day: it takes a number; correct the file"},
		"each mistake": {
			"sweep: soon\nnope: 1\nbudgets:\n  day: lots\n  round: 2\n  wood: 3\n",
			`line 1:8: sweep: it takes a time, such as 90s, 36h or 30d; line 2:1: unknown field "nope"; ` +
				`line 4:8: day: it takes a number; line 6:3: unknown field "wood"; correct the file`,
		},
		"two documents": {"sweep: 5m\n---\nsweep: 6m\n", "several documents"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, test.text, 0o600, t.TempDir(), "agent.yaml")
			_, err := Load(path, environment(t.TempDir()))
			if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v; it has to name %s and %s", err, test.says, path)
			}
			if err != nil && (!strings.Contains(err.Error(), "`touchstone config` prints") || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error %q; it has to say on one line what to do", err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "agent.yaml")
	long := write(t, strings.Repeat("# filler\n", maxFile/8), 0o600, t.TempDir(), "agent.yaml")
	for _, path := range []string{missing, long} {
		if _, err := Load(path, environment(t.TempDir())); err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "; correct the file's name") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestTokensComeFromTheirFilesOrTheEnvironment(t *testing.T) {
	home := t.TempDir()
	write(t, "ghp_of_file\n", 0o600, home, "secrets", "github")
	relay := write(t, "rly_of_file\n", 0o644, home, "relay")
	bell := write(t, "https://hooks.example.com/x\n", 0o600, home, "bell")
	path := write(t, "github: {token_file: ~/secrets/github}\nrelay: {token_file: relay}\nnotify: {slack_webhook_file: "+bell+"}\n", 0o600,
		home, "agent.yaml")

	got, err := Load(path, environment(home))
	if err != nil || got.GitHub.Token != "ghp_of_file" || got.Relay.Token != "rly_of_file" ||
		got.Notify.SlackWebhook != "https://hooks.example.com/x" {
		t.Errorf("from files: %q, %q, %q, %v", string(got.GitHub.Token), string(got.Relay.Token), string(got.Notify.SlackWebhook), err)
	}
	if runtime.GOOS != "windows" && (len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], relay) ||
		!strings.Contains(got.Warnings[0], "chmod 600")) {
		t.Errorf("warnings %q; want one, about %s", got.Warnings, relay)
	}
	got, err = Load(path, environment(home, "GITHUB_TOKEN", " ghp_of_env\n", "RELAY_TOKEN", "rly_of_env"))
	if err != nil || got.GitHub.Token != "ghp_of_env" || got.Relay.Token != "rly_of_env" || len(got.Warnings) > 0 {
		t.Errorf("from the environment: %q, %q, warnings %q, %v", string(got.GitHub.Token), string(got.Relay.Token), got.Warnings, err)
	}

	write(t, " \n", 0o600, relay)
	if _, err := Load(path, environment(home)); err == nil || !strings.Contains(err.Error(), "relay.token_file") ||
		!strings.Contains(err.Error(), relay) {
		t.Errorf("an empty file of a token: %v", err)
	}
	if err := os.Remove(relay); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, environment(home)); err == nil || !strings.Contains(err.Error(), "relay.token_file") ||
		!strings.Contains(err.Error(), "write the secret into it") {
		t.Errorf("no file of a token: %v", err)
	}
}

// TestARejectedTokenIsNamedByItsSource: the environment's may be an old one that hides a good one.
func TestARejectedTokenIsNamedByItsSource(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := write(t, "ghp_of_file", 0o600, home, "github")
	for name, test := range map[string]struct {
		settings, environment string
		says                  []string
	}{
		"environment":                {"", "ghp_of_env", []string{"environment's GITHUB_TOKEN is", "create a new one"}},
		"environment over a file":    {"token_file: github", "ghp_of_env", []string{"wins over github.token_file: unset it"}},
		"environment over an App":    {"app_id: 7", "ghp_of_env", []string{"wins over github.app_id: unset it"}},
		"environment over a program": {"token_command: [echo, x]", "ghp_of_env", []string{"wins over github.token_command: unset it"}},
		"file":                       {"token_file: github", "", []string{"the token in " + file, "write it into that file"}},
		"program":                    {"token_command: [echo, x]", "", []string{`"echo x"`, "log in again"}},
		"App":                        {"app_id: 7", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, "github: {"+test.settings+"}\n", 0o600, home, name+".yaml")
			got, err := Load(path, environment(home, "GITHUB_TOKEN", test.environment))
			if err != nil || len(test.says) == 0 && got.GitHub.Renew != "" {
				t.Errorf("%q, %v", got.GitHub.Renew, err)
			}
			for _, part := range test.says {
				if !strings.Contains(got.GitHub.Renew, part) {
					t.Errorf("%q does not say %q", got.GitHub.Renew, part)
				}
			}
		})
	}
}

// FuzzDecode: any file is refused, or it means the same when it is written
// out and read back.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{Example, "", "---", "a: &a [*a]", "sweep: !!binary x", "engine: {command: [\"\\x00\"]}", "? x\n: y",
		"repositories: [[[", "<<: {sweep: 1s}", "\ufeff~"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cfg := Default()
		if err := strictyaml.Decode([]byte(text), &cfg); err != nil {
			return
		}
		if usable(cfg).Validate() != nil {
			return
		}
		written, err := yaml.Marshal(cfg)
		if err != nil {
			t.Fatalf("%q is valid and cannot be written: %v", text, err)
		}
		again := Default()
		if err := strictyaml.Decode(written, &again); err != nil {
			t.Fatalf("%q was written as %q, which cannot be read: %v", text, written, err)
		}
		if usable(again).Validate() != nil || again.Sweep != cfg.Sweep || again.Concurrency != cfg.Concurrency ||
			!slices.Equal(again.Repositories, cfg.Repositories) || !slices.Equal(again.Reviewers, cfg.Reviewers) {
			t.Errorf("%q: read %+v, then %+v", text, cfg, again)
		}
	})
}

func TestPrivateIsWhereTheSecretsAre(t *testing.T) {
	home := t.TempDir()
	token := write(t, "secret\n", 0o600, home, "elsewhere", "token")
	path := write(t, "github: {token_file: ~/elsewhere/token}\nstate_dir: ~/state\n", 0o600, home, "agent.yaml")
	admin := write(t, "secret\n", 0o644, home, AdminTokenFile)
	c, err := Load(path, environment(home))
	if got, want := c.Private(), []string{token, admin, path, filepath.Join(home, "state")}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("private are %q, %v; want %q", got, err, want)
	}
	if got := c.Exposed(); runtime.GOOS != "windows" && !slices.Equal(got, []string{admin}) {
		t.Errorf("%q can be read by all; want %q", got, admin)
	}
}

// TestAServiceHasTheModelKeysOfItsFile checks that a service gets the keys of the file, and that a variable
// of its own shell takes precedence.
func TestAServiceHasTheModelKeysOfItsFile(t *testing.T) {
	home := t.TempDir()
	path := write(t, "", 0o600, home, "agent.yaml")
	write(t, "# TOUCHSTONE_TEST_OLD=key\n\nTOUCHSTONE_TEST_KEPT=key=1\nTOUCHSTONE_TEST_SET=old\nTOUCHSTONE_TEST_EMPTY\n", 0o600, home,
		ModelKeysFile)
	t.Setenv("TOUCHSTONE_TEST_SET", "new")
	c, err := Load(path, environment(home))
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Environment()
	got := slices.DeleteFunc(all, func(entry string) bool { return entry != "" && !strings.Contains(entry, "TOUCHSTONE_TEST_") })
	if want := []string{"TOUCHSTONE_TEST_SET=new", "TOUCHSTONE_TEST_KEPT=key=1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the environment has %q, %v; want %q", got, err, want)
	}
}

func TestATokenIsPrintedByACommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs here are scripts of a shell")
	}
	home := t.TempDir()
	for name, test := range map[string]struct{ script, environment, token, err string }{
		"prints it":            {"echo ' gh-token '", "", "gh-token", ""},
		"the environment wins": {"echo gh-token", "env-token", "env-token", ""},
		"fails": {"echo said-$((1+1))-secret; echo log in first >&2; exit 4", "", "",
			"failed: exit status 4: log in first; run it yourself"},
		"prints nothing":        {"true", "", "", "prints nothing; it must print the token"},
		"prints far too much":   {"head -c 5000 /dev/zero", "", "", "prints more than 4096 bytes"},
		"is no program at all":  {"", "", "", "cannot be started"},
		"prints and stays open": {"echo gh-token; sleep 60 >&2 & exit 0", "", "gh-token", ""},
	} {
		t.Run(name, func(t *testing.T) {
			command := []string{"/bin/sh", "-c", test.script}
			if test.script == "" {
				command = []string{filepath.Join(home, "missing")}
			}
			text, err := yaml.Marshal(map[string]any{"github": map[string]any{"token_command": command}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Load(write(t, string(text), 0o600, home, "agent.yaml"), environment(home, "GITHUB_TOKEN", test.environment))
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("%v, want %q", err, test.err)
			}
			if err != nil && strings.Contains(err.Error(), "said-2-secret") {
				t.Errorf("the error shows what was printed: %v", err)
			}
			if string(got.GitHub.Token) != test.token {
				t.Errorf("the token is %q", string(got.GitHub.Token))
			}
		})
	}
}

// TestTheProgramOfATokenIsNotSearchedForInAClone runs where a change has put a program of the same path.
func TestTheProgramOfATokenIsNotSearchedForInAClone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs here are scripts of a shell")
	}
	home, clone := t.TempDir(), t.TempDir()
	write(t, "#!/bin/sh\necho ours\n", 0o700, home, "token")
	write(t, "#!/bin/sh\necho theirs\n", 0o700, clone, "token")
	t.Chdir(clone)
	for _, command := range []string{"[./token]", "[sh, ./token]", "[sh, token]", "[sh, -c, . ./token]"} {
		path := write(t, "github: {token_command: "+command+"}\n", 0o600, home, "agent.yaml")
		got, err := Load(path, environment(home))
		if err != nil || string(got.GitHub.Token) != "ours" {
			t.Errorf("%s: the token is %q, %v", command, string(got.GitHub.Token), err)
		}
	}
}

func TestDurationsInDays(t *testing.T) {
	var cfg struct{ Sweep Duration }
	if err := strictyaml.Decode([]byte("sweep: 1d12h\n"), &cfg); err != nil || cfg.Sweep.Duration() != 36*time.Hour {
		t.Errorf("%s, %v", cfg.Sweep, err)
	}
	if err := strictyaml.Decode([]byte("sweep: 2\n"), &cfg); err == nil || !strings.Contains(err.Error(), "it takes a time, such as") {
		t.Errorf("%s, %v", cfg.Sweep, err)
	}
}

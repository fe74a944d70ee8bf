package skill

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goccy/go-yaml"

	"touchstone/agent/engine/enginetest"
)

// front is what the Agent Skills format has at the beginning of a skill.
func front(t *testing.T) (f struct{ Name, Description string }) {
	t.Helper()
	parts := strings.SplitN(string(Text), "---\n", 3)
	if len(parts) != 3 || parts[0] != "" {
		t.Fatalf("there is no front matter in %.80q", Text)
	}
	if err := yaml.UnmarshalWithOptions([]byte(parts[1]), &f, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTheSkillIsAsTheFormatHasIt(t *testing.T) {
	f := front(t)
	if f.Name != name || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(f.Name) {
		t.Errorf("its name is %q, its directory's %q", f.Name, name)
	}
	if n := len(f.Description); n == 0 || n > 1024 {
		t.Errorf("its description has %d characters", n)
	}
}

func TestInstallReplacesOnlyItself(t *testing.T) {
	path, err := Path(t.TempDir(), "claude")
	if err != nil {
		t.Fatal(err)
	}
	install := func(force, want bool) {
		t.Helper()
		if changed, err := Install(path, force); err != nil || changed != want {
			t.Fatalf("Install = %v, %v", changed, err)
		}
	}
	install(false, true)
	install(false, false)
	older := strings.Replace(string(Text), "## Contradict a finding", "## Disagree", 1)
	write(t, path, older)
	install(false, true)

	write(t, path, "---\nname: touchstone\n---\n\n# My own notes\n")
	if _, err := Install(path, false); !errors.Is(err, errForeign) {
		t.Errorf("over a foreign skill: %v", err)
	}
	if _, err := Remove(path); !errors.Is(err, errForeign) {
		t.Errorf("a foreign skill is removed: %v", err)
	}
	install(true, true)
	if removed, err := Remove(path); err != nil || !removed {
		t.Errorf("Remove = %v, %v", removed, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
	if removed, err := Remove(path); err != nil || removed {
		t.Errorf("the second Remove = %v, %v", removed, err)
	}
}

func TestNotesBesideTheSkillStay(t *testing.T) {
	path, err := Path(t.TempDir(), "codex")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Install(path, false); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(filepath.Dir(path), "notes.md")
	write(t, notes, "mine\n")
	if _, err := Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Error(err)
	}
}

// The real programs tell their model of the skill where it was installed for them.
func TestRealProgramsTellTheirModel(t *testing.T) {
	for program, arrange := range map[string]func(t *testing.T, home, url string) (args, env []string){
		"claude": func(_ *testing.T, _, url string) (args, env []string) {
			return []string{"-p", "hello"}, []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none", "DISABLE_NON_ESSENTIAL_MODEL_CALLS=1"}
		},
		"codex": func(t *testing.T, home, url string) (args, env []string) {
			write(t, filepath.Join(home, ".codex", "config.toml"), "model_provider = 't'\n[model_providers.t]\nname = 't'\nbase_url = '"+url+
				"/v1'\nwire_api = 'responses'\nrequest_max_retries = 0\nstream_max_retries = 0\n")
			return []string{"exec", "--skip-git-repo-check", "hello"}, nil
		},
		"opencode": func(t *testing.T, home, url string) (args, env []string) {
			write(t, filepath.Join(home, ".config", "opencode", "opencode.json"),
				`{"provider":{"anthropic":{"options":{"baseURL":"`+url+`/v1","apiKey":"none"}}}}`)
			return []string{"run", "-m", "anthropic/claude-sonnet-4-5", "hello"}, nil
		},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			cli := enginetest.CLI(t, program)
			home := t.TempDir()
			path, err := Path(home, program)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Install(path, false); err != nil {
				t.Fatal(err)
			}
			var told atomic.Bool
			description := front(t).Description[:60] // up to the first character that JSON writes otherwise
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
				if strings.Contains(string(body), description) {
					told.Store(true)
				}
				http.Error(w, `{"error":{"message":"that is all"}}`, http.StatusBadRequest)
			}))
			defer provider.Close()
			args, env := arrange(t, home, provider.URL)
			cmd := exec.CommandContext(t.Context(), cli, args...)
			cmd.Dir = t.TempDir()
			cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, env...)
			out, _ := cmd.CombinedOutput() // it fails, since its provider refuses
			if !told.Load() {
				t.Errorf("its model was not told of the skill; it said %s", out)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

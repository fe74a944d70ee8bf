package remoteguidelines_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/clone"
	"touchstone/agent/config"
	"touchstone/agent/remoteguidelines"
)

// TestWhatIsBelowALinkIsNotTakenForAbsent reads settings and guidelines of commits that have a link, a file or a submodule in
// the place of a directory: git finds nothing below it, but people see their files there.
func TestWhatIsBelowALinkIsNotTakenForAbsent(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for name, tc := range map[string]struct {
		link, file, submodule string
		settings, guidelines  string // what the error names; empty for no error
	}{
		"nothing":                     {},
		"a directory":                 {file: ".touchstone/notes.txt"},
		"a link":                      {link: ".touchstone", settings: ".touchstone", guidelines: ".touchstone"},
		"a file":                      {file: ".touchstone", settings: ".touchstone", guidelines: ".touchstone"},
		"a submodule":                 {submodule: ".touchstone", settings: ".touchstone", guidelines: ".touchstone"},
		"a link to the guidelines":    {link: ".touchstone/guidelines", guidelines: ".touchstone/guidelines"},
		"a submodule with guidelines": {submodule: ".touchstone/guidelines", guidelines: ".touchstone/guidelines"},
		"another name":                {file: ".touchstone.md", link: ".touchstones"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			git := func(args ...string) string {
				t.Helper()
				out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...).
					CombinedOutput()
				if err != nil {
					t.Fatalf("git %s: %v\n%s", args[0], err, out)
				}
				return strings.TrimSpace(string(out))
			}
			place := func(name string) string {
				place := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
					t.Fatal(err)
				}
				return place
			}
			git("init", "-q", "-b", "main")
			git("commit", "-q", "--allow-empty", "-m", "Begin")
			for _, file := range []string{"shared/config.yaml", "shared/guidelines/own.md", tc.file} {
				if file != "" {
					if err := os.WriteFile(place(file), []byte("x\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if tc.link != "" {
				if err := os.Symlink(filepath.Join(dir, "shared"), place(tc.link)); err != nil {
					t.Skip(err)
				}
			}
			git("add", "-A")
			if tc.submodule != "" {
				git("update-index", "--add", "--cacheinfo", "160000,"+git("rev-parse", "HEAD")+","+tc.submodule)
			}
			git("commit", "-q", "-m", "Settings")
			t.Chdir(dir)
			c, err := clone.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.Borrow(t.Context(), t.TempDir(), "HEAD", clone.Committed)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			_, err = config.ReadRepository(t.Context(), b, b.Base)
			said(t, "settings", err, tc.settings)
			texts, err := remoteguidelines.Committed(t.Context(), b, b.Base)
			said(t, "guidelines", err, tc.guidelines)
			if len(texts) > 0 {
				t.Errorf("it read %q", texts)
			}
		})
	}
}

// said checks that an error tells to make the place a directory.
func said(t *testing.T, what string, err error, place string) {
	t.Helper()
	switch {
	case place == "" && err != nil:
		t.Errorf("the %s end in %v", what, err)
	case place != "" && (err == nil || !strings.Contains(err.Error(), place+" is a symbolic link, a file or a submodule") ||
		!strings.Contains(err.Error(), "make it a directory on the base branch")):
		t.Errorf("the %s end in %v", what, err)
	}
}

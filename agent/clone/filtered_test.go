package clone

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/worktree/diff"
)

// TestFilesThatAFilterConvertsAreAsInACommit has files in Git LFS and encrypted ones, whose filters cannot run.
func TestFilesThatAFilterConvertsAreAsInACommit(t *testing.T) {
	dir, git := repository(t)
	user := filepath.Join(t.TempDir(), "config")
	t.Setenv("GIT_CONFIG_GLOBAL", user) // where git lfs install writes
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	pointer := func(oid string, size int) string {
		return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, size)
	}
	const one, two = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806", // of "one\n"
		"27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a" // of "two\n"
	for name, text := range map[string]string{ // as the filters make them
		"same.bin": pointer(one, 4), "changed.bin": pointer(one, 4), "kept.bin": pointer(one, 4),
		"same.key": "\x00encrypted", "changed.key": "\x00encrypted",
		".gitattributes": "*.bin filter=lfs\n*.key filter=git-crypt\n*.raw filter=none\n*.ipynb filter=strip\n",
	} {
		write(file(name), text)
	}
	git("add", ".")
	git("commit", "-qm", "base")
	write(user, "[filter \"lfs\"]\n\tprocess = false\n\trequired = true\n")
	git("config", "filter.git-crypt.clean", "false")
	git("config", "filter.strip.clean", "false")
	for name, text := range map[string]string{
		"same.bin": "one\n", "changed.bin": "two\n", "new.bin": "two\n", "empty.bin": "", "kept.bin": pointer(two, 4),
		"same.key": "plain\n", "changed.key": "plain text\n", "new.key": "plain\n", "new.raw": "raw\n", "new.ipynb": "{}\n",
	} {
		write(file(name), text)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, ".git", "index"), past, past); err != nil {
		t.Fatal(err)
	}
	diff := working(t, dir)
	var names []string
	for _, f := range diff.Files {
		names = append(names, f.Path)
		if strings.HasSuffix(f.Path, ".bin") && f.Added > 0 && !strings.Contains(string(f.Patch), "\n+oid sha256:"+two+"\n") {
			t.Errorf("%s", f.Patch)
		}
	}
	if want := []string{"changed.bin", "empty.bin", "kept.bin", "new.bin", "new.ipynb", "new.raw"}; !slices.Equal(names, want) {
		t.Errorf("%q differ, want %q", names, want)
	}
}

// TestAFilterThatEncryptsIsKnownByWhatItMade has filters of any name. Each has made what is committed of one file; a second
// file of each is new, and is taken for what the first one is.
func TestAFilterThatEncryptsIsKnownByWhatItMade(t *testing.T) {
	dir, git := repository(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	filters := []struct {
		name, committed, working string
		encrypts                 bool
	}{
		{"age", "age-encryption.org/v1\n-> X25519 abc\n\x00\x01", "password: one\n", true},
		{"vault", "$ANSIBLE_VAULT;1.1;AES256\n3361\n", "password: one\n", true},
		{"sops", "db:\n  password: ENC[AES256_GCM,data:abc=]\n", "db:\n  password: one\n", true},
		{"strip", "{\n  \"cells\": [],\n  \"outputs\": []\n}\n", "{\n  \"cells\": [],\n  \"outputs\": [1]\n}\n", false},
		{"tabs", "if x:\n\ty()\n", "if x:\n    y()\n", false},
		{"empty", "", "password: one\n", false}, // nothing tells what it makes
		{"edited", "1.0.0\n", "1.0.1\n", false},
	}
	var attributes strings.Builder
	for _, f := range filters {
		fmt.Fprintf(&attributes, "*.%s filter=%[1]s\n", f.name)
		write("a."+f.name, f.committed)
	}
	write(".gitattributes", attributes.String())
	git("add", ".")
	git("commit", "-qm", "base")
	var want []string
	for _, f := range filters {
		git("config", "filter."+f.name+".clean", "false")
		for _, name := range []string{"a." + f.name, "b." + f.name} {
			write(name, f.working)
			if !f.encrypts {
				want = append(want, name)
			}
		}
	}
	diff := working(t, dir)
	var names []string
	for _, f := range diff.Files {
		names = append(names, f.Path)
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%q differ, want %q", names, want)
	}
}

// working is the change of the working tree of a clone against main.
func working(t *testing.T, dir string) diff.Diff {
	t.Helper()
	t.Chdir(dir)
	c, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Borrow(t.Context(), t.TempDir(), "main", Working)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	change, err := b.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return change
}

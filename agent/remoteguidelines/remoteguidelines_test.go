package remoteguidelines_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/agent/remoteguidelines"
)

// counted counts the files that are read.
type counted struct {
	*forge.Client
	files int
}

func (c *counted) File(ctx context.Context, repo forge.Repo, rev, path string) ([]byte, error) {
	c.files++
	return c.Client.File(ctx, repo, rev, path)
}

// TestRepository reads documents of a repository, again when it has another commit, and
// none where a part of them is missing.
func TestRepository(t *testing.T) {
	t.Parallel()
	g := loopback.New(t, map[string]string{remoteguidelines.Dir + "/org.md": "one\n", remoteguidelines.Dir + "/notes.txt": "no document\n",
		"README.md": "no guideline\n"})
	github := &counted{Client: g.Client(loopback.Judge)}
	texts, err := remoteguidelines.Guidelines("acme/app", github)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := texts(t.Context()); err != nil || len(got) != 1 || got["org"] != "one\n" || github.files != 1 {
			t.Fatalf("%q, %v, after %d files", got, err, github.files)
		}
	}
	first := g.Read(loopback.Judge, opened(g)).Base.SHA
	g.Commit("main", "Another word", map[string]string{remoteguidelines.Dir + "/org.md": "two\n"})
	if got, err := texts(t.Context()); err != nil || got["org"] != "two\n" {
		t.Errorf("after another commit: %q, %v", got, err)
	}
	if pinned, err := remoteguidelines.Guidelines("acme/app@"+first, github); err != nil {
		t.Error(err)
	} else if got, err := pinned(t.Context()); err != nil || got["org"] != "one\n" {
		t.Errorf("at the first commit: %q, %v", got, err)
	}
	g.Commit("main", "None", map[string]string{remoteguidelines.Dir + "/org.md": ""})
	if got, err := texts(t.Context()); err == nil || !strings.Contains(err.Error(), "acme/app at HEAD") {
		t.Errorf("without a document: %q, %v", got, err)
	}
	if absent, err := remoteguidelines.Guidelines("acme/none", github); err != nil {
		t.Error(err)
	} else if _, err := absent(t.Context()); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("of no repository: %v", err)
	}
}

// TestOwn reads the documents of a repository; behind a file, nothing can be read.
func TestOwn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		want  int
		said  string
	}{
		"none":                   {files: map[string]string{"README.md": "one\n"}},
		"none in the directory":  {files: map[string]string{config.RepositoryPath: "one\n"}},
		"one":                    {files: map[string]string{remoteguidelines.Dir + "/own.md": "one\n"}, want: 1},
		"behind a file":          {files: map[string]string{config.RepositoryDir: "one\n"}, said: "list .touchstone of acme/app"},
		"a file for a directory": {files: map[string]string{remoteguidelines.Dir: "one\n"}, said: "list .touchstone/guidelines of acme/app"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			github := loopback.New(t, tc.files).Client(loopback.Judge)
			texts, err := remoteguidelines.Own(t.Context(), github, loopback.Repo, "main")
			if tc.said == "" && (err != nil || texts == nil || len(texts) != tc.want) {
				t.Errorf("%q, %v", texts, err)
			}
			if tc.said != "" && (err == nil || !strings.Contains(err.Error(), tc.said) || !strings.Contains(err.Error(), "make it a directory")) {
				t.Errorf("%q, %v", texts, err)
			}
		})
	}
}

// opened opens a pull request, whose base tells the tip of main.
func opened(g *loopback.GitHub) forge.Ref {
	g.Commit("topic", "Change", map[string]string{"README.md": "another\n"})
	var made struct{ Number int }
	g.Call(loopback.Author, http.MethodPost, "pulls", map[string]any{"title": "Change", "head": "topic", "base": "main"}, &made)
	return forge.Ref{Repo: loopback.Repo, Number: made.Number}
}

// TestDirectoryOfACheckout is read like a commit: nothing behind a link, nothing without a bound.
func TestDirectoryOfACheckout(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lay  func(root, dir string) error
		said string // empty: it can be read
	}{
		"documents": {lay: func(_, dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "a.md"), make([]byte, 1<<20), 0o600), os.Mkdir(filepath.Join(dir, "b.md"), 0o700),
				os.Symlink("a.md", filepath.Join(dir, "notes.txt")))
		}},
		"a large one": {func(_, dir string) error {
			return os.WriteFile(filepath.Join(dir, "a.md"), make([]byte, 1<<20+1), 0o600)
		}, ".touchstone/guidelines/a.md: it is larger than 1 MiB"},
		"many": {func(_, dir string) (err error) {
			for i := range 101 {
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".md"), nil, 0o600))
			}
			return err
		}, "more than 100 guideline documents in "},
		"a link to a document": {func(root, dir string) error {
			x := filepath.Join(root, "x")
			return errors.Join(os.WriteFile(x, nil, 0o600), os.Symlink(x, filepath.Join(dir, "a.md")))
		}, ".touchstone/guidelines/a.md: it is a symbolic link"},
		"a link to something endless": {func(_, dir string) error {
			return os.Symlink("/dev/zero", filepath.Join(dir, "a.md"))
		}, "a symbolic link"},
		"a link for the directory": {func(root, dir string) error {
			return errors.Join(os.Remove(dir), os.Symlink(root, dir))
		}, ".touchstone/guidelines is a symbolic link"},
		"a link above it": {func(root, dir string) error {
			above := filepath.Dir(dir)
			return errors.Join(os.Rename(above, filepath.Join(root, "moved")), os.Symlink("moved", above))
		}, ".touchstone is a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir := filepath.Join(root, filepath.FromSlash(remoteguidelines.Dir))
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tc.lay(root, dir); err != nil {
				t.Skip("SKIPPED: ", err)
			}
			texts, err := remoteguidelines.ReadDir(dir + string(filepath.Separator))
			if tc.said == "" && (err != nil || len(texts) != 1) {
				t.Errorf("%d documents, %v", len(texts), err)
			}
			// There may be several directories: it says which.
			said := filepath.ToSlash(fmt.Sprint(err))
			if tc.said != "" && (err == nil || !strings.Contains(said, tc.said) || !strings.Contains(said, filepath.ToSlash(root))) {
				t.Errorf("%v; want %q in %s", err, tc.said, root)
			}
		})
	}
}

// TestDirectoryOfTheConfiguration may have links, as in what is mounted into a container, and nothing else that is no file.
func TestDirectoryOfTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "org.md")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "..data"), []byte("one\n"), 0o600), os.Symlink("..data", link)); err != nil {
		t.Skip("SKIPPED: ", err)
	}
	texts, err := remoteguidelines.Guidelines(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := texts(t.Context()); err != nil || got["org"] != "one\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := errors.Join(os.Remove(link), os.Symlink(os.DevNull, link)); err != nil {
		t.Fatal(err)
	}
	if got, err := texts(t.Context()); err == nil {
		t.Errorf("of a device: %q", got)
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "org.md"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	texts, err := remoteguidelines.Guidelines(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := texts(t.Context()); err != nil || len(got) != 1 || got["org"] != "one\n" {
		t.Errorf("%q, %v", got, err)
	}
	if texts, err = remoteguidelines.Guidelines(filepath.Join(dir, "absent"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := texts(t.Context()); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("of no directory: %v", err)
	}
	if texts, err := remoteguidelines.Guidelines("", nil); texts != nil || err != nil {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := remoteguidelines.Guidelines("not a repository", nil); err == nil {
		t.Error("anything passes for a repository")
	}
}

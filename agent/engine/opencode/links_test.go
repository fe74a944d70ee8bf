package opencode

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkout is a directory with what has to be kept from the CLI, and what not.
func checkout(t *testing.T) (dir string, dangerous []string) {
	t.Helper()
	dir = t.TempDir()
	for _, file := range []string{".git/link-target", "sub/kept.md", "a.go"} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"inside": "a.go", "sub/up": "../a.go", "outside": "/etc/passwd", "sub/far": "../../..", "dangling": "nowhere", "chain": "outside",
	} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{"chain", "dangling", "outside", filepath.Join("sub", "far")}
}

// listing is all that is in a directory, with what files say and links lead to.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		entry := strings.TrimPrefix(path, dir)
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			list = append(list, entry+" -> "+target)
			return err
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			list = append(list, entry+": "+string(content))
			return err
		}
		list = append(list, entry)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestSetAsideAndPutBack(t *testing.T) {
	t.Parallel()
	dir, want := checkout(t)
	before := listing(t, dir)
	a, err := hideLinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if moved := slices.Sorted(maps.Keys(a.links)); !slices.Equal(moved, want) {
		t.Errorf("set aside %q; want %q", moved, want)
	}
	for _, path := range want {
		if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	if err := a.putBack(); err != nil {
		t.Fatal(err)
	}
	if after := listing(t, dir); !slices.Equal(after, before) {
		t.Errorf("the checkout is\n%q; was\n%q", after, before)
	}
}

func TestWhatTheSessionPutInAPlaceStays(t *testing.T) {
	t.Parallel()
	dir, _ := checkout(t)
	a, err := hideLinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(dir, "outside")
	if err := os.WriteFile(outside, []byte("the session's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := a.putBack(); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(outside); err != nil || string(content) != "the session's" {
		t.Errorf("%q, %v", content, err)
	}
	if target, err := os.Readlink(filepath.Join(dir, "sub", "far")); err != nil || target != "../../.." {
		t.Errorf("a link of a directory that is gone: %q, %v", target, err)
	}
}

// TestRestoringFollowsNoLinks has a session lead the directories of links elsewhere, in
// the hope that who restores them follows.
func TestRestoringFollowsNoLinks(t *testing.T) {
	t.Parallel()
	for name, inTheWay := range map[string]func(path, elsewhere string) error{
		"a link":           func(path, elsewhere string) error { return os.Symlink(elsewhere, path) },
		"a link within":    func(path, _ string) error { return os.Symlink(".git", path) },
		"a link to itself": func(path, _ string) error { return os.Symlink("sub", path) },
		"a file":           func(path, _ string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := checkout(t)
			elsewhere := t.TempDir()
			a, err := hideLinks(dir)
			if err != nil {
				t.Fatal(err)
			}
			sub := filepath.Join(dir, "sub")
			if err := errors.Join(os.RemoveAll(sub), inTheWay(sub, elsewhere)); err != nil {
				t.Fatal(err)
			}
			if err := a.putBack(); err != nil {
				t.Fatal(err)
			}
			if target, err := os.Readlink(filepath.Join(sub, "far")); err != nil || target != "../../.." {
				t.Errorf("the link is %q, %v", target, err)
			}
			for _, other := range []string{elsewhere, filepath.Join(dir, ".git")} {
				if _, err := os.Lstat(filepath.Join(other, "far")); err == nil {
					t.Errorf("it is in %s too", other)
				}
			}
			if info, err := os.Lstat(sub); err != nil || !info.IsDir() {
				t.Errorf("its directory is %v, %v", info, err)
			}
		})
	}
}

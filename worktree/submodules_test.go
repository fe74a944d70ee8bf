package worktree

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestSubmodulesAreReadAsGitReadsThem compares with what the format allows: sections in any case and repeated, names
// with dots, quotes and escapes, comments, continued lines, and an included file, which does not count.
func TestSubmodulesAreReadAsGitReadsThem(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []Submodule
	}{
		"plain": {"[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n",
			[]Submodule{{"lib", []Setting{{"path", "lib"}, {"url", "../lib.git"}}}}},
		"a name with dots and quotes": {"[submodule \"a.b \\\"c\\\" \\\\d\"]\npath = \"lib # 1\" # a comment\n",
			[]Submodule{{`a.b "c" \d`, []Setting{{"path", "lib # 1"}}}}},
		"one entry in two sections": {"[Submodule \"lib\"]\nPATH = lib\n[submodule \"other\"]\npath = o\n" +
			"[submodule \"lib\"]\nurl = one\\\n/two\n",
			[]Submodule{{"lib", []Setting{{"path", "lib"}, {"url", "one/two"}}}, {"other", []Setting{{"path", "o"}}}}},
		"names in two cases": {"[submodule \"lib\"]\npath = a\n[submodule \"LIB\"]\npath = b\n",
			[]Submodule{{"lib", []Setting{{"path", "a"}}}, {"LIB", []Setting{{"path", "b"}}}}},
		"the old form of a section": {"[submodule.Lib]\npath = lib\n", []Submodule{{"lib", []Setting{{"path", "lib"}}}}},
		"no value, and an empty one": {"[submodule \"lib\"]\npath\nurl =\n",
			[]Submodule{{"lib", []Setting{{"path", ""}, {"url", ""}}}}},
		"other sections":      {"[core]\nhooksPath = /x\n[submodule]\nrecurse = true\n[include]\npath = more\n", nil},
		"a value of lines":    {"[submodule \"lib\"]\nurl = \"a\\nb\"\n", []Submodule{{"lib", []Setting{{"url", "a\nb"}}}}},
		"a file with nothing": {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			r.write(".gitmodules", tc.text)
			r.write("more", "[submodule \"more\"]\npath = more\n")
			req := r.pull()
			tree := acquire(t, &Store{Root: t.TempDir()}, req)
			got, err := tree.Submodules(t.Context(), req.Head)
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("read %q, %v; want %q", got, err, tc.want)
			}
			if squash, err := tree.Squash(t.Context()); err != nil {
				t.Error(err)
			} else if got, err := tree.Submodules(t.Context(), squash.Tree); err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("in the tree of the merge: %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestSubmodulesThatCannotBeReadAreAnError(t *testing.T) {
	const entry = "[submodule \"lib\"]\npath = lib\n"
	for name, tc := range map[string]struct {
		make func(r *remoteRepo)
		want error // nil is any
	}{
		"none":           {func(*remoteRepo) {}, fs.ErrNotExist},
		"in a folder":    {func(r *remoteRepo) { r.write("a/.gitmodules", entry) }, fs.ErrNotExist},
		"a folder":       {func(r *remoteRepo) { r.write(".gitmodules/a", entry) }, fs.ErrInvalid},
		"too large":      {func(r *remoteRepo) { r.write(".gitmodules", entry+strings.Repeat("#\n", maxModules/2)) }, ErrTooLarge},
		"does not parse": {func(r *remoteRepo) { r.write(".gitmodules", entry+"[submodule \"lib\"\n") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemote(t)
			tc.make(r)
			req := r.pull()
			tree := acquire(t, &Store{Root: t.TempDir()}, req)
			if got, err := tree.Submodules(t.Context(), req.Head); err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("read %q, %v; want the error %v", got, err, tc.want)
			}
		})
	}
	_, _, _, tree := acquired(t)
	if _, err := tree.Submodules(t.Context(), "--all"); err == nil {
		t.Error("an option passes for a commit")
	}
}

// TestALinkedListOfSubmodulesIsNotFollowed needs a tree that git itself neither makes nor checks out.
func TestALinkedListOfSubmodulesIsNotFollowed(t *testing.T) {
	r := newRemote(t)
	req := r.pull()
	target := filepath.Join(t.TempDir(), "target")
	writeTest(t, target, "modules")
	blob, err := hex.DecodeString(r.git("hash-object", "-w", target))
	must(t, err)
	writeTest(t, target, "120000 .gitmodules\x00"+string(blob))
	linked := r.git("hash-object", "-t", "tree", "-w", "--literally", target)
	req.Base = r.git("commit-tree", "-m", "link", "-p", req.Base, linked)
	req.Head = r.git("commit-tree", "-m", "no link", "-p", req.Base, req.Head+"^{tree}")
	r.put("refs/heads/main", req.Base)
	r.put("refs/heads/topic", req.Head)
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	if got, err := tree.Submodules(t.Context(), req.Base); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestAValueThatIsThereTwiceIsNone(t *testing.T) {
	s := Submodule{Settings: []Setting{{"url", "a"}, {"path", "lib"}, {"url", "a"}}}
	if s.Value("url") != "" || s.Value("path") != "lib" || s.Value("branch") != "" || !s.Has("url") || s.Has("branch") {
		t.Errorf("url %q, path %q, branch %q", s.Value("url"), s.Value("path"), s.Value("branch"))
	}
}

// TestSubmodulesOfAPartialMirror reads a file that no checkout has fetched.
func TestSubmodulesOfAPartialMirror(t *testing.T) {
	r := newRemote(t)
	run(t, r.bare, "git", "config", "uploadpack.allowFilter", "true")
	r.write(".gitmodules", "[submodule \"lib\"]\npath = old\n")
	req := r.pull()
	r.git("checkout", "-q", "main")
	r.write(".gitmodules", "[submodule \"lib\"]\npath = new\n")
	req.Base = r.commit("refs/heads/main")
	s := &Store{Root: t.TempDir(), Partial: PartialOn}
	tree := acquire(t, s, req)
	if !absent(t, s, r.git("rev-parse", "main:.gitmodules")) {
		t.Fatal("the file was fetched before")
	}
	if got, err := tree.Submodules(t.Context(), req.Base); err != nil || len(got) != 1 || got[0].Value("path") != "new" {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestPathsOfSubmodules are those of the commit, with or without an entry.
func TestPathsOfSubmodules(t *testing.T) {
	r := newRemote(t)
	r.write(".gitmodules", "[submodule \"none\"]\npath = none\n")
	req := r.pull()
	r.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",deep/li b")
	req.Head = r.git("commit-tree", "-m", "link", "-p", req.Head, r.git("write-tree"))
	r.put("refs/heads/topic", req.Head)
	tree := acquire(t, &Store{Root: t.TempDir()}, req)
	if got, err := tree.SubmodulePaths(t.Context(), req.Head); err != nil || !reflect.DeepEqual(got, map[string]bool{"deep/li b": true}) {
		t.Errorf("%v, %v", got, err)
	}
}

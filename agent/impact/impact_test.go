package impact

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/worktree"
)

// repository is a real one, with a commit on main and one on topic.
type repository struct {
	t   testing.TB
	dir string
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Octo Cat", "-c", "user.email=octocat@example.com", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, an empty one being deleted, and commits them.
func (r repository) commit(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if text == "" {
			err = os.Remove(path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "change")
}

// changing is a checkout in which a topic changes files of main.
func changing(t testing.TB, before, after map[string]string) *worktree.Tree {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	r.commit(before)
	r.git("checkout", "-q", "-b", "topic")
	r.commit(after)
	return r.acquire(1)
}

func (r repository) acquire(number int) *worktree.Tree {
	r.t.Helper()
	store := &worktree.Store{Root: r.t.TempDir()}
	tree, err := store.Acquire(r.t.Context(), worktree.Request{
		Remote: worktree.Remote{URL: "file://" + filepath.ToSlash(r.dir)}, Repo: "acme/app", Number: number, Role: "reviewer",
		Head: r.git("rev-parse", "topic"), HeadRef: "refs/heads/topic", Base: r.git("rev-parse", "main"), BaseRef: "refs/heads/main",
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = tree.Release() })
	return tree
}

func sheetOf(t testing.TB, tree *worktree.Tree, index string) Sheet {
	t.Helper()
	diff, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Make(t.Context(), Source{Diff: diff, Files: tree, Index: index})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listed are the places of a sheet, a line each: how the name changed, its title, the place.
func listed(s Sheet) []string {
	var all []string
	for _, n := range s.Names {
		for _, p := range n.Places {
			all = append(all, fmt.Sprintf("%s %s: %s:%d %s in %s", n.How, n.title(), p.Path, p.Line, p.What, p.Function))
		}
	}
	slices.Sort(all)
	return all
}

func TestTheSheetListsWhoUsesWhatChanged(t *testing.T) {
	for name, test := range map[string]struct {
		before, after map[string]string
		want          []string
	}{
		"callers of a changed function of Go, in its package and in others": {
			map[string]string{
				"store/store.go": "package store\n\nfunc Open(name string) error { return nil }\n\nfunc again() { Open(\"a\") }\n",
				"cmd/main.go":    "package main\n\nfunc main() {\n\tstore.Open(\"b\")\n}\n",
				"other/a.go":     "package other\n\n// Open is none of store.\nfunc Open() {}\n\nfunc use() { Open() }\n",
				"README.md":      "# Use\n\nCall `store.Open(name)`.\nOpen the door.\n",
			},
			map[string]string{"store/store.go": "package store\n\nfunc Open(name string, n int) error { return nil }\n\nfunc again() { Open(\"a\") }\n"},
			[]string{
				"signature changed func Open: README.md:3 document in Use",
				"signature changed func Open: cmd/main.go:4 calls in main",
				"signature changed func Open: store/store.go:5 calls in ",
			},
		},
		"implementations of a changed interface": {
			map[string]string{
				"a/i.go": "package a\n\ntype Store interface {\n\tFetchAll() error\n}\n",
				"b/b.go": "package b\n\ntype disk struct{}\n\nfunc (d *disk) FetchAll() error {\n\treturn nil\n}\n",
			},
			map[string]string{"a/i.go": "package a\n\ntype Store interface {\n\tFetchAll(n int) error\n}\n"},
			[]string{"signature changed method Store.FetchAll: b/b.go:5 also defines in "},
		},
		"what is removed and still referred to, in code, documents and CI": {
			map[string]string{
				"app/tools.py":             "def load_config(path):\n    return path\n\ndef other():\n    pass\n",
				"app/main.py":              "from app.tools import load_config\n\ndef main():\n    load_config('a')\n",
				"docs/a.md":                "## Loading\n\nload_config reads it.\n",
				".github/workflows/ci.yml": "jobs:\n  test:\n    run: python -c 'load_config()'\n",
			},
			map[string]string{"app/tools.py": "def other():\n    pass\n"},
			[]string{
				"removed func load_config: .github/workflows/ci.yml:3 CI in test",
				"removed func load_config: app/main.py:1 imports in ",
				"removed func load_config: app/main.py:4 calls in main",
				"removed func load_config: docs/a.md:3 document in Loading",
			},
		},
		"what is renamed, by its old name": {
			map[string]string{
				"lib/a.rb": "class Cart\n  def total_price\n    items.sum { |i| i.price * i.count }\n  end\nend\n",
				"lib/b.rb": "class Bill\n  def print\n    puts @cart.total_price\n  end\nend\n",
			},
			map[string]string{"lib/a.rb": "class Cart\n  def full_price\n    items.sum { |i| i.price * i.count }\n  end\nend\n"},
			[]string{"renamed method Cart.total_price: lib/b.rb:3 uses in Bill.print"},
		},
		"a variable of the environment and a route that others name": {
			map[string]string{
				"src/server.ts": "export function start() {\n  app.get('/api/users', list)\n  return process.env['APP_PORT']\n}\n",
				"src/client.ts": "export function users() {\n  return fetch('/api/users')\n}\n",
				"Dockerfile":    "ENV APP_PORT=80\n",
			},
			map[string]string{"src/server.ts": "export function start() {\n  app.get('/api/people', list)\n  return process.env['APP_HTTP_PORT']\n}\n"},
			[]string{
				"removed route /api/users: src/client.ts:2 names in users",
				"removed variable APP_PORT: Dockerfile:1 configuration in ",
			},
		},
		"a file that is gone, by its name": {
			map[string]string{"scripts/build.sh": "echo\n", "Makefile": "all:\n\tsh scripts/build.sh\n"},
			map[string]string{"scripts/build.sh": ""},
			[]string{"removed file build.sh: Makefile:2 text in all"},
		},
		"nobody, of what only moved": {
			map[string]string{"a.py": "def moved_one():\n    return 1\n", "b.py": "x = 1\n", "c.py": "moved_one()\n"},
			map[string]string{"a.py": "y = 1\n", "b.py": "x = 1\n\ndef moved_one():\n    return 1\n"},
			nil,
		},
		"an annotation that names a topic": {
			map[string]string{"a.py": "# @graph-publishes orders.created\ndef send():\n    pass\n", "b.py": "def on():\n    listen('orders.created')\n"},
			map[string]string{"b.py": "def on():\n    listen('orders.made')\n"},
			[]string{"removed name orders.created: a.py:1 publishes, says @graph in "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := listed(sheetOf(t, changing(t, test.before, test.after), "")); !slices.Equal(got, test.want) {
				t.Errorf("listed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestTheSheetShowsWhatTheChangeCalls(t *testing.T) {
	t.Parallel()
	tree := changing(t,
		map[string]string{"a/a.go": "package a\n\n// Check fails for none.\nfunc Check(n int) error {\n\treturn nil\n}\n", "a/b.go": "package a\n\nfunc run() {\n}\n"},
		map[string]string{"a/b.go": "package a\n\nfunc run() {\n\tCheck(3)\n}\n"})
	s := sheetOf(t, tree, "")
	if len(s.Called) != 1 || s.Called[0].Path != "a/a.go" || s.Called[0].Start != 3 || len(s.Called[0].Lines) != 4 {
		t.Errorf("shown are %+v", s.Called)
	}
	same := func(text string) string { return text }
	if text := s.Text(same, same); !strings.Contains(text, "func Check (a/a.go)\n     3  // Check fails for none.\n") {
		t.Error(text)
	}
}

func TestAKeptIndexFindsTheSameAndADamagedOneIsMadeAnew(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a.py": "def shared_name():\n    return 1\n"}
	for i := range enough + 20 {
		before[fmt.Sprintf("p%d/f.py", i)] = fmt.Sprintf("x%d = %d\n", i, i)
	}
	before["p7/f.py"] = "shared_name()\n"
	tree := changing(t, before, map[string]string{"a.py": "def shared_name():\n    return 2\n"})
	path := tree.Beside(IndexName)
	want := listed(sheetOf(t, tree, ""))
	for _, damage := range []func([]byte) []byte{
		func(data []byte) []byte { return data },
		func(data []byte) []byte { data[len(data)/2] ^= 1; return data },
		func(data []byte) []byte { return data[:len(data)-3] },
		func([]byte) []byte { return nil },
	} {
		if got := listed(sheetOf(t, tree, path)); len(want) != 1 || !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		data, err := os.ReadFile(path)
		if err != nil || len(load(path)) < enough {
			t.Fatalf("%d contents are kept, %v", len(load(path)), err)
		}
		if err := os.WriteFile(path, damage(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASheetIsBounded(t *testing.T) {
	t.Parallel()
	before, after := map[string]string{}, map[string]string{}
	var calls strings.Builder
	for i := range 260 {
		fmt.Fprintf(&calls, "    changed_name_%d(\"%s\")\n", i, strings.Repeat("x", 100))
		before[fmt.Sprintf("m%d.py", i)] = fmt.Sprintf("def changed_name_%d():\n    return 1\n", i)
		after[fmt.Sprintf("m%d.py", i)] = fmt.Sprintf("def changed_name_%d():\n    return 2\n", i)
	}
	before["all.py"] = "def everything():\n" + calls.String()
	before["data.py"] = strings.Repeat("x = 1\n", maxFile/6+1)
	s := sheetOf(t, changing(t, before, after), "")
	same := func(text string) string { return text }
	text := s.Text(same, same)
	if len(text) > maxSheet || len(s.Names) != maxNames || len(s.Unseen) != 2 || !strings.Contains(text, "left out for their number") {
		t.Errorf("%d bytes, %d names, %q\n%s", len(text), len(s.Names), s.Unseen, text[len(text)-300:])
	}
}

func TestGraphsHaveEachNodeOnceAndAnEdgeForEachUse(t *testing.T) {
	s := Sheet{Names: []Name{{Kind: "func", Name: `a"b<`, Places: []Place{{Path: "x.go", Line: 1, What: "calls", Function: "f"}, {Path: "x.go", Line: 2, What: "calls", Function: "f"}}}}}
	if got, want := s.Mermaid(), "flowchart LR\n  n0[\"x.go: f\"]\n  n1[\"func a#quot;b#lt; (removed)\"]\n  n0 -->|\"calls\"| n1\n"; got != want {
		t.Errorf("%s", got)
	}
	if got := s.DOT(); !strings.Contains(got, `n1 [label="func a\"b< (removed)"];`) || strings.Count(got, "->") != 1 {
		t.Errorf("%s", got)
	}
}

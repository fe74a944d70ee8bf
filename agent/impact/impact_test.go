package impact

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/outline"
	"touchstone/worktree"
)

// repository is a real one, with a commit on main and one on topic.
type repository struct {
	t   testing.TB
	dir string
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Octo Cat", "-c", "user.email=octocat@example.com", "-c",
		"core.autocrlf=false"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

// make runs a git that is told what to make, and returns the name of that.
func (r repository) make(command, from string) string {
	r.t.Helper()
	cmd := exec.Command("git", command)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(from)
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v", command, err)
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
			map[string]string{"store/store.go": "package store\n\nfunc Open(name string, n int) error { return nil }\n\nfunc again() { " +
				"Open(\"a\") }\n"},
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
			map[string]string{"src/server.ts": "export function start() {\n  app.get('/api/people', list)\n  return " +
				"process.env['APP_HTTP_PORT']\n}\n"},
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
			map[string]string{"a.py": "# @graph-publishes orders.created\ndef send():\n    pass\n",
				"b.py": "def on():\n    listen('orders.created')\n"},
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

// told are the parts of a sheet besides its names, a line each.
func told(s Sheet) []string {
	var all []string
	for _, c := range s.Called {
		all = append(all, fmt.Sprintf("%s %s:%d", c.Title, c.Path, c.Start))
	}
	for _, n := range s.Several {
		all = append(all, fmt.Sprintf("several %s %v", n.Name, n.Paths))
	}
	for _, a := range s.Alike {
		for _, p := range a.Places {
			all = append(all, fmt.Sprintf("alike %s:%d %s:%d in %s", a.Path, a.Line, p.Path, p.Line, p.Function))
		}
	}
	for _, i := range s.Imports {
		all = append(all, fmt.Sprintf("import %s:%d %s", i.Path, i.Line, i.Text))
	}
	return all
}

func TestTheSheetShowsWhatChangedLinesUse(t *testing.T) {
	for name, test := range map[string]struct {
		before, after map[string]string
		want          []string
	}{
		"of added lines, of those beside them, and what removed ones called": {
			map[string]string{
				"a/a.go": "package a\n\n// Check fails for none.\nfunc Check(n int) error {\n\treturn nil\n}\n\nfunc Guard(n int) {}\n\nfunc " +
					"Beside() {}\n",
				"a/b.go": "package a\n\nfunc run() {\n\tGuard(1)\n\tBeside()\n}\n",
			},
			map[string]string{"a/b.go": "package a\n\nfunc run() {\n\tCheck(3)\n\tBeside()\n}\n"},
			[]string{"func Check a/a.go:3", "func Beside a/a.go:10", "func Guard a/a.go:8"},
		},
		"of the type that a value has": {
			map[string]string{
				"One.java": "class One {\n    void close(int n) {\n        stop();\n    }\n}\n",
				"Two.java": "class Two {\n    void close(int n) {\n        go();\n    }\n}\n",
				"Use.java": "class Use {\n    void use(Two two) {\n        int n = 1;\n    }\n}\n",
			},
			map[string]string{"Use.java": "class Use {\n    void use(Two two) {\n        two.close(1);\n    }\n}\n"},
			[]string{"method Two.close Two.java:2", "type Two Two.java:1"},
		},
		"of the package that is named, and where a name comes from": {
			map[string]string{
				"x/one/a.go": "package one\n\nfunc Parse() {}\n", "x/two/a.go": "package two\n\nfunc Parse() {}\n",
				"cmd/main.go": "package main\n\nimport (\n\t\"fmt\"\n\n\t\"acme/x/one\"\n\t\"acme/x/two\"\n)\n\nfunc main() {\n\tfmt.Println()\n}\n",
			},
			map[string]string{"cmd/main.go": "package main\n\nimport (\n\t\"fmt\"\n\n\t\"acme/x/one\"\n\t\"acme/x/two\"\n)\n\nfunc main() " +
				"{\n\tfmt.Println()\n\ttwo.Parse()\n}\n"},
			[]string{"func Parse x/two/a.go:3", `import cmd/main.go:7 "acme/x/two"`},
		},
		"or that several define it": {
			map[string]string{
				"x/one.py": "def parse_all():\n    pass\n", "y/two.py": "def parse_all():\n    pass\n",
				"z/use.py": "from x import (\n    parse_all,\n    other,\n)\n\ndef use():\n    pass\n",
			},
			map[string]string{"z/use.py": "from x import (\n    parse_all,\n    other,\n)\n\ndef use():\n    parse_all()\n"},
			[]string{"several parse_all [x/one.py y/two.py]", "import z/use.py:1 from x import ( parse_all …)"},
		},
		"and where else a removed line stands": {
			map[string]string{
				"a.py": "def one(user):\n    if not user.is_active or user.locked_until():\n        return\n    go()\n",
				"b.py": "def two(person):\n    if not person.is_active or person.locked_until():\n        return\n    if not person.is_active and " +
					"person.locked_until():\n        return\n",
			},
			map[string]string{"a.py": "def one(user):\n    go()\n"},
			[]string{"alike a.py:2 b.py:2 in two"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sheetOf(t, changing(t, test.before, test.after), "")
			if got := told(s); !slices.Equal(got, test.want) {
				t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestDefinitionsAreWrittenWithTheirLines(t *testing.T) {
	s := Sheet{Called: []Called{{Path: "a/a.go", Start: 3, Title: "func Check",
		Lines: []string{"// Check fails for none.", "func Check() {}"}}}}
	same := func(text string) string { return text }
	if text := s.Text(same, same); !strings.Contains(text,
		"func Check (a/a.go)\n     3  // Check fails for none.\n     4  func Check() {}\n") {
		t.Error(text)
	}
}

func TestAMethodOfAnotherTypeComesLastAndSaysSo(t *testing.T) {
	s := sheetOf(t, changing(t, map[string]string{
		"a/a.go": "package a\n\ntype Client struct{}\n\nfunc (c *Client) PushAll() {}\n",
		"b/b.go": "package b\n\nfunc one(opts *Options) {\n\topts.PushAll()\n}\n",
		"c/c.go": "package c\n\nfunc two(client *a.Client) {\n\tclient.PushAll()\n}\n",
	}, map[string]string{"a/a.go": "package a\n\ntype Client struct{}\n\nfunc (c *Client) PushAll(n int) {}\n"}), "")
	if got, want := s.Names[0].Places, []string{"calls c/c.go", "calls of Options b/b.go"}; len(got) != 2 ||
		got[0].What+" "+got[0].Path != want[0] || got[1].What+" "+got[1].Path != want[1] {
		t.Errorf("%+v", s.Names[0])
	}
}

func FuzzLinesAreReadWithoutFailing(f *testing.F) {
	f.Add("a.py", "from x import (\n    a,", "a.b(c) // d")
	f.Add("a.go", "import (\n\t\"x\"", "x.y(")
	f.Add("a.ts", "import {", "?.(!)")
	f.Add("a.java", "class A {\n    private int n = 1;\n", "this.n = b.count + n;")
	f.Add("a.rs", "struct S { n: u32 }\nmod tests {", "self.n += 1; w.depth")
	f.Add("a.rb", "class A\n  attr_reader :n\n", "@n = @a_b.c")
	f.Fuzz(func(t *testing.T, name, text, line string) {
		lines := lineChanges{removed: map[int]string{1: line}, added: map[int]string{2: line}, beside: map[int]string{3: text}}
		var c changed
		c.use(name, []byte(text), false, lines)
		s := worktree.Sides{OldPath: name, Path: name, Before: []byte(text), After: []byte(text)}
		blocks := outline.Of(name, s.After)
		product, _ := lines.apart(s)
		c.touch(s, false, blocks, blocks, product)
		for _, n := range c.fields {
			n.mine(name, []string{line}, 0, "self")
			n.mine(name, []string{line}, 0, "")
			n.vague(name, line, 0)
			n.defining([]string{line})
		}
	})
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

func TestTheSheetSaysWhatItCouldNotSee(t *testing.T) {
	change := map[string]string{"z/a.go": "package z\n\nfunc ChangedName(n int) {}\n"}
	used := "z/b.go:4 calls"
	for name, test := range map[string]struct {
		before map[string]string
		after  map[string]string
		want   string
	}{
		"a module that does not load": {map[string]string{"go.mod": "module ((\n\ngo 9.99\nrequire nowhere.invalid/x v0\n"}, nil,
			"No go.mod names a module: "},
		"a parser that fails": {nil, map[string]string{"z/c.go": "package z\n\nfunc broken( {\n"},
			"z/c.go does not parse: its definitions are read off its indentation."},
		"a generated file of 50 MB": {map[string]string{"gen/data.py": strings.Repeat("value = 1\n", 5_000_000)}, nil,
			"1 file of the repository with more than 1024 KiB: not searched."},
		"a graph that is none": {map[string]string{"docs/graph.json": "[1, 2"}, nil,
			"docs/graph.json is no graph that can be read: nodes with id and path, edges with source and target."},
	} {
		t.Run(name, func(t *testing.T) {
			before := map[string]string{"go.mod": module, "z/a.go": "package z\n\nfunc ChangedName() {}\n",
				"z/b.go": "package z\n\nfunc use() {\n\tChangedName()\n}\n"}
			after := maps.Clone(change)
			maps.Copy(before, test.before)
			maps.Copy(after, test.after)
			s := sheetOf(t, changing(t, before, after), "")
			if got := strings.Join(s.Unseen, "\n"); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("it says %q", got)
			}
			if got := strings.Join(listed(s), "\n"); !strings.Contains(got, used) {
				t.Errorf("listed\n%s", got)
			}
		})
	}
}

// TestTheSheetOfAVeryLargeRepository: the commit has 300,000 files, and so that they need not be
// checked out, they are gone again in the head of its branch.
func TestTheSheetOfAVeryLargeRepository(t *testing.T) {
	t.Parallel()
	r := repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	r.commit(map[string]string{"z/go.mod": module, "z/a.go": "package z\n\nfunc ChangedName(n int) {}\n",
		"z/b.go": "package z\n\nfunc use() {\n\tChangedName()\n}\n"})
	var entries, dirs strings.Builder
	blob := r.git("rev-parse", "HEAD:z/b.go")
	for i := range 1000 {
		fmt.Fprintf(&entries, "100644 blob %s\tf%d.py\n", blob, i)
	}
	leaf := r.make("mktree", entries.String())
	for i := range 300 {
		fmt.Fprintf(&dirs, "040000 tree %s\tmany%d\n", leaf, i)
	}
	large := r.git("commit-tree", "-m", "large", "-p", "HEAD", r.make("mktree", dirs.String()+"040000 tree "+r.git("rev-parse",
		"HEAD:z")+"\tz\n"))
	r.git("reset", "-q", "--soft", large)
	r.commit(map[string]string{"z/a.go": "package z\n\nfunc ChangedName() {}\n"})
	r.git("checkout", "-q", "-b", "topic")
	r.commit(map[string]string{"z/a.go": "package z\n\nfunc ChangedName(n int) {}\n"})
	tree := r.acquire(1)
	diff, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	diff.Head = large
	s, err := Make(t.Context(), Source{Diff: diff, Files: tree})
	if err != nil || !slices.Equal(s.Unseen, []string{"Only 100000 files of the repository were searched, and 200003 not."}) {
		t.Errorf("it says %q, %v", s.Unseen, err)
	}
	if got := listed(s); !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "z/b.go:4 calls") }) {
		t.Errorf("listed %q", got)
	}
}

func TestTheRepositorysOwnGraphIsShownAndChecked(t *testing.T) {
	s := sheetOf(t, changing(t, map[string]string{
		"store/sale.ts": "/**\n * @graph-business what was sold\n * @graph-connects orders.created [publishes] each sale\n * " +
			"@graph-connects store/gone.ts [calls] is no more\n * @graph-connects none\n */\nexport function recordSale() {\n  return 1\n}\n",
		"report/daily.ts": "// @graph-connects recordSale [reads] for the totals\n// @graph-connects otherThing [reads]\nexport const x = 1\n",
		"old.ts":          "export const old = 1\n",
		"graph.json": `{"nodes": [{"id": "sale", "path": "store/sale.ts", "role": "sales"}, {"id": "old", "path": "old.ts"}, {"id": ` +
			`"lost", "path": "lost.ts"}], "edges": [{"source": "old", "target": "sale", "type": "calls"}, {"source": "lost", "target": "old"}]}`,
	}, map[string]string{"store/sale.ts": "/**\n * @graph-business what was sold\n * @graph-connects orders.created [publishes] each " +
		"sale\n * @graph-connects store/gone.ts [calls] is no more\n * @graph-connects none\n */\nexport function recordSale(n) {\n  return " +
		"n\n}\n", "old.ts": ""}), "")
	var got []string
	same := func(text string) string { return text }
	for _, n := range s.Graph {
		got = append(got, strings.TrimSuffix(n.text(same, same), "\n"))
	}
	want := []string{
		"graph.json  lost.ts  edge  old.ts  STALE: the change removes old.ts",
		"graph.json  old.ts  calls  store/sale.ts  STALE: the change removes old.ts",
		"graph.json  old.ts  role  old  STALE: the change removes old.ts",
		"report/daily.ts:1  reads  recordSale  for the totals",
		"store/sale.ts:2  business  what was sold",
		"store/sale.ts:3  publishes  orders.created  each sale",
		"store/sale.ts:4  calls  store/gone.ts  is no more  STALE: there is no store/gone.ts",
		"graph.json  store/sale.ts  role  sales",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the graph says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if text := s.Text(same, same); !strings.Contains(text, "graph.json is stale: 2 of its 3 nodes name a file that is not there.") ||
		!strings.Contains(text, "## What the repository's own product graph says\n") {
		t.Error(text)
	}
	if graph := s.Mermaid(); !strings.Contains(graph, `["store/sale.ts: what was sold"]`) || !strings.Contains(graph, `|"publishes"|`) {
		t.Error(graph)
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
	s := Sheet{Names: []Name{{Kind: "func", Name: `a"b<`,
		Places: []Place{{Path: "x.go", Line: 1, What: "calls", Function: "f"}, {Path: "x.go", Line: 2, What: "calls", Function: "f"}}}}}
	want := "flowchart LR\n  n0[\"x.go: f\"]\n  n1[\"func a#quot;b#lt; (removed)\"]\n  n0 -->|\"calls\"| n1\n"
	if got := s.Mermaid(); got != want {
		t.Errorf("%s", got)
	}
	if got := s.DOT(); !strings.Contains(got, `n1 [label="func a\"b< (removed)"];`) || strings.Count(got, "->") != 1 {
		t.Errorf("%s", got)
	}
}

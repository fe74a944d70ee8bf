package impact

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchstone/agent/bounded"
	"touchstone/agent/impact/golang"
	"touchstone/agent/outline"
	"touchstone/worktree"
)

func TestMain(m *testing.M) {
	bounded.Bootstrap(golang.Task)
	os.Exit(m.Run())
}

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
		"a flag of one word, where it is given": {
			map[string]string{
				"main.go":     "package main\n\nvar most = flag.Int(\"budget\", 9, \"what it may cost\")\n",
				"docs/use.md": "# Use\n\nGive `app --budget 3` or -budget=3. The budget is no --budget-file, nor a low-budget.\n\nThe budget.\n",
				"compose.yml": "services:\n  app:\n    command: app --budget 3\n",
			},
			map[string]string{"main.go": "package main\n\nvar most = flag.Int(\"limit\", 9, \"what it may cost\")\n"},
			[]string{
				"removed flag --budget: compose.yml:3 configuration in app",
				"removed flag --budget: docs/use.md:3 document in Use",
			},
		},
		"a topic of one word, where it is a string": {
			map[string]string{
				"send.py":   "def send(bus, sale):\n    bus.publish(\"orders\", sale)\n",
				"listen.py": "def start(bus):\n    bus.subscribe(\"orders\", on_sale)\n",
				"count.py":  "def count(orders):\n    return len(orders)\n",
			},
			map[string]string{"send.py": "def send(bus, sale):\n    bus.publish(\"sales\", sale)\n"},
			[]string{"removed topic orders: listen.py:2 names in start"},
		},
		"a column of one word, where SQL reads it": {
			map[string]string{
				"schema.sql": "CREATE TABLE orders (\n  id INT PRIMARY KEY,\n  total NUMERIC(9, 2) NOT NULL, -- in euros\n  made DATE\n);\n",
				"q.sql":      "SELECT id,\n  total\nFROM orders;\n",
				"sum.py":     "def total(rows):\n    return sum(rows)\n",
			},
			map[string]string{"schema.sql": "CREATE TABLE orders (\n  id INT PRIMARY KEY,\n  amount NUMERIC(9, 2) NOT NULL, -- in euros\n" +
				"  made DATE\n);\n"},
			[]string{"removed column orders.total: q.sql:2 names in "},
		},
		"a setting of one word, where it is a key": {
			map[string]string{
				"config.yml": "server:\n  port: 80\n",
				"read.py":    "def read(conf):\n    return conf[\"port\"]\n",
				"ship.py":    "def dock(ship, port):\n    ship.port = port\n",
			},
			map[string]string{"config.yml": "server:\n  listen: 80\n"},
			[]string{"removed setting port: read.py:2 names in read"},
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
		all = append(all, fmt.Sprintf("%s %s:%d", c.Title, c.Path, c.Lines[0].Number))
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
		"of several of the name, or that there are too many": {
			map[string]string{
				"x/one.py": "def parse_all():\n    pass\n", "y/two.py": "def parse_all():\n    pass\n",
				"a/m.py": "def load_all():\n    pass\n", "b/m.py": "def load_all():\n    pass\n", "c/m.py": "def load_all():\n    pass\n",
				"d/m.py": "def load_all():\n    pass\n", "e/m.py": "def load_all():\n    pass\n",
				"z/use.py": "from x import (\n    parse_all,\n    other,\n)\n\ndef use():\n    pass\n",
			},
			map[string]string{"z/use.py": "from x import (\n    parse_all,\n    other,\n)\n\ndef use():\n    parse_all()\n    " +
				"load_all()\n"},
			[]string{"func parse_all x/one.py:1", "func parse_all y/two.py:1",
				"several load_all [a/m.py b/m.py c/m.py d/m.py e/m.py]", "import z/use.py:1 from x import ( parse_all …)"},
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
	s := Sheet{Called: []Code{{Path: "a/a.go", Title: "func Check",
		Lines: []Line{{3, "// Check fails for none."}, {4, "func Check() {}"}}}}}
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
			r := reading{name: &n, file: name, lines: []string{line}, around: outline.SurroundingsOf(name, []string{line})}
			r.mine(0, "self")
			r.mine(0, "")
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

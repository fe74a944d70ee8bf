package impact

import (
	"slices"
	"strings"
	"testing"
)

// module is a file of Go of a module that is called acme.
const module = "module acme\n\ngo 1.26\n"

func TestFieldsThatChangedLinesTouchAreListedWithWhoReadsAndWritesThem(t *testing.T) {
	for name, test := range map[string]struct {
		before, after map[string]string
		want          []string
	}{
		"of Go, told from those of other types": {
			map[string]string{
				"go.mod": module,
				"store/s.go": "package store\n\ntype Store struct {\n\tname string\n\tSize int\n}\n\ntype other struct{ name string }\n\nfunc (o " +
					"*other) label() string { return o.name }\n",
				"store/new.go": "package store\n\nfunc New(name string) *Store {\n\treturn &Store{name: name, Size: 1}\n}\n",
				"store/use.go": "package store\n\nfunc (s *Store) Label() string {\n\treturn s.name + \"!\"\n}\n\nfunc (s *Store) Grow() {\n\tif " +
					"s.Size > 3 {\n\t\treturn\n\t}\n}\n",
				"cmd/main.go": "package main\n\nimport \"acme/store\"\n\ntype page struct{ Size int }\n\nfunc main() {\n\ts := " +
					"store.New(\"a\")\n\ts.Size++\n\tp := page{Size: 2}\n\t_ = p.Size\n}\n",
			},
			map[string]string{"store/use.go": "package store\n\nfunc (s *Store) Label() string {\n\treturn s.name\n}\n\nfunc (s *Store) Grow() " +
				"{\n}\n"},
			[]string{
				"touched field Store.Size: cmd/main.go:9 writes in main",
				"touched field Store.Size: store/new.go:4 writes in New",
				"touched field Store.name: store/new.go:4 writes in New",
			},
		},
		"of Go, by a removed line, and defined further down than before": {
			map[string]string{
				"go.mod":       module,
				"store/s.go":   "package store\n\ntype Store struct {\n\tSize int\n}\n\nfunc New() *Store {\n\treturn &Store{Size: 1}\n}\n",
				"store/use.go": "package store\n\ntype view struct{ s *Store }\n\nfunc (v view) Width() int {\n\treturn v.s.Size\n}\n",
				"cmd/main.go":  "package main\n\nimport \"acme/store\"\n\nfunc main() {\n\ts := store.New()\n\ts.Size++\n}\n",
			},
			map[string]string{
				"store/s.go": "package store\n\n// Store is new here.\n\ntype Store struct {\n\tSize int\n}\n\nfunc New() *Store {\n\treturn " +
					"&Store{Size: 1}\n}\n",
				"cmd/main.go": "package main\n\nimport \"acme/store\"\n\nfunc main() {\n\ts := store.New()\n}\n",
			},
			[]string{
				"touched field Store.Size: store/s.go:10 writes in New",
				"touched field Store.Size: store/use.go:6 reads in view.Width",
			},
		},
		"of Python, in the class and where the type tells": {
			map[string]string{
				"app/cart.py": "class Cart:\n    def __init__(self):\n        self.total = 0\n\n    def add(self, n):\n        self.total += n\n\n " +
					"   def show(self):\n        return self.total\n\n\nclass Other:\n    def show(self):\n        return self.total\n",
				"app/bill.py":  "from app.cart import Cart\n\ndef bill(cart: Cart):\n    return cart.total\n",
				"app/other.py": "def bill(page):\n    return page.total\n",
			},
			map[string]string{"app/cart.py": "class Cart:\n    def __init__(self):\n        self.total = 0\n\n    def add(self, n):\n        " +
				"self.total += n * 2\n\n    def show(self):\n        return self.total\n\n\nclass Other:\n    def show(self):\n        return " +
				"self.total\n"},
			[]string{
				"touched field Cart.total: app/bill.py:4 reads in bill",
				"touched field Cart.total: app/cart.py:3 writes in Cart.__init__",
				"touched field Cart.total: app/cart.py:9 reads in Cart.show",
			},
		},
		"of TypeScript, by a name that is not common": {
			map[string]string{
				"src/a.ts": "export function one(opts) {\n  return 1\n}\n",
				"src/b.ts": "export function two(opts) {\n  opts.maxRetries = 3\n  return opts.size\n}\n",
				"src/c.ts": "start().maxRetries\n",
				"src/d.ts": "const defaults = {\nmaxRetries: 3,\n}\n",
			},
			map[string]string{"src/a.ts": "export function one(opts) {\n  return opts.maxRetries + opts.size\n}\n"},
			[]string{"touched field maxRetries: src/b.ts:2 writes in two"},
		},
		"of Rust, tests within the file told as such": {
			map[string]string{
				"src/a.rs": "pub struct Walk {\n    depth: u32,\n}\n\nimpl Walk {\n    fn go(&mut self) {\n        self.depth = 1;\n    }\n    fn " +
					"show(&self) -> u32 {\n        self.depth\n    }\n}\n\n#[cfg(test)]\nmod tests {\n    fn check(w: Walk) {\n        " +
					"assert_eq!(w.depth, 1);\n    }\n}\n",
			},
			map[string]string{
				"src/a.rs": "pub struct Walk {\n    depth: u32,\n}\n\nimpl Walk {\n    fn go(&mut self) {\n        self.depth = 2;\n    }\n    fn " +
					"show(&self) -> u32 {\n        self.depth\n    }\n}\n\n#[cfg(test)]\nmod tests {\n    fn check(w: Walk) {\n        " +
					"assert_eq!(w.depth, 1);\n    }\n}\n",
			},
			[]string{"touched field Walk.depth: src/a.rs:10 reads in Walk.show", "touched field Walk.depth: src/a.rs:17 test: reads in check"},
		},
		"of Java, without this": {
			map[string]string{
				"Cart.java": "class Cart {\n    private int total = 0;\n\n    void add(int n) {\n        total += n;\n    }\n\n    int show() {\n   " +
					"     return total;\n    }\n}\n",
			},
			map[string]string{
				"Cart.java": "class Cart {\n    private int total = 0;\n\n    void add(int n) {\n        total += n * 2;\n    }\n\n    int show() " +
					"{\n        return total;\n    }\n}\n",
			},
			[]string{"touched field Cart.total: Cart.java:9 reads in Cart.show"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sheetOf(t, changing(t, test.before, test.after), "")
			got := slices.DeleteFunc(listed(s), func(line string) bool { return !strings.HasPrefix(line, "touched ") })
			if !slices.Equal(got, test.want) {
				t.Errorf("listed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestMethodsOfGoAreToldApartByTheirTypes(t *testing.T) {
	t.Parallel()
	s := sheetOf(t, changing(t, map[string]string{
		"go.mod": module,
		"a/a.go": "package a\n\ntype Client struct{}\n\nfunc (c *Client) Close() error { return nil }\n\ntype Closer interface{ Close() " +
			"error }\n\ntype Wider interface {\n\tCloser\n\tOpen()\n}\n",
		"b/b.go": "package b\n\nimport \"acme/a\"\n\ntype file struct{}\n\nfunc (f *file) Close(now bool) {}\n\nfunc one(c *a.Client, f " +
			"*file) {\n\tf.Close(true)\n\tc.Close()\n}\n\nfunc two(c a.Closer, w a.Wider) {\n\tc.Close()\n}\n",
		"b/b_test.go": "package b\n\nimport \"acme/a\"\n\nfunc helper(c a.Client) {\n\tc.Close()\n}\n",
	}, map[string]string{"a/a.go": "package a\n\ntype Client struct{}\n\nfunc (c *Client) Close() error { return errClosed }\n\ntype " +
		"Closer interface{ Close() error }\n\ntype Wider interface {\n\tCloser\n\tOpen()\n}\n"}), "")
	want := []string{
		"signature changed method Client.Close: b/b.go:11 calls in one",
		"signature changed method Client.Close: b/b.go:15 calls of Closer in two",
		"signature changed method Client.Close: b/b_test.go:6 test: calls in helper",
	}
	if got := listed(s); !slices.Equal(got, want) {
		t.Errorf("listed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMembersInSentencesAreToldByTheirTypeOrWrittenAsCode(t *testing.T) {
	for _, test := range []struct {
		name, in, line string
		listed         bool
	}{
		{"JetStream", "Conn", "// Subscribing to messages in JetStream.", false},
		{"JetStream", "Conn", "// Conn has JetStream for that.", true},
		{"JetStream", "Conn", "// Call c.JetStream() first.", true},
		{"queue", "Test", "len(engine.slot.queue)  : 0", false},
		{"enum", "Schema", "Use `z.enum` for a fixed set.", false},
		{"promise", "Type", "The method `promise` waits.", true},
		{"hashCode", "Key", "Lokhttp3/Address;->hashCode()I", false},
	} {
		n := Name{Kind: "method", Name: test.name, In: test.in, Path: "a.kt"}
		kind, file := "document", "a.md"
		if strings.HasPrefix(test.line, "//") {
			kind, file = "", "b.kt"
		}
		what, _ := classify(n, file, kind, test.line, find(test.line, test.name))
		if (what != "") != test.listed {
			t.Errorf("%s.%s in %q is %q", test.in, test.name, test.line, what)
		}
	}
}

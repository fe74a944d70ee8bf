package outline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// listed are the definitions of a file, one a line: its lines and its title.
func listed(name, text string) string {
	var b strings.Builder
	for _, each := range Of(name, []byte(text)) {
		fmt.Fprintf(&b, "%d-%d %s\n", each.Start, each.End, each.Title())
	}
	return b.String()
}

func TestDefinitionsAreFoundWithTheirLines(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a.go", "package a\n\n// T is one.\ntype T struct {\n\tN int\n}\n\nfunc (t *T) Do(\n\tn int,\n) error {\n\treturn nil\n}\n\nconst " +
			"Max = 3\n",
			"4-6 type T\n5-5 field T.N\n8-12 method T.Do\n14-14 const Max\n"},
		{"i.go", "package a\n\ntype I interface {\n\tGet() int\n}\n", "3-5 type I\n4-4 method I.Get\n"},
		{"a.py", "LIMIT = 3\n\nclass A(B):\n    size: int = 1\n\n    def f(\n        self,\n    ) -> int:\n        \"\"\"\ndef no(): pass\n   " +
			"     \"\"\"\n        x = 1\n        return x\n\ndef g(): return 1\n",
			"1-1 var LIMIT\n3-13 type A\n4-4 var A.size\n6-13 method A.f\n15-15 func g\n"},
		{"a.rb", "module M\n  class A\n    attr_reader :size\n    def ok?(n)\n      n > 1\n    rescue E\n      nil\n    end\n    private " +
			":ok?\n  end\nend\n",
			"1-11 module M\n2-10 type A\n3-3 field A.size\n4-8 method A.ok?\n"},
		{"a.ts", "export interface I {\n  name?: string\n}\nexport const f = async (n: number) => {\n  const local = 1\n  return n\n}\nclass " +
			"A {\n  run(n: number): void {\n    if (n) {\n      go(n)\n    }\n  }\n}\n",
			"1-3 type I\n2-2 field I.name\n4-7 func f\n8-14 type A\n9-13 method A.run\n"},
		{"a.rs", "pub struct S {\n    pub n: u32,\n}\n\nimpl<T> Tr for S {\n    pub async fn run(&self) -> u32 {\n        self.n\n    }\n}\n",
			"1-3 type S\n2-2 field S.n\n5-9 type S\n6-8 method S.run\n"},
		{"A.java", "public class A {\n    private final int n = 1;\n\n    @Override\n    public String name(int a, int b) {\n        return " +
			"call(a);\n    }\n}\n",
			"1-8 type A\n2-2 field A.n\n5-7 method A.name\n"},
		{"A.cs", "namespace N\n{\n    class A\n    {\n        public void Run(int n)\n        {\n            go(n);\n        }\n    }\n}\n",
			"1-10 module N\n3-9 type A\n5-8 method A.Run\n"},
		{"B.cs", "class B\n{\n    public static (int, List<int>) Split(int n)\n    {\n        if (n > 1, n < 2) Go(n);\n    }\n}\n",
			"1-7 type B\n3-6 method B.Split\n"},
		{"C.cs", "class C\n{\n    public int Run(\n        int n\n    )\n        where T : A\n    {\n        " +
			"Go(n);\n    }\n\n    public int N() => 1;\n" +
			"    private const int Most = 3;\n    public object Root => this;\n}\n",
			"1-14 type C\n3-9 method C.Run\n11-11 method C.N\n12-12 field C.Most\n13-13 field C.Root\n"},
		{"a.cpp", "namespace a {\n\nclass B;\n\nconst std::string name = \"b\";\n\nvoid B::Inner::Run(int n) {\n  " +
			"Other(n);\n}\n\nB::B(int n)\n    : n_(n) {\n  " +
			"Start();\n}\n\nB& B::operator=(B&& other) {\n  return *this;\n}\n\nint size() { return 1; }\n\nstruct B::Inner {\n  int n;\n};\n}\n",
			"1-1 module a\n7-9 method Inner.Run\n11-14 method B.B\n16-18 method B.operator=\n20-20 func size\n22-24 type Inner\n"},
		{"a_test.cc", "TEST(App, Moves) {\n  run();\n}\n", "1-3 test TEST(App, Moves)\n"},
		{"a.dart", "T take<T>({\n  Object? value,\n}) {\n  return value;\n}\n\nclass A {\n  void flush() => stop();\n}\n",
			"1-5 func take\n7-9 type A\n8-8 method A.flush\n"},
		{"a.ex", "defmodule A.B.C do\n  def run(n) do\n    n\n  end\nend\n", "1-5 module C\n2-4 func C.run\n"},
		{"c.rb", "class A::B::C\n  def run\n    1\n  end\nend\n", "1-5 type C\n2-4 method C.run\n"},
		{"a.kt", "fun <T> String.twice(n: Int): String {\n    return this\n}\n\nval size = 3\n", "1-3 func twice\n5-5 var size\n"},
		{"b.kt", "class B {\n    val size = 1\n    init {\n        val accepts = 2\n    }\n}\n", "1-6 type B\n2-2 var B.size\n"},
		{"heads.ts", "const f = async (\n  n: number,\n) => {\n  go(n)\n}\nconst ids = new Set(all.map((a) => a.id))\nexport class A<\n  T,\n> " +
			"extends B<T> {\n  run(n: number): Promise<T>;\n  override run<R extends Array<T>>(\n    n: R,\n  ): C<\n    T,\n    T,\n" +
			"    T,\n    T,\n    T\n  > {\n    go(n)\n  }\n" +
			"  #own() { return 1 }\n}\nimport {\n  type Other,\n} from 'o'\nvar a = (function () {\n  " +
			"function g() {\n  }\n}())\n",
			"1-5 func f\n6-6 const ids\n7-23 type A\n10-10 method A.run\n11-21 method A.run\n22-22 method A.own\n27-30 var a\n28-29 func g\n"},
		{"heads.c", "static int\nrun(int a,\n    int b)\n{\nagain:\n\tgo(a);\n}\n\nint declared(int a,\n    struct b *b);\n\n" +
			"typedef struct S_ {\n   int n;\n} S;\n", "2-7 func run\n12-14 type S_\n"},
		{"heads.cpp", "class A {\npublic:\n  A(int n) : n_(n) {}\n  [[nodiscard]] bool operator()(int n) const {\n    return n;\n  }\n};\n" +
			"std::move(a),\n", "1-7 type A\n3-3 method A.A\n4-6 method A.operator()\n"},
		{"Heads.java", "interface I {\n    byte[] read(String path) throws E;\n\n    <T extends @N Object> T take(T t);\n}\n\nenum E {\n" +
			"    A(1);\n\n    static final List<A> ALL = new Of<A>(1) {\n    };\n\n    E(int n) {\n    }\n}\n\n@interface N {}\n",
			"1-5 type I\n2-2 method I.read\n4-4 method I.take\n7-15 type E\n10-11 field E.ALL\n13-14 method E.E\n17-17 type N\n"},
		{"heads.cs", "record struct R(int N);\nclass A : I\n{\n    [Test, Culture(\"fr\")]\n" +
			"    void I.Run<T>()\n        where T : B, new()\n    {\n    }\n}\n",
			"1-1 type R\n2-9 type A\n5-8 method A.Run\n"},
		{"heads.dart", "mixin A {\n  int get size => 1;\n  String _$hash() => 'a';\n  void run(int n);\n  final void Function(int)? done;\n}\n",
			"1-6 type A\n2-2 method A.size\n3-3 method A._$hash\n4-4 method A.run\n"},
		{"heads.kt", "actual fun `is one`() {\n}\nfun Map<String, Int>.twice() = this\n", "1-2 func is one\n3-3 func twice\n"},
		{"heads.scala", "private[a] final case class A(n: Int) {\n  implicit def run: Int = 1\n  n must be(1)\n}\ncase class B(n: Int)\n",
			"1-4 type A\n2-2 method A.run\n5-5 type B\n"},
		{"heads.rs", "impl AsRef<[u8]> for &'a mut S {\n    pub unsafe extern \"C\" fn run<F>(\n        f: F,\n    ) -> u8\n    where\n" +
			"        F: G,\n    {\n        f()\n    }\n}\n", "1-10 type S\n2-9 method S.run\n"},
		{"heads.swift", "package actor A {\n}\n", "1-2 type A\n"},
		{"text.ts", "function f() {\n  return `\nfunction no() {\n}\n`\n}\n// a ` in a comment\nfunction g() {\n}\n",
			"1-6 func f\n8-9 func g\n"},
		{"text.php", "function f() {\n    $a = <<<SQL\nfunction no() {\nSQL;\n    return $a;\n}\n/*\n function no() {\n */\n", "1-6 func f\n"},
		{"text.py", "def f():\n    go(1)\n    return \"\"\"\nno\n\"\"\"\n\n\nx = 1\n", "1-5 func f\n8-8 var x\n"},
		{"text.rb", "def f\n  go <<~EOS\ndef no\n  EOS\n  1\nend\nlist = a <<-NEVER\ndef g\nend\n", "1-6 func f\n7-7 var list\n8-9 func g\n"},
		{"notes.txt", "def f():\n", ""},
		{"broken.go", "package a\n\nfunc F() {\n\tgo(\n}\n", "3-5 func F\n"},
	} {
		if got := listed(test.name, test.text); got != test.want {
			t.Errorf("%s:\n%swant\n%s", test.name, got, test.want)
		}
	}
}

func TestTestsWithinAFileOfRustAreFound(t *testing.T) {
	for text, want := range map[string][2]int{
		"fn a() {\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n": {4, 7},
		"mod test {\n    fn b() {}":             {0, 2},
		"pub mod test_utils {\n}\n":             {0, 2},
		"mod latest {\n}\n":                     {0, 0},
		"fn a() {\n    mod tests {\n    }\n}\n": {0, 0},
	} {
		if first, last := InlineTests("a.rs", lines([]byte(text))); first != want[0] || last != want[1] {
			t.Errorf("%q: from %d to %d", text, first, last)
		}
	}
	if first, last := InlineTests("a.py", []string{"mod tests {"}); first != 0 || last != 0 {
		t.Error("a file of another language has tests like those of Rust")
	}
}

func FuzzBlocksStayWithinTheFile(f *testing.F) {
	f.Add("a.py", "class A:\n  def f(): pass\n")
	f.Add("a.go", "package a\nfunc F() {}\n")
	f.Add("a.ts", "}\n)\n{\nfunction f() {")
	f.Fuzz(func(t *testing.T, name, text string) {
		n := len(lines([]byte(text)))
		for _, b := range Of(name, []byte(text)) {
			if b.Start < 1 || b.End > n+1 || b.Start > b.End || b.Body < b.Start {
				t.Errorf("%q: %+v in %d lines", text, b, n)
			}
		}
	})
}

func TestEnclosingDefinitionIsFound(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a.go", "func (s *Store) Get(\n\tid int,\n) error {\n\tif id > 1 {\n\t\tHERE\n", "Store.Get"},
		{"a.go", "type I interface {\n\tHERE\n", "I"},
		{"a.py", "class A:\n    def f(\n        self,\n    ) -> int:\n        if x:\n            HERE\n", "A.f"},
		{"a.py", "def f():\n    pass\n\nHERE\n", ""},
		{"A.cs", "class A\n{\n    void Run(\n        int n)\n    {\n        if (n)\n        {\n            HERE\n", "A.Run"},
		{"a.c", "static int\nrun(int n)\n{\n\tgo();\nagain:\n\tHERE\n", "run"},
		{"a.rb", "class A\n  def run\n    go\n  rescue E\n    HERE\n", "A.run"},
		{"a.spec.ts", "describe('store', () => {\n  it('gets', () => {\n    HERE\n", "it('gets"},
		{"a.md", "# One\n\n## Two\n\ntext\nHERE\n", "Two"},
		{"a.yaml", "jobs:\n  test:\n    run: HERE\n", "test"},
	} {
		all := lines([]byte(test.text))
		if got := SurroundingsOf(test.name, all).Around(len(all) - 1); got != test.want {
			t.Errorf("%s: %q stands around, want %q", test.text, got, test.want)
		}
	}
}

// TestStringsWithoutEndAreReadOnce reads a file in which each line begins a string that never ends. 16 times as many take
// about 16 times as long, and 256 times if each is searched to the end of the file.
func TestStringsWithoutEndAreReadOnce(t *testing.T) {
	best := func(many int) time.Duration {
		fastest := time.Duration(math.MaxInt64)
		for range 3 {
			started := time.Now()
			got := listed("a.rb", strings.Repeat("<<~A\n", many)+"def last\nend\n")
			fastest = min(fastest, time.Since(started))
			if want := fmt.Sprintf("%d-%d func last\n", many+1, many+2); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		return fastest
	}
	if once, more := best(2500), best(40_000); more > 64*once {
		t.Errorf("%s, and %s for 16 times as many", once, more)
	}
}

// TestWhatEnclosesALineIsFoundFarAbove checks that neither many lines nor many questions take long.
func TestWhatEnclosesALineIsFoundFarAbove(t *testing.T) {
	t.Parallel()
	const many = 40_000
	for name, test := range map[string]struct{ first, each, want string }{
		"a.py":   {"class Shop:\n", "    item,\n\n", "Shop"},
		"b.py":   {"class Shop:\n    def sell(self):\n", "        item,\n", "Shop.sell"},
		"c.java": {"class Shop {\n", "  void sell() {\n    item();\n  }\n\n", "Shop.sell"},
		"a.md":   {"# Shop\n", "- item\n", "Shop"},
	} {
		lines := strings.Split(test.first+strings.Repeat(test.each, many), "\n")
		s := SurroundingsOf(name, lines)
		asked := 0
		for at, line := range lines {
			if strings.Contains(line, "item") {
				asked++
				if got := s.Around(at); got != test.want {
					t.Fatalf("line %d of %s is in %q", at, name, got)
				}
			}
		}
		if asked != many {
			t.Errorf("%s has %d such lines", name, asked)
		}
	}
}

// TestByLineFindsWhatInnermostFinds compares them on blocks that are nested, overlap, or have the same lines.
func TestByLineFindsWhatInnermostFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var blocks []Block
		for i := range random.IntN(12) {
			start := 1 + random.IntN(20)
			blocks = append(blocks, Block{Kind: []string{"func", "type"}[random.IntN(2)], Name: fmt.Sprint(i), Start: start,
				End: start + random.IntN(10)})
		}
		for _, wanted := range []func(Block) bool{Block.Callable, func(Block) bool { return true }, func(Block) bool { return false }} {
			at := ByLine(blocks, wanted)
			for line := -1; line < 40; line++ {
				got, found := at(line)
				if want, ok := Innermost(blocks, line, wanted); got != want || found != ok {
					t.Fatalf("line %d of %+v: %+v, want %+v", line, blocks, got, want)
				}
			}
		}
	}
}

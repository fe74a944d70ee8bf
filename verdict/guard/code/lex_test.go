package code

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The content of strings and comments is not code, in the syntax of each language.
func TestLex(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"a Go raw string", "a.go", "x := `it's \"// no` // yes", "x :="},
		{"a Go rune", "a.go", `x = '"' + y`, "x = + y"},
		{"nested templates", "a.ts", "a(`x ${b(`y ${\"}\"}`)} z`, c)", "a ( , c )"},
		{"a regular expression", "a.js", `a = /["'/]/.test(b) / 2`, "a = . test ( b ) /"},
		{"an apostrophe in JSX", "a.tsx", "<p>don't</p>\nb", "< p > don ' t < / p > b"},
		{"a docstring", "a.py", "def f():\n    '''def test_x(): \"'''\n    return rb\"\\\"\" + x", "def f ( ) : return + x"},
		{"a here-document", "a.rb", "a(<<~SQL, b)\n  it 'x' do\nSQL\nc", "a ( , b ) c"},
		{"a word list", "a.rb", "%w[it 'x do] + a % b", "+ a % b"},
		{"an interpolation", "a.rb", `puts "#{a["}"]} it" + b`, "puts + b"},
		{"a block comment of Ruby", "a.rb", "=begin\ndef x\n=end\na", "a"},
		{"a nested comment", "a.rs", "/* a /* b */ c */ d", "d"},
		{"a raw string of Rust", "a.rs", `r#"it's " // "# + 'a' + b`, "+ + b"},
		{"a raw string of Rust without hashes", "a.rs", `r"a\" + r#"# b"# + c`, "+ + c"},
		{"a lifetime", "a.rs", `fn f<'a>(x: &'a str) {}`, "fn f < ' a > ( x : & ' a str ) { }"},
		{"a verbatim string", "a.cs", `var s = @"c:\" + $"{d["}"]}" + e;`, "var s = + + e ;"},
		{"a preprocessor's line", "a.cs", "#if \"\nx", "x"},
		{"a text block", "A.java", "x(\"\"\"\n  say \"hi\" // no\n  \"\"\", 'c')", "x ( , )"},
		{"a name in backticks", "A.kt", "fun `it's done`() = \"${a(\"}\")}\"", "fun `it's done` ( ) ="},
		{"an attribute of PHP", "a.php", "#[Test]\n# no\nfunction a() { return <<<EOT\n x(\nEOT; }", "# [ Test ] function a ( ) { return ; }"},
		{"a raw string of C++", "a.cc", `auto s = R"x(")" )x" + 1'000;`, "auto s = + ;"},
		{"a string of Swift", "a.swift", `let a = "\(b("x")) it" + #"\" "# + c`, "let a = + + c"},
		{"a sigil", "a.exs", "x = ~s(it's) <> ?\" <> y", "x = < > < > y"},
		{"a comment of C that goes on", "a.c", "a; // b \\\nc;\nd;", "a ; d ;"},
		{"a comment behind a directive", "a.c", "#endif // a/*.c\nb", "b"},
		{"marks of a comment over two lines", "a.c", "/\\\n* a *\\\n/ b", "b"},
		{"a comment in a directive", "a.c", "#define A /* b\nc */ 1\nd", "d"},
		{"an escaped line feed of Java", "A.java", "// a \\u000a b();\nx = \"\\\\u0022\";", "b ( ) ; x = ;"},
		{"an escaped comment of Java", "A.java", "a; \\u002f\\u002a b; \\uu002a/ c;", "a ; c ;"},
		{"a carriage return in a comment", "a.js", "// a\rb();\n// c\r\nd", "b ( ) ; d"},
		{"a next line in a name", "a.cs", "a\u0085b", "a b"},
		{"a division after an increment", "a.js", "n++ / 1; /*/\na\n/*/ b", "n + + / ; b"},
		{"a regular expression after a head", "a.js", "if (a) /[/*]/.test(b); (c) / 2; /* d */ e", "if ( a ) . test ( b ) ; ( c ) / ; e"},
		{"a regular expression after a word", "a.js", "export default /a//*\nb*/; c.in / 2 / /*'*/ d", "export default ; c . in / / d"},
		{"a comment of PHP that its code ends", "a.php", "<?php a(); // b ?> c() <?php d();", "< ? php a ( ) ; < ? php d ( ) ;"},
		{"text around PHP's code", "a.php", "<p>it's</p><?= a ?>'\n<? b", "< ? = a < ? b"},
		{"a here-document of PHP", "a.php", "a(<<<X\n XY(\n X, b)\nc", "a ( , b ) c"},
		{"a here-document of a shell", "a.sh", ": <<'X Y'\n a\n X Y\nX Y\nb <<<c; d <<-E | f\n\tE\ng", ": b <<< c ; d | f g"},
		{"a string of a shell with escapes", "a.sh", "a $'\\'' # b\nc", "a c"},
		{"an end of PHP's code alone", "a.php", "?> a", ""},
		{"a string that does not end", "a.java", "x = \"abc\ny = 1", "x = \" abc y ="},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lex(c.text, languageOf(c.file))
			var got []string
			for i, tok := range s.tokens {
				if tok.kind == word || tok.kind == sign {
					got = append(got, s.of(i))
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, " "), c.want)
			}
		})
	}
}

// What compilers read in different ways, or only a parser can tell, is said.
func TestLexIsNotSure(t *testing.T) {
	for _, c := range []struct {
		file, text string
		lines      []int
	}{
		{"a.js", "a\n// b\rc\n// d\r\n", []int{2}},
		{"a.cs", "// a\u0085b\n'\u0085'\na\u2028b", []int{1, 3}},
		{"a.js", "n! / 1; /*/\nreturn /1 / 2", []int{1}},
		{"a.js", "{}\n/a//*/", []int{2}},
		{"a.tsx", "<b>{x}</b><i a={b}/>\n", nil},
		{"a.c", "// a \\ \nb\n// c\n", []int{1}},
		{"a.c", "\"??/\"\n#define A '\"' /*\n", []int{1, 2}},
		{"a.c", "#define A(b) \\\n  b\n#define C \"/*\" /* d */\n", nil},
		{"a.cc", "R\"(a)\\\n\" b\"", []int{1}},
		{"a.rb", "a << b\na <<B\nB\na <<b\nb(<<`c`)\n[]<<_c", []int{4, 5}},
		{"a.sh", "$((1 << a))\ncat <<a'b'\nab\n", []int{1, 2}},
		{"a.sh", "cat <<a\n(( <<b\na\nc=$((1<<2))", nil},
	} {
		if s := lex(c.text, languageOf(c.file)); !slices.Equal(s.unsure, c.lines) {
			t.Errorf("%s %q: not sure of %v, want %v", c.file, c.text, s.unsure, c.lines)
		}
	}
}

// TestLexTakesLinearTime: what ends lines, or only looks like a here-document, is not read again and again.
func TestLexTakesLinearTime(t *testing.T) {
	for file, part := range map[string]string{"a.js": "//\u2028", "b.js": "a\u2028", "c.js": "\r", "a.c": "#if /*\n*/", "b.c": "#/**/",
		"a.sh": "((<<a "} {
		text := strings.Repeat(part, 8<<20/len(part))
		done := make(chan bool)
		go func() {
			lex(text, languageOf(file))
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(time.Minute): // when the time was quadratic, it took hours
			t.Fatalf("%s: %q takes too long", file, part)
		}
	}
}

// Tests are found where the runners of each language find them.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"one line of Kotlin", "ATest.kt", "class A {\n  @Test fun x() {\n    a()\n  }\n  @Test fun `y z`() = runTest { b() }\n  fun no() {}\n}",
			[]string{"A.x", "A.y z"}},
		{"nested classes", "ATest.java", "class A { @Nested class B { @ParameterizedTest(name = \"x\") @CsvSource({\"1\"})\n void y(int a) " +
			"throws E {} } void no() {} }", []string{"A.B.y"}},
		{"groups with titles", "a.test.ts", "describe('a', () => { it.each([[1]])('b %s', async (x) => { f(x) }); test.describe(\"c\", () => " +
			"{ test('d', fn) }) })\n/x/.test(y)", []string{"a.b %s", "a.c.d"}},
		{"an object's key", "src/a.ts", "const a = { fit: 1, it: 2 }; box.fit(2); fit('x')", nil},
		{"a module of Rust", "src/a.rs", "fn no() {}\n#[cfg(test)]\nmod tests {\n #[tokio::test(flavor = \"x\")]\n async fn b() { " +
			"assert!(c()) }\n #[crate::test] fn d() {} }", []string{"tests.b", "tests.d"}},
		{"classes of Python", "tests/test_a.py",
			"def test_a(): pass\nclass TestB:\n    @pytest.mark.parametrize(\n        'x', [1],\n    )\n    async def test_c(self):\n        def " +
				"test_no(): pass\n    def no(self): pass\nclass Other:\n    def test_no(self): pass", []string{"test_a", "TestB.test_c"}},
		{"a base class of tests", "tests/test_a.py", "class Base:\n    def test_a(self): pass\nclass TestB(Base):\n    pass",
			[]string{"Base.test_a"}},
		{"blocks of Ruby", "spec/a_spec.rb", "RSpec.describe A do\n  context 'b' do\n    it 'c' do\n      x if y\n      z.each do |q| end\n   " +
			" end\n    it { d }\n  end\n  def no = 1\nend\n", []string{"A.b.c", "A.b."}},
		{"methods of Ruby", "test/a_test.rb", "class ATest < Minitest::Test\n  def test_a\n    while x do y end\n  end\n  def no; end\nend",
			[]string{"ATest.test_a"}},
		{"attributes of C#", "ATests.cs", "namespace N { public class A { [Fact] public async Task B() => await C(); [Theory, " +
			"InlineData(1)]\npublic void D(int x) { } public int No() { return 1; } } }", []string{"N.A.B", "N.A.D"}},
		{"subtests of Go", "a_test.go", "package a\nfunc TestA(t *testing.T) { t.Run(\"b\", func(t *testing.T) {}) }\nfunc Testify() {}\nfunc " +
			"helper() {}", []string{"TestA", "TestA.b"}},
		{"methods of Swift", "ATests.swift", "class A: XCTestCase { func testB() throws { } func no() { } }\n@Test(\"x\") func c() { }",
			[]string{"A.testB", "c"}},
		{"functions of PHP", "ATest.php", "<?php class A extends T { public function testB(): void { } #[Test]\n public function c() { } " +
			"function no() {} }", []string{"A.testB", "A.c"}},
		{"macros of C++", "a_test.cc", "TEST_F(A, B) { EXPECT_EQ(1, x()); }\nint no(int a) { return 1; }", []string{"A , B"}},
		{"calls of Dart", "a_test.dart", "void main() { group('a', () { test('b', () async { }); }); }", []string{"main.a.b"}},
		{"blocks of Elixir", "a_test.exs", "defmodule A do\n  describe \"b\" do\n    test \"c\", %{d: e} do\n      assert true\n    end\n  " +
			"end\nend", []string{"A.b.c"}},
		{"calls of Scala", "ASpec.scala", "class A extends FunSuite { test(\"b\") { assert(c) } }", []string{"A.b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, u := range parse(c.file, []byte(c.text), languageOf(c.file)).having(test) {
				got = append(got, strings.ReplaceAll(u.path(), "\x00", "."))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

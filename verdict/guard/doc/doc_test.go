package doc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"touchstone/verdict/guard/doc"
)

// flat returns the paths, lines and values of a tree as text.
func flat(n *doc.Node, prefix string) []string {
	var out []string
	for _, item := range n.Items {
		name := prefix + "." + item.Key
		if n.Kind == doc.List {
			name = prefix + "[]"
		}
		if item.Kind == doc.Scalar {
			out = append(out, fmt.Sprintf("%s:%d=%s", strings.TrimPrefix(name, "."), item.Line, item.Value))
		}
		out = append(out, flat(item, name)...)
	}
	return out
}

func TestEveryFormatIsATreeWithLines(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want string }{
		"YAML":            {"a.yml", "on: x\n'b' : {c: [1, \"two\"]}\n", "on:1=x b.c[]:2=1 b.c[]:2=two"},
		"YAML anchors":    {"a.yml", "a: &x\n    k: 1\nb:\n    <<: *x\n    l: 2\nc: *x\n", "a.k:2=1 b.k:2=1 b.l:5=2 c.k:2=1"},
		"YAML block text": {"a.yml", "run: |\n  one\n  two\n", "run:1=one\ntwo\n"},
		"JSON":            {"a.json", "{\n// note\n\"a\": [1, true,],\n \"b\": {\"c\": \"d\"}\n}", "a[]:3=1 a[]:3=true b.c:4=d"},
		"TOML": {"a.toml", "x = 1\n[t.\"u.v\"]\nl = [\n 'a',\n \"b\"]\n[[r]]\nk = {i.j = 2}\n",
			"x:1=1 t.u.v.l[]:4=a t.u.v.l[]:5=b r[].k.i.j:7=2"},
		"XML": {"a.xml", "<p a=\"1\">\n <q>text</q>\n <q/>\n</p>", "p.@a:1=1 p.q:2=text p.q:3="},
		"INI": {"a.ini", "top = 0\n[s]\nk = v\nlist =\n  a\n  b\n", "top:1=0 s.k:3=v s.list:4=a\n  b"},
		"a script": {"a.config.ts", "import x from 'y';\nexport default defineConfig({\n  test: {\n    thresholds: { lines: 80 }, // note: " +
			"90\n    exclude: ['a', \"b\"],\n    on: true\n  }\n})",
			"from:1=y defineConfig..test.thresholds.lines:4=80 defineConfig..test.exclude[]:5=a defineConfig..test.exclude[]:5=b " +
				"defineConfig..test.on:6=true"},
		"a Gradle script": {"build.gradle.kts", "plugins {\n  id(\"x\") \n}\ntest {\n  ignoreFailures = true\n  minimum = 0.8\n}",
			"plugins.id:2=x test.ignoreFailures:5=true test.minimum:6=0.8"},
		"an empty document": {"a.yml", "\n", ""},
	} {
		n, err := doc.Parse(tt.file, []byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(flat(n, ""), " "); got != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tt.want)
		}
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	for name, tt := range map[string]struct {
		file, text string
		large      bool // a bound refuses the document
	}{
		"broken YAML": {"a.yml", "a:\n\t- b\n", false}, "broken JSON": {"a.json", "{\"a\": ", false},
		"broken TOML": {"a.toml", "a = [1\n", false},
		"broken XML":  {"a.xml", "<a><b></a>", false},
		"nested JSON": {"a.json", strings.Repeat("[", 500_000), true}, "nested YAML": {"a.yml", strings.Repeat("- ", 500_000), true},
		"nested TOML": {"a.toml", "a=" + strings.Repeat("[", 500_000), true},
		"nested XML":  {"a.xml", strings.Repeat("<a>", 100_000), true}, "an alias bomb": {"a.yml", bomb, true},
		"a large file": {"a.yml", strings.Repeat("a: b\n", 1<<20), true},
		"many keys":    {"a.yml", strings.Repeat("a: b\n", 100_000), true}, "an unknown format": {"a.docx", "x", false},
		"many values": {"a.ini", strings.Repeat("a=b\n", 21_000), true},
	} {
		var err error
		made := testing.AllocsPerRun(1, func() { _, err = doc.Parse(tt.file, []byte(tt.text)) })
		if err == nil || errors.Is(err, doc.ErrTooLarge) != tt.large {
			t.Errorf("%s ends in %v", name, err)
		}
		// The work on a refused document grows only with its size: at most this many objects. The few lines of
		// the alias bomb may make as many objects as one tree.
		if most := max(100_000, 4*float64(len(tt.text))); made > most {
			t.Errorf("%s: %.0f objects are made of %d bytes", name, made, len(tt.text))
		}
	}
}

func TestTokens(t *testing.T) {
	kinds := map[doc.TokenKind]string{doc.Comment: "comment", doc.String: "string", doc.Number: "number", doc.Word: "word", doc.Mark: "mark"}
	for text, want := range map[string]string{
		"a: 'b//c', // d\n\"e\\\"f\"":        "word a|mark :|string 'b//c'|mark ,|comment // d|string \"e\\\"f\"",
		"x = /a[/]\"b/g; y = 4 / 2 / z":      "word x|mark =|string /a[/]\"b/|word g|mark ;|word y|mark =|number 4|mark /|number 2|mark /|word z",
		"(a) / b / c":                        "mark (|word a|mark )|mark /|word b|mark /|word c",
		"sh '''a\n'b' '''\nsh \"\"\"c\"\"\"": "word sh|string '''a\n'b' '''|word sh|string \"\"\"c\"\"\"",
		"`a\n${b}` /* c\nd */ e":             "string `a\n${b}`|comment /* c\nd */|word e",
		"\"a${if (b) \"c\" else d}\" '${' e": "string \"a${if (b) \"c\" else d}\"|string '${'|word e",
		"\"${\" \"a\"":                       "string \"${\"|string \"a\"",
		"'open\nnext /* open":                "string 'open|word next|comment /* open",
		"#!/usr/bin/env x\n@a $b_1 0.8.":     "comment #!/usr/bin/env x|word @|word a|word $b_1|number 0.8|mark .",
	} {
		var got []string
		whole, line := "", 1
		for _, token := range doc.Tokens([]byte(text)) {
			if token.Line != line {
				t.Errorf("%q is in line %d, not %d", token.Text, line, token.Line)
			}
			whole, line = whole+token.Text, line+strings.Count(token.Text, "\n")
			if token.Kind != doc.Space {
				got = append(got, kinds[token.Kind]+" "+token.Text)
			}
		}
		if strings.Join(got, "|") != want || whole != text {
			t.Errorf("%q:\ngot  %q\nwant %q", text, strings.Join(got, "|"), want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.yml", []byte("a: &x [1]\nb: *x\n"))
	f.Add("a.ts", []byte("({a: [1, 'x'], b(c) {}})"))
	f.Add("a.toml", []byte("[a]\nb.c = {d = 1}\n"))
	f.Add("a.ini", []byte("[a]\nb = c\n d\n"))
	f.Add("a.xml", []byte("<a b='c'>d</a>"))
	f.Add("a.json", []byte("{\"a\": [null] /* x */}"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if n, err := doc.Parse(name, content); (n == nil) == (err == nil) {
			t.Fatal("neither a tree nor an error, or both")
		}
	})
}

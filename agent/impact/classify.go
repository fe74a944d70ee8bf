package impact

import (
	"path"
	"slices"
	"strings"

	"touchstone/agent/outline"
	"touchstone/guidelines"
	"touchstone/worktree/lazyregexp"
)

// fileKinds are the kinds of files, by their names in guidelines. CI comes before configuration, since a file
// that is both is CI.
var fileKinds = []struct{ kind, word string }{{"test", "tests"}, {"CI", "ci"}, {"document", "docs"}, {"configuration", "config"}}

// kindOf returns a file's kind: test, CI, document, configuration, or empty for code.
func kindOf(file string) string {
	words := guidelines.FileWords(file)
	for _, k := range fileKinds {
		if words[k.word] {
			return k.kind
		}
	}
	return ""
}

// kind returns the kind of a file and remembers it.
func (f *finder) kind(file string) string {
	kind, known := f.kinds[file]
	if !known {
		kind = kindOf(file)
		f.kinds[file] = kind
	}
	return kind
}

var (
	importing = lazyregexp.New(`^\s*(?:(?:pub\s+)?(?:use|mod)\s|import\b|from\s|using\s|#include\b|(?:require|require_relative` +
		`|autoload)[\s(]+[:'"])|\bfrom\s+['"]|^\s*export\s+\{|\brequire\(['"]`)
	extending = lazyregexp.New(`\b(?:class|interface|trait|struct|object|impl|record|enum|type)\b.*(?::|<|\(|\bextends\b` +
		`|\bimplements\b|\bfor\b)`)
	graphNote = lazyregexp.New(`@graph-([\w-]+)`)
)

// imported reports whether a line imports something. The cheap checks exclude most lines before the
// expression runs.
func imported(line string) bool {
	text := strings.TrimLeft(line, " \t")
	starts := func(word string) bool { return strings.HasPrefix(text, word) }
	return (slices.ContainsFunc(importers, starts) || strings.Contains(text, "from") || strings.Contains(text, "require(")) &&
		importing.MatchString(line)
}

// importers are the beginnings of most import lines.
var importers = []string{"import", "use ", "pub ", "mod ", "using ", "#include", "require", "autoload", "export "}

// maxLine bounds the examined lines, in bytes: people do not write longer ones.
const maxLine = 500

// classify says what a line does with a name in it, and how useful that is to a reader. It returns nothing if
// the name most likely means something else.
func classify(n Name, file, kind, line string, at int) (what string, rank int) {
	if len(line) > maxLine {
		return "", 0
	}
	before, after := line[:at], line[at+len(n.Name):]
	if m := graphNote.FindStringSubmatch(line); m != nil {
		return m[1] + ", says @graph", 9
	}
	switch kind {
	case "document":
		return spoken(n, before, after, "document", 5)
	case "CI", "configuration":
		return spoken(n, before, after, kind, 6)
	}
	if !outline.Knows(file) {
		return spoken(n, before, after, "text", 3)
	}
	text := strings.TrimSpace(line)
	quoted := strings.Count(before, `"`)%2 == 1 || strings.Count(before, "'")%2 == 1 || strings.Count(before, "`")%2 == 1
	if comment.MatchString(line) || strings.Contains(before, "// ") || strings.Contains(before, " # ") {
		return spoken(n, before, after, "comment", 2)
	}
	if !outlined(n) {
		return "names", 8
	}
	if b, ok := outline.Begins(file, line); ok && b.Name == n.Name {
		return alsoDefines(n, file, b)
	}
	switch {
	case quoted && n.Kind == "field" && !distinct(n.Name):
		return "", 0
	case quoted:
		return spoken(n, before, after, "string", 3)
	case extending.MatchString(before) && n.Kind == "type":
		return "extends", 9
	case n.Kind == "type" && n.In != "" && strings.HasSuffix(n.Path, ".rs") && find(before, n.In) < 0:
		return "", 0 // an associated type such as Item, which each implementation has
	case imported(text), strings.TrimSuffix(text, ",") == n.Name:
		return "imports", 4
	case !reaches(n, file, before, after):
		return "", 0
	}
	test := 0
	if kind == "test" {
		test = 3
	}
	if n.Kind == "field" {
		if assigns.MatchString(after) || strings.HasPrefix(after, ":") && !strings.HasPrefix(after, "::") {
			return "writes", 10 - test
		}
		return "reads", 8 - test
	}
	if strings.HasPrefix(after, "(") || strings.HasPrefix(after, "!(") || strings.HasPrefix(after, "<") && n.Kind != "type" {
		return "calls", 10 - test
	}
	return "uses", 7 - test
}

// alsoDefines classifies another definition of the same name: for a method, an override, an implementation or
// the interface; otherwise something else.
func alsoDefines(n Name, file string, b outline.Block) (string, int) {
	switch {
	case n.Kind == "method" && b.Callable():
		return "also defines", 6
	case file == n.Path && b.Kind == "type":
		return "", 0 // continued there
	case n.Kind == b.Kind && path.Dir(file) == path.Dir(n.Path):
		return "also defines", 3
	case n.Kind == "func" && b.Callable() && len(n.Name) > 6:
		return "also defines", 1
	}
	return "", 0
}

// spoken classifies a name in a text that is not code. A name that could be an ordinary word counts only if
// it is written as code.
func spoken(n Name, before, after, what string, rank int) (string, int) {
	b, a := last(before), first(after)
	if prosaic[what] && n.member() && find(before, n.In) < 0 && find(after, n.In) < 0 {
		// The name may mean one of many members of this name, or be a word, unless it is written as code.
		if everyday[n.Name] || b != '`' && (!distinct(n.Name) || b != '.' && b != '#' && a != '(') {
			return "", 0
		}
	}
	if distinct(n.Name) {
		return what, rank
	}
	if a == '(' || strings.IndexByte("`.\"'#:", b) >= 0 && b != 0 && strings.IndexByte("`(\"'.,:=)", a) >= 0 && a != 0 &&
		(b != '.' || a != '.') {
		return what, rank
	}
	return "", 0
}

// prosaic are the kinds of text that people write in sentences.
var prosaic = set("document comment text")

// distinct reports whether a name differs from a language's ordinary words.
func distinct(name string) bool {
	for i := range len(name) {
		if c := name[i]; c == '_' && i > 0 || c == '-' || c == '/' || c == '.' || '0' <= c && c <= '9' ||
			i > 0 && 'A' <= c && c <= 'Z' && 'a' <= name[i-1] && name[i-1] <= 'z' {
			return true
		}
	}
	return len(name) > 13
}

// reaches reports whether code can mean this definition by its name, judging by the characters around the
// name: in most languages a method or a field follows a dot, as does a function of another Go package, and a
// function of the same package does not.
func reaches(n Name, file, before, after string) bool {
	dot := strings.HasSuffix(before, ".") || strings.HasSuffix(before, "->") || strings.HasSuffix(before, "::")
	if n.In != "" && dot && otherType(n, before) {
		return false
	}
	switch path.Ext(n.Path) {
	case ".go":
		if n.member() {
			return dot || strings.HasPrefix(after, ":") || declares(before, after)
		}
		if path.Dir(file) != path.Dir(n.Path) {
			return dot && lastWord(before[:len(before)-1]) != ""
		}
		return !dot || strings.HasSuffix(file, "_test.go")
	case ".py", ".js", ".ts", ".jsx", ".tsx", ".rs":
		return !n.member() || dot || declares(before, after) || strings.HasPrefix(after, ":") && !strings.HasPrefix(after, "::") ||
			strings.HasPrefix(after, "=")
	}
	return true
}

// otherType reports whether a name is accessed on a type that is not its own.
func otherType(n Name, before string) bool {
	qualified := strings.TrimRight(before, ".:")
	of := lastWord(qualified)
	ahead := last(qualified[:len(qualified)-len(of)])
	return of != "" && 'A' <= of[0] && of[0] <= 'Z' && of != n.In && of != "Self" && ahead != '.' && ahead != ':' &&
		!strings.HasSuffix(n.Path, ".go")
}

// declares reports whether a name begins its line and parameters follow: a method of an interface.
func declares(before, after string) bool {
	return strings.TrimSpace(before) == "" && strings.HasPrefix(after, "(")
}

func lastWord(text string) string {
	return text[len(strings.TrimRightFunc(text, func(r rune) bool { return !noWord(r) })):]
}

func last(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

func first(text string) byte {
	if text == "" {
		return 0
	}
	return text[0]
}

package code

import (
	"path"
	"regexp"
	"strings"
)

// layout is how a language marks the end of a block.
type layout uint8

const (
	braces layout = iota // { and }
	indent               // by indentation
	ends                 // do and end
)

// language is what the guard knows about one programming language.
type language struct {
	name   string
	layout layout

	// How words, comments and literals are written.
	line       []string // tokens that begin a comment to the end of the line
	block      string   // the token that begins a comment to "*/"; "" without such comments
	nested     bool     // such comments nest
	quotes     []quote  // longest first
	prefixes   []string // letters that may precede a quote, in lower case
	heredoc    string   // the token that begins a here-document
	closing    string   // the token that ends code, a comment included, up to the next "<?"
	regexps    bool     // /…/ is a literal
	backticks  bool     // `…` is a name
	dollar     bool     // "$" is a letter
	attributes bool     // "#[" begins an attribute rather than a comment
	// preprocessor says that lines which begin with "#" are for a preprocessor.
	preprocessor              bool
	python, ruby, rust, shell bool
	dashes                    bool // "-" joins words, and begins the options of commands, as in PowerShell

	// How units and tests are defined.
	newlines bool            // a statement may end with its line
	cstyle   bool            // a function is written as a type, a name and parameters
	define   map[string]bool // words before the name of a definition
	tests    func(*unit) bool
	calls    map[string]bool // functions that make a test when called with a title
	groups   map[string]bool // functions that make a group of tests
	macros   map[string]bool // macros that define a test: TEST(Suite, Name)
	// off match names of tests that keep them from running or failing, behind are words after a test and what they do to it.
	off    []*regexp.Regexp
	behind map[string]effect
	junit  bool // JUnit runs its tests
	// bare reports whether a word that ends a test does so without brackets; nil if it never does.
	bare  func(s *side, i int) bool
	infix map[string]role // words between the title of a test, or of a group, and its body
}

var (
	double     = quote{open: `"`, close: `"`}
	single     = quote{open: `'`, close: `'`}
	tripled    = quote{open: `"""`, close: `"""`, lines: true}
	tripled1   = quote{open: `'''`, close: `'''`, lines: true}
	rawTripled = quote{open: `"""`, close: `"""`, raw: true, lines: true}
	long       = quote{open: `"`, close: `"`, lines: true}
	long1      = quote{open: `'`, close: `'`, lines: true}
	template   = quote{open: "`", close: "`", lines: true, code: "${"}
	slashes    = []string{"//"}
	hash       = []string{"#"}
)

func always(*side, int) bool { return true }

// with returns a string quote with embedded code, which the given text begins.
func (q quote) with(code string) quote {
	q.code = code
	return q
}

// verbatim is a C# string in which only the quote is escaped, by writing it twice.
func verbatim(open, code string) quote {
	return quote{open: open, close: `"`, raw: true, doubled: true, lines: true, code: code}
}

const (
	containers = "class interface struct enum trait record object namespace mod module union protocol actor mixin extension impl "
	functions  = "fn fun func function def defp defmodule defmacro macro_rules type const "
)

// languages maps file extensions to the known languages.
var languages = func() map[string]*language {
	byExtension := map[string]*language{}
	definitions := set(containers + functions)
	for _, l := range []*language{
		{name: "Go go", line: slashes, block: "/*", newlines: true,
			calls:  set("It Specify FIt FSpecify PIt PSpecify XIt XSpecify"),
			groups: set("Describe Context When FDescribe FContext FWhen PDescribe PContext PWhen XDescribe XContext XWhen"),
			quotes: []quote{double, single, {open: "`", close: "`", raw: true, lines: true}}},
		{name: "Java java groovy", line: slashes, block: "/*", cstyle: true, junit: true, tests: annotated,
			quotes: []quote{tripled, tripled1, double, single}},
		{name: "Kotlin kt kts", line: slashes, block: "/*", nested: true, newlines: true, backticks: true, tests: annotated,
			quotes: []quote{rawTripled.with("${"), double.with("${"), single}, junit: true,
			off:   []*regexp.Regexp{regexp.MustCompile(`^!`)}, // Kotest's bang
			calls: set("test it should expect xtest xit xshould xexpect"), groups: set("describe context xdescribe xcontext")},
		{name: "C# cs", line: slashes, block: "/*", cstyle: true, preprocessor: true, tests: annotated, prefixes: []string{"$"},
			quotes: []quote{verbatim(`$@"`, "{"), verbatim(`@$"`, "{"), verbatim(`@"`, ""), {open: `$"""`, close: `"""`, raw: true, lines: true},
				rawTripled, {open: `$"`, close: `"`, code: "{"}, double, single}},
		{name: "Rust rs", line: slashes, block: "/*", nested: true, rust: true, prefixes: []string{"b", "c", "r", "br", "cr"},
			quotes: []quote{long}, tests: annotated},
		{name: "Python py pyi", layout: indent, line: hash, python: true, newlines: true, tests: named("test"), bare: always,
			prefixes: strings.Fields("r b u f t br rb fr rf tr rt"), quotes: []quote{tripled, tripled1, double, single}},
		{name: "Ruby rb rake", layout: ends, line: hash, ruby: true, newlines: true, heredoc: "<<", regexps: true, tests: named("test_"),
			quotes: []quote{long.with("#{"), long1, {open: "`", close: "`"}},
			calls:  set("it specify example scenario test should xit xspecify xexample fit fspecify pending skip"),
			groups: set("describe context feature xdescribe xcontext fdescribe fcontext shared_examples")},
		{name: "JavaScript js jsx mjs cjs ts tsx mts cts vue svelte", line: slashes, block: "/*", newlines: true,
			dollar: true, regexps: true, cstyle: true, quotes: []quote{template, double, single},
			calls: set("it test xit xtest fit ftest specify xspecify"), groups: set("describe context suite xdescribe fdescribe xcontext")},
		{name: "Swift swift", line: slashes, block: "/*", nested: true, newlines: true, backticks: true, attributes: true, tests: named("test"),
			preprocessor: true, quotes: []quote{{open: `#"`, close: `"#`, raw: true}, tripled.with(`\(`), double.with(`\(`)},
			calls: set("it xit fit pending"), groups: set("describe context xdescribe")},
		{name: "PHP php", line: []string{"//", "#"}, block: "/*", dollar: true, heredoc: "<<<", closing: "?>", attributes: true,
			tests: named("test"), quotes: []quote{long, long1}, calls: set("it test"), groups: set("describe")},
		{name: "C c h cc cpp cxx hpp hh cu m mm", line: slashes, block: "/*", preprocessor: true, cstyle: true,
			prefixes: strings.Fields("l u u8 r lr ur"), quotes: []quote{double, single},
			tests: plainC,
			off: []*regexp.Regexp{ // names of GoogleTest and tags of Catch2; decorators of doctest and Boost.Test
				regexp.MustCompile(`DISABLED_|\[\.|\[!(?:mayfail|shouldfail|hide)\]`),
				regexp.MustCompile(`\b(?:skip|may_fail|should_fail|disabled) \( (?:true )?\)|\b(?:expected_failures \(|enable_if < false >)`),
			},
			macros: setOf("macros")},
		{name: "Scala scala sc", line: slashes, block: "/*", nested: true, newlines: true, backticks: true, tests: annotated,
			prefixes: strings.Fields("s f raw"), bare: (*side).endsHere, quotes: []quote{rawTripled, double, single},
			calls: set("test it ignore property"), groups: set("describe"), behind: aspects,
			infix: map[string]role{"in": test, "ignore": test, "should": group, "must": group, "can": group, "when": group}},
		{name: "Dart dart", line: slashes, block: "/*", nested: true, cstyle: true, dollar: true, prefixes: []string{"r"},
			quotes: []quote{tripled.with("${"), tripled1.with("${"), double.with("${"), single.with("${")},
			calls:  set("test testWidgets"), groups: set("group")},
		{name: "Elixir ex exs", layout: ends, line: hash, newlines: true, calls: set("test property feature"), groups: set("describe"),
			quotes: []quote{tripled.with("#{"), tripled1, long.with("#{"), single}},
		{name: "shell sh bash bats", line: hash, newlines: true, shell: true, heredoc: "<<",
			quotes: []quote{{open: `$'`, close: `'`, lines: true}, long, {open: `'`, close: `'`, raw: true, lines: true}}},
		{name: "PowerShell tests.ps1", line: hash, block: "<#", newlines: true, dollar: true, dashes: true, bare: always,
			quotes: []quote{{open: `@"`, close: "\n\"@", raw: true, lines: true}, {open: `@'`, close: "\n'@", raw: true, lines: true},
				{open: `"`, close: `"`, raw: true, doubled: true, lines: true, code: "$("},
				{open: `'`, close: `'`, raw: true, doubled: true, lines: true}},
			calls: set("It it"), groups: set("Describe describe Context context")},
	} {
		l.define = definitions
		names := strings.Fields(l.name)
		l.name = names[0]
		for _, extension := range names[1:] {
			byExtension["."+extension] = l
		}
	}
	return byExtension
}()

// languageOf returns the language of a file by its name, or nil.
func languageOf(name string) *language {
	ext := strings.ToLower(path.Ext(name))
	if ext == ".ps1" { // Pester takes the files whose names end in .Tests.ps1
		name = strings.ToLower(name)
		ext = path.Ext(strings.TrimSuffix(name, ext)) + ext
	}
	return languages[ext]
}

// isTestPath reports whether a file of this name usually holds tests. The settings of a runner, such as cypress.config.js, are read
// by package tools.
func isTestPath(name string) bool {
	if strings.Contains(path.Base(name), ".config.") {
		return false
	}
	if strings.HasSuffix(name, ".go") {
		return strings.HasSuffix(name, "_test.go") && !notBuilt.MatchString(name)
	}
	return !fixture.MatchString(name) && matchesAny(testPaths, name)
}

// IsTest reports whether a file of this name usually holds tests.
func IsTest(name string) bool { return languageOf(name) != nil && isTestPath(name) }

// IsScript reports whether a file usually holds tests, or a list of tests, in a language that is not parsed
// here. What tests only read or compare with is none.
func IsScript(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext != "" && languageOf(name) == nil && (testScripts[ext] || !testData[ext] && isTestPath(name))
}

// IsTestScript reports whether a file of this name is a test, wherever it is, in a language that is not parsed here.
func IsTestScript(name string) bool {
	return testScripts[strings.ToLower(path.Ext(name))] && languageOf(name) == nil
}

// fixture matches folders of data that tests read. The data may be tests of another runner.
var fixture = regexp.MustCompile(`(?:^|/)(?:__fixtures__|fixtures?|testdata|test-data)/`)

// notBuilt matches files that the go command does not build. See
// https://pkg.go.dev/cmd/go#hdr-Package_lists_and_patterns
var notBuilt = regexp.MustCompile(`(?:^|/)(?:testdata/|vendor/|[_.][^/]+(?:/|$))`)

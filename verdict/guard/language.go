package guard

import (
	"path"
	"regexp"
	"strings"
)

// language is one that the guard reads source code of.
type language string

const (
	golang     language = "Go"
	javascript language = "JavaScript"
	python     language = "Python"
	java       language = "Java" // and Kotlin, which share their annotations
	rust       language = "Rust"
	ruby       language = "Ruby"
	csharp     language = "C#"
	shell      language = "shell"
)

var extensions = map[string]language{
	".go": golang,
	".js": javascript, ".jsx": javascript, ".mjs": javascript, ".cjs": javascript, ".ts": javascript, ".tsx": javascript,
	".mts": javascript, ".cts": javascript, ".vue": javascript, ".svelte": javascript,
	".py": python, ".pyi": python,
	".java": java, ".kt": java, ".kts": java, ".groovy": java,
	".rs": rust, ".rb": ruby, ".rake": ruby, ".cs": csharp, ".sh": shell, ".bash": shell,
}

// languageOf is the language of a file by its name, or "".
func languageOf(name string) language {
	return extensions[strings.ToLower(path.Ext(name))]
}

var testFiles = map[language]*regexp.Regexp{
	golang:     regexp.MustCompile(`_test\.go$`),
	javascript: regexp.MustCompile(`\.(test|spec|cy|e2e)\.\w+$|(^|/)(__tests__|tests?|specs?|e2e|cypress)/`),
	python:     regexp.MustCompile(`(^|/)(test_[^/]*|[^/]*_tests?|tests?)\.py$`),
	java:       regexp.MustCompile(`(^|/)(src/(\w*[tT]est|it)/|[^/]*(Tests?|IT|Spec|TestCase)\.\w+$|Test[A-Z][^/]*$)`),
	rust:       regexp.MustCompile(`\.rs$`), // tests stand beside the code they test
	ruby:       regexp.MustCompile(`(_spec|_test)\.rb$|(^|/)test_[^/]*\.rb$`),
	csharp:     regexp.MustCompile(`(^|/)([^/]*Tests?(\.[^/]*)?/.*|[^/]*(Tests?|Specs?))\.cs$`),
}

// isTest reports whether tests are run from a file of this name.
func isTest(name string) bool {
	lang := languageOf(name)
	pattern := testFiles[lang]
	return pattern != nil && pattern.MatchString(name) && !(lang == golang && passedOver.MatchString(name))
}

// passedOver are files that the go command does not build. See
// https://pkg.go.dev/cmd/go#hdr-Package_lists_and_patterns
var passedOver = regexp.MustCompile(`(^|/)(testdata/|[_.][^/]+(/|$))`)

// platform is the suffix by which Go builds a file for some systems only. See
// https://pkg.go.dev/cmd/go#hdr-Build_constraints
var platform = regexp.MustCompile(`(?:_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows))?(?:_(?:386|amd64|arm|arm64|loong64|mips|mips64|mips64le|mipsle|ppc64|ppc64le|riscv64|s390x|wasm))?(?:_test)?\.go$`)

func platformOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(platform.FindString(name), ".go"), "_test")
}

// block is a definition or a test: its first line and what is indented below it.
type block struct {
	name        string
	start, stop int // 1-based lines, stop inclusive
}

// stopOf finds the last line of what begins at a line, by indentation: code that
// a formatter has seen ends where a line begins no further right than it began.
func stopOf(lines []string, start int) int {
	indent := indentation(lines[start-1])
	for i := start; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		if text == "" || indentation(lines[i]) > indent {
			continue
		}
		if indentation(lines[i]) == indent && closing(text) {
			if strings.HasSuffix(text, "{") || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "(") {
				continue // ") error {" ends a signature, not the body
			}
			return i + 1
		}
		return lastText(lines, start, i)
	}
	return lastText(lines, start, len(lines))
}

// lastText is the last line with something on it in the lines up to an end.
func lastText(lines []string, start, end int) int {
	for end > start && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	return end
}

func closing(text string) bool {
	return strings.IndexByte("})]{", text[0]) >= 0 || text == "end" || strings.HasPrefix(text, `"""`)
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

var definition = regexp.MustCompile(`^\s*(?:(?:export|default|pub(?:\([^)]*\))?|async|abstract|final|public|private|protected|internal|static|override|virtual|sealed|open|data|partial|readonly|unsafe|declare|suspend)\s+)*(?:` +
	`func\s+(?:\([^)]*\)\s*)?|def\s+(?:self\.)?|class\s+|function\*?\s+|fn\s+|fun\s+(?:[\w<>]+\.)?|interface\s+|struct\s+|enum\s+|trait\s+|module\s+|object\s+|record\s+|type\s+|(?:const|let|var|val)\s+|` +
	`(?:[\w<>\[\],.?]+\s+)(?:[\w]+\s*\())`)

var word = regexp.MustCompile(`[\pL_]\w*[?!]?`)

// definitions are what a side that is no test file defines.
func definitions(s side) []block {
	if s.path == "" || languageOf(s.path) == "" || isTest(s.path) && languageOf(s.path) != rust {
		return nil
	}
	return assistants(s)
}

// assistants are what a side defines besides tests.
func assistants(s side) []block {
	var out []block
	test := map[int]bool{}
	for _, t := range testcasesOf(nil, s) {
		test[t.start] = true
	}
	for i, line := range s.lines {
		at := definition.FindStringIndex(line)
		if at == nil || callLike(line) || test[i+1] {
			continue
		}
		name := word.FindString(line[at[1]:])
		if line[at[1]-1] == '(' { // "public int total("
			words := word.FindAllString(line[:at[1]], -1)
			if len(words) == 0 {
				continue // ".0 0("
			}
			name = words[len(words)-1]
		}
		if len(name) > 3 {
			out = append(out, block{name, i + 1, stopOf(s.lines, i+1)})
		}
	}
	return out
}

// callLike tells statements such as "return total(x)" from definitions.
func callLike(line string) bool {
	switch word.FindString(line) {
	case "return", "else", "new", "throw", "await", "case", "if", "for", "while", "switch", "yield", "raise", "go", "defer", "in", "not":
		return true
	}
	return false
}

// vanished are the names that the change takes out of the code altogether. What
// lives on under another name did not vanish: its tests are still owed.
func vanished(p *patch) map[string]bool {
	type body struct {
		name string
		set  map[string]bool
	}
	before, after := map[string]map[string]bool{}, map[string]bool{}
	var added []body
	old := map[string]bool{}
	for _, f := range p.files {
		for _, d := range definitions(f.old) {
			old[d.name] = true
			before[d.name] = tokens(f.old.lines[d.start-1 : d.stop])
		}
	}
	for _, f := range p.files {
		for _, d := range definitions(f.new) {
			after[d.name] = true
			if !old[d.name] && len(added) < 500 {
				added = append(added, body{d.name, tokens(f.new.lines[d.start-1 : d.stop])})
			}
		}
	}
	gone := map[string]bool{}
	for name, set := range before {
		if after[name] {
			continue
		}
		renamed := false
		for _, a := range added {
			renamed = renamed || len(set) > 3 && share(set, a.set) >= 0.75 && share(a.set, set) >= 0.5
		}
		if !renamed {
			gone[name] = true
		}
	}
	return gone
}

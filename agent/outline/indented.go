package outline

import (
	"cmp"
	"strings"

	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

const (
	modifiers = `(?:(?:@[\w.]+(?:\([^)]*\))?|export|default|declare|public|(?:private|protected)(?:\[\w+\])?|internal|static` +
		`|final|abstract|async|override|open|sealed|data|inline|external|transparent|implicit|lazy|case|package|file` +
		`|actual|expect|typedef|suspend|virtual|unsafe|extern(?:\s+"[^"]*")?|pub(?:\([\w: ]+\))?|const|partial|readonly|lateinit|operator` +
		`|tailrec|infix|mutating|local|inner|value|annotation|companion|fileprivate|native|synchronized|friend|constexpr)\s+)*`
	// qualifier matches what precedes a defined name: a receiver, a class.
	qualifier = `(?:<[^>]*>\s*)?(?:\w+(?:<[^()=]*>)?\??(?:\.|::))*`
)

// Expressions for the beginnings of definitions, starting at the first letter of a line.
var (
	keyword = lazyregexp.New(`^` + modifiers +
		`(def|defp|defmodule|func|fun|fn|function\*?|class|@?interface|struct|enum|union|trait|object|record|module|mod|namespace|type` +
		`|protocol|actor|mixin|message|service|rpc|macro_rules!|val|var|let|const)\s+(?:class\s+|struct\s+|mut\s+)?` + qualifier +
		"(`[^`]+`|[\\pL_$][\\pL\\pN_$]*[?!]?)")
	implementation = lazyregexp.New(`^(?:unsafe\s+)?impl\b(?:<[^{]*?>)?\s+(?:[^{]+?\s+for\s+)?` +
		`&?(?:'\w+\s+)?(?:mut\s+)?(?:dyn\s+)?(?:\w+::)*(\w+)`)
	// typed matches a function that begins with the type of its result, or a constructor that C++ defines
	// outside of its class. The groups are the type to which it belongs, if named, its name, and the end of
	// one without a body.
	typed = lazyregexp.New(`^(?:(?:[\w$<>\[\],.?&*:~@]+\s+)+[*&]*(?:\w+::)*?(?:(\w+)::)?(?:[\w<>]+\.)*|(?:\w+::)*(\w+)::)` +
		`(operator\W{1,3}|~?[A-Za-z_$][\w$]*)\s*(?:<[^()=]*>)?\([^;]*(?:(?:\{|=>).*|(;))?$`)
	braced = lazyregexp.New(`^` + modifiers +
		`(?:get\s+|set\s+|\*)?#?([A-Za-z_$][\w$]*)\s*(?:<[^()]*>)?\([^;]*\)\s*(?::\s*[^={]+)?\{(?:.*\},?)?$`)
	// assigning matches a variable that holds a function, or in whose value the body of one begins.
	assigning = lazyregexp.New(`=\s*(?:async\s*)?(?:function\b|[\w$]+\s*=>|(?:<[^=]*>)?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*` +
		`(?::[^=]*)?=>)|=\s*[^\s(].*(?:=>|\bfunction\b[^{]*)\s*\{$`)
	// signature matches a method without a body. In the body of a type, it can be no call.
	signature = lazyregexp.New(`^` + modifiers + `(?:get\s+|set\s+)?([A-Za-z_$][\w$]*)\??\s*(?:<[^()]*>)?` +
		`\(.*\)\s*:\s*[^{]*(?:\{.*\}[^{]*)?[;,]?$`)
	constructor = lazyregexp.New(`^` + modifiers + `(?:explicit\s+)?(~?[A-Za-z_]\w*)\s*\([^;]*(?:\{.*)?$`)
	getter      = lazyregexp.New(`^(?:[\w$<>?,.]+\s+)*get\s+([A-Za-z_$][\w$]*)\s*(?:[={;]|async|$)`)
	// named matches a line that may be a head whose result, matched by result, is on the line above.
	named    = lazyregexp.New(`^[*&]*~?[\w:]+\s*\(`)
	result   = lazyregexp.New(`^(?:[\w:]+(?:<.*>)?(?:\[\])?[\s*&?]*)+$`)
	assigned = lazyregexp.New(`^(?:self\.)?([A-Za-z_]\w*)\s*(?::[^:=][^=]*)?=(?:[^=>~]|$)`)
	member   = lazyregexp.New(`^(?:readonly\s+|pub\s+|public\s+)*([A-Za-z_]\w*)[?!]?:\s+[^=]+$`)
	// mentions matches a line that uses a type and defines something else, or defines it in another file.
	mentions = lazyregexp.New(`^(?:\w+\s+)*(?:const|val|var|type)\s+\w+(?:::|<|\s*[*&]?\s+[*&]?\w)` +
		`|^(?:\w+\s+)*object\s+\w+\s*(?:[=;(]|\{\s*get)` +
		`|^(?:typedef\s+)?(?:class|struct|enum|union)\s+[\w:]+(?:;|\s*[*&]|\s+\w+\s*[;=\[(),])`)
	// typedField matches a field in languages that write its type first. Without a modifier it could be a
	// statement.
	typedField = lazyregexp.New(`^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|private|protected|internal|static|final|volatile|transient` +
		`|readonly|const|required)\s+)+(?:[\w<>\[\],.?*:]+\s+)+([A-Za-z_]\w*)\s*(?:[=;]|\{\s*(?:get|set|init)\b)`)
	declared = lazyregexp.New(`^(?:attr_(?:accessor|reader|writer)|scope|has_many|has_one|belongs_to|define_method` +
		`|class_attribute|[mc]attr_accessor|alias_method)\s+:(\w+)`)
	example = lazyregexp.New("^((?:describe|it|test|context|specify)\\b[.\\w]*\\s*\\(?\\s*[\"'`][^\"'`]{1,80}" +
		`|(?:TEST(?:_[FP]|_CASE)?|TYPED_TEST|SCENARIO)\s*\([^)]{1,80}\))`)
	shellFunction = lazyregexp.New(`^([\w-]+)\s*\(\)\s*\{`)

	// tuple matches a parenthesised C# type before a method's name, which would make the word before it the
	// name.
	tuple = lazyregexp.New(`^((?:\w+\s+)*)\([^()]*,[^()]*\)\??\s+(\w+\s*(?:<[^>]*>)?\()`)

	// onward matches the continuation of a block in a line that is not indented: the end of the parameter
	// list, or another branch.
	onward = lazyregexp.New(`^(?:[)\]}].*[{(:,\[=<]$|>|\{$|(?:rescue|ensure|else|elsif|elif|except|finally|when|catch|where)\b)`)
	label  = lazyregexp.New(`^\w+:$`)
	closes = lazyregexp.New(`^(?:[)\]}]|end\b|fi\b|done\b|esac\b)`)
)

// statements are first words of lines that define nothing.
var statements = words(`return else throw new await yield case in if unless for foreach while until switch match do delete using import
		from goto assert
	print raise not and or with try catch except finally elif elsif when lock require include puts echo go defer select sizeof typeof super
		this co_return`)

// definers are the keywords of definitions; a definition by keyword contains one.
var definers = words(`def defp defmodule func fun fn function class interface struct enum union trait object record module mod namespace
		type protocol
	actor mixin message service rpc macro_rules val var let const`)

var (
	// typeFirst are the languages in which a method begins with its result type.
	typeFirst = []filekind.Language{filekind.C, filekind.CSharp, filekind.Dart, filekind.Groovy, filekind.Java}
	// scripts are the languages in which a method begins with its name.
	scripts = []filekind.Language{filekind.JavaScript, filekind.PHP}
)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// examples are the words that begin an example of a behaviour in tests.
var examples = words("describe it test context specify TEST TEST_F TEST_P TEST_CASE TYPED_TEST SCENARIO")

var kinds = map[string]string{
	"class": "type", "interface": "type", "struct": "type", "enum": "type", "union": "type", "trait": "type", "object": "type",
	"record": "type", "type": "type",
	"protocol": "type", "actor": "type", "mixin": "type", "@interface": "type", "message": "type", "service": "type",
	"module": "module", "mod": "module", "namespace": "module",
	"defmodule": "module",
	"val":       "var", "var": "var", "let": "var", "const": "const",
}

// indented finds definitions by the beginnings and the indentation of lines, which most code has.
func indented(name string, lines []string) []Block {
	p := reading(name, lines)
	delimiter := ""
	for i, line := range lines {
		inside := delimiter != ""
		if inside && delimiter != comment {
			p.last = i // a string belongs to its function, however it is indented
		}
		delimiter = p.within(i, delimiter)
		text := strings.TrimSpace(line)
		if inside || text == "" || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#") && !p.script ||
			strings.HasPrefix(text, "*") || strings.HasPrefix(text, comment) {
			continue
		}
		p.line(i, indent(line), text)
	}
	p.close(len(lines), -1)
	return p.blocks
}

// indentation is the state of reading a file.
type indentation struct {
	language filekind.Language
	// typeFirst and script say that the language is one of those.
	typeFirst, script bool
	lines             []string
	blocks            []Block
	open              []scope
	// last is the latest line that is not blank.
	last int
}

// scope is a block whose end has not been reached.
type scope struct {
	block, indent int
	inner         int // the indentation of its first line; 0 before that line
}

func (p *indentation) line(i, depth int, text string) {
	defer func() { p.last = i }()
	for n := len(p.open); n > 0 && p.open[n-1].indent >= depth; n = len(p.open) {
		top := p.open[n-1]
		if top.indent == depth {
			if p.goesOn(text) {
				if b := &p.blocks[top.block]; strings.IndexByte(")]>{", text[0]) >= 0 && b.Body == p.last+1 {
					b.Body = i + 1
				}
				return
			}
			if closes.MatchString(text) {
				if p.continues(top, i) {
					return
				}
				p.last = i
				p.open = p.open[:n-1]
				p.blocks[top.block].End = i + 1
				return
			}
		}
		p.close(p.last+1, top.indent-1)
	}
	if n := len(p.open); n > 0 && p.open[n-1].inner == 0 && !strings.HasSuffix(text, ":") {
		p.open[n-1].inner = depth
	}
	b, ok := p.begins(depth, p.statement(i))
	if !ok {
		return
	}
	b.Start, b.Body, b.End = i+1, p.head(i), i+1
	p.blocks = append(p.blocks, b)
	p.open = append(p.open, scope{block: len(p.blocks) - 1, indent: depth})
}

// goesOn reports whether a line continues a block although it is not indented.
func (p *indentation) goesOn(text string) bool {
	return onward.MatchString(text) || p.language == filekind.C && label.MatchString(text)
}

// continues reports whether a closing line ends only the head of a function, whose body begins with a brace on
// a line of its own.
func (p *indentation) continues(top scope, at int) bool {
	const ahead = 5 // such as a call of the constructor of the base class
	b := p.blocks[top.block]
	if !b.Callable() || b.Body != at+1 {
		return false
	}
	for _, line := range p.lines[at+1 : min(at+1+ahead, len(p.lines))] {
		if text := strings.TrimSpace(line); text != "" && indent(line) <= top.indent {
			return p.goesOn(text)
		}
	}
	return false
}

// close ends the blocks that are indented more.
func (p *indentation) close(end, depth int) {
	for n := len(p.open); n > 0 && p.open[n-1].indent > depth; n = len(p.open) {
		b := &p.blocks[p.open[n-1].block]
		b.End = max(b.Start, min(end, len(p.lines)))
		p.open = p.open[:n-1]
	}
}

// maxHead bounds the lines of a signature.
const maxHead = 60

// head returns the last line of a definition's head, where its parentheses are closed.
func (p *indentation) head(at int) int {
	depth := 0
	for i := at; i < len(p.lines) && i < at+maxHead; i++ {
		depth += strings.Count(p.lines[i], "(") - strings.Count(p.lines[i], ")")
		if depth <= 0 {
			return i + 1
		}
	}
	return at + 1
}

// begins parses the definition that a line begins.
func (p *indentation) begins(depth int, text string) (b Block, ok bool) {
	var outer *Block
	if n := len(p.open); n > 0 {
		outer = &p.blocks[p.open[n-1].block]
		b.Local = outer.Local || outer.Callable() || outer.Kind == "test"
	}
	inType := outer != nil && (outer.Kind == "type" || outer.Kind == "module")
	deeper := inType && depth > p.open[len(p.open)-1].inner && p.open[len(p.open)-1].inner > 0
	if inType {
		b.In = outer.Name
	}
	callable := "func"
	if inType && outer.Kind == "type" {
		callable = "method"
	}
	if p.language == filekind.CSharp {
		text = tuple.ReplaceAllString(text, "${1}tuple ${2}")
	}
	opening, first := hints(text)
	switch {
	case statements[first] && !(first == "case" && p.language == filekind.Scala):
		return b, false
	case (first == "impl" || first == "unsafe") && match(&b.Name, implementation, text):
		b.Kind, b.In = "type", ""
	case opening && keyword.MatchString(text) && !(p.script && strings.HasSuffix(text, ",")) &&
		!(p.typeFirst && mentions.MatchString(text)):
		m := keyword.FindStringSubmatch(text)
		b.Kind, b.Name = kinds[m[1]], m[2]
		if b.Name = strings.Trim(b.Name, "`"); b.Kind == "" || b.Kind != "type" && b.Kind != "module" && assigning.MatchString(text) {
			b.Kind = callable
		}
		if b.Kind == "type" && inType && outer.Kind == "module" {
			b.In = ""
		}
	case examples[first] && match(&b.Name, example, text):
		b.Kind = "test"
	case p.language == filekind.Ruby && match(&b.Name, declared, text), inType && strings.Contains(text, ":") && match(&b.Name, member, text):
		b.Kind = "field"
	case !b.Local && strings.Contains(text, "{") && p.method(depth, outer, text, &b.Name):
		b.Kind = callable
	case inType && outer.Kind == "type" && !deeper && p.script && match(&b.Name, signature, text):
		b.Kind = callable
	case !b.Local && p.typeFirst && p.typed(&b, text):
		b.Kind = cmp.Or(b.Kind, callable)
	case !b.Local && p.language == filekind.Dart && match(&b.Name, getter, text):
		b.Kind = callable
	case inType && p.typeFirst && match(&b.Name, typedField, text):
		b.Kind = "field"
	case (outer == nil && depth == 0 || inType) && strings.Contains(text, "=") && match(&b.Name, assigned, text):
		b.Kind = "var"
	default:
		return b, false
	}
	if (outer == nil && depth > 0 || deeper) && (b.Kind == "var" || b.Kind == "const") {
		return b, false // within something that was not recognised
	}
	return b, b.Name != "_" && (!b.Local || b.Kind != "var" && b.Kind != "const")
}

// method matches a method without a keyword, whose head ends in a brace, and a shell function.
func (p *indentation) method(depth int, outer *Block, text string, name *string) bool {
	if p.language == filekind.Shell {
		return match(name, shellFunction, text)
	}
	return p.script && (depth > 0 || outer == nil) && !strings.Contains(text, "function") && match(name, braced, text) &&
		!statements[*name] && *name != "async"
}

// typed matches a method that begins with the type of its result, and a constructor.
func (p *indentation) typed(b *Block, text string) bool {
	if text == "" || strings.TrimLeft(text, ":?&*,.") != text || text[0] == '[' && p.language != filekind.C || !strings.Contains(text, "(") {
		return false
	}
	m := typed.FindStringSubmatch(text)
	if m == nil {
		return b.In != "" && match(&b.Name, constructor, text) && strings.TrimPrefix(b.Name, "~") == b.In
	}
	outside := m[2] != "" && m[2] != strings.TrimPrefix(m[3], "~") && !strings.HasPrefix(m[3], "operator")
	if outside || m[4] != "" && p.language == filekind.C || m[3] == "Function" {
		return false // a call of a function in a namespace, what another file defines, or the type of a function
	}
	if in := m[1] + m[2]; in != "" {
		b.Kind, b.In = "method", in
	}
	b.Name = m[3]
	return true
}

// statement returns the text of a line with the lines around it that belong to the same head: the type of a
// result above it, and the parameters below it.
func (p *indentation) statement(at int) string {
	text := strings.TrimSpace(p.lines[at])
	if at > 0 && p.typeFirst && named.MatchString(text) && indent(p.lines[at-1]) == indent(p.lines[at]) {
		above := strings.TrimSpace(p.lines[at-1])
		if first, _, _ := strings.Cut(above, " "); !statements[first] && result.MatchString(above) {
			text = above + " " + text
		}
	}
	if strings.HasSuffix(text, ";") || strings.HasSuffix(text, "{") && !strings.HasSuffix(text, "({") {
		return text
	}
	for _, line := range p.lines[at+1 : max(at+1, min(p.head(at), len(p.lines)))] {
		text += " " + strings.TrimSpace(line)
	}
	return text
}

// hints returns the first word of a line, and whether one of its first words is a defining keyword: most
// lines can be excluded without running an expression.
func hints(text string) (opening bool, first string) {
	for n, from := 0, 0; n < 8 && from < len(text); n++ {
		to := from
		for to < len(text) && (text[to] == '_' || 'a' <= text[to] && text[to] <= 'z' || 'A' <= text[to] && text[to] <= 'Z' || '0' <= text[to] &&
			text[to] <= '9') {
			to++
		}
		if n == 0 {
			first = text[:to]
		}
		if definers[text[from:to]] {
			return true, first
		}
		for from = max(to, from+1); from < len(text) && (text[from] == ' ' || text[from] == '@' || text[from] == '('); from++ {
		}
	}
	return false, first
}

// match extracts a name from the first group of an expression.
func match(name *string, e *lazyregexp.Regexp, text string) bool {
	m := e.FindStringSubmatch(text)
	if m != nil {
		*name = m[1]
	}
	return m != nil
}

// indent returns the indentation of a line, in columns.
func indent(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

package code

import (
	"cmp"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"go/types"
	"sort"
	"strings"
)

// call reads a test or a group that is written as a call with a title: it("adds", …).
func (f *finder) call(i int) *unit {
	if before := f.of(i - 1); before == "." && !callers[f.of(i-2)] || before == "def" || before == "function" || before == ":" && f.lang.ruby {
		return nil
	}
	u := &unit{at: i, from: i, word: cmp.Or(f.aliases[f.of(i)].word, f.of(i))}
	if f.of(i-1) == "." {
		u.from = i - 2
	}
	n := i + 1
chain:
	for {
		switch {
		case f.of(n) == "." && f.kindOf(n+1) == word:
			u.chain = append(u.chain, n+1)
			n += 2
		case f.of(n) == "[" && f.kindOf(n+1) == text && f.of(n+2) == "]" && f.lang.name == "JavaScript": // it['skip'](…)
			u.chain = append(u.chain, n+1)
			n += 3
		case len(u.chain) > 0 && f.kindOf(n) == text && strings.HasPrefix(f.of(n), "`"): // each`…`
			n++
		case len(u.chain) > 0 && f.of(n) == "(" && f.mate(n) > 0 && f.of(f.mate(n)+1) == "(": // each(…)(
			n = f.mate(n) + 1
		default:
			break chain
		}
	}
	if !f.titled(u, n) {
		return nil
	}
	last := ""
	if len(u.chain) > 0 {
		last = contentOf(f.of(u.chain[len(u.chain)-1]))
	}
	u.role = test
	if f.lang.groups[u.word] || f.lang.groups[last] {
		u.role = group
	}
	return u
}

// titled reads a call's arguments from a token on: the name, the body and the end of a unit.
func (f *finder) titled(u *unit, n int) bool {
	if f.lang.dashes {
		return f.block(u, n)
	}
	parens := f.of(n) == "("
	if parens && f.mate(n) < 0 || !parens && f.lang.layout != ends {
		return false
	}
	first := n
	if parens {
		first = n + 1
	}
	switch {
	case f.kindOf(first) == text && !isRegexp(f.of(first)):
		u.name = contentOf(f.of(first))
	case f.kindOf(first) == word && (f.lang.groups[u.word] || len(u.chain) > 0 || f.tests) && f.of(first+1) != "=>":
		last := first + 1
		for last < min(first+12, len(f.tokens)) && f.of(last) != "," && f.of(last) != "do" && f.of(last) != ")" {
			last++
		}
		u.name = f.plain(first, last)
	case f.lang.layout == ends && f.of(first) == "{" && f.tests:
	default:
		return false
	}
	if f.lang.layout == ends {
		return f.blockCall(u, n)
	}
	depth := 0 // check(parse(x => x + 1)) is no test
	if f.tests && (f.kindOf(first) == text || f.of(first+1) == ",") {
		depth = maxWrapped
	}
	end := f.functionIn(u, n, depth)
	next := end + 1
	for f.lang.newlines && f.of(next) == "." && f.of(next+2) == "(" && f.mate(next+2) > 0 { // test("…").config(…) { … }
		next = f.mate(next+2) + 1
	}
	for f.of(next) == "->" && f.of(next+2) == "(" && f.mate(next+2) > 0 { // Pest: it("…", …)->skip()
		u.chain = append(u.chain, next+1)
		next = f.mate(next+2) + 1
		u.to = next
	}
	if f.of(next) == "{" && f.mate(next) > 0 && f.lang.newlines { // Kotlin, Scala, Swift: test("…") { … }
		u.body, u.to = next+1, f.mate(next)+1
	}
	last := len(u.chain) - 1 // test.skip("…", f) is a test, test.includes("…") is not
	marked := last < 0 || contentOf(f.of(u.chain[last])) == "each" || chained[contentOf(f.of(u.chain[last]))] != ""
	return u.body < end || u.to > end+1 || f.tests && f.kindOf(first) == text && marked
}

// functionIn takes the first function among the arguments of a call for the body of a unit, as runners do, or else the first one in what
// calls among them are given: it("…", fakeAsync(() => { … })). It looks into as many calls within each other as depth says. It returns
// the bracket that closes the call, which is the body's beginning if there is none.
func (f *finder) functionIn(u *unit, open, depth int) (end int) {
	end = f.mate(open)
	u.to, u.body = end+1, cmp.Or(f.functionAmong(open, depth), end)
	return end
}

// functionAmong is the first token of the body of such a function; 0 for none.
func (f *finder) functionAmong(call, depth int) int {
	wrapped := 0
	for k := call + 1; k < f.mate(call); k = max(k, f.mate(k)) + 1 {
		switch before := f.of(k - 1); {
		case int(f.outer[k]) != call:
		case f.of(k) == "=>" && f.of(k+1) != "{":
			return k + 1
		case f.of(k) == "{" && (before == "=>" || before == ")" || before == "async"):
			return k + 1
		case f.of(k) == "(" && f.mate(k) > 0 && depth > 0 && wrapped == 0:
			wrapped = f.functionAmong(k, depth-1)
		}
	}
	return wrapped
}

// maxWrapped bounds how many calls are looked through for the function in them.
const maxWrapped = 3

// setUp reads a block that runs before each test around it, or before all: before { … }.
func (f *finder) setUp(i int) *unit {
	u, n := &unit{name: f.of(i), word: "setup", at: i, from: i}, i+1
	switch parens := f.of(n) == "(" && f.mate(n) > 0; {
	case !f.tests || f.of(i-1) == "." && !callers[f.of(i-2)] && !f.lang.calls[f.of(i-2)] || f.of(i-1) == "def" || f.of(i-1) == ":":
		return nil
	case f.lang.layout == ends:
		f.blockCall(u, n)
	case parens:
		f.functionIn(u, n, maxWrapped)
	case f.of(n) == "{" && f.mate(n) > 0:
		u.body, u.to = n+1, f.mate(n)+1
	}
	if u.body >= u.to-1 {
		return nil
	}
	return u
}

func isRegexp(literal string) bool { return literal != "" && literal[0] == '/' }

// blockCall finds the block of a call in Ruby or Elixir. A call without a block has no body.
func (f *finder) blockCall(u *unit, n int) bool {
	k := f.past(n)
	outer, end := f.outer[u.at], min(len(f.tokens), n+maxHead)
	if outer >= 0 && f.mate(int(outer)) > 0 {
		end = min(end, f.mate(int(outer)))
	}
scan:
	for ; k < end; k++ {
		switch t := f.of(k); {
		case f.outer[k] != outer:
		case t == "do" && f.closing[k] > 0:
			u.body, u.to = k+1, f.closing[k]+1
			return true
		case t == "{" && f.mate(k) > 0 && f.lang.ruby && (f.of(k-1) != "," && f.of(k-1) != "=>"):
			u.body, u.to = k+1, f.mate(k)+1
			return true
		case f.tokens[k].first && f.of(k-1) != ",":
			break scan
		}
	}
	u.body, u.to = k, k
	return f.tests && u.word != "skip" && u.word != "pending"
}

// infix reads a test or a group that is written as a sentence: "pay" should "work" taggedAs Slow in { … }.
func (f *finder) infix(i int, role role) *unit {
	start, open := i, i+1
	for start > 0 && !f.tokens[start].first && f.outer[start-1] == f.outer[i] {
		if start--; f.mate(start) >= 0 {
			start = min(start, f.mate(start))
		}
	}
	for role == test && open < len(f.tokens) && !f.tokens[open].first && (f.kindOf(open) == word || f.of(open) == "." || f.of(open) == "(") {
		open = max(open, f.mate(open)) + 1
	}
	if f.of(open) != "{" || f.mate(open) < 0 {
		return nil
	}
	u := &unit{role: role, word: f.of(i), from: start, at: -1, body: open + 1, to: f.mate(open) + 1}
	for k := start; k < open; k++ {
		switch {
		case f.outer[k] != f.outer[i]:
		case f.kindOf(k) == text:
			u.name, u.at = contentOf(f.of(k)), k
		case f.kindOf(k) == word:
			u.chain = append(u.chain, k)
		}
	}
	if u.at < 0 {
		return nil
	}
	return u
}

// macro reads a test that a macro defines, as in C and C++.
func (f *finder) macro(i int) *unit {
	closing := f.mate(i + 1)
	if closing < 0 || f.of(closing+1) != "{" || f.mate(closing+1) < 0 {
		return nil
	}
	return &unit{role: test, name: strings.ReplaceAll(f.plain(i+2, closing), `"`, ""), word: f.of(i), at: i, from: i,
		body: closing + 2, to: f.mate(closing+1) + 1}
}

// indented finds the unit that begins at a word, in Python.
func (f *finder) indented(i int) *unit {
	w := f.of(i)
	if w != "def" && w != "class" || f.kindOf(i+1) != word || !f.tokens[i].first && f.of(i-1) != "async" {
		return nil
	}
	start := i
	if f.of(i-1) == "async" {
		start--
	}
	body, to := f.suite(start)
	u := &unit{name: f.of(i + 1), word: w, at: i + 1, from: start, body: body, to: to}
	for n := start - 1; n >= max(0, start-4*maxHead); n-- { // decorators
		t := f.tokens[n]
		if f.closes(n) {
			n = f.mate(n)
		} else if t.first && f.outer[n] == f.outer[i] {
			if f.of(n) != "@" || t.column != f.tokens[start].column {
				break
			}
			u.from = n
		}
	}
	return u
}

// suite is the first token of the body of a Python statement, and the index after the last one.
func (f *finder) suite(start int) (body, to int) {
	outer, column := f.outer[start], f.tokens[start].column
	body = start
	for to = start + 1; to < len(f.tokens); to++ {
		if f.outer[to] != outer {
			continue
		}
		if f.of(to) == ":" && body == start && f.of(to-1) != "lambda" {
			body = to + 1
		}
		if f.tokens[to].first && f.tokens[to].column <= column && f.of(to) != ")" && f.of(to) != "]" && f.of(to) != "}" {
			break
		}
	}
	return max(body, start+1), to
}

// ended finds the unit that begins at a word, in Ruby and Elixir.
func (f *finder) ended(i int) *unit {
	w := f.of(i)
	if f.lang.calls[w] || f.lang.groups[w] {
		return f.call(i)
	}
	if setUpBlocks[w] && f.lang.ruby {
		return f.setUp(i)
	}
	if !f.lang.define[w] || f.of(i-1) == "." {
		return nil
	}
	n := i + 1
	for f.kindOf(n) == word && (f.of(n+1) == "." || f.of(n+1) == "::") {
		n += 2
	}
	end := f.closing[i]
	if f.lang.name == "Elixir" {
		for k := n; k < min(n+maxHead, len(f.tokens)) && (k == n || !f.tokens[k].first); k++ {
			if f.of(k) == "do" && f.closing[k] > 0 {
				end = f.closing[k]
				break
			}
		}
	}
	if f.kindOf(n) != word || end == 0 {
		return nil
	}
	return &unit{name: f.of(n), word: w, at: n, from: i, body: f.past(n + 1), to: end + 1}
}

var (
	rubyAlways = set("def class module begin case do")
	rubyAlone  = set("if unless while until for") // at the beginning of a line, or behind one of the next
	rubyBefore = set("; = ( return && || then else do and or not => , [ { |")
)

// blocks maps each token that opens a block to the "end" that closes the block.
func (f *finder) blocks() map[int]int {
	out := map[int]int{}
	var open []int
	loop := -1 // the line of a loop whose "do" opens no further block
	for i := range f.tokens {
		t := f.of(i)
		if f.tokens[i].kind != word || f.of(i-1) == "." || f.symbol(i) {
			continue
		}
		line := f.line(i)
		switch {
		case t == "end":
			if n := len(open); n > 0 {
				out[open[n-1]] = i
				open = open[:n-1]
			}
		case !f.lang.ruby:
			if t == "do" || t == "fn" {
				open = append(open, i)
			}
		case t == "do" && loop == line:
			loop = -1
		case t == "def" && f.endless(i):
		case rubyAlways[t] || rubyAlone[t] && (f.tokens[i].first || rubyBefore[f.of(i-1)]):
			open = append(open, i)
			if t == "while" || t == "until" || t == "for" {
				loop = line
			}
		}
	}
	return out
}

// symbol reports whether a word is a symbol or a key, as in ":end" and "end:".
func (f *finder) symbol(i int) bool {
	return f.of(i+1) == ":" && f.tokens[i+1].from == f.tokens[i].to || f.of(i-1) == ":" && f.tokens[i-1].to == f.tokens[i].from
}

// endless reports whether a method is written as "def name = expression".
func (f *finder) endless(i int) bool {
	n := i + 2
	for f.of(n) == "." && f.kindOf(n+1) == word {
		n += 2
	}
	n = f.past(n)
	return f.of(n) == "=" && !f.tokens[n].first && f.tokens[n].from > f.tokens[n-1].to
}

// golang finds the functions, types and values of a Go file, and its subtests.
func (f *finder) golang() {
	files := gotoken.NewFileSet()
	file, err := parser.ParseFile(files, f.path, f.text, 0)
	f.broken = err != nil
	if file == nil {
		return
	}
	f.local = map[int32]string{}
	index := func(p gotoken.Pos) int {
		at := int32(files.PositionFor(p, false).Offset)
		return sort.Search(len(f.tokens), func(i int) bool { return f.tokens[i].from >= at })
	}
	add := func(u *unit, node ast.Node, name gotoken.Pos) {
		u.from, u.at, u.to = index(node.Pos()), index(name), index(node.End())
		if u.body == 0 {
			u.body = u.at + 1
		}
		if u.at < len(f.tokens) {
			f.units = append(f.units, u)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(&unit{name: spec.Name.Name, word: "type"}, spec, spec.Name.Pos())
				case *ast.ValueSpec:
					add(&unit{name: spec.Names[0].Name, word: "var"}, spec, spec.Pos())
					if f.tests {
						f.subtests(spec, add, index)
					}
				}
			}
		case *ast.FuncDecl:
			u := &unit{name: d.Name.Name, word: "func", role: goRole(f.path, d)}
			if d.Body != nil {
				u.body = index(d.Body.Lbrace) + 1
			}
			add(u, d, d.Name.Pos())
			f.locals(d, index)
			if u.role == test {
				f.subtests(d, add, index)
			}
		}
	}
}

// locals records which tokens of a function name its own variables.
func (f *finder) locals(d *ast.FuncDecl, index func(gotoken.Pos) int) {
	ast.Inspect(d, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		if ok && name.Obj != nil && name.Obj.Kind == ast.Var && name.Obj.Pos() >= d.Pos() && name.Obj.Pos() < d.End() {
			as := ""
			if field, ok := name.Obj.Decl.(*ast.Field); ok && strings.HasPrefix(strings.TrimPrefix(types.ExprString(field.Type), "*"), "testing.") {
				as = "t"
			}
			f.local[int32(index(name.Pos()))] = as
		}
		return true
	})
}

// goRole tells tests from helpers by the rules of the go command.
func goRole(path string, d *ast.FuncDecl) role {
	for _, prefix := range []string{"Test", "Fuzz", "Example"} {
		rest, ok := strings.CutPrefix(d.Name.Name, prefix)
		if ok && isTestPath(path) && d.Name.Name != "TestMain" && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
			return test
		}
	}
	return definition
}

// subtests adds the subtests of a test that have a literal name: t.Run("name", …), the rows of a table of functions,
// {"name", func(t *testing.T) { … }}, and the specs of Ginkgo: It("name", func() { … }).
func (f *finder) subtests(within ast.Node, add func(*unit, ast.Node, gotoken.Pos), index func(gotoken.Pos) int) {
	ast.Inspect(within, func(n ast.Node) bool {
		var parts []ast.Expr
		u := &unit{word: "Run", role: test}
		switch n := n.(type) {
		case *ast.CallExpr:
			if run, ok := n.Fun.(*ast.SelectorExpr); ok && run.Sel.Name == "Run" {
				parts = n.Args
			}
			if name, ok := n.Fun.(*ast.Ident); ok && (f.lang.calls[name.Name] || f.lang.groups[name.Name]) {
				parts, u.word = n.Args, name.Name
			} else if ok && (name.Name == "BeforeEach" || name.Name == "BeforeAll") && len(n.Args) > 0 {
				add(&unit{word: "setup", name: name.Name, body: index(n.Lparen) + 1}, n, n.Pos())
			}
		case *ast.CompositeLit:
			parts = n.Elts
		}
		title, body := titledFunction(parts, u.word)
		if title != nil && body != nil {
			if u.name, u.body = contentOf(title.Value), index(body.Body.Lbrace)+1; f.lang.groups[u.word] {
				u.role = group
			}
			add(u, n, title.Pos())
		}
		return true
	})
}

// titledFunction is the first string among the parts of a call or a composite literal, and the function that
// takes a test, or that Ginkgo runs; nil for a missing one.
func titledFunction(parts []ast.Expr, word string) (title *ast.BasicLit, body *ast.FuncLit) {
	for _, part := range parts {
		if field, ok := part.(*ast.KeyValueExpr); ok {
			part = field.Value
		}
		switch part := part.(type) {
		case *ast.BasicLit:
			if title == nil && part.Kind == gotoken.STRING {
				title = part
			}
		case *ast.FuncLit:
			if word != "Run" || strings.Contains(types.ExprString(part.Type), "testing.") {
				body = part
			}
		}
	}
	return title, body
}

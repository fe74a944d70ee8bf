// Package shell reads scripts: which commands a script runs, and whether the failure of each can fail the
// whole script. mvdan.cc/sh parses the scripts. The targets of Makefiles and the scripts of packages are
// looked up in the files of the change. Package shell runs nothing and does no I/O.
package shell

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// MaxScript bounds one script, in bytes.
	MaxScript = 256 << 10
	// maxSteps and maxDepth bound the walk through a script, whose functions may call each other.
	maxSteps = 5000
	maxDepth = 100
)

// Command is one simple command that a script runs.
type Command struct {
	// Args are the command's words without quotes. A part that is only known at run time stays as it is
	// written.
	Args []string
	// Line is the line in the script where the command begins, from 1.
	Line int
	// Lost says that the command's failure cannot fail the script.
	Lost bool
	// Conditional says that the command runs only under a condition.
	Conditional bool
}

// Options are the options of the shell that runs a script.
type Options struct {
	Errexit  bool // as with "set -e": the first failure ends the script
	Pipefail bool // as with "set -o pipefail": any part of a pipe can fail it
	// EachCounts says that every line runs by itself and that each can fail the whole script.
	EachCounts bool
}

// parsed reads a script in a form that bash could read. It fails if the script is too large or is not a readable shell script.
func parsed(script, readable string) (*syntax.File, error) {
	if len(script) > MaxScript {
		return nil, fmt.Errorf("a script of %d bytes is more than is read", len(script))
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(readable), "")
}

// Parse reads a script. It fails if the script is too large or is not a readable shell script.
func Parse(script string, o Options) ([]Command, error) {
	file, err := parsed(script, script)
	if err != nil {
		return nil, err
	}
	has := func(pattern *regexp.Regexp) func() bool { // most scripts have nothing for which it is asked
		return sync.OnceValue(func() bool { return pattern.MatchString(script) })
	}
	w := walker{errexit: o.Errexit || o.EachCounts, pipefail: o.Pipefail, each: o.EachCounts,
		passes: has(passing), waits: has(waiting), refuses: has(refusing),
		functions: map[string]*syntax.Stmt{}, left: new(maxSteps),
		used: sync.OnceValue(func() map[string]bool {
			words := map[string]bool{}
			for _, use := range uses.FindAllStringSubmatch(script, -1) {
				words[use[1]] = true
			}
			return words
		}),
	}
	w.block(file.Stmts, true)
	if *w.left < 0 {
		return nil, fmt.Errorf("the script runs more than %d statements", maxSteps)
	}
	for i := range w.out {
		w.out[i].Lost = w.out[i].Lost || w.trapped
	}
	return w.out, nil
}

var (
	// passing matches an exit with a status that the script kept, or a test of one with which it ends, or because of which.
	passing = regexp.MustCompile(`exit "?\$|(?s:=\$\?.*(?:\b(?:exit|return) +"?[$1-9]|\n\s*(?:\[\[?|test) [^;&|\n]*\s*$))`)
	// refusing matches an end with a failure.
	refusing = regexp.MustCompile(`\b(?:exit|return) +"?[1-9$]|\bfalse\b`)
	// waiting matches a wait for one process, whose status is that of the wait.
	waiting = regexp.MustCompile(`\bwait +(?:-n|"?\$)`)
	// uses matches a word that is not just a variable which gets a value.
	uses = regexp.MustCompile(`([A-Za-z_]\w*)(?:[^=\w]|==|$)`)
)

// walker walks a script in the order of execution.
type walker struct {
	errexit, pipefail, each bool
	passes                  func() bool            // the script exits with a status that it kept
	refuses                 func() bool            // the script ends with a failure somewhere
	retries                 bool                   // a loop makes use of that
	waits                   func() bool            // the script ends with the status of what runs in the background
	trapped                 bool                   // a trap makes the script exit with success
	ended, returned         bool                   // the following statements are not reached, and those after the function are
	used                    func() map[string]bool // the words that are not only variables which get a value
	lost, conditional       bool                   // of the current statement
	depth                   int
	given                   []string // the arguments of the current function
	left                    *int     // how many more statements to walk, in called functions too
	functions               map[string]*syntax.Stmt
	out                     []Command
}

// block walks statements in sequence. If last is true, the status of the last one is the script's status.
func (w *walker) block(stmts []*syntax.Stmt, last bool) {
	for i, s := range stmts {
		if w.ended {
			return
		}
		said := i < len(stmts)-1 && slices.Contains([]string{"echo", "true", ":"}, firstOf(stmts[i+1])) // only that all went well
		final := last && (i == len(stmts)-1 || said && w.errexit)
		lost := w.lost
		if !final && !w.errexit && !w.passes() {
			w.lost = true
		}
		w.stmt(s, final)
		w.lost = lost
	}
}

func (w *walker) stmt(s *syntax.Stmt, last bool) {
	*w.left--
	if w.depth++; w.depth > maxDepth || *w.left < 0 {
		w.depth--
		return
	}
	lost, conditional := w.lost, w.conditional
	defer func() { w.lost, w.conditional, w.depth = lost, conditional, w.depth-1 }()
	w.lost = w.lost || s.Negated || s.Background && !w.waits()
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(c)
	case *syntax.BinaryCmd:
		w.binary(c, last)
	case *syntax.IfClause:
		w.branches(c, last)
	case *syntax.Block:
		w.block(c.Stmts, last)
	case *syntax.Subshell:
		inner := *w
		inner.block(c.Stmts, last)
		w.out = inner.out
	case *syntax.ForClause:
		if words, listed := c.Loop.(*syntax.WordIter); !listed || !words.InPos.IsValid() || len(words.Items) > 0 {
			w.loop(c.Do, last, false)
		}
	case *syntax.WhileClause:
		w.conditional = true
		w.block(c.Cond, false)
		if status, known := constant(c.Cond[len(c.Cond)-1]); !known || status != c.Until {
			w.loop(c.Do, last, known)
		}
	case *syntax.CaseClause:
		w.conditional = true
		for _, item := range c.Items {
			w.within(func() { w.block(item.Stmts, last) })
		}
	case *syntax.FuncDecl:
		if c.Name != nil {
			w.functions[c.Name.Value] = c.Body
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.stmt(c.Stmt, last)
		}
	}
}

// loop walks what is repeated, endlessly or not. A command whose success leaves a loop can fail a script that else ends with a
// failure, or not at all.
func (w *walker) loop(do []*syntax.Stmt, last, endless bool) {
	outer := w.retries
	w.retries = endless || w.refuses()
	w.block(do, last && w.errexit)
	w.retries = outer
}

// leaves reports whether a statement leaves a loop that tries a command again until it succeeds.
func (w *walker) leaves(s *syntax.Stmt) bool {
	words := wordsOf(s)
	return w.retries && len(words) > 0 && (words[0] == "break" || (words[0] == "exit" || words[0] == "return") &&
		(len(words) == 1 || words[1] == "0"))
}

// within walks one of several branches: an end of the branch does not end the rest of the script.
func (w *walker) within(walk func()) {
	errexit, pipefail := w.errexit, w.pipefail
	walk()
	w.ended, w.errexit, w.pipefail = false, errexit, pipefail
}

func (w *walker) binary(c *syntax.BinaryCmd, last bool) {
	lost, conditional := w.lost, w.conditional
	status, known := constant(c.X)
	switch c.Op {
	case syntax.OrStmt:
		both, _ := c.X.Cmd.(*syntax.BinaryCmd)
		w.lost = lost || w.forgives(c.Y) && (both == nil || both.Op != syntax.AndStmt || !w.leaves(both.Y))
		w.stmt(c.X, last)
		w.lost, w.conditional = lost, true
	case syntax.AndStmt:
		again := w.leaves(c.Y)
		w.lost, w.conditional = lost || !last && !w.passes() && !w.each && !again, conditional || again
		w.stmt(c.X, last)
		w.lost, w.conditional = lost, conditional || isTest(c.X)
	default: // a pipe
		w.lost = lost || !w.pipefail && !summarised(c)
		w.stmt(c.X, last)
		w.lost = lost
	}
	if piped := c.Op != syntax.OrStmt && c.Op != syntax.AndStmt; piped || !w.ended && (!known || status == (c.Op == syntax.AndStmt)) {
		w.within(func() { w.stmt(c.Y, last) })
	}
}

// constant is the status of a command that is always the same.
func constant(s *syntax.Stmt) (success, known bool) {
	switch word := path.Base(firstOf(s)); word {
	case "true", ":", "false":
		return (word == "false") == s.Negated, true
	}
	return false, false
}

// summarised reports whether a pipe fails if the check before it does: cs2pr reads what linters of PHP print as Checkstyle's
// format (https://github.com/staabm/annotate-pull-request-from-checkstyle) unless it is given a file, and tparse reads what
// "go test -json" prints, and nothing else.
func summarised(c *syntax.BinaryCmd) bool {
	if firstOf(c.Y) == "cs2pr" {
		return !slices.ContainsFunc(wordsOf(c.Y)[1:], func(w string) bool { return w == "--graceful-warnings" || !strings.HasPrefix(w, "-") })
	}
	tests := wordsOf(c.X)
	return firstOf(c.Y) == "tparse" && len(tests) > 1 && tests[0] == "go" && tests[1] == "test" &&
		slices.ContainsFunc(tests, func(w string) bool { return w == "-json" || w == "--json" || w == "-json=true" })
}

// isTest reports whether a statement tests a condition.
func isTest(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.TestClause:
		return true
	case *syntax.BinaryCmd:
		return isTest(c.X)
	}
	return slices.Contains([]string{"[", "test"}, firstOf(s))
}

// forgives reports whether the statement after "||" hides a failure, because it always succeeds.
func (w *walker) forgives(s *syntax.Stmt) bool {
	words := wordsOf(s)
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(words) == 0 && len(c.Assigns) == 1 && c.Assigns[0].Name != nil { // a status that nothing looks at
			return !w.used()[c.Assigns[0].Name.Value]
		}
	case *syntax.Block:
		return len(c.Stmts) > 0 && w.forgives(c.Stmts[len(c.Stmts)-1])
	case *syntax.Subshell:
		return len(c.Stmts) > 0 && w.forgives(c.Stmts[len(c.Stmts)-1])
	}
	switch path.Base(firstOf(s)) {
	case "true", ":", "echo", "printf", "cat", "date", "ls", "sleep", "touch":
		return true
	case "exit", "return":
		return len(words) > 1 && words[1] == "0"
	}
	return false
}

// branches walks an if. The failure of its condition can fail the script only if one of the branches fails.
func (w *walker) branches(c *syntax.IfClause, last bool) {
	lost, conditional := w.lost, w.conditional
	for ; c != nil; c = c.Else {
		w.lost = lost || !fails(c.Then) && (len(c.Then) == 0 || !w.leaves(c.Then[len(c.Then)-1])) && (c.Else == nil || !fails(c.Else.Then))
		status, known := false, false
		if last := len(c.Cond) - 1; last >= 0 {
			cond := slices.Clone(c.Cond)
			if fails(c.Then) { // it says by itself what is done after a failure
				plain := *cond[last]
				plain.Negated, cond[last] = false, &plain
			}
			w.block(cond, true)
			status, known = constant(c.Cond[last])
		}
		w.lost, w.conditional = lost, conditional || !known
		if status || !known {
			w.within(func() { w.block(c.Then, last) })
		}
		if status {
			break
		}
	}
}

// fails reports whether statements can themselves end a script with a failure.
func fails(stmts []*syntax.Stmt) bool {
	return slices.ContainsFunc(stmts, func(s *syntax.Stmt) bool {
		words := wordsOf(s)
		return len(words) > 0 && (words[0] == "false" || (words[0] == "exit" || words[0] == "return") &&
			(len(words) == 1 || words[1] != "0")) ||
			len(words) == 0 && s.Cmd != nil
	})
}

func (w *walker) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		if a.Value != nil {
			w.substitutions(a.Value, w.lost || len(c.Args) > 0)
		}
	}
	for _, word := range c.Args {
		w.substitutions(word, true)
	}
	args := texts(c.Args)
	if len(args) == 0 {
		return
	}
	if i := slices.Index(args, "$@"); i >= 0 && len(w.given) > 0 {
		args = slices.Replace(args, i, i+1, w.given...)
	}
	if body := w.functions[args[0]]; body != nil {
		outer := w.given
		w.given = args[1:]
		w.stmt(body, true)
		w.given = outer
		w.ended, w.returned = w.ended && !w.returned, false
		return
	}
	if inner, ok := nested(args); ok {
		o := Options{Errexit: strings.Contains(strings.Join(args[1:len(args)-1], " "), "e") && args[0] != "eval", Pipefail: w.pipefail}
		if commands, err := Parse(inner, o); err == nil {
			for _, one := range commands {
				one.Line = int(c.Pos().Line())
				one.Lost, one.Conditional = one.Lost || w.lost, one.Conditional || w.conditional
				w.out = append(w.out, one)
			}
			return
		}
	}
	switch args[0] {
	case "set":
		w.set(args[1:])
	case "trap":
		w.trapped = w.trapped || len(args) > 2 && strings.Contains(args[1], "exit 0")
	case "exit", "return":
		w.ended = !w.conditional
		w.returned = w.ended && args[0] == "return"
		for i := range w.out {
			w.out[i].Lost = w.out[i].Lost || w.ended && !w.errexit && len(args) > 1 && args[1] == "0"
		}
	case "alias":
		name, value, _ := strings.Cut(append(args, "")[1], "=")
		if file, err := parsed(value, value); err == nil && len(file.Stmts) == 1 && w.forgives(file.Stmts[0]) {
			w.functions[name] = file.Stmts[0]
		}
	case "shift":
		w.given = w.given[min(1, len(w.given)):]
	case "exec":
		w.ended = len(args) > 1 && !w.conditional
	}
	w.out = append(w.out, Command{Args: args, Line: int(c.Pos().Line()), Lost: w.lost, Conditional: w.conditional})
}

func (w *walker) set(args []string) {
	for i, a := range args {
		if a == "--" {
			return
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			continue
		}
		on := a[0] == '-'
		if strings.Contains(a[1:], "e") {
			w.errexit = on
		}
		if on && strings.Contains(a[1:], "n") { // it reads the rest and runs nothing
			w.ended = true
		}
		if strings.HasSuffix(a, "o") && i+1 < len(args) {
			switch args[i+1] {
			case "pipefail":
				w.pipefail = on
			case "errexit":
				w.errexit = on
			}
		}
	}
}

// substitutions walks the commands within a word. Their failure is lost unless the word is the value of an
// assignment without a command.
func (w *walker) substitutions(word *syntax.Word, lost bool) {
	syntax.Walk(word, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.CmdSubst); ok {
			inner := *w
			inner.lost = lost
			inner.block(s.Stmts, true)
			w.out = inner.out
			return false
		}
		return true
	})
}

// nested returns the script in the arguments of a command that runs it.
func nested(args []string) (string, bool) {
	switch path.Base(args[0]) {
	case "bash", "sh", "zsh", "dash":
		for i, a := range args[1:] {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+2 < len(args) {
				return args[i+2], true
			}
		}
	case "eval":
		return strings.Join(args[1:], " "), len(args) > 1
	}
	return "", false
}

func wordsOf(s *syntax.Stmt) []string {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		return texts(c.Args)
	}
	return nil
}

// firstOf is the first word of a statement, "" for none.
func firstOf(s *syntax.Stmt) string { return append(wordsOf(s), "")[0] }

func texts(words []*syntax.Word) []string {
	var out []string
	for _, word := range words {
		out = append(out, textOf(word))
	}
	return out
}

// textOf is a word without its quotes.
func textOf(word *syntax.Word) string {
	var out strings.Builder
	var parts func(list []syntax.WordPart)
	parts = func(list []syntax.WordPart) {
		for _, part := range list {
			switch p := part.(type) {
			case *syntax.Lit:
				out.WriteString(strings.ReplaceAll(p.Value, "\\\n", ""))
			case *syntax.SglQuoted:
				out.WriteString(p.Value)
			case *syntax.DblQuoted:
				parts(p.Parts)
			default:
				var b bytes.Buffer
				_ = syntax.NewPrinter().Print(&b, part)
				out.Write(b.Bytes())
			}
		}
	}
	parts(word.Parts)
	return out.String()
}

// Same reports whether two scripts differ in their layout alone, such as in where lines are broken. It is false for what does not parse.
func Same(a, b []byte) bool {
	printed := func(script []byte) (text string) {
		file, err := syntax.NewParser().Parse(bytes.NewReader(script), "")
		var out strings.Builder
		if err != nil || syntax.NewPrinter(syntax.Minify(true)).Print(&out, file) != nil {
			return ""
		}
		return out.String()
	}
	text := printed(a)
	return text != "" && text == printed(b)
}

package shell

import (
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Line is one command of a script as it is written, however the script is broken into lines.
type Line struct {
	// Text is the command on one line, with the "|" or "||" before it, and the word of the condition that it is: if,
	// elif, while, until.
	Text string
	// Line is the line in the script where the command begins, from 0.
	Line int
}

// expression matches a pipeline's expression, which is no shell.
var expression = regexp.MustCompile(`\$\{\{.*?\}\}`)

// Lines returns the commands of a script in the order in which they are written. It fails if the script is too
// large or is not a readable shell script.
func Lines(script string) ([]Line, error) {
	var expressions []string
	readable := expression.ReplaceAllStringFunc(script, func(e string) string {
		expressions = append(expressions, placeholder(len(expressions)/2), e)
		return placeholder(len(expressions)/2 - 1)
	})
	file, err := parsed(script, readable)
	if err != nil {
		return nil, err
	}
	l := lister{script: readable, written: strings.NewReplacer(append(expressions, "\\\n", " ")...)}
	l.block(file.Stmts, "")
	return l.out, nil
}

// placeholder is a word that stands for the i-th expression, as long as the shell's parser reads the script.
func placeholder(i int) string { return fmt.Sprintf("\ue000%d\ue001", i) }

type lister struct {
	script  string
	written *strings.Replacer // puts the expressions back, and joins lines that go on
	out     []Line
}

func (l *lister) block(stmts []*syntax.Stmt, before string) {
	for _, s := range stmts {
		l.stmt(s, before)
	}
}

// stmt lists a statement. What is before it belongs to its first command.
func (l *lister) stmt(s *syntax.Stmt, before string) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		l.stmt(c.X, before)
		if c.Op == syntax.AndStmt {
			l.stmt(c.Y, "")
		} else {
			l.stmt(c.Y, c.Op.String()+" ")
		}
	case *syntax.IfClause:
		for word := "if "; c != nil; c, word = c.Else, "elif " {
			l.block(c.Cond, before+word)
			l.block(c.Then, "")
			before = ""
		}
	case *syntax.WhileClause:
		word := "while "
		if c.Until {
			word = "until "
		}
		l.block(c.Cond, before+word)
		l.block(c.Do, "")
	case *syntax.ForClause:
		l.add(before+"for ", c.Loop)
		l.block(c.Do, "")
	case *syntax.CaseClause:
		l.add(before+"case ", c.Word)
		for _, item := range c.Items {
			l.block(item.Stmts, "")
		}
	case *syntax.Block:
		l.block(c.Stmts, before)
	case *syntax.Subshell:
		l.block(c.Stmts, before)
	case *syntax.FuncDecl:
		l.stmt(c.Body, before)
	default:
		l.add(before, s)
	}
}

func (l *lister) add(before string, n syntax.Node) {
	text := l.written.Replace(strings.TrimSuffix(l.script[n.Pos().Offset():n.End().Offset()], ";"))
	l.out = append(l.out, Line{before + strings.Join(strings.Fields(text), " "), int(n.Pos().Line()) - 1})
}

package acp

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runnable reports whether every command in a shell line is allowed by a pattern, in which * matches
// anything. A line that also sets variables or writes files is not allowed, nor is shell arithmetic: the
// shell evaluates the names in it again, and runs what it finds there. What other shells than bash read in another
// way is not allowed either: an agent may use sh, which ends the quote of $'\'…' earlier, or zsh, which runs
// commands in *(…).
func runnable(line string, allow []string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	fine := true
	printer := syntax.NewPrinter()
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case nil, *syntax.File, *syntax.Comment, *syntax.Stmt, *syntax.BinaryCmd, *syntax.Block, *syntax.Subshell, *syntax.IfClause,
			*syntax.WhileClause, *syntax.CaseClause, *syntax.CaseItem, *syntax.TimeClause, *syntax.Word, *syntax.Lit,
			*syntax.DblQuoted, *syntax.CmdSubst, *syntax.ProcSubst:
		case *syntax.SglQuoted:
			fine = fine && !n.Dollar
		case *syntax.CallExpr:
			var text strings.Builder
			fine = fine && len(n.Assigns) == 0 && printer.Print(&text, n) == nil && allowed(text.String(), allow)
		case *syntax.Redirect:
			fine = fine && harmless(n)
		case *syntax.ParamExp:
			fine = fine && plain(n)
		default:
			fine = false
		}
		return fine
	})
	return fine
}

// plain reports whether an expansion only yields a variable's value, or another text in its place.
func plain(p *syntax.ParamExp) bool {
	more := p.Exp != nil && slices.Contains([]syntax.ParExpOperator{syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.OtherParamOps},
		p.Exp.Op)
	return !more && !p.Excl && p.Index == nil && p.Slice == nil
}

// allowed reports whether a pattern allows a simple command. A pattern that ends in " *" also allows the
// command without arguments.
func allowed(command string, allow []string) bool {
	return slices.ContainsFunc(allow, func(pattern string) bool {
		words := strings.Split(strings.TrimSpace(pattern), "*")
		if strings.Join(words, "") == "" {
			return false // it would allow everything
		}
		for i, word := range words {
			words[i] = regexp.QuoteMeta(word)
		}
		expression := strings.Join(words, ".*")
		if head, ok := strings.CutSuffix(expression, " .*"); ok {
			expression = head + "( .*)?"
		}
		matched, err := regexp.MatchString("(?s)^"+expression+"$", command)
		return err == nil && matched
	})
}

// harmless reports whether a redirection writes no file: it goes to /dev/null or to another stream. If no stream
// but another word follows >&, the shell writes to the file of that name.
func harmless(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.DplOut:
		stream := r.Word.Lit()
		return stream != "" && strings.Trim(stream, "0123456789") == "" || stream == "-"
	case syntax.DplIn, syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	}
	return r.Word != nil && r.Word.Lit() == "/dev/null"
}

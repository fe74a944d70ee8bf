package code

import (
	"path"
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bats finds the tests and functions of a Bats file, its commands, and what runs under a condition.
func (f *finder) bats() {
	if path.Ext(f.path) != ".bats" {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBats)).Parse(strings.NewReader(f.text), "")
	if f.broken = err != nil; f.broken {
		return
	}
	index := func(p syntax.Pos) int {
		return sort.Search(len(f.tokens), func(i int) bool { return f.tokens[i].from >= int32(p.Offset()) })
	}
	add := func(u *unit, name syntax.Node, body *syntax.Stmt) {
		u.from, u.at, u.body, u.to = index(name.Pos()), index(name.Pos()), index(body.Pos())+1, index(body.End())
		u.name = contentOf(f.text[name.Pos().Offset():name.End().Offset()])
		if u.at < u.body && u.body <= u.to && u.to <= len(f.tokens) {
			f.units = append(f.units, u)
		}
	}
	under := func(cond syntax.Pos, run []*syntax.Stmt) {
		if len(run) > 0 {
			from := index(run[0].Pos())
			f.branches = append(f.branches, guard{f.plain(index(cond), from), from, index(run[len(run)-1].End())})
		}
	}
	f.commands = map[int]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.TestDecl:
			add(&unit{word: "@test", role: test}, n.Description, n.Body)
		case *syntax.FuncDecl:
			add(&unit{word: "function"}, n.Name, n.Body)
		case *syntax.CallExpr:
			f.commands[index(n.Pos())] = true
		case *syntax.IfClause:
			under(n.Position, n.Then)
		case *syntax.CaseItem:
			under(n.Pos(), n.Stmts)
		case *syntax.BinaryCmd:
			if n.Op == syntax.AndStmt || n.Op == syntax.OrStmt {
				under(n.Pos(), []*syntax.Stmt{n.Y})
			}
		}
		return true
	})
}

// block reads the name and the block of a command of Pester: It "pays" -Skip { … }.
func (f *finder) block(u *unit, n int) bool {
	if t := f.of(u.at - 1); !f.tokens[u.at].first && t != "{" && t != ";" {
		return false
	}
	for k := n; k < min(len(f.tokens), n+maxHead) && (!f.tokens[k].first || f.of(k-1) == "`"); k++ {
		mate := f.mate(k)
		if f.of(k) == "{" && mate > k && f.of(k-1) != "@" && f.of(k-1) != ":" {
			u.body, u.to = k+1, mate+1
			return k > n
		}
		k = max(k, mate)
		if u.name == "" {
			u.name = contentOf(f.plain(n, k+1))
		}
	}
	return false
}

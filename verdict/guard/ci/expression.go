package ci

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"
)

// truth is what is known about an expression before it runs.
type truth int

const (
	unknown truth = iota
	yes
	no
)

// value is the value of an expression: a known text, or only whether it is true.
type value struct {
	text  string
	known bool
	truth truth
}

func text(s string) value {
	v := value{text: s, known: true, truth: yes}
	if s == "" || s == "false" || s == "0" {
		v.truth = no
	}
	return v
}

func boolean(t truth) value {
	if t == unknown {
		return value{}
	}
	return text(strconv.FormatBool(t == yes))
}

// holds evaluates a GitHub condition for a pull request, in a cell of the matrix. See
// https://docs.github.com/en/actions/reference/evaluate-expressions-in-workflows-and-actions
func holds(condition string, cell Cell) truth {
	condition = strings.TrimSpace(condition)
	if inner, ok := strings.CutPrefix(condition, "${{"); ok && strings.Count(condition, "${{") == 1 && strings.HasSuffix(condition, "}}") {
		condition = strings.TrimSuffix(inner, "}}")
	}
	tree, err := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(condition + "}}"))
	if err != nil {
		return unknown
	}
	return evaluate(tree, cell).truth
}

func evaluate(n actionlint.ExprNode, cell Cell) value {
	switch n := n.(type) {
	case *actionlint.BoolNode:
		return text(strconv.FormatBool(n.Value))
	case *actionlint.IntNode:
		return text(strconv.Itoa(n.Value))
	case *actionlint.StringNode:
		return text(n.Value)
	case *actionlint.NullNode:
		return text("")
	case *actionlint.ObjectDerefNode:
		return variable(n, cell)
	case *actionlint.NotOpNode:
		return boolean(map[truth]truth{yes: no, no: yes}[evaluate(n.Operand, cell).truth])
	case *actionlint.CompareOpNode:
		return compare(n, cell)
	case *actionlint.LogicalOpNode:
		a, b := evaluate(n.Left, cell), evaluate(n.Right, cell)
		decides := no
		if n.Kind == actionlint.LogicalOpNodeKindOr {
			decides = yes
		}
		switch {
		case a.truth == decides || b.truth == unknown && a.truth == unknown:
			return a
		case b.truth == decides && a.truth == unknown:
			return boolean(decides)
		case a.truth == unknown:
			return value{}
		}
		return b
	case *actionlint.FuncCallNode:
		return call(n, cell)
	}
	return value{}
}

func compare(n *actionlint.CompareOpNode, cell Cell) value {
	a, b, empty := evaluate(n.Left, cell), evaluate(n.Right, cell), text("")
	equal := n.Kind == actionlint.CompareOpNodeKindEq
	left, right := dotted(n.Left), dotted(n.Right)
	ended := strings.HasPrefix(left, "steps.") && (strings.HasSuffix(left, ".outcome") || strings.HasSuffix(left, ".conclusion"))
	switch _, number := n.Right.(*actionlint.BoolNode); { // as which an empty text is compared with it
	case !equal && n.Kind != actionlint.CompareOpNodeKindNotEq:
		return value{}
	case equal && ended && b.text == "success": // nothing is known of what follows a failure
		return boolean(yes)
	case equal && cell[fork] != "" && strings.Contains(left+right, ".head.repo.") && b.text != "true":
		return boolean(no)
	case a == empty && b.truth == yes || b == empty && a.truth == yes:
		return text(strconv.FormatBool(!equal))
	case a == empty && number:
		return text(strconv.FormatBool(equal))
	case !a.known || !b.known:
		return value{}
	}
	return text(strconv.FormatBool(strings.EqualFold(a.text, b.text) == equal))
}

// dotted is the name of a variable, with the objects that it is in.
func dotted(n actionlint.ExprNode) string {
	switch n := n.(type) {
	case *actionlint.ObjectDerefNode:
		return dotted(n.Receiver) + "." + n.Property
	case *actionlint.VariableNode:
		return n.Name
	}
	return ""
}

// variable knows the variables that are the same for all pull requests, and those of the matrix.
func variable(n *actionlint.ObjectDerefNode, cell Cell) value {
	name := n.Property
	if of, in, is := strings.Cut(strings.TrimPrefix(dotted(n), "github.event."), "."); strings.HasPrefix(dotted(n), "github.event.") {
		switch {
		case !contains(payload, of):
			return text("")
		case of == "pull_request" && !is:
			return value{truth: yes}
		case in == "merged":
			return text("false")
		}
	}
	if object, is := n.Receiver.(*actionlint.ObjectDerefNode); is { // a member of an object of the matrix
		n, name = object, object.Property+"."+name
	}
	of, ok := n.Receiver.(*actionlint.VariableNode)
	switch {
	case !ok && strings.HasSuffix(name, ".draft"):
		return text("false")
	case !ok && name == "repo.fork" && cell[fork] != "":
		return text("true")
	case !ok:
		return value{}
	case of.Name == "github" && pulls[name] != "":
		return text(pulls[name])
	case of.Name == "github" && (name == "head_ref" || name == "base_ref"):
		return value{truth: yes}
	case of.Name == "inputs":
		if v, ok := cell["inputs."+strings.ToLower(name)]; ok && v != "" {
			return value{text: v, known: true, truth: yes} // as a text it is true, whatever it says
		} else if ok || cell[uncalled] != "" {
			return text("")
		}
	case of.Name == "env":
		if v, ok := cell["?env."+strings.ToLower(name)]; ok {
			return text(v)
		}
	case of.Name == "matrix":
		if v, ok := cell[name]; ok {
			return text(v)
		}
		if cell[dynamic] == "" {
			return text("")
		}
	}
	return value{}
}

func call(n *actionlint.FuncCallNode, cell Cell) value {
	switch strings.ToLower(n.Callee) {
	case "always", "success":
		return boolean(yes)
	case "failure", "cancelled":
		return boolean(no)
	case "startswith", "contains":
		if len(n.Args) == 2 {
			a, b := evaluate(n.Args[0], cell), evaluate(n.Args[1], cell)
			if of := strings.TrimPrefix(dotted(n.Args[0]), "github.event.pull_request."); cell[says] != "" && (of == "body" || of == "title") {
				return text(cell[says])
			}
			if a.known && b.known {
				has := strings.Contains
				if strings.EqualFold(n.Callee, "startswith") {
					has = strings.HasPrefix
				}
				return text(strconv.FormatBool(has(strings.ToLower(a.text), strings.ToLower(b.text))))
			}
		}
	}
	return value{}
}

var (
	expression = regexp.MustCompile(`\$\{\{.*?\}\}`)
	unlike     = regexp.MustCompile(`[^.0-9a-zA-Z]+`)
)

// withoutExpressions replaces each expression in a script by a word, because the operators of expressions are
// not those of the shell.
func withoutExpressions(script string) string {
	return expression.ReplaceAllStringFunc(script, func(e string) string { return "EXPR" + unlike.ReplaceAllString(e, "") })
}

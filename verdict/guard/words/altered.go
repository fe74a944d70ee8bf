package words

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

// Altered finds, in a document that says what is checked, the first condition, input, limit or list of what is
// left out that is not as before, in a job, step or section that was there before. The function own reports
// whether the values at a path of keys say what is checked. The elements of a list have the keys of the list.
func Altered(f change.File, kind change.Kind, own func(keys []string) bool) (change.Finding, bool) {
	before, err := doc.Parse(f.OldPath, f.Before)
	if err != nil {
		return change.Finding{}, false
	}
	after, err := doc.Parse(f.Path, f.After)
	if err != nil {
		return change.Finding{}, false
	}
	had, has := leavesOf(before), leavesOf(after)
	say := func(why string, line int, after string) (change.Finding, bool) {
		return change.Finding{Tier: change.Evidence, Kind: kind, Rule: "words/altered", Why: why,
			Place: change.Place{Path: f.Path, Line: line, After: after}}, true
	}
	for _, id := range has.order {
		is := has.at[id]
		was, there := had.at[id]
		if there && was.node.Value == is.node.Value || !there && !had.within[is.parent] || !own(is.keys) {
			continue
		}
		switch what := is.what(); {
		case what == "", what == input && is.node.Value == "true", there && what == limit && !larger(was.node.Value, is.node.Value),
			!there && what == limit && stricter.MatchString(is.key()),
			there && what != limit && versions.ReplaceAllString(was.node.Value, "") == versions.ReplaceAllString(is.node.Value, ""):
		case there:
			return say(what+" "+is.key()+" is another one than before.", is.node.Line, is.text())
		default:
			return say(what+" "+is.key()+" is new here.", is.node.Line, is.text())
		}
	}
	for _, id := range had.order {
		was := had.at[id]
		if _, there := has.at[id]; !there && has.within[was.parent] && own(was.keys) && was.what() == input && was.node.Value != "false" {
			return say(input+" "+was.node.Key+" is gone.", 0, "")
		}
	}
	return change.Finding{}, false
}

// What a leaf of a document can say of what is checked.
const (
	condition = "The condition"
	input     = "The input"
	limit     = "The limit"
	leftOut   = "What is left out by"
)

var (
	conditions = strings.Fields("if when condition only except unless")
	inputs     = strings.Fields("with env environment variables inputs parameters")
	limits     = regexp.MustCompile(`(?i)timeout|retr(?:y|ies)|rerun|attempts|tolerance|threshold`)
	// usualConditions are conditions with which checks still run for the pull requests that are to be merged.
	usualConditions = regexp.MustCompile(`(?i)draft|\btags?\b|refs/heads|succeeded|fail(?:ed|ure)|always\(|cancelled` +
		`|\bfork|github\.repository`)
	usualKeys = regexp.MustCompile(`(?i)transform|watch|cache|version$|name|latest|token|keys?$`)
	// stricter matches limits that check more where there was none.
	stricter = regexp.MustCompile(`(?i)timeout|threshold`)
	// versions matches versions and hashes, which are no reason to look.
	versions = regexp.MustCompile(`\bv?\d[\w.+-]*|\b[0-9a-f]{7,}\b`)
)

// leaf is a scalar of a document with the keys above it.
type leaf struct {
	node   *doc.Node
	keys   []string
	parent string
}

func (l leaf) text() string { return l.key() + ": " + l.node.Value }

// key is the name of a leaf or, for an element of a list, of the list.
func (l leaf) key() string { return l.keys[len(l.keys)-1] }

// what says how a leaf tells what is checked, "" if it does not.
func (l leaf) what() string {
	last := l.key()
	switch {
	case l.keys[0] == "on", usualConditions.MatchString(l.node.Value), usualKeys.MatchString(last):
	case slices.Contains(conditions, last):
		return condition
	case limits.MatchString(last):
		return limit
	case slices.ContainsFunc(l.keys, says):
		return leftOut
	case slices.ContainsFunc(l.keys[:len(l.keys)-1], func(key string) bool { return slices.Contains(inputs, key) }):
		return input
	}
	return ""
}

type leaves struct {
	at     map[string]leaf
	order  []string
	within map[string]bool // the maps that are there
}

func leavesOf(root *doc.Node) leaves {
	all := leaves{at: map[string]leaf{}, within: map[string]bool{}}
	all.add(root, "", "", nil)
	return all
}

// add adds the leaves below a node; within is the map around it. An element of a list is known by its text, its
// name or its place.
func (a *leaves) add(n *doc.Node, id, within string, keys []string) {
	switch n.Kind {
	case doc.Scalar:
		if _, there := a.at[id]; !there && len(keys) > 0 {
			a.at[id] = leaf{n, keys, within}
			a.order = append(a.order, id)
		}
		return
	case doc.Map:
		a.within[id], within = true, id
	}
	for i, item := range n.Items {
		if n.Kind == doc.Map {
			a.add(item, id+"/"+item.Key, within, append(slices.Clone(keys), item.Key))
			continue
		}
		a.add(item, id+"\x00"+nameOf(item, i), within, keys)
	}
}

// nameOf is the name of a list's element.
func nameOf(item *doc.Node, i int) string {
	if item.Kind == doc.Scalar {
		return item.Value
	}
	for _, key := range []string{"name", "id", "uses", "task", "run", "script"} {
		if text, _, _ := strings.Cut(item.Text(key), "@"); text != "" {
			return text
		}
	}
	return strconv.Itoa(i)
}

// larger reports whether a limit grows, as far as both are numbers.
func larger(was, is string) bool {
	before, err := strconv.ParseFloat(was, 64)
	after, wrong := strconv.ParseFloat(is, 64)
	return err != nil || wrong != nil || after > before
}

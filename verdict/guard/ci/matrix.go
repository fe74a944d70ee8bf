package ci

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
)

const (
	// dynamic marks a cell whose values are only known at run time.
	dynamic = "?"
	// fork marks a case of a pull request that comes from a fork.
	fork = "?fork"
	// uncalled marks a case of a workflow that no other one calls, and so has no inputs in a pull request.
	uncalled = "?uncalled"
	// says is, in a case of a pull request, whether its text has every word or none.
	says = "?says"
	// maxCells bounds the cases of one matrix; GitHub's own bound is 256.
	maxCells = 256
)

// cells expands a matrix like GitHub: the product of its axes, without the excluded cells, with the included
// ones. A job without a matrix has one cell.
func cells(matrix *doc.Node) []Cell {
	if matrix == nil {
		return []Cell{{}}
	}
	if matrix.Kind != doc.Map {
		return []Cell{{dynamic: "true"}}
	}
	out := []Cell{{}}
	axes := 0
	for _, axis := range matrix.Items {
		if axis.Key == "include" || axis.Key == "exclude" {
			continue
		}
		axes++
		var next []Cell
		for _, base := range out {
			if axis.Kind != doc.List { // computed at run time
				one := maps.Clone(base)
				one[dynamic] = "true"
				next = append(next, one)
			}
			for _, v := range axis.Items {
				if one := maps.Clone(base); axis.Kind == doc.List && len(next) < maxCells {
					set(one, axis.Key, v)
					next = append(next, one)
				}
			}
		}
		out = next
	}
	if axes == 0 {
		out = nil
	}
	out = excluded(out, matrix.Get("exclude"))
	return included(out, matrix.Get("include"))
}

// axes expands the lists under some keys of a document, as AppVeyor and Travis do.
func axes(n *doc.Node, keys ...string) []Cell {
	matrix := &doc.Node{Kind: doc.Map}
	for _, key := range keys {
		if list := n.Get(key); list != nil && list.Kind == doc.List {
			matrix.Items = append(matrix.Items, list)
		}
	}
	if len(matrix.Items) == 0 {
		return []Cell{{}}
	}
	return cells(matrix)
}

// set sets a value of a cell. The members of an object are values too.
// None has a name like what else is known of a case.
func set(c Cell, key string, v *doc.Node) {
	if strings.HasPrefix(key, "?") {
		return
	}
	c[key] = whole(v)
	for _, item := range v.Items {
		c[key+"."+item.Key] = item.Value
	}
}

// whole is a value, with its members if it is an object, in any order.
func whole(v *doc.Node) string {
	text := []string{v.Value}
	for _, item := range v.Items {
		text = append(text, item.Key+"="+item.Value)
	}
	slices.Sort(text[1:])
	return strings.Join(text, " ")
}

// add sets the values of an entry's keys.
func (c Cell) add(entry *doc.Node) {
	for _, item := range entry.Items {
		set(c, item.Key, item)
	}
}

func excluded(list []Cell, exclude *doc.Node) []Cell {
	return slices.DeleteFunc(list, func(c Cell) bool {
		return slices.ContainsFunc(exclude.Members(), func(e *doc.Node) bool {
			differs := func(item *doc.Node) bool { return c[item.Key] != whole(item) }
			return len(e.Items) > 0 && !slices.ContainsFunc(e.Items, differs)
		})
	})
}

// included adds an entry's values to the cells whose axes it fits, or else makes a new cell. It may overwrite what an earlier
// entry added. See https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstrategymatrixinclude
func included(list []Cell, include *doc.Node) []Cell {
	made := len(list)
	var axes []Cell
	for _, c := range list {
		axes = append(axes, maps.Clone(c))
	}
	for _, e := range include.Members() {
		fitted := false
		for i := range list[:made] {
			if len(e.Items) > 0 && !slices.ContainsFunc(e.Items, func(item *doc.Node) bool {
				had, there := axes[i][item.Key]
				return there && had != whole(item)
			}) {
				fitted = true
				list[i].add(e)
			}
		}
		if !fitted && len(list) < maxCells {
			one := Cell{}
			one.add(e)
			list = append(list, one)
		}
	}
	if include != nil && include.Kind == doc.Scalar || len(list) == 0 {
		list = append(list, Cell{dynamic: "true"})
	}
	return list
}

// computed returns the entries by which a matrix leaves out cases of an axis that is only known at run time, with their
// lines.
func computed(matrix *doc.Node) map[string]int {
	out := map[string]int{}
	for _, e := range matrix.Get("exclude").Members() {
		text, late := []string{}, false
		for _, item := range e.Items {
			axis := matrix.Get(item.Key)
			late = late || axis != nil && axis.Kind == doc.Scalar
			text = append(text, item.Key+": "+item.Value)
		}
		if slices.Sort(text); late {
			out[strings.Join(text, ", ")] = e.Line
		}
	}
	return out
}

// values returns the values of each axis of a matrix.
func values(list []Cell) map[string][]string {
	out := map[string][]string{}
	for _, c := range list {
		for key, v := range c {
			if !slices.Contains(out[key], v) {
				out[key] = append(out[key], v)
			}
		}
	}
	return out
}

// further reports whether a case has a value that its axis did not have, besides what only says how it is run.
func (c Cell) further(had map[string][]string) bool {
	for axis, value := range c {
		if value != "true" && len(had[axis]) > 0 && !slices.Contains(had[axis], value) {
			return true
		}
	}
	return false
}

// version matches a name, a number and the word for what comes before a release.
var version = regexp.MustCompile(`^([^\d]*?)[\^~<>=v ]*(\d+(?:\.\d+)*)(?:[-.]?([a-z]+))?`)

// retired is a version of a matrix that is gone, and of which there is no other patch; "" for none. The machines of hosts
// do not count, which the hosts retire, nor objects, whose members are values too.
func retired(had, has map[string][]string) string {
	for _, axis := range slices.Sorted(maps.Keys(had)) {
		for _, old := range had[axis] {
			if of := version.FindStringSubmatch(old); of != nil && old[0] != ' ' && len(has[axis]) > 0 && !machine.MatchString(old) &&
				!slices.ContainsFunc(has[axis], func(v string) bool { return v == old || minor.FindString(v) == minor.FindString(old) }) {
				return strings.TrimSpace(axis + " " + old)
			}
		}
	}
	return ""
}

var (
	// minor matches a name and the first two numbers of its version.
	minor   = regexp.MustCompile(`^\D*\d+(?:\.\d+)?`)
	machine = regexp.MustCompile(`^(?:ubuntu|macos|macOS|windows)-\d`)
)

// chosen reports whether a value is gone from the cases of a job that its command, or the folder of it, is written with, and
// no other value differs from it only by a version: a folder of tests, or a part of all of them.
func (r Run) chosen(before, after []Cell) bool {
	had, has := values(before), values(after)
	text := r.command() + " " + r.Step.Dir
	for axis, all := range had {
		named := regexp.MustCompile(`(?:matrix\.|\$[({]?)` + regexp.QuoteMeta(axis) + `\b`)
		if named.MatchString(text) && slices.ContainsFunc(all, func(v string) bool {
			return !slices.ContainsFunc(has[axis], func(o string) bool {
				return o == v || !partition.MatchString(axis) && unversioned(o) == unversioned(v)
			})
		}) {
			return true
		}
	}
	return false
}

var (
	// runsOn matches the names of the systems that run jobs.
	runsOn = regexp.MustCompile(`windows|macos|ubuntu`)
	// kinds matches values of which two may not go together: versions and names for them, and switches. Those of objects are members.
	kinds = regexp.MustCompile(`(?i)^ |^(?:[a-z]+-)?[\^~<>=v ]*\d[\w.+-]*$|` +
		`^(?:|true|false|head|main|master|edge|nightly|dev|stable|beta|latest|lts)$`)
)

// rejected reports whether the cases that are gone from a matrix are of nothing that may be no longer supported: no case that is left
// is of their system, or each of their values is still in another case and they are not only of versions, of which two may not go
// together. A case that was there twice is none that is gone.
func rejected(before, after []Cell) bool {
	had, has := values(before), values(after)
	for axis, all := range had {
		other := slices.ContainsFunc(has[axis], func(v string) bool { // another name of a system
			return !slices.Contains(all, v) && !runsOn.MatchString(strings.ToLower(v))
		})
		for _, value := range all {
			if name := runsOn.FindString(strings.ToLower(value)); name != "" && len(has[axis]) > 0 && !other &&
				!slices.ContainsFunc(has[axis], func(o string) bool { return strings.Contains(strings.ToLower(o), name) }) {
				return true
			}
		}
	}
	certain := false
	for _, cell := range before {
		if slices.ContainsFunc(after, func(o Cell) bool { return maps.Equal(o, cell) }) {
			continue
		}
		for axis, value := range cell {
			if !slices.Contains(has[axis], value) {
				return false
			}
			certain = certain || len(had[axis]) > 1 && (!kinds.MatchString(value) || machine.MatchString(value))
		}
	}
	return certain
}

// unversioned is a value without versions: numbers with a dot, or behind a letter. Others count, such as the parts of all tests.
func unversioned(value string) string { return versions.ReplaceAllString(value, "$1") }

var (
	// partition matches the names of axes that divide the tests.
	partition = regexp.MustCompile(`(?i)shard|part|group|split|chunk|slice|suite|index`)
	versions  = regexp.MustCompile(`([A-Za-z_])\d[\d.]*|\d+\.\d[\d.]*`)
)

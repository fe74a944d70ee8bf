package words

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// value is one of a setting's values.
type value struct {
	text   string
	line   int
	within int // of a line, the one before it that begins the block in which it is; 0 for none
}

// setting is the values at one path of keys: a scalar, the elements of a list, or the lines of a text.
type setting struct {
	keys   []string
	around string // the map that it is in
	values []value
}

type settings struct {
	at     map[string]*setting
	order  []string
	within map[string]string // the maps that are there, each with the one around it
	listed map[string]bool   // those that are elements of lists
	count  map[string]int    // of values by their text
	named  map[string]int    // how many elements of a list have one name
}

// outside is the place of the map that has a key which says that something is left out, if a setting is below such
// a key; "-" if not.
func outside(id string, keys []string) string {
	if i := slices.IndexFunc(keys, says); i >= 0 {
		place, _, _ := strings.Cut(id, "/"+keys[i])
		return place
	}
	return "-"
}

// read returns the settings of a document or, in a file without a known format, its lines.
func read(name string, content []byte) (settings, bool) {
	all := settings{at: map[string]*setting{}, within: map[string]string{"": ""}, listed: map[string]bool{}, count: map[string]int{},
		named: map[string]int{}}
	root, err := doc.Parse(name, content)
	if err == nil {
		all.add(root, "", "", nil)
		return all, true
	}
	content = []byte(change.Joined(string(content), " "))
	if root, err = doc.Parse(name+".txt", content); err != nil {
		return all, false
	}
	all.add(root, "", "", nil)
	around := blocks(content)
	for _, s := range all.at {
		for i := range s.values {
			s.values[i].within = around[s.values[i].line]
		}
	}
	return all, true
}

// blocks returns, for the number of each line, the line before it that begins the block in which it is, by how far they are indented.
func blocks(content []byte) map[int]int {
	type block struct{ indent, line int }
	all, open, n := map[int]int{}, []block{}, 0
	for line := range bytes.Lines(content) {
		n++
		text := bytes.TrimLeft(line, " \t")
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		indent := len(line) - len(text)
		open = slices.DeleteFunc(open, func(b block) bool { return b.indent >= indent })
		if len(open) > 0 {
			all[n] = open[len(open)-1].line
		}
		open = append(open, block{indent, n})
	}
	return all
}

// assigned matches a variable's value in a list.
var assigned = regexp.MustCompile(`^([A-Za-z_]\w*)=(.*)$`)

func (s *settings) add(n *doc.Node, id, around string, keys []string) {
	if n.Kind == doc.Scalar {
		script := len(keys) > 0 && commands.in(keys[len(keys)-1])
		first := n.Line
		if script && strings.Contains(n.Value, "\n") { // a block begins below its key
			first++
		}
		for i, v := range parts(n.Value, script) {
			at, names := id, keys
			if m := assigned.FindStringSubmatch(v.text); m != nil {
				at, names, v.text = id+"="+m[1], append(slices.Clone(keys), m[1]), m[2]
			}
			if v.text != "" || i == 0 && len(keys) > 0 {
				v.line += first
				s.put(at, around, names, v)
			}
		}
		return
	}
	if n.Kind == doc.Map {
		s.within[id], around = around, id
	}
	for i, item := range n.Items {
		switch {
		case n.Kind == doc.Map:
			s.add(item, id+"/"+item.Key, around, append(slices.Clone(keys), item.Key))
		case item.Kind == doc.Scalar:
			s.add(item, id, around, keys)
		default:
			name := id + "\x00" + nameOf(item, i)
			if s.named[name]++; s.named[name] > 1 { // another one that is called the same
				name += "\x00" + strconv.Itoa(s.named[name])
			}
			s.listed[name] = true
			s.add(item, name, around, keys)
		}
	}
}

func (s settings) has(place string) bool {
	_, there := s.within[place]
	return there
}

// lacks reports whether a map of the other side is in an element of a list that is not on this side.
func (s settings) lacks(place string, other settings) bool {
	for ; !s.has(place); place = other.within[place] {
		if other.listed[place] {
			return true
		}
	}
	return false
}

// runsInstead reports whether a check runs now that did not by its switch, or by another place of the switch of this name.
func (s settings) runsInstead(had settings, name string) bool {
	of := func(id string, one *setting) int {
		if one == nil || len(one.values) != 1 {
			return 0
		}
		return runs(switchOf(id, one.keys), one.values[0].text)
	}
	for id, is := range s.at {
		if was := of(id, had.at[id]); of(id, is) > 0 && (was < 0 || was == 0 && switchOf(id, is.keys) == name) {
			return true
		}
	}
	return false
}

// redirect matches where a command's output goes to, and the space before it that makes no difference.
var redirect = regexp.MustCompile(`([<>])\s+`)

// parts returns the lines of a text, with their places in it from 0, or the commands of a script, which says the same
// however it is broken into lines.
func parts(text string, script bool) (all []value) {
	if script {
		if lines, err := shell.Lines(text); err == nil {
			for _, l := range lines {
				all = append(all, value{text: redirect.ReplaceAllString(l.Text, "$1"), line: l.Line})
			}
			return all
		}
	}
	for i, line := range strings.Split(change.Joined(text, " "), "\n") {
		all = append(all, value{text: strings.Join(strings.Fields(line), " "), line: i})
	}
	return all
}

func (s *settings) put(id, around string, keys []string, v value) {
	if s.at[id] == nil {
		s.at[id] = &setting{keys: keys, around: around}
		s.order = append(s.order, id)
	}
	s.at[id].values = append(s.at[id].values, v)
	s.count[v.text]++
}

// nameOf is the name of a list's element. A script's is its first command.
func nameOf(item *doc.Node, i int) string {
	for _, key := range []string{"name", "id", "uses", "task", "run", "script"} {
		text, _, _ := strings.Cut(item.Text(key), "@")
		for _, part := range parts(text, true) {
			if part.text != "" && !strings.HasPrefix(part.text, "#") {
				return part.text
			}
		}
	}
	return strconv.Itoa(i)
}

// without returns the values that are not in the other list.
func without(list, other []value) []value {
	return change.Without(list, other, func(v value) string { return v.text })
}

func texts(list []value) (all []string) {
	for _, v := range list {
		all = append(all, v.text)
	}
	return all
}

package impact

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/agent/outline"
	"touchstone/worktree"
)

// changed is what a change touches.
type changed struct {
	names []Name
	// added are, for each path, the lines of the head that the change brings.
	added map[string]map[int]string
	// callees are the names that added lines call, by the directory and extension of the first.
	callees map[string]string
	// unread counts files without a text; broken are those that do not parse.
	unread int
	broken []string
}

// lineChanges are the changed lines of a file by their numbers.
type lineChanges struct{ removed, added map[int]string }

var hunkStart = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)

// changesOf reads the changed lines off a patch.
func changesOf(patch []byte) lineChanges {
	c := lineChanges{map[int]string{}, map[int]string{}}
	var old, new, oldLeft, newLeft int
	number := func(digits []byte, none int) int {
		if n, err := strconv.Atoi(string(digits)); err == nil {
			return n
		}
		return none
	}
	for line := range bytes.SplitSeq(patch, []byte("\n")) {
		if oldLeft <= 0 && newLeft <= 0 {
			if at := hunkStart.FindSubmatch(line); at != nil {
				old, oldLeft = number(at[1], 0), number(at[2], 1)
				new, newLeft = number(at[3], 0), number(at[4], 1)
			}
			continue
		}
		if len(line) == 0 {
			continue
		}
		switch line[0] {
		case '+':
			c.added[new] = string(line[1:])
			new, newLeft = new+1, newLeft-1
		case '-':
			c.removed[old] = string(line[1:])
			old, oldLeft = old+1, oldLeft-1
		case ' ':
			old, new, oldLeft, newLeft = old+1, new+1, oldLeft-1, newLeft-1
		}
	}
	return c
}

// understand finds the names that a change touches.
func understand(diff worktree.Diff, sides []worktree.Sides) changed {
	c := changed{added: map[string]map[int]string{}, callees: map[string]string{}}
	of := map[[2]string]worktree.Sides{}
	for _, s := range sides {
		of[[2]string{s.OldPath, s.Path}] = s
	}
	var defined, gone []Name
	strings := literals{}
	for _, f := range diff.Files {
		key := [2]string{f.OldPath, f.Path}
		switch f.Status {
		case "added":
			key[0] = ""
		case "deleted":
			key = [2]string{f.OldPath, ""}
			if key[0] == "" {
				key[0] = f.Path
			}
		}
		s, ok := of[key]
		if !ok || s.Unread || f.Binary || f.Truncated {
			c.unread++
			continue
		}
		lines := changesOf(f.Patch)
		c.added[f.Path] = lines.added
		if passed.MatchString(f.Path) {
			continue
		}
		test := kindOf(f.Path) == "test"
		names := touched(s, lines, test)
		for _, n := range names {
			if n.How == Removed {
				gone = append(gone, n)
			} else {
				defined = append(defined, n)
			}
		}
		if outline.Broken(f.Path, s.After) {
			c.broken = append(c.broken, f.Path)
		}
		if !test {
			strings.collect(f, lines)
		}
		c.call(f.Path, lines.added)
		if f.Status == "deleted" || f.Status == "renamed" && path.Base(f.OldPath) != path.Base(f.Path) {
			c.names = append(c.names, fileName(f))
		}
	}
	// What is gone here and defined there has moved: those who use it are those of the new one.
	now := map[string]bool{}
	for _, n := range defined {
		now[n.Kind+" "+n.In+"."+n.Name] = true
	}
	for _, n := range gone {
		if !now[n.Kind+" "+n.In+"."+n.Name] {
			c.names = append(c.names, n)
		}
	}
	for _, n := range defined {
		if n.How != Added {
			c.names = append(c.names, n)
		}
	}
	c.names = append(c.names, strings.names()...)
	slices.SortStableFunc(c.names, func(a, b Name) int { return int(a.How) - int(b.How) })
	return c
}

// fileName is a file that is no longer where it was, by its own name: that is how others
// refer to it.
func fileName(f worktree.FileDiff) Name {
	if f.Status == "deleted" {
		return Name{Kind: "file", Name: path.Base(f.Path), In: path.Dir(f.Path), Path: f.Path, How: Removed, old: true}
	}
	return Name{Kind: "file", Name: path.Base(f.OldPath), In: path.Dir(f.OldPath), Path: f.OldPath, How: Renamed, To: f.Path, old: true}
}

// touched are the definitions of one file that changed lines are in, and those that came and went.
func touched(s worktree.Sides, lines lineChanges, test bool) []Name {
	before, after := outline.Of(s.OldPath, s.Before), outline.Of(s.Path, s.After)
	was, is := byTitle(before), byTitle(after)
	var names []Name
	add := func(b outline.Block, file string, how How) {
		names = append(names, Name{Kind: b.Kind, Name: b.Name, In: b.In, Path: file, Line: b.Start, first: b.Start, last: b.End, How: how, old: how == Removed})
	}
	for _, b := range after {
		old, ok := was[b.Title()]
		switch {
		case b.Local || b.Kind == "test" || test && uncalled.MatchString(b.Name): // nobody calls them
		case !ok:
			add(b, s.Path, Added)
		case hit(lines.added, b.Start, b.Body) || hit(lines.removed, old.Start, old.Body):
			add(b, s.Path, Signature)
		case own(lines.added, b, after) || own(lines.removed, old, before):
			how := Body
			if !b.Callable() {
				how = Signature
			}
			add(b, s.Path, how)
		}
	}
	for _, b := range before {
		if _, ok := is[b.Title()]; !ok && !b.Local && b.Kind != "test" && !(test && uncalled.MatchString(b.Name)) {
			add(b, s.OldPath, Removed)
		}
	}
	pairRenamed(names, s)
	names = slices.DeleteFunc(names, func(n Name) bool { return n.Kind == "" })
	old, text := bytes.Split(s.Before, []byte("\n")), bytes.Split(s.After, []byte("\n"))
	for i := range names {
		n := &names[i]
		for !n.old && n.first > 1 && comment.Match(text[n.first-2]) { // what describes a definition is no use of it
			n.first--
		}
		if n.old {
			n.hide(old[n.Line-1])
		} else {
			n.hide(text[n.Line-1])
		}
		n.construct()
	}
	return names
}

// hide notes who can use a name, which the line that defines it tells in some languages.
func (n *Name) hide(line []byte) {
	switch {
	case privately.Match(line):
		n.hidden = "file"
	case strings.HasSuffix(n.Path, ".go") && !('A' <= n.Name[0] && n.Name[0] <= 'Z'):
		n.hidden = "package"
	}
}

var privately = regexp.MustCompile(`^\s*(?:@\w+\s+)*(?:(?:static|final|override|inline|readonly|async)\s+)*(?:private|fileprivate)\b`)

// construct has a constructor looked for by the name of its type.
func (n *Name) construct() {
	switch n.Name {
	case "initialize", "__init__", "__new__", "constructor":
		if n.In != "" && n.How != Removed && n.How != Renamed {
			n.Kind, n.Name, n.In = "type", n.In, ""
		}
	}
}

func byTitle(blocks []outline.Block) map[string]outline.Block {
	all := map[string]outline.Block{}
	for _, b := range blocks {
		if _, twice := all[b.Title()]; !twice {
			all[b.Title()] = b
		}
	}
	return all
}

// hit reports whether a changed line is one of these.
func hit(changed map[int]string, first, last int) bool {
	for line := first; line <= last; line++ {
		if text, ok := changed[line]; ok && strings.TrimSpace(text) != "" {
			return true
		}
	}
	return false
}

// own reports whether a changed line is a block's own, and not one of a block within it. A
// module has none: its lines are those of what it holds.
func own(changed map[int]string, b outline.Block, all []outline.Block) bool {
	if b.Kind == "module" {
		return false
	}
	for line := b.Start; line <= b.End; line++ {
		if text, ok := changed[line]; !ok || strings.TrimSpace(text) == "" || comment.MatchString(text) && !b.Callable() {
			continue
		}
		inner, _ := outline.Innermost(all, line, func(o outline.Block) bool { return !o.Local && o.Kind != "test" })
		if inner == b {
			return true
		}
	}
	return false
}

// comment is a line that is nothing but a comment, in most languages.
var comment = regexp.MustCompile(`^\s*(?://|#|/?\*|--|<!--|"""|''')`)

// pairRenamed makes one of a definition that went and one that came with much the same text;
// of the other one it takes the kind.
func pairRenamed(names []Name, s worktree.Sides) {
	before, after := bytes.Split(s.Before, []byte("\n")), bytes.Split(s.After, []byte("\n"))
	text := func(lines [][]byte, n Name) map[string]int {
		words := map[string]int{}
		for _, line := range lines[min(n.Line-1, len(lines)):min(n.last, len(lines))] {
			for _, w := range parts(string(line)) {
				if w != n.Name {
					words[w]++
				}
			}
		}
		return words
	}
	for i, gone := range names {
		if gone.How != Removed {
			continue
		}
		best, at := 0.0, -1
		for k, came := range names {
			if came.How != Added || came.Kind != gone.Kind || came.In != gone.In && came.Name != gone.Name {
				continue
			}
			if alike := likeness(text(before, gone), text(after, came)); alike > best {
				best, at = alike, k
			}
		}
		if at >= 0 && best >= 0.6 {
			names[i].How, names[i].To = Renamed, names[at].title()
			names[at].Kind = "" // told by the other one
		}
	}
}

// likeness is how much of two texts' words are the same, from 0 to 1.
func likeness(a, b map[string]int) float64 {
	same, all := 0, 0
	for w, n := range a {
		same += 2 * min(n, b[w])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return float64(same) / float64(all)
}

var call = regexp.MustCompile(`(\.|::)?\b([A-Za-z_]\w{2,})[?!]?\(`)

// maxCallees bounds the called names whose definitions are looked for.
const maxCallees = 60

// call takes note of what added lines call.
func (c *changed) call(file string, added map[int]string) {
	if !outline.Knows(file) {
		return
	}
	for _, text := range added {
		if len(c.callees) >= maxCallees {
			return
		}
		if !strings.Contains(text, "(") || comment.MatchString(text) {
			continue
		}
		if _, defines := outline.Begins(file, text); defines {
			continue
		}
		for _, m := range call.FindAllStringSubmatch(text, 10) {
			if m[1] != "" && !distinct(m[2]) {
				continue // a method of something that this text does not tell, such as join
			}
			if _, known := c.callees[m[2]]; !known {
				c.callees[m[2]] = file
			}
		}
	}
}

// uncalled are functions of tests that only a runner calls.
var uncalled = regexp.MustCompile(`^(?i:test|benchmark|fuzz|example|setup$|teardown$|set_up$|tear_down$)|^(?:beforeEach|afterEach|beforeAll|afterAll)$`)

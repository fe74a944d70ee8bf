package guard

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// way is the direction in which a setting may turn.
type way int

const (
	atLeast    way = iota // a number: lower, or gone, is weaker
	atMost                // a number: higher, or gone, is weaker
	slack                 // a number that is 0 when absent: higher is weaker
	status                // how a failure ends, which is not 0 when absent: 0 is weaker
	on                    // a switch: off, or gone, is weaker
	off                   // a switch that is off when absent: on is weaker
	held                  // a switch of which it is not known what its absence means: off, or gone, is weaker
	grade                 // error, warning, off and their kin: milder, or gone, is weaker
	members               // a list: an element less is weaker
	exceptions            // a list: an element more is weaker
	parts                 // a list of folders: one less is weaker, unless the folder goes as well
	chosen                // a list of what is run, where none means all: to begin one is weaker, and an element less
)

// tool is what the guard knows of one tool's configuration.
type tool struct {
	kind  Kind
	name  string
	files []string // as in matches
	// within is the part of the file that is this tool's, as a dotted pattern;
	// "" for all of it. A tool that the file did not configure before is adopted
	// rather than weakened, whatever its first settings are.
	within string
	// fresh says that a new file is an exception made, not a tool adopted.
	fresh bool
	// each says that every part of the file that fits within is adopted on its own.
	each  bool
	turns []turn
}

// turn is how settings of some keys may change. Keys are a dotted pattern as in
// keyMatches, below within; or a word is what the last name of the key has in it, and
// but what it has not.
type turn struct {
	keys      string
	word, but *regexp.Regexp
	list      bool // with a word: it names a list, and its elements count
	way       way
	only      *regexp.Regexp // the values that count; nil for all
	born      bool           // what is in an element of a list that is new is no exception
	// implied names a switch that, when on, makes the absence of this one harmless.
	implied string
}

// known is a setting together with the turn that governs it.
type known struct {
	setting
	tool *tool
	turn *turn
	dir  string // where the file is
	id   string // the same before and after
}

func toolsOf(name string) []*tool {
	var out []*tool
	for _, t := range allTools {
		if matches(name, t.files...) {
			out = append(out, t)
		}
	}
	return out
}

// ratchets finds the settings that turned the wrong way.
func ratchets(p *patch) []Hit {
	type pair struct {
		f             *file
		before, after []known
	}
	var pairs []pair
	gained := map[string][]known{} // by tool and last segment: what appeared, which may have moved here
	for _, f := range p.files {
		one := pair{f, governed(f.old), governed(f.new)}
		pairs = append(pairs, one)
		had := map[string]bool{}
		for _, k := range one.before {
			had[k.id] = true
		}
		for _, k := range one.after {
			if !had[k.id] {
				gained[k.movable()] = append(gained[k.movable()], k)
			}
		}
	}
	var hits []Hit
	for _, one := range pairs {
		found := compareSettings(p, one.f, one.before, one.after, gained)
		if one.f.deleted() && len(found) > 1 {
			found = found[:1]
		}
		hits = append(hits, found...)
	}
	return hits
}

// movable identifies a setting that goes from one file of a tool to another.
func (k known) movable() string {
	id := k.tool.name + "\x00" + k.key[len(k.key)-1]
	if k.turn.way.lists() {
		id += "\x00" + k.value
	}
	return id
}

// lists reports whether each value is an element of a list.
func (w way) lists() bool { return w == members || w == exceptions || w == parts || w == chosen }

// governed are the settings of a side that some tool's turns speak of.
func governed(s side) []known {
	list := toolsOf(s.path)
	if len(list) == 0 {
		return nil
	}
	all := settings(s)
	var out []known
	taken := make([]bool, len(all)) // by a turn that knows the key
	for _, t := range list {
		seen := map[string]int{}
		for n, one := range all {
			for i := range t.turns {
				turn := &t.turns[i]
				if turn.word != nil && taken[n] || !turn.governs(t, one.key) || turn.only != nil && !turn.only.MatchString(one.value) {
					continue
				}
				taken[n] = true
				for _, value := range turn.values(one.value) {
					k := known{setting{one.key, value, one.line, 0}, t, turn, path.Dir(s.path), ""}
					id := t.name + "\x00" + strconv.Itoa(i) + "\x00" + strings.Join(one.key, "\x00")
					if turn.way.lists() {
						id += "\x00" + value
					}
					seen[id]++
					k.id = id + "\x00" + strconv.Itoa(seen[id])
					out = append(out, k)
				}
				break
			}
		}
	}
	return out
}

// governs reports whether a turn of a tool speaks of a key.
func (t turn) governs(tool *tool, key []string) bool {
	if t.word == nil {
		return keyMatches(t.pattern(tool), key)
	}
	name, element := key[len(key)-1], false
	if element = name == "[]" && len(key) > 1; element {
		name = key[len(key)-2]
	}
	name = strings.TrimPrefix(name[strings.LastIndexByte(name, '.')+1:], "@")
	return element == t.list && t.word.MatchString(name) && (t.but == nil || !t.but.MatchString(name)) &&
		keyMatches(append(tool.section(), "**"), key)
}

// section is the pattern of the keys of a tool's part of a file.
func (t *tool) section() []string {
	if t.within == "" {
		return []string{"**"}
	}
	return strings.Split(t.within, ".")
}

func (t turn) pattern(tool *tool) []string {
	if tool.within == "" {
		return strings.Split(t.keys, ".")
	}
	return strings.Split(tool.within+"."+t.keys, ".")
}

// optionGroup names the group of turn.only that is what counts of a command line.
const optionGroup = "option"

// values splits the lists that tools write into a single string.
func (t turn) values(value string) []string {
	if !t.way.lists() {
		return []string{value}
	}
	var out []string
	if t.only != nil && t.only.SubexpIndex(optionGroup) > 0 {
		for _, m := range t.only.FindAllStringSubmatch(value, -1) {
			out = append(out, m[t.only.SubexpIndex(optionGroup)])
		}
		return out
	}
	for _, v := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(",; \t", r) }) {
		if !strings.HasPrefix(v, "$(") { // MSBuild's "and what was set before"
			out = append(out, v)
		}
	}
	return out
}

func compareSettings(p *patch, f *file, before, after []known, gained map[string][]known) []Hit {
	now := map[string]known{}
	for _, k := range after {
		now[k.id] = k
	}
	had := map[string]bool{}
	var hits []Hit
	for _, was := range before {
		had[was.id] = true
		is, there := now[was.id]
		switch {
		case there && was.turn.weaker(was.value, is.value):
			hits = append(hits, Hit{was.tool.kind, f.path(), is.line, f.old.at(was.line), f.new.at(is.line),
				fmt.Sprintf("%s: %s turns from %s to %s.", was.tool.name, was.name(), was.value, is.value)})
		case !there && was.turn.missed(was.value) && !moved(was, gained) && !implied(was, after) && !departed(p, was) && !unchosen(was, after):
			hits = append(hits, Hit{was.tool.kind, f.path(), was.line, f.old.at(was.line), "",
				fmt.Sprintf("%s: %s (%s) is gone.", was.tool.name, was.name(), was.value)})
		}
	}
	known := map[*tool]bool{}
	for _, is := range after {
		if had[is.id] || !is.turn.intrudes(is.value) || is.turn.way == chosen && (broad.MatchString(is.value) || !unchosen(is, before)) {
			continue
		}
		if _, asked := known[is.tool]; !asked {
			known[is.tool] = is.tool.fresh || adopted(f.old, is.tool)
		}
		adopts := known[is.tool] && (!is.tool.each || adoptedPart(f.old, is)) && !(is.turn.born && newElement(f, is.line))
		if adopts && !relocated(is, before, after) {
			hits = append(hits, Hit{is.tool.kind, f.path(), is.line, "", f.new.at(is.line),
				fmt.Sprintf("%s: %s (%s) is new, and an exception.", is.tool.name, is.name(), is.value)})
		}
	}
	return hits
}

func (k known) name() string { return strings.TrimSuffix(strings.Join(k.key, "."), ".[]") }

// moved reports whether a setting that is gone appeared elsewhere, no weaker, and
// where its tool still finds it.
func moved(was known, gained map[string][]known) bool {
	return slices.ContainsFunc(gained[was.movable()], func(is known) bool {
		return is.turn.way == was.turn.way && !was.turn.weaker(was.value, is.value) && (!nearest[was.tool.name] || within(was.dir, is.dir))
	})
}

// departed reports whether the folder or file that a list no longer names is gone, or
// moved, as well.
func departed(p *patch, was known) bool {
	if was.turn.way != parts {
		return false
	}
	name := path.Join(was.dir, strings.Trim(strings.NewReplacer(":", "/", `\`, "/", "*", "").Replace(was.value), "/"))
	return slices.ContainsFunc(p.files, func(f *file) bool {
		return f.new.path != f.old.path && f.old.path != "" && (f.old.path == name || below(f.old.path, name)) && !below(f.new.path, name)
	})
}

// unchosen reports whether a setting is of a list that means all where it is not given,
// and others do not give it.
func unchosen(k known, others []known) bool {
	return k.turn.way == chosen && !slices.ContainsFunc(others, func(o known) bool { return o.list() == k.list() })
}

// broad are choices that leave nothing out that is laid out as usual: a folder of all
// tests or code, and names by their beginning or end only.
var broad = regexp.MustCompile(`^(?:\./|<rootDir>/)?(?:(?:src|tests?|specs?|lib|app|packages/\*|apps/\*)(?:/|$))?(?:\*\*(?:/|$))*(?:__tests__/)?(?:\*\*(?:/|$))*(?:\*[^/]*|\?\([^/]*|[tT]est_?\*)?$`)

func implied(was known, after []known) bool {
	return was.turn.implied != "" && slices.ContainsFunc(after, func(k known) bool {
		return k.key[len(k.key)-1] == was.turn.implied && level01(k.value) == 1
	})
}

// relocated reports whether the same exception is gone from another key of the
// same tool, as when a linter renames a section.
func relocated(is known, before, after []known) bool {
	count := func(list []known) (n int) {
		for _, k := range list {
			if k.tool == is.tool && k.turn.way == is.turn.way && k.movable() == is.movable() {
				n++
			}
		}
		return n
	}
	return count(before) >= count(after)
}

// weaker compares two values of a setting that is there before and after.
func (t turn) weaker(before, after string) bool {
	switch t.way {
	case atLeast, atMost, slack:
		was, wasNumber := number(before)
		is, isNumber := number(after)
		if !wasNumber {
			return false
		}
		return !isNumber || t.way == atLeast && is < was || t.way != atLeast && is > was
	case status:
		return !zero(before) && zero(after)
	case on, held:
		return level01(before) == 1 && level01(after) == 0
	case off:
		return level01(before) == 0 && level01(after) == 1
	case grade:
		return gradeOf(after) < gradeOf(before)
	}
	return false
}

// missed reports whether the absence of a value is weaker than the value.
func (t turn) missed(value string) bool {
	switch t.way {
	case atLeast, atMost:
		n, ok := number(value)
		return ok && (t.way == atMost || n > 0)
	case on, held:
		return level01(value) == 1
	case grade:
		return gradeOf(value) > 0 && gradeOf(value) < unknownGrade
	}
	return t.way == members || t.way == parts || t.way == chosen
}

// intrudes reports whether a value is weaker than its absence.
func (t turn) intrudes(value string) bool {
	switch t.way {
	case slack:
		n, ok := number(value)
		return ok && n > 0
	case status:
		return zero(value)
	case off:
		return level01(value) == 1
	case on:
		return level01(value) == 0
	case grade:
		return gradeOf(value) == 0
	}
	return t.way == exceptions || t.way == chosen
}

var leadingNumber = regexp.MustCompile(`^-?\d[\d_]*(?:\.\d+)?`)

// number reads a number with whatever unit follows it.
func number(value string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(leadingNumber.FindString(value), "_", ""), 64)
	return n, err == nil
}

func zero(value string) bool {
	n, ok := number(value)
	return ok && n == 0
}

// level01 reads a switch: 1 on, 0 off, -1 something else.
func level01(value string) int {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1", "enable", "enabled", "all":
		return 1
	case "false", "no", "off", "0", "disable", "disabled", "none", "skip", "annotations", "":
		return 0
	}
	return -1
}

// unknownGrade stands for what is no grade. It compares as strict, so that
// going from it to a mild grade is weaker, and its absence counts for nothing.
const unknownGrade = 9

func gradeOf(value string) int {
	switch strings.ToLower(value) {
	case "off", "0", "none", "allow", "false", "ignore", "silent", "hidden", "null", "disabled", "basic", "minimal", "wire":
		return 0
	case "info", "1", "warn", "warning", "suggestion", "hint", "information", "informational", "standard", "wire_json":
		return 1
	case "error", "2", "deny", "true", "fatal", "strict", "failure", "package":
		return 2
	case "forbid", "file":
		return 3
	}
	return unknownGrade
}

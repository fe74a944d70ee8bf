package words

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

// maxRead bounds one side of a file that is read here, in bytes. What is larger is data.
const maxRead = 256 << 10

// Altered finds what a file says otherwise than before of what is built, tested, measured or left out: the one
// value that matters most, with how it was and is. The function part says what the values at a path of keys are;
// lines have no keys.
func Altered(f change.File, kind change.Kind, part func(keys []string) Part) (change.Finding, bool) {
	if max(len(f.Before), len(f.After)) > maxRead {
		return change.Finding{}, false
	}
	had, ok := read(f.OldPath, f.Before)
	has, readable := read(f.Path, f.After)
	if !ok || !readable {
		return change.Finding{}, false
	}
	var best alteration
	n := 0
	for _, id := range append(has.order, had.gone(has)...) {
		is, now := has.at[id]
		was, there := had.at[id]
		switch {
		case !there && !had.within[is.around] && !had.within[outside(id, is.keys)]:
			continue // in a part that is new, and does not say that something is left out
		case !there:
			was = &setting{keys: is.keys}
		case !now && !has.within[was.around] && !slices.ContainsFunc(was.values, value.checks):
			continue // in a part that is gone, and ran no check
		case !now:
			is = &setting{keys: was.keys}
		}
		a := alteration{name: f.Path + "/" + strings.Join(was.keys, "/"), keys: was.keys, left: len(is.values),
			gone: without(was.values, is.values), fresh: without(is.values, was.values)}
		a.gone = slices.DeleteFunc(a.gone, func(v value) bool { return len(a.fresh) == 0 && has.count[v.text] >= had.count[v.text] }) // moved
		if len(a.gone)+len(a.fresh) == 0 {
			continue
		}
		if a.weigh(part(was.keys)); a.weight > 0 {
			n++
			if a.weight > best.weight {
				best = a
			}
		}
	}
	if n == 0 {
		return change.Finding{}, false
	}
	why, before, after := best.say()
	tier, kind, rule := best.certain(had, has, kind)
	if n > 1 {
		why += fmt.Sprintf(" %d more values differ.", n-1)
	}
	return change.Finding{Tier: tier, Kind: kind, Rule: "words/" + rule, Why: why,
		Place: change.Place{Path: f.Path, Line: cmp.Or(after.line, before.line), Before: before.text, After: after.text}}, true
}

// Part is what a part of a file is to the checks of a project.
type Part int

// The parts.
const (
	Known Part = iota // other packages compare it
	Maybe             // it may say what is checked: limits, lists, and lines about checks count
	Sure              // it says what is checked
)

// value is one of a setting's values.
type value struct {
	text string
	line int
}

// checks reports whether a value is a command or a name that says that it checks something.
func (v value) checks() bool { return checking.in(v.text) }

// setting is the values at one path of keys: a scalar, the elements of a list, or the lines of a text.
type setting struct {
	keys   []string
	around string // the map that it is in
	values []value
}

type settings struct {
	at     map[string]*setting
	order  []string
	within map[string]bool // the maps that are there
	count  map[string]int  // of values by their text
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

// gone returns the places that are not in other settings.
func (s settings) gone(other settings) []string {
	return slices.DeleteFunc(slices.Clone(s.order), func(id string) bool { return other.at[id] != nil })
}

// read returns the settings of a document or, in a file without a known format, its lines.
func read(name string, content []byte) (settings, bool) {
	all := settings{at: map[string]*setting{}, within: map[string]bool{"": true}, count: map[string]int{}}
	root, err := doc.Parse(name, content)
	if err != nil {
		if root, err = doc.Parse(name+".txt", content); err != nil {
			return all, false
		}
	}
	all.add(root, "", "", nil)
	return all, true
}

// assigned matches a variable's value in a list.
var assigned = regexp.MustCompile(`^([A-Za-z_]\w*)=(.*)$`)

func (s *settings) add(n *doc.Node, id, around string, keys []string) {
	if n.Kind == doc.Scalar {
		for i, line := range strings.Split(n.Value, "\n") {
			at, names := id, keys
			if m := assigned.FindStringSubmatch(line); m != nil {
				at, names, line = id+"="+m[1], append(slices.Clone(keys), m[1]), m[2]
			}
			if line = strings.TrimSpace(line); line != "" || i == 0 {
				s.put(at, around, names, value{line, n.Line + i})
			}
		}
		return
	}
	if n.Kind == doc.Map {
		s.within[id], around = true, id
	}
	for i, item := range n.Items {
		switch {
		case n.Kind == doc.Map:
			s.add(item, id+"/"+item.Key, around, append(slices.Clone(keys), item.Key))
		case item.Kind == doc.Scalar:
			s.add(item, id, around, keys)
		default:
			s.add(item, id+"\x00"+nameOf(item, i), around, keys)
		}
	}
}

func (s *settings) put(id, around string, keys []string, v value) {
	if s.at[id] == nil {
		s.at[id] = &setting{keys: keys, around: around}
		s.order = append(s.order, id)
	}
	s.at[id].values = append(s.at[id].values, v)
	s.count[v.text]++
}

// nameOf is the name of a list's element.
func nameOf(item *doc.Node, i int) string {
	for _, key := range []string{"name", "id", "uses", "task", "run", "script"} {
		if text, _, _ := strings.Cut(item.Text(key), "@"); text != "" {
			return text
		}
	}
	return strconv.Itoa(i)
}

// without returns the values that are not in the other list.
func without(list, other []value) (left []value) {
	has := map[string]int{}
	for _, v := range other {
		has[v.text]++
	}
	for _, v := range list {
		if has[v.text]--; has[v.text] < 0 {
			left = append(left, v)
		}
	}
	return left
}

// alteration is a setting that is not as before.
type alteration struct {
	name        string // its file and keys
	keys        []string
	gone, fresh []value
	left        int // how many values there are now
	weight      int // how much it matters, 0 for not at all
}

// say names the setting and what was and is.
func (a alteration) say() (why string, before, after value) {
	key := strings.Join(a.keys[max(0, len(a.keys)-2):], " ")
	if key = strings.TrimSpace(key); key == "" {
		key = "A line"
	}
	switch {
	case len(a.gone) == 0:
		return fmt.Sprintf("%s: %s is new.", key, a.fresh[0].text), before, a.fresh[0]
	case len(a.fresh) == 0:
		return fmt.Sprintf("%s: %s is gone.", key, a.gone[0].text), a.gone[0], after
	}
	return fmt.Sprintf("%s: %s → %s.", key, a.gone[0].text, a.fresh[0].text), a.gone[0], a.fresh[0]
}

// conditions are keys of what a job or a step depends on.
var conditions = strings.Fields("if when condition only except unless rules")

// The words of keys and values that tell what matters. See [terms] for how they are written.
var (
	// kept are words of conditions with which checks still run for the pull requests that are to be merged.
	kept   = termsOf("draft _tag_ _tags_ refs_heads succeeded failed failure _always_ cancelled _fork_ github_repository")
	limits = termsOf("timeout time_out retry retries rerun attempts toleran threshold limit budget baseline _max_ _min_")
	floors = termsOf("minimum _min_ cover score fail_under failunder at_least atleast")
	// checking are words of lines about checks.
	checking = termsOf("test check lint warn error sanitiz coverage strict valgrind fuzz bench assert verify _spec " +
		"upcoming_feature swift_settings cflags cxxflags compile_options")
	// stricter are limits that check more where there was none.
	stricter = termsOf("timeout time_out threshold")
	// usual are the keys of what checks nothing, and of triggers and commands, which package ci compares.
	usual = termsOf("transform watch cache version$ name$ token key$ keys$ ^id$ title desc author url$ permissions concurrency " +
		"dependenc ^require$ ^requires$ package_reference package_version project_reference classifiers exports features publish " +
		"metadata ^main$ ^files$ embedded continue_on_error allow_fail ^on$ ^run$ script command ^needs$ ^depends_on$ ^dependson$ " +
		"^ps$ ^pwsh$ ^bash$ ^target$ ^lib$ homepage repository ^image$ credential sign_assembly components$ _main$ ^from$ ^label$ " +
		"^labels$ indent final_newline ^type$ ^extends$ package_manager engines ^module")
	// setup are words of steps that only prepare checks.
	setup = termsOf("checkout setup artifact actions_cache toolchain install")
	// used are words of limits for what a benchmark uses, most those of the limits themselves.
	used = termsOf("alloc instructions memory bench")
	most = termsOf("threshold max_allocs_allowed max_alloc_allowed max_allocs_limit max_alloc_limit")
)

// preparing are the first words of commands that only prepare checks.
var preparing = strings.Fields("echo cd git mkdir curl sudo apt apt-get brew cp mv rm export set fi done else end then esac rustup")

var (
	// flags matches compilers' flags with which less is checked, strict those that make warnings errors.
	flags  = regexp.MustCompile(`-Wno-|-fno-|-wd\d`)
	strict = regexp.MustCompile(`(?i)warnings?-as-errors?|-Werror\b|-D\s?warnings\b|/WX\b`)
	// branch matches what makes a line depend on something.
	branch = regexp.MustCompile(`(?i)^(?:else\s?)?if\b|^ifn?(?:eq|def)\b|^unless\b|\|\|\strue`)
)

// certain is the tier of an alteration, with its kind and rule. It is certain that a limit of what a benchmark uses
// is raised by value, and that a setting no longer makes warnings errors, if none in the file does so instead.
func (a alteration) certain(had, has settings, kind change.Kind) (change.Tier, change.Kind, string) {
	switch {
	case a.weight == raised && used.in(a.name) && most.in(a.name):
		return change.Hold, change.Threshold, "limit"
	case a.weight == lenient && has.having(strict) < had.having(strict):
		return change.Hold, change.Strictness, "warnings-allowed"
	}
	return change.Evidence, kind, "altered"
}

// having returns how many values match a pattern.
func (s settings) having(pattern *regexp.Regexp) (n int) {
	for text, count := range s.count {
		if pattern.MatchString(text) {
			n += count
		}
	}
	return n
}

// alike reports whether two lists of values differ in versions only.
func alike(a, b []value) bool {
	plain := func(list []value) (all []string) {
		for _, v := range list {
			all = append(all, change.Unversioned(v.text))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(plain(a), plain(b))
}

// The weights of alterations that may be certain.
const (
	raised  = 9 // a limit that is easier to meet
	lenient = 8 // warnings are no longer errors
)

// weigh decides how much an alteration matters.
func (a *alteration) weigh(part Part) {
	if len(a.keys) == 0 {
		a.weighLines(part)
		return
	}
	key := a.keys[len(a.keys)-1]
	if part == Known || slices.ContainsFunc(a.keys, usual.in) {
		return
	}
	if len(a.gone) == 1 && len(a.fresh) == 1 && limits.in(a.name) {
		was, number := change.Number(a.gone[0].text)
		if is, both := change.Number(a.fresh[0].text); number && both {
			if is != was && floors.in(a.name) == (is < was) {
				a.weight = raised
			}
			return
		}
	}
	a.gone, a.fresh = prepares(a.gone), prepares(a.fresh)
	left := slices.ContainsFunc(a.keys, says)
	switch {
	case alike(a.gone, a.fresh):
	case left && len(a.fresh) > 0:
		a.weight = 6
	case left:
	case part == Maybe:
		if len(a.gone) > 0 && len(a.fresh) == 0 && a.left > 0 { // a list that became shorter
			a.weight = 1
		}
	case slices.ContainsFunc(slices.Concat(a.gone, a.fresh), func(v value) bool { return kept.in(v.text) }):
	case len(a.fresh) > 0 && a.fresh[0].text == "true":
	case len(a.gone) == 1 && len(a.fresh) == 1 && strict.MatchString(a.gone[0].text) && !strict.MatchString(a.fresh[0].text):
		a.weight = lenient
	case slices.ContainsFunc(a.keys, func(key string) bool { return slices.Contains(conditions, strings.ToLower(key)) }):
		a.weight = 7
	case len(a.gone) > 0 && len(a.fresh) > 0:
		a.weight = 5
	case len(a.gone) > 0:
		a.weight = 4
	case limits.in(key) && !stricter.in(key), checking.in(key):
		a.weight = 3
	}
}

// weighLines weighs the lines of a file in a format that is not known. Of a script whose commands other packages
// compare, only flags count, and of tests all lines that are gone.
func (a *alteration) weighLines(part Part) {
	if part == Sure {
		if len(a.fresh) == 0 {
			a.weight = 2
		}
		return
	}
	a.gone = slices.DeleteFunc(prepares(a.gone), func(v value) bool { return part == Known || !v.checks() })
	a.fresh = slices.DeleteFunc(prepares(a.fresh), func(v value) bool {
		return !flags.MatchString(v.text) && (part == Known || !branch.MatchString(v.text) && (len(a.gone) == 0 || !v.checks()))
	})
	if !alike(a.gone, a.fresh) {
		a.weight = 2
	}
}

// prepares removes what only prepares checks.
func prepares(list []value) []value {
	return slices.DeleteFunc(list, func(v value) bool {
		first, _, _ := strings.Cut(strings.ToLower(v.text), " ")
		return strings.HasPrefix(first, "#") || strings.HasPrefix(first, "//") || slices.Contains(preparing, strings.TrimRight(first, ";")) ||
			setup.in(v.text)
	})
}

package words

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// maxRead bounds one side of a file that is read here, in bytes. What is larger is data.
const maxRead = 256 << 10

// Alterations are the values of one file that are not as before.
type Alterations struct {
	// Sure is what is certain, nil for nothing.
	Sure *change.Finding
	// Places are how each of the other values was and is, with its line.
	Places []change.Place
	// Gained is what the function of that name returns for the file, so that nobody reads it twice.
	Gained []string
}

// Altered finds what a file says otherwise than before of what is built, tested, measured or left out. What only
// prepares checks, later versions, and what is in a part that is new are left out. The function part says what the
// values at a path of keys are, by what is gone and what is new there; lines have no keys.
func Altered(f change.File, part func(keys, gone, fresh []string) Part) (found Alterations) {
	if max(len(f.Before), len(f.After)) > maxRead || IsShell(f.Path) && shell.Same(f.Before, f.After) {
		return found
	}
	had, ok := read(f.OldPath, f.Before)
	has, readable := read(f.Path, f.After)
	found.Gained = gained(had, has)
	if !ok || !readable {
		return found
	}
	whole, same := part(nil, nil, nil), true
	all := whole == Tool
	gone := slices.DeleteFunc(slices.Clone(had.order), func(id string) bool { return has.at[id] != nil })
	for _, id := range append(has.order, gone...) {
		is, now := has.at[id]
		was, there := had.at[id]
		switch {
		case !there && !had.has(is.around) && (!all || had.lacks(is.around, has)) && !had.has(outside(id, is.keys)) &&
			(!all || !slices.ContainsFunc(is.keys, says)) && (whole == Nothing || !slices.ContainsFunc(is.values, whole.meddles)):
			continue // in a part that is new, and does not say that something is left out
		case !there:
			was = &setting{keys: is.keys}
		case !now:
			is = &setting{keys: was.keys}
		}
		a := alteration{name: f.Path + "/" + strings.Join(was.keys, "/"), keys: was.keys, switched: switchOf(id, was.keys),
			gone: without(was.values, is.values), fresh: without(is.values, was.values), now: is.values}
		a.gone = slices.DeleteFunc(a.gone, func(v value) bool { return len(a.fresh) == 0 && has.count[v.text] >= had.count[v.text] }) // moved
		if len(a.gone)+len(a.fresh) == 0 {
			continue
		}
		same = false
		says := part(was.keys, texts(a.gone), texts(a.fresh))
		if says == Maybe && !a.concerns(f, slices.Concat(was.values, is.values), had) {
			continue
		}
		counts := a.counts(says, there)
		if one, is := a.certain(says, had, has); is && !ofVersions(f.OldPath, f.Path) {
			one.Path = f.Path
			found.Sure = &one
		} else if counts {
			found.Places = append(found.Places, a.place(f.Path))
		}
	}
	if same && doc.IsScript(f.OldPath) && doc.IsScript(f.Path) && whole != Nothing {
		found.Places = otherwise(f, whole)
	}
	return found
}

// ofVersions reports whether two names are of files for two versions of something, one of which has its own limits.
func ofVersions(old, name string) bool {
	return old != name && change.Unversioned(old) == change.Unversioned(name)
}

// Gained returns what a file has more often than before, each as "key: value" with the last of its keys.
func Gained(f change.File) (all []string) {
	if bytes.Equal(f.Before, f.After) || max(len(f.Before), len(f.After)) > maxRead {
		return nil
	}
	had, _ := read(f.OldPath, f.Before)
	has, _ := read(f.Path, f.After)
	return gained(had, has)
}

// gained returns what one side has more often than the other.
func gained(had, has settings) (all []string) {
	count := map[string]int{}
	add := func(side, other settings, n int) {
		for id, s := range side.at {
			if o := other.at[id]; len(s.keys) == 0 || o != nil && slices.EqualFunc(s.values, o.values, sameText) {
				continue
			}
			for _, v := range s.values {
				count[s.keys[len(s.keys)-1]+": "+v.text] += n
			}
		}
	}
	add(had, has, -1)
	add(has, had, 1)
	for said, n := range count {
		if n > 0 {
			all = append(all, said)
		}
	}
	return all
}

func sameText(a, b value) bool { return a.text == b.text }

// otherwise is what a script says otherwise than before that is no data: names and texts that are gone or new. Where the script is
// not all about checks, only what is gone and is a name of one counts.
func otherwise(f change.File, part Part) []change.Place {
	said := func(content []byte) (all []value) {
		for _, t := range doc.Tokens(content) {
			if t.Kind == doc.Word || t.Kind == doc.String {
				all = append(all, value{text: strings.Trim(t.Text, "'\"`"), line: t.Line})
			}
		}
		return all
	}
	was, is := said(f.Before), said(f.After)
	a := alteration{gone: without(was, is), fresh: without(is, was)}
	if part < Tool {
		a.gone, a.fresh = slices.DeleteFunc(a.gone, func(v value) bool { return !checking.in(v.text) }), nil
	}
	if len(a.gone)+len(a.fresh) == 0 {
		return nil
	}
	return []change.Place{a.place(f.Path)}
}

// Part is what a part of a file is to the checks of a project.
type Part int

// The parts.
const (
	Nothing Part = iota // it says nothing of checks
	Maybe               // it may say what is checked
	Sure                // it says what is checked
	Tool                // it is nothing but settings of a tool that checks
	Gate                // it is all a gate: what checks nothing elsewhere counts here
)

// alteration is a setting that is not as before.
type alteration struct {
	name        string // its file and keys
	keys        []string
	switched    string // what is on or off by it, if it is a switch
	gone, fresh []value
	now         []value // all that it says, in its order
}

// place names the setting, and what was and is.
func (a alteration) place(file string) change.Place {
	p := change.Place{Path: file}
	key := strings.TrimSpace(strings.Join(a.keys[max(0, len(a.keys)-2):], " "))
	say := func(v value) string {
		p.Line = v.line
		return strings.TrimPrefix(key+": "+v.text, ": ")
	}
	if len(a.gone) > 0 {
		p.Before = say(a.gone[0])
	}
	if len(a.fresh) > 0 {
		p.After = say(a.fresh[0])
	}
	return p
}

// The words of keys and values that tell what matters, as terms.txt explains them.
var (
	kept      = termsOf("kept")
	limits    = termsOf("limits")
	floors    = termsOf("floors")
	checking  = termsOf("checking")
	checkers  = termsOf("checkers")
	commands  = termsOf("commands")
	piped     = termsOf("piped")
	unlimited = termsOf("unlimited")
	output    = termsOf("output")
	usual     = slices.Concat(termsOf("usual"), unlimited, commands)
	setup     = termsOf("setup")
	used      = termsOf("used")
	most      = termsOf("most")
	omitting  = termsOf("omitting")
	besides   = termsOf("besides")
	switches  = termsOf("switches")
	preparing = vocabulary.Words("preparing")
)

var (
	// flags matches the flags of compilers and of Maven with which less is checked, strict those that make warnings errors.
	flags  = regexp.MustCompile(`-W:?no-|-fno-|[-/]wd\d|-D[\w.]*[fF]ail\w*=false|-D[\w.]*failure\.ignore`)
	strict = regexp.MustCompile(`(?i)warnings?-as-errors?|-Werror\b|-D\s?warnings\b|/WX\b`)
	// branch matches what makes a line depend on something.
	branch = regexp.MustCompile(`(?i)^(?:else\s?)?if\b|^ifn?(?:eq|def)\b|^unless\b|\|\||&$|^(?:exit|return) 0`)
	// ends matches what ends a script well, wherever it is.
	ends = regexp.MustCompile(`\b(?:exit|return) 0`)
	// passing matches what lets a command pass whatever it finds.
	passing = regexp.MustCompile(`\s*(?:\|\||;)\s*(?:/bin/true|true|:)$`)
	// chosen matches what lines of build files say of when and how a test runs, or which are expected to fail.
	chosen = regexp.MustCompile(`"manual"|:incompatible"|_filter=|_REGULAR_EXPRESSION|\bLABELS |^XFAIL_TESTS|\bNDEBUG\b|^return\(\)|` +
		`^(?:export )?(?:GOFLAGS|PYTEST_ADDOPTS|RUSTFLAGS|SPEC_OPTS|TESTOPTS|MAVEN_ARGS)\b`)
	// programs matches what changes where a shell finds its programs, if not for those that are installed.
	programs = regexp.MustCompile(`\bPATH=|>>\s*["']?\$\{?GITHUB_PATH|GITHUB_PATH["']?$`)
	placed   = regexp.MustCompile(`\$\{?(?:HOME|GOPATH|RUNNER_\w+|CARGO_HOME)|~/|=["']?/|echo ["']?/|\$\((?:go|npm|yarn|python)`)
	// moves matches commands that put something else in the place of files, or take them away, and tests what says that those are
	// tests or settings for them.
	moves = regexp.MustCompile(`^(?:sudo )?(?:rm|mv|cp|ln|patch|unlink|sed -i\S*|git (?:rm|mv|checkout|restore|apply|stash|reset)|` +
		`find .*-(?:delete|exec)|(?:echo|printf|cat|tee)\b.*>)`)
	tests = regexp.MustCompile(`(?:^|[\s/'">])(?:[\w-]*[_.-])?(?:tests?|specs?|__tests__|e2e|conftest\.py|pytest\.ini)(?:[/_.*\s'")]|$)|` +
		`\b(?:jest|vitest|eslint|playwright)\.config|/bin/\w+|\$\((?:which|command)|HEAD[~^]|\.(?:patch|diff)\b`)
	results = regexp.MustCompile(`(?i)result|report|output|artifact|cache|\blogs?\b|/dev/null|\.env\b`)
)

// meddles reports whether a command changes what later commands run: other tests or, where all is a gate, another program.
func (p Part) meddles(v value) bool {
	return p == Gate && programs.MatchString(v.text) && !placed.MatchString(v.text) ||
		moves.MatchString(v.text) && tests.MatchString(v.text) && !results.MatchString(v.text)
}

// certain is what an alteration is for certain: a limit of what a benchmark uses that is raised by value, or a
// setting that no longer makes warnings errors, if none in the file does so instead.
func (a alteration) certain(part Part, had, has settings) (f change.Finding, is bool) {
	if len(a.keys) == 0 {
		return a.covers()
	}
	if part == Nothing || len(a.gone) != 1 || len(a.fresh) != 1 || slices.ContainsFunc(a.keys, usual.in) {
		return f, false
	}
	was, now := a.gone[0].text, a.fresh[0].text
	n, m, both := a.numbers()
	f = change.Finding{Tier: change.Hold, Kind: change.Threshold, Rule: "words/limit",
		Why: fmt.Sprintf("The limit %s is raised: %s → %s.", a.keys[len(a.keys)-1], was, now), Place: a.place("")}
	switch {
	case limits.in(a.name) && both:
		return f, m != n && floors.in(a.name) == (m < n) && used.in(a.name) && most.in(a.name)
	case part >= Sure && strict.MatchString(was) && !strict.MatchString(now) && has.having(strict) < had.having(strict) && now != "true" &&
		!slices.ContainsFunc(a.keys, says) && !kept.in(was+" "+now) && len(part.prepares([]value{a.gone[0], a.fresh[0]})) == 2:
		f.Kind, f.Rule, f.Why = change.Strictness, "words/warnings-allowed", "Warnings are no longer errors here."
		return f, true
	case part >= Sure && Switches(a.switched, was, now) && !has.runsInstead(had, a.switched):
		f.Kind, f.Rule, f.Why = change.CI, "words/off", fmt.Sprintf("The switch %s turns from %s to %s.", a.switched, was, now)
		return f, true
	}
	return f, false
}

// switchOf is the name of the switch at a path of keys: the last key or, for what a list's element only calls its value, the
// element's name.
func switchOf(id string, keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	last := keys[len(keys)-1]
	if element, found := strings.CutSuffix(id[strings.LastIndexByte(id, 0)+1:], "/"+last); found && (last == "default" || last == "value") {
		return element
	}
	return last
}

// Switches reports whether a switch that is named after a check turns it off.
func Switches(name, was, now string) bool { return runs(name, was) > 0 && runs(name, now) < 0 }

// runs is what a switch that is named after a check says of it: 1 if the check runs, -1 if not, and 0 if the value is another one, or
// the name is none of such a switch. One that leaves out the check, or lets it pass, says the opposite.
func runs(name, value string) int {
	n := 0
	switch value = strings.ToLower(value); {
	case !switches.in(name) || besides.in(name):
	case slices.Contains([]string{"true", "1", "yes", "on"}, value):
		n = 1
	case slices.Contains([]string{"false", "0", "no", "off"}, value):
		n = -1
	}
	if omitting.in(name) {
		return -n
	}
	return n
}

var (
	// demanded matches lines of scripts that say how much coverage a project has to have.
	demanded = regexp.MustCompile(`(?i)min(?:imum)?_?coverage|coverage_?min|fail[_-]under|(?:cover|summary).*\bthreshold: \d`)
	number   = regexp.MustCompile(`\d+(?:\.\d+)?`)
)

// covers finds a line that demands less coverage than before, and is the same but for that.
func (a alteration) covers() (f change.Finding, is bool) {
	for _, was := range a.gone {
		if !demanded.MatchString(was.text) {
			continue
		}
		for _, now := range a.fresh {
			if number.ReplaceAllString(was.text, "0") != number.ReplaceAllString(now.text, "0") {
				continue
			}
			less := false
			numbers := number.FindAllString(now.text, -1)
			for i, text := range number.FindAllString(was.text, -1) {
				m, _ := change.Number(text)
				n, _ := change.Number(numbers[i])
				if n > m {
					return f, false
				}
				less = less || n < m
			}
			return change.Finding{Tier: change.Hold, Kind: change.Threshold, Rule: "words/limit", Why: "Less coverage is demanded: " + now.text,
				Place: change.Place{Line: now.line, Before: was.text, After: now.text}}, less
		}
	}
	return f, false
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

// version matches what is the number of a version, or a digest.
var version = regexp.MustCompile(`\d\.\d|\bv\d|[0-9a-f]{7,}`)

// alike reports whether two lists of values differ in versions, digests and how they are compared only. In the settings of a tool
// not everything with a digit is a version.
func alike(a, b []value, part Part) bool {
	plain := func(list []value) (all []string) {
		for _, v := range list {
			words := strings.FieldsFunc(v.text, func(r rune) bool { return strings.ContainsRune(" \t\"',()<>=~^!@", r) })
			words = slices.DeleteFunc(words, func(w string) bool {
				return strings.ContainsAny(w, "0123456789") && (part != Tool || version.MatchString(w)) || w == "latest"
			})
			for i, w := range words { // another folder
				words[i] = strings.TrimLeft(w, "./")
			}
			all = append(all, strings.Join(words, " "))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(plain(a), plain(b))
}

// higher reports whether an alteration is a minimum that is raised.
func (a alteration) higher() bool {
	was, now, both := a.numbers()
	return both && now > was && floors.in(strings.Join(a.keys, "/"))
}

// counts reports whether an alteration may check less. Lines that are only new do not count.
func (a *alteration) counts(part Part, there bool) bool {
	left := slices.ContainsFunc(a.keys, says)
	switch {
	case part == Nothing, !slices.ContainsFunc(a.fresh, part.meddles) &&
		(part <= Sure && slices.ContainsFunc(a.keys, usual.in) || part == Maybe && !there && !left),
		there && len(a.gone) == 0 && slices.Contains(a.keys, "matrix") && !left: // more of what is checked
		return false
	case part == Tool && len(a.fresh) > 0 && slices.ContainsFunc(a.keys, unlimited.in):
		return false
	}
	_, _, counted := a.numbers()
	limit := len(a.keys) > 0 && (limits.in(a.name) || part == Tool && counted)
	gone, fresh := slices.Clone(a.gone), slices.Clone(a.fresh)
	stands := func(v value) bool { return v.text != "" }
	if part != Tool {
		gone, fresh = part.prepares(gone), part.prepares(fresh)
	} else if len(a.keys) == 0 {
		says := func(v value) bool {
			return strings.HasPrefix(v.text, "#") || strings.HasPrefix(v.text, "//") || output.in(v.text)
		}
		gone, fresh = slices.DeleteFunc(gone, says), slices.DeleteFunc(fresh, says)
	}
	switch {
	case len(gone)+len(fresh) == 0, alike(gone, fresh, part) && !limit:
		return false
	case a.higher(), part == Tool && !slices.ContainsFunc(fresh, stands) &&
		!slices.ContainsFunc(gone, func(v value) bool { return stands(v) && !says(v.text) }):
		return false // more is demanded, or less is left out
	case part != Tool && (len(a.keys) == 0 || commands.in(a.keys[len(a.keys)-1])):
		return len(gone) > 0 || slices.ContainsFunc(fresh, func(v value) bool {
			return flags.MatchString(v.text) || a.branches(v) || chosen.MatchString(v.text) || part.meddles(v)
		})
	}
	return len(gone) > 0 || left || part >= Tool || part == Sure && !there || slices.ContainsFunc(fresh, part.meddles)
}

// concerns reports whether an alteration of a file that may be about anything, among all values there, says something of checks, of
// limits or of what is left out, turns something off or passes over an error: in the names of the file and the keys or, of lines, of
// the folders and what the line is a part of. Of services that run together, one may be a check.
func (a alteration) concerns(f change.File, all []value, had settings) bool {
	name := path.Join(path.Base(path.Dir(f.Path)), path.Base(f.Path))
	if len(a.keys) == 0 {
		name = f.Path
	}
	checked := func(s *setting) bool { return slices.ContainsFunc(s.keys, checking.in) }
	if composed.MatchString(f.Path) && slices.ContainsFunc(slices.Collect(maps.Values(had.at)), checked) {
		return true
	}
	says := func(v value) bool {
		return slices.ContainsFunc([]terms{checking, checkers, limits, left}, func(t terms) bool { return t.in(v.text) }) ||
			flags.MatchString(v.text) || chosen.MatchString(v.text)
	}
	at := map[int][]value{}
	for _, v := range all {
		at[v.line] = append(at[v.line], v)
	}
	var concerns func(v value) bool
	known := map[int]bool{} // lines, each of which is asked once: many values can be within one
	concerns = func(v value) bool {
		if says(v) || Maybe.meddles(v) {
			return true
		}
		if _, asked := known[v.within]; !asked {
			known[v.within] = false
			known[v.within] = slices.ContainsFunc(at[v.within], concerns)
		}
		return known[v.within]
	}
	ends := func(v value) bool {
		command := passing.ReplaceAllString(v.text, "")
		return ends.MatchString(v.text) || command != v.text && slices.ContainsFunc(a.gone, func(o value) bool { return o.text == command })
	}
	off := func(v value) bool { return slices.Contains([]string{"false", "off", "no"}, strings.ToLower(v.text)) }
	return limits.in(a.name) || slices.ContainsFunc(a.keys, piped.in) || piped.in(f.Path) ||
		slices.ContainsFunc(a.fresh, ends) || len(a.gone) > 0 && slices.ContainsFunc(a.fresh, off) ||
		says(value{text: name + " " + strings.Join(a.keys, " ")}) ||
		slices.ContainsFunc(a.gone, concerns) || slices.ContainsFunc(a.fresh, concerns) ||
		len(a.keys) == 0 && !IsShell(f.Path) && slices.ContainsFunc(a.fresh, a.branches) ||
		slices.ContainsFunc(a.gone, func(v value) bool { return isComment(f.After, v.text) && !isComment(f.Before, v.text) })
}

// composed matches files that say which services run together.
var composed = regexp.MustCompile(`(?:^|/)(?:docker-)?compose[\w.-]*\.ya?ml$`)

// isComment reports whether a text is in a line that is a comment.
func isComment(content []byte, text string) bool {
	for line := range strings.Lines(string(content)) {
		line = strings.Join(strings.Fields(line), " ")
		if (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//")) && len(text) >= minLine && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// numbers are the number that is gone and the one that takes its place, if both are one.
func (a alteration) numbers() (was, now float64, both bool) {
	if len(a.gone) != 1 || len(a.fresh) != 1 {
		return 0, 0, false
	}
	was, number := change.Number(a.gone[0].text)
	now, both = change.Number(a.fresh[0].text)
	return was, now, number && both
}

// prepares removes what only prepares checks, and is not told to pass over errors.
func (p Part) prepares(list []value) []value {
	return slices.DeleteFunc(list, func(v value) bool {
		if p.meddles(v) {
			return false
		}
		first, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(v.text, "| ")), " ")
		return strings.HasPrefix(first, "#") || strings.HasPrefix(first, "//") ||
			slices.Contains(preparing, strings.TrimRight(first, ";")) && !chosen.MatchString(v.text) ||
			setup.in(v.text) && !flags.MatchString(v.text)
	})
}

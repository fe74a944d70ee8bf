package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// indented matches the indentation of a line of just, and header what begins a recipe: its name, parameters and prerequisites.
var (
	indented = regexp.MustCompile(`(?m)^[ \t]+`)
	header   = regexp.MustCompile(`(?m)^@?([\w-]+)[^:=\n]*(?:=[^:\n]*)?:([^=\n].*)?$`)
)

// conditional matches a line of a Makefile between which and its end what stands may not count, or is a variable's value.
var conditional = regexp.MustCompile(`^ *(?:(ifn?(?:eq|def))|(?:(?:override|export) +)*(define)|(endef)|endif)\b`)

// patterns matches what gives a target a recipe that does not stand below its name.
var patterns = regexp.MustCompile(`(?m)^ *(?:-|s)?(?:include|import|mod)\b|^[^\t\n#=]*%[^\n=]*:|^\.DEFAULT:|\$[({]eval\b`)

// makefile reads the rules of a Makefile: targets, prerequisites, and recipes, in which every line is a
// script. A later recipe takes the place of an earlier one, unless both have conditions, or the rule has two colons. See
// https://www.gnu.org/software/make/manual/html_node/Rules.html
func (p *Project) makefile(dir, runner, text string) {
	p.open[dir] = p.open[dir] || patterns.MatchString(text)
	variables := variables{values: map[string]string{"MAKE": "make"}, left: maxAllExpanded}
	var open []string
	neutral := false                         // no recipe can fail
	left, depth, outside := maxRecipes, 0, 0 // the last is the depth outside of a variable's value
	done := map[string]bool{}                // the targets with a recipe that has no condition
	var replaces, surely bool                // whether the open rule takes the place of those, and of those with a condition, too
	recipe := func(text string) {
		if replaces { // with its first line
			for _, key := range open {
				if (surely || done[key]) && !strings.ContainsAny(key, "%$") { // those may be for other files
					p.targets[key] = nil
				}
				done[key] = done[key] || surely
			}
		}
		replaces = false
		bare := strings.TrimLeft(text, "@+- ")
		ignored := strings.Contains(text[:len(text)-len(bare)], "-")
		commands, err := Parse(variables.expand(bare), Options{})
		copies := len(open) * max(len(commands), 1)
		if copies > left {
			return // and read on: a later line may have make ignore all errors
		}
		left -= copies
		for _, c := range commands {
			c.Lost = c.Lost || ignored
			for _, key := range open {
				p.targets[key] = append(p.targets[key], c)
			}
		}
		if err != nil {
			for _, key := range open {
				p.targets[key] = append(p.targets[key], Command{Args: strings.Fields(bare)})
			}
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")) {
		line = strings.TrimRight(line, " \n")
		if m := conditional.FindStringSubmatch(line); m != nil {
			switch {
			case m[1] != "":
				depth++
			case m[2] != "":
				outside = depth
			case m[3] != "":
				depth = outside
			default:
				depth--
			}
		}
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			recipe(text)
			continue
		}
		if at := strings.IndexAny(line, "=:"); at > 0 && !strings.HasPrefix(line, "#") {
			if assigned := strings.Index(line, "="); assigned >= 0 && strings.Trim(line[at:assigned+1], ":?+") == "=" {
				name, value := strings.TrimPrefix(strings.Trim(line[:at], " ?+:"), "export "), strings.TrimSpace(line[assigned+1:])
				variables.values[name] = value
				neutral = neutral || depth == 0 && runner == "make" && (Command{Args: []string{"make", "check", name + "=" + value}}).Neutral()
				continue
			}
			open, replaces, surely = nil, runner == "make" && !strings.HasPrefix(line[at:], "::"), depth == 0
			list, first, inline := strings.Cut(variables.expand(strings.TrimLeft(line[at:], ":")), ";")
			if before, _, comment := strings.Cut(list, "#"); comment {
				list, inline = before, false
			}
			needs := strings.Fields(list)
			for _, name := range strings.Fields(variables.expand(line[:at])) {
				key := dir + "\x00" + runner + "\x00" + name
				open = append(open, key)
				if len(needs) > 0 {
					p.deps[key] = append(p.deps[key], needs)
				}
				p.targets[key] = append(p.targets[key], []Command{}...)
			}
			if inline && runner == "make" && !strings.Contains(reference.ReplaceAllString(list, ""), "=") { // no variable of this target
				recipe(first)
			}
		}
	}
	prefix := dir + "\x00" + runner + "\x00"
	ignored := slices.Concat(p.deps[prefix+".IGNORE"]...)
	if _, there := p.targets[prefix+".IGNORE"]; neutral || there && len(ignored) == 0 { // without names it means all
		for key := range p.targets {
			if name, here := strings.CutPrefix(key, prefix); here {
				ignored = append(ignored, name)
			}
		}
	}
	for _, name := range ignored {
		for i := range p.targets[prefix+name] {
			p.targets[prefix+name][i].Lost = true
		}
	}
}

// reference matches a use of a Makefile variable.
var reference = regexp.MustCompile(`\$(?:\([^(){}$]+\)|\{[^(){}$]+\})`)

// These bound the values of variables that are put into one line of a Makefile, and into all of them, in bytes.
const (
	maxExpanded    = 1 << 16
	maxAllExpanded = 4 << 20
)

// variables are those of a Makefile.
type variables struct {
	values map[string]string
	left   int // of maxAllExpanded
}

// expand replaces variables by their values, and the variables in these values. Past a bound, values are unknown.
func (v *variables) expand(text string) string {
	size := len(text)
	for range 4 {
		before := text
		text = reference.ReplaceAllStringFunc(text, func(use string) string {
			name := use[2 : len(use)-1]
			if value, known := v.values[name]; known && size+len(value) <= maxExpanded && v.left >= len(value) {
				size, v.left = size+len(value), v.left-len(value)
				return value
			}
			name, _, _ = strings.Cut(name, " ") // a function, such as $(shell go env GOPATH), becomes a word with an unknown value
			return "${" + name + "}"            // a shell variable, as far as is known here
		})
		if text == before {
			break
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "$$", "$"), "$(", "${")
}

// makeTargets returns the targets in make's arguments, and the directory where make runs.
func makeTargets(args []string, dir string) (targets []string, into string) {
	into = dir
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-C" && i+1 < len(args):
			i++
			into = path.Join(dir, args[i])
		case strings.HasPrefix(args[i], "-") || strings.Contains(args[i], "="):
		default:
			targets = append(targets, args[i])
		}
	}
	return targets, into
}

// rule adds the commands of a target, after those of its prerequisites. Each target runs once, and none that is done.
func (p *Project) rule(out []Command, prefix, target string, done map[string]bool) []Command {
	if p.left--; p.left < 0 || done[target] {
		return out
	}
	done[target] = true
	for _, needs := range p.deps[prefix+target] {
		for _, need := range needs {
			out = p.rule(out, prefix, need, done)
		}
	}
	return append(out, p.targets[prefix+target]...)
}

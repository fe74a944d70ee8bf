package shell

import (
	"regexp"
	"slices"
	"strings"
)

// sessions match, by runner, the function of a session or a task, and started a call within one, with its indentation.
var sessions, started = map[string]*regexp.Regexp{
	"nox":    regexp.MustCompile(`(?m)^def (\w+)\(\s*(?:session|\w+: *nox\.)`),
	"invoke": regexp.MustCompile(`(?m)^def (\w+)\(\s*(?:c|ctx|context)\b`),
}, map[string]*regexp.Regexp{
	"nox":    regexp.MustCompile(`(?m)^([ \t]+)(?:\w+ = )?session\.run(?:_always)?\(`),
	"invoke": regexp.MustCompile(`(?m)^([ \t]+)(?:\w+ = )?(?:c|ctx|context)\.run\(`),
}

var (
	// leaves matches what ends a session at its own indentation.
	leaves = regexp.MustCompile(`(?m)^(?: {4}|\t)(?:return\b|session\.skip\()`)
	// literal matches an argument that is a text.
	literal = regexp.MustCompile(`^[rf]?(?:"([^"\\]*)"|'([^'\\]*)')$`)
)

var (
	// defaults matches the sessions that nox runs if nobody names one. Unasked and named match what decorators of a session say: that it
	// is not among them, and its name.
	defaults = regexp.MustCompile(`(?m)^nox\.options\.sessions\s*=\s*[\[(]([^\])]*)`)
	unasked  = regexp.MustCompile(`\bdefault\s*=\s*False\b`)
	named    = regexp.MustCompile(`\bname\s*=\s*["']([^"']+)["']`)
)

// python reads the sessions of a noxfile, and the tasks of Invoke: each call of run in the function of one is a command. See
// https://nox.thea.codes/en/stable/config.html and https://docs.pyinvoke.org. It keeps which sessions nox runs if nobody names one,
// if that is known.
func (p *Project) python(dir, runner, text string) {
	all, last, usual := sessions[runner].FindAllStringSubmatchIndex(text, -1), 0, []string{}
	for i, at := range all {
		body, name, head := text[at[1]:], text[at[2]:at[3]], text[last:at[0]]
		last = at[1]
		begin := strings.LastIndex(head, "\n@nox.session")
		if m := named.FindStringSubmatch(head[max(0, begin):]); m != nil && begin >= 0 {
			name = m[1]
		}
		if begin < 0 || !unasked.MatchString(head[begin:]) {
			usual = append(usual, name)
		}
		if i+1 < len(all) {
			body = text[at[1]:all[i+1][0]]
		}
		key, outer := dir+"\x00"+runner+"\x00"+name, 0
		p.targets[key] = []Command{}
		if end := leaves.FindStringIndex(body); end != nil {
			if body = body[:end[0]]; !strings.Contains(body, "(session") { // nor does a function run anything for it
				p.targets[key] = []Command{{Args: []string{"return"}}}
			}
		}
		for _, call := range started[runner].FindAllStringSubmatchIndex(body, -1) {
			words, lost := arguments(body[call[1]:])
			if indented := call[3] - call[2]; outer == 0 || indented < outer {
				outer = indented
			}
			if runner == "invoke" && len(words) > 0 { // one text is the whole command
				words = strings.Fields(words[0])
			}
			if len(words) > 0 {
				p.targets[key] = append(p.targets[key], Command{Args: words, Lost: lost, Conditional: call[3]-call[2] > outer})
			}
		}
	}
	if m := defaults.FindStringSubmatch(text); m != nil {
		names, _ := arguments(m[1] + ")")
		usual = append([]string{}, names...)
		added := strings.Contains(text, "nox.options.sessions.") // by a decorator of the file's own
		if added || strings.Contains(m[1], "*") || slices.ContainsFunc(usual, func(s string) bool { return strings.HasPrefix(s, "$") }) {
			usual = nil // not all of them are known
		}
	}
	p.deps[dir+"\x00"+runner] = [][]string{usual}
}

// arguments returns the arguments of a call of Python up to its end, and whether the call takes failures for successes.
// What is no text becomes a word with an unknown value.
func arguments(text string) (words []string, lost bool) {
	depth, from := 0, 0
	take := func(to int) {
		one := strings.TrimSpace(text[from:to])
		key, _, named := strings.Cut(one, "=")
		switch m := literal.FindStringSubmatch(one); {
		case m != nil:
			words = append(words, m[1]+m[2])
		case named && assignment.MatchString(strings.TrimSpace(key)+"="):
			lost = lost || slices.Contains([]string{"success_codes", "warn", "dry"}, strings.TrimSpace(key)) && !strings.HasSuffix(one, "False")
		case one != "" && one[0] != '*':
			words = append(words, "$"+one)
		}
		from = to + 1
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return words, lost
			}
			i += end + 1
		case '#':
			end := strings.IndexByte(text[i:]+"\n", '\n')
			text = text[:i] + text[min(i+end, len(text)):]
			i--
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				take(i)
				return words, lost
			}
			depth--
		case ',':
			if depth == 0 {
				take(i)
			}
		}
	}
	return words, lost
}

// asked returns the commands of the sessions or tasks that arguments ask for: all of nox if they name none that is known.
func (p *Project) asked(runner string, args []string, dir string) (commands []Command) {
	if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-l") || strings.HasPrefix(a, "--list") }) {
		return nil
	}
	prefix := dir + "\x00" + runner + "\x00"
	all, asked := []string{}, []string{}
	for key := range p.targets {
		name, is := strings.CutPrefix(key, prefix)
		if !is {
			continue
		}
		all = append(all, key)
		if slices.ContainsFunc(args, func(a string) bool {
			rest, begins := strings.CutPrefix(a, name)
			if runner == "invoke" {
				rest, begins = "", strings.ReplaceAll(a, "-", "_") == name
			}
			return begins && (rest == "" || rest[0] == '-' || rest[0] == '(')
		}) {
			asked = append(asked, key)
		}
	}
	if len(asked) == 0 && runner == "nox" {
		for _, names := range p.deps[strings.TrimSuffix(prefix, "\x00")] {
			switch {
			case names != nil && len(names) == 0:
				return nil
			case names != nil && !slices.Equal(names, args):
				return p.asked(runner, names, dir)
			}
		}
		asked = all
	}
	slices.Sort(asked)
	for _, key := range asked {
		commands = append(commands, p.targets[key]...)
	}
	return commands
}

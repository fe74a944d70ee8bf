package shell

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// session matches a session's function, and started a call within one, with its indentation.
	session = regexp.MustCompile(`(?m)^def (\w+)\(\s*(?:session|\w+: *nox\.)`)
	started = regexp.MustCompile(`(?m)^([ \t]+)(?:\w+ = )?session\.run(?:_always)?\(`)
	// leaves matches what ends a session at its own indentation.
	leaves = regexp.MustCompile(`(?m)^(?: {4}|\t)(?:return\b|session\.skip\()`)
	// literal matches an argument that is a text.
	literal = regexp.MustCompile(`^[rf]?(?:"([^"\\]*)"|'([^'\\]*)')$`)
)

// nox reads the sessions of a noxfile: each call of session.run in the function of a session is a command. See
// https://nox.thea.codes/en/stable/config.html.
func (p *Project) nox(dir, text string) {
	sessions := session.FindAllStringSubmatchIndex(text, -1)
	for i, at := range sessions {
		body := text[at[1]:]
		if i+1 < len(sessions) {
			body = text[at[1]:sessions[i+1][0]]
		}
		key, outer := dir+"\x00nox\x00"+text[at[2]:at[3]], 0
		p.targets[key] = []Command{}
		if end := leaves.FindStringIndex(body); end != nil {
			if body = body[:end[0]]; !strings.Contains(body, "(session") { // nor does a function run anything for it
				p.targets[key] = []Command{{Args: []string{"return"}}}
			}
		}
		for _, call := range started.FindAllStringSubmatchIndex(body, -1) {
			words, lost := arguments(body[call[1]:])
			if indented := call[3] - call[2]; outer == 0 || indented < outer {
				outer = indented
			}
			if len(words) > 0 {
				p.targets[key] = append(p.targets[key], Command{Args: words, Lost: lost, Conditional: call[3]-call[2] > outer})
			}
		}
	}
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
			lost = lost || strings.TrimSpace(key) == "success_codes"
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

// sessions returns the commands of the sessions that arguments of nox ask for: all if they name none that is known.
func (p *Project) sessions(args []string, dir string) (commands []Command) {
	if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-l") || strings.HasPrefix(a, "--list") }) {
		return nil
	}
	prefix := dir + "\x00nox\x00"
	all, asked := []string{}, []string{}
	for key := range p.targets {
		name, is := strings.CutPrefix(key, prefix)
		if !is {
			continue
		}
		all = append(all, key)
		if slices.ContainsFunc(args, func(a string) bool {
			rest, begins := strings.CutPrefix(a, name)
			return begins && (rest == "" || rest[0] == '-' || rest[0] == '(')
		}) {
			asked = append(asked, key)
		}
	}
	if len(asked) == 0 {
		asked = all
	}
	slices.Sort(asked)
	for _, key := range asked {
		commands = append(commands, p.targets[key]...)
	}
	return commands
}

package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	// targets are runners whose further words are further things to do, not less.
	targets = regexp.MustCompile(`^(?:make|just|task|rake|bundle exec rake|mage|tox|nox|pre-commit|bazel|composer|rails|nx)\b`)
	// scripts are runners that hand to what they run only what follows "--".
	scripts = regexp.MustCompile(`^(?:npm|pnpm|yarn|bun)\b`)
	// switches are options without a value of their own.
	switches = regexp.MustCompile(`^-(?:v+|q+|s|x|l|d|w|e|B|U|i|b|ntp|r\w?|race|short|json|cover)$|^--(?:verbose|quiet|ci|coverage|cache|watch|workspaces?|all|all-features|all-targets|release|locked|frozen|offline|strict|check|no-[\w-]+|show-[\w-]+|colou?r|silent|runInBand|run|batch-mode|stacktrace|info|parallel|diff|noEmit)$`)
	cutoff   = regexp.MustCompile(`&&|\|\|?|;|\d?>|[)&]`)
)

// operands are what a check is told to look at; none means all that there is.
func operands(c command) []string {
	at := strings.Index(c.text, c.key)
	if at < 0 || c.purpose == "script" || targets.MatchString(c.key) || strings.Contains(c.text, "uses:") {
		return nil
	}
	rest := c.text[at+len(c.key):]
	if end := cutoff.FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	words := strings.Fields(inQuotes.ReplaceAllStringFunc(rest, func(q string) string { return strings.ReplaceAll(q, " ", "_") }))
	if scripts.MatchString(c.key) {
		i := slices.Index(words, "--")
		if i < 0 {
			return nil
		}
		words = words[i:]
	}
	var out []string
	for i, w := range words {
		w = strings.Trim(w, `"'`)
		valued := i > 0 && strings.HasPrefix(words[i-1], "-") && words[i-1] != "--" && !strings.Contains(words[i-1], "=") && !switches.MatchString(words[i-1])
		if w == "" || strings.HasPrefix(w, "-") || valued || strings.ContainsAny(w, "=$\\{") {
			continue
		}
		if w = path.Clean(strings.TrimSuffix(strings.TrimSuffix(w, "..."), "**")); w != "." && w != "/" {
			out = append(out, w)
		}
	}
	return out
}

// spans reports whether a check looks at all that another one looked at.
func spans(now, was command) bool {
	is := operands(now)
	if len(is) == 0 {
		return true
	}
	old := operands(was)
	return len(old) > 0 && !slices.ContainsFunc(old, func(o string) bool {
		return !slices.ContainsFunc(is, func(n string) bool { return within(o, n) })
	})
}

// narrowed finds a check that is told to look at a part of what it looked at, or is
// another's copy of the action that it was. Where it runs more often than before the
// parts may make up the whole.
func narrowed(f *file, was, is []command) []Hit {
	if len(is) > len(was) {
		return nil
	}
	for i, c := range was {
		if !slices.ContainsFunc(is, func(n command) bool { return spans(n, c) && !forked(n, c) }) {
			return []Hit{{CI, f.path(), is[i].line, f.old.at(c.line), f.new.at(is[i].line), "The check is told to look at less than it did."}}
		}
	}
	return nil
}

// partial are the names of targets that stand for a part of what those without the
// ending do.
var partial = regexp.MustCompile(`(?i)[-:_](?:unit|smoke|fast|quick|short|lite|basic|changed|staged|sanity|minimal|core|noop|none|dummy|simple|light|small)$`)

// lesser reports whether a check that is to replace another is only a part of it, or
// no longer the same action.
func lesser(g, c command) bool {
	return forked(g, c) || partial.MatchString(g.key) && !partial.MatchString(c.key) && g.purpose == c.purpose
}

// forked reports whether a check is the action of another one under another owner.
func forked(g, c command) bool {
	theirs, ours := owner.FindStringSubmatch(g.text), owner.FindStringSubmatch(c.text)
	return theirs != nil && ours != nil && theirs[1] != ours[1] && theirs[2] == ours[2]
}

// owner tells whose an action is from what it is called.
var owner = regexp.MustCompile(`uses:\s*["']?([\w.-]+)/([\w./-]+)@`)

package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// confining are options by which a check looks at a part of what it could.
	confining = regexp.MustCompile(`(?:^|\s)(?:-run[ =]\S+|-test\.run[ =]\S+|-list[ =]\S+|-k[ =]?["'\w]\S*|-m ["']?not\b|--new-from-\S+|--new\b|-n\b|--grep[ =]\S+|-t ["'\w]\S*|--testNamePattern\S*|--only-?[cC]hanged|--changed\b|--changedSince\S*|--lf\b|--last-failed|--filter[ =]\S+|--tests[ =]\S+|-Dtest=\S+|--collect-only|--co\b|-c /dev/null|--max-diagnostics\S*)`)
	inQuotes  = regexp.MustCompile(`'[^']*'|"[^"]*"|\$\([^)]*\)`)
	piped     = regexp.MustCompile(`[^|>]\|(?:[^|]|$)`)
	reporting = regexp.MustCompile(`\|\s*(?:tparse|go-junit-report\b.*-set-exit-code)`)
	asBranch  = regexp.MustCompile(`^(?:@|- |run: |then )*(?:if|while|until)\s`)
	failsSoon = regexp.MustCompile(`\bexit (?:[1-9]|\$)|\bfalse\b|\breturn [1-9]|\bfail\b|\bdie\b`)
)

// confines reports whether a command has such an option; some mean other things to
// other tools.
func confines(key, text string) bool {
	for _, m := range confining.FindAllString(text, -1) {
		option := strings.TrimSpace(m)
		switch {
		case option == "-n" && !strings.HasPrefix(key, "make"),
			strings.HasPrefix(option, "-t ") && !strings.Contains(key, "jest") && !strings.Contains(key, "vitest"),
			(strings.HasPrefix(option, "-k") || strings.HasPrefix(option, "-m")) && key != "pytest",
			option == "--new" && !strings.HasPrefix(key, "golangci"):
		default:
			return true
		}
	}
	return false
}

// restrained finds checks of one kind of which fewer than before look at all they
// could, or fewer can fail. A further run with such an option takes nothing away.
func restrained(f *file, was, is []command, before, after []claim) []Hit {
	var hits []Hit
	for _, one := range []struct {
		restrains func(c command, lines []claim) bool
		why       string
	}{
		{func(c command, _ []claim) bool { return confines(c.key, c.text) }, "The check looks at less than it did."},
		{swallowed, "The check runs, and whether it fails is lost."},
	} {
		free := func(list []command, lines []claim) (n int) {
			for _, c := range list {
				if !one.restrains(c, lines) {
					n++
				}
			}
			return n
		}
		if free(is, after) >= free(was, before) {
			continue
		}
		at := slices.IndexFunc(is, func(c command) bool {
			return one.restrains(c, after) && !slices.ContainsFunc(was, func(w command) bool { return w.text == c.text })
		})
		if at >= 0 {
			hits = append(hits, Hit{CI, f.path(), is[at].line, was[0].text, f.new.at(is[at].line), one.why})
		}
	}
	return hits
}

// swallowed reports whether a shell throws away how a check ended: it stands before
// a pipe without pipefail, in the background, or in a condition that nothing
// follows from.
func swallowed(c command, lines []claim) bool {
	bare := inQuotes.ReplaceAllString(c.text, "_")
	at := strings.Index(bare, c.key)
	if at < 0 {
		return false // within quotes, where another program has the word
	}
	rest := bare[at:]
	if strings.HasSuffix(rest, " &") {
		return true
	}
	if piped.MatchString(rest) && !reporting.MatchString(rest) {
		return !slices.ContainsFunc(lines, func(l claim) bool {
			return strings.Contains(l.text, "pipefail") || strings.HasPrefix(strings.TrimPrefix(l.text, "- "), "shell: bash") && !strings.Contains(l.text, "{0}")
		})
	}
	if !asBranch.MatchString(bare) {
		return false
	}
	from := slices.IndexFunc(lines, func(l claim) bool { return l.line == c.line })
	for _, l := range lines[from:] {
		if failsSoon.MatchString(l.text) {
			return false
		}
		if l.text == "fi" || strings.HasSuffix(l.text, "; fi") || l.text == "done" {
			return true
		}
	}
	return true
}

var (
	errexit = regexp.MustCompile(`^set (?:\S+ )*-\w*e|^set (?:\S+ )*-o errexit|^#!.*\bsh -\w*e`)
	ends    = regexp.MustCompile(`^(?:exit(?: 0)?|return(?: 0)?)$`)
)

// unguarded finds scripts that go on where they stopped at the first failure, and
// those that end well before their checks.
func unguarded(f *file, before, after []claim) []Hit {
	runs := commands(after)
	if len(runs) == 0 {
		return nil
	}
	var hits []Hit
	stops := func(l claim) bool { return errexit.MatchString(l.text) }
	if was := slices.IndexFunc(before, stops); was >= 0 && !slices.ContainsFunc(after, stops) && matches(f.new.path, "*.sh", ".husky/*", ".ci/*") {
		hits = append(hits, Hit{CI, f.path(), before[was].line, before[was].text, "", "The script no longer stops at the first check that fails."})
	}
	for i, l := range after {
		if !ends.MatchString(l.text) || slices.ContainsFunc(before, func(b claim) bool { return b.text == l.text }) {
			continue
		}
		for _, next := range after[i+1:] {
			if isItem(next.text) || indentation(f.new.lines[next.line-1]) < indentation(f.new.lines[l.line-1]) {
				break
			}
			if slices.ContainsFunc(runs, func(c command) bool { return c.line == next.line }) {
				return append(hits, Hit{CI, f.path(), l.line, "", l.text, "The script ends before its checks."})
			}
		}
	}
	return hits
}

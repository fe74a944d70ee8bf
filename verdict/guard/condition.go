package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	opening = regexp.MustCompile(`^(?:- |run: |@)*(?:if|case|ifdef|ifndef|ifeq|ifneq)\b`)
	closed  = regexp.MustCompile(`^(?:fi|esac|endif)\b|;\s*(?:fi|esac)["']?$`)
	onlyIf  = regexp.MustCompile(`^(?:- |run: |@)*(?:\[|test )[^;|]*\]?\s*&&|^(?:- |run: |@)*if\b.*;\s*then\s+`)
)

// guarded says of each line of a script whether it stands within a condition. Where
// both ways of one run the same check it does not matter.
func guarded(lines []claim) map[int]bool {
	type branch struct{ from, turn int }
	out := map[int]bool{}
	var open []branch
	for i, l := range lines {
		if isItem(l.text) {
			open = nil // another step
		}
		out[l.line] = len(open) > 0
		top := len(open) - 1
		switch {
		case opening.MatchString(l.text) && !closed.MatchString(l.text):
			open = append(open, branch{i, 0})
		case top >= 0 && l.text == "else":
			open[top].turn = i
		case top >= 0 && closed.MatchString(l.text):
			if b := open[top]; b.turn > 0 && sameChecks(commands(lines[b.from:b.turn]), commands(lines[b.turn:i])) {
				for _, l := range lines[b.from:i] {
					out[l.line] = top > 0
				}
			}
			open = open[:top]
		}
	}
	return out
}

// sameChecks reports whether two parts of a script run a check in common.
func sameChecks(a, b []command) bool {
	return slices.ContainsFunc(a, func(c command) bool {
		return slices.ContainsFunc(b, func(d command) bool { return c.key == d.key })
	})
}

// conditioned reports whether a check is run only under a condition.
func conditioned(c command, s *script) bool {
	at := onlyIf.FindStringIndex(c.text)
	_, other, _ := strings.Cut(c.text, "; else")
	return s.guarded[c.line] || at != nil && at[1] <= strings.Index(c.text, c.key) && !strings.Contains(other, c.key)
}

var (
	// conditionKeys are how CI systems besides GitHub's and GitLab's put a condition.
	conditionKeys = regexp.MustCompile(`^(?:condition|if|only_if|skip|when|only|except|branches|conditions)$`)
	unconditional = regexp.MustCompile(`^(?:and\()?(?:always|succeeded|succeededOrFailed|not\(canceled)\(|^(?:on_success|always|true)$|pull_request|merge_request`)
	jenkinsWhen   = regexp.MustCompile(`^when\s*\{`)
)

// otherConditions finds conditions that are new on checks in the files of the other CI
// systems, and runs for pull requests that they gave up.
func otherConditions(f *file) []Hit {
	if matches(f.new.path, ".github/**", "*.gitlab-ci.yml", ".gitlab/ci/*") {
		return nil
	}
	had := map[string]bool{}
	for _, one := range settings(f.old) {
		had[strings.Join(one.key, ".")+"\x00"+one.value] = true
	}
	idle := map[string]bool{} // jobs of CircleCI that check nothing
	for name, lines := range jobs(f.new, "jobs") {
		idle[name] = len(commands(lines)) == 0
	}
	old := map[string]bool{}
	for i := range f.old.lines {
		old[f.old.at(i+1)] = true
	}
	workflows := jobs(f.old, "workflows")
	var hits []Hit
	hit := func(line int) {
		hits = append(hits, Hit{CI, f.path(), line, "", f.new.at(line), "The check no longer runs for every change."})
	}
	for _, one := range settings(f.new) {
		last := one.key[len(one.key)-1]
		switch i := slices.Index(one.key, "filters"); {
		case had[strings.Join(one.key, ".")+"\x00"+one.value] || unconditional.MatchString(one.value):
		case one.key[0] == "workflows" && len(one.key) > 2 && (one.key[2] == "when" || one.key[2] == "unless"):
			if workflows[one.key[1]] != nil {
				hit(one.line)
			}
		case i > 0 && one.key[0] == "workflows":
			if branches := one.key[i+1:]; len(branches) > 0 && branches[0] == "branches" && !idle[one.key[i-1]] {
				hit(one.line)
			}
		case one.key[0] == "pr" && (one.value == "none" || slices.Contains(one.key, "exclude") || slices.Contains(one.key, "include") || slices.Contains(one.key, "branches")):
			hit(one.line)
		case conditionKeys.MatchString(last) && len(one.key) > 1 && guardsCheck(f.new, one.line):
			hit(one.line)
		}
	}
	for i := range f.new.lines {
		if text := f.new.at(i + 1); jenkinsWhen.MatchString(text) && !old[text] && guardsCheck(f.new, i+1) {
			hit(i + 1)
		}
	}
	return hits
}

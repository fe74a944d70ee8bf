package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// shorteners take a part of a list.
	shorteners = regexp.MustCompile(`\[-?[\w()]*:-?[\w()]*\]|\.(?:slice|take|takeLast|first|last|limit|skip|drop|dropLast|filter|filterNot|reject|select|Take|Skip|Where|First|step_by|head|tail|sublist|subList)\((?:[^()]|\([^()]*\))*\)|\bislice\(`)
	// ownPart is a list that becomes a part of itself.
	ownPart = regexp.MustCompile(`^(?:\w+ )?([\pL_]\w*) :?= ([\pL_]\w*)(?:\[-?\w*:-?\w*\]|\.(?:slice|take|first|limit|drop|filter|reject|select|Take|Where)\()|^([\pL_]\w*)\.(?:splice|pop|shift|truncate|clear|retain|remove|RemoveAt|RemoveRange|drain|delete_if|reject!|select!|keep_if)\b`)
	// leaves is a step out of what a line stands in, and leavesIf one on one line.
	leaves   = regexp.MustCompile(`^(?:continue|break|next|return|return (?:true|nil|null|None|undefined|Ok\(\(\)\)))\b[^(]*;?$`)
	leavesIf = regexp.MustCompile(`^(?:if\b.*[):]?\s*\{?\s*(?:continue|break|return)\s*;?\s*\}?|(?:next|break|return) (?:if|unless)\b.*)$`)
	// ambient are the words by which a test asks where it runs.
	ambient = regexp.MustCompile(`^(?:continue|break|next|unless|os|process|env|Getenv|environ|CI|ENV|runtime|GOOS)$`)
)

// fewer finds what is new in a test and leaves out some of the cases that it goes
// through: a part of the list, or a step to the next one before the old assertions.
func fewer(b, a *testcase) []Hit {
	had := map[string]int{}
	for _, line := range b.whole() {
		had[strings.TrimSpace(line)]++
	}
	old := map[string]bool{}
	for _, c := range claims(b) {
		if !messages.MatchString(c.text) {
			old[c.text] = true
		}
	}
	lines := a.whole()
	further := leavings(lines) > leavings(b.whole()) // one that only reads otherwise is none
	for i, line := range lines {
		text := strings.TrimSpace(line)
		if had[text] > 0 {
			had[text]--
			continue
		}
		if m := ownPart.FindStringSubmatch(text); m != nil && (m[3] != "" && b.loops(m[3]) || m[1] == m[2] && m[1] != "" && b.loops(m[1])) ||
			!asserting.MatchString(text) && shorteners.MatchString(text) && had[shorteners.ReplaceAllString(text, "")] > 0 {
			return []Hit{{Assertion, a.f.path(), a.first + i, "", text, "The test goes through fewer cases than it did."}}
		}
		if leaving, to := leavingAt(lines, i); leaving && further && !otherKind(lines, i) && owesAfter(lines, to, indentation(line), old) && !knownCase(b, a, text) {
			return []Hit{{Test, a.f.path(), a.first + i, "", text, "The assertions after it are no longer made for every case."}}
		}
	}
	return nil
}

// loops reports whether a test goes through a list of a name.
func (t *testcase) loops(name string) bool {
	return slices.ContainsFunc(t.body(), func(l string) bool {
		m := loop.FindStringSubmatch(strings.TrimSpace(l))
		return m != nil && slices.Contains(identifier.FindAllString(m[2], -1), name) || strings.Contains(l, "range "+name+" ") || strings.Contains(l, name+".forEach(") || strings.Contains(l, name+".each ") || strings.Contains(l, "each("+name+")")
	})
}

// leavingAt reports whether a line is a condition from which nothing follows but a
// step out of what it stands in, and the index of its last line.
func leavingAt(lines []string, i int) (bool, int) {
	text := strings.TrimSpace(lines[i])
	switch {
	case leavesIf.MatchString(text):
		return true, i
	case !branching.MatchString(text) || i+1 >= len(lines) || !leaves.MatchString(strings.TrimSpace(lines[i+1])):
		return false, i
	case i+2 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+2]), "}"):
		return true, i + 2
	}
	return true, i + 1
}

// leavings counts such conditions in some lines.
func leavings(lines []string) (n int) {
	for i := range lines {
		if leaving, _ := leavingAt(lines, i); leaving {
			n++
		}
	}
	return n
}

// otherKind reports whether a condition passes by what is of another type than what is
// looked for, as the line before it asks.
func otherKind(lines []string, i int) bool {
	return i > 0 && strings.TrimSpace(lines[i]) == "if !ok {" && strings.Contains(lines[i-1], ".(")
}

// owesAfter reports whether an old assertion follows after a line in what it stands
// in at a depth.
func owesAfter(lines []string, from, depth int, old map[string]bool) bool {
	for _, line := range lines[from+1 : min(from+1+maxFlow, len(lines))] {
		switch text := strings.TrimSpace(line); {
		case text == "":
		case indentation(line) < depth:
			return false
		case old[text]:
			return true
		}
	}
	return false
}

// knownCase reports whether a condition speaks only of what is new in a test of which
// no row is gone: a further kind of case.
func knownCase(b, a *testcase, text string) bool {
	fresh := slices.ContainsFunc(identifier.FindAllString(literals.ReplaceAllString(text, " "), -1), func(name string) bool {
		return !b.set[name] && a.set[name] && !common.MatchString(name) && !ambient.MatchString(name)
	})
	if !fresh {
		return false
	}
	stands := map[string]bool{}
	for _, line := range a.whole() {
		stands[strings.TrimSpace(line)] = true
	}
	return !slices.ContainsFunc(b.whole(), func(l string) bool {
		l = strings.TrimSpace(l)
		return caseRow.MatchString(l) && !stands[l]
	})
}

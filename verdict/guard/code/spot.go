package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// maxCompared bounds the assertions and lines of one test that are looked at to find the gravest.
const maxCompared = 50

// spot is the gravest of what a part of a test file says otherwise: another value that is asserted, else an assertion that is gone or
// inside of something further, else another assertion, else a value, else a line that is gone, else the line of what is new and
// narrows it. What takes its place is beside it.
func (a altered) spot(narrowed int) change.Spot {
	was, is, weight := a.lost()
	s := change.Spot{In: a.after.name, What: "assertion", Weight: weight}
	switch {
	case weight == 0:
		s.What = "asserted value"
	case weight > 1 && a.inside > 0:
		was, is, s.What, s.Weight = saying{}, a.after.side.saying(a.inside), "assertion inside of a further block", 1
	case weight > 2:
		was, is, s.What, s.Weight = a.line(narrowed)
	}
	s.Place = change.Place{Path: a.after.side.path, Line: cmp.Or(is.line, was.line), After: is.text}
	if was.text != is.text {
		s.Before = was.text
	}
	return s
}

// saying is a line, or a statement from that line on; the zero value is none.
type saying struct {
	line int
	text string
}

func (s *side) saying(line int) saying {
	if line == 0 {
		return saying{}
	}
	return saying{line, s.lineText(line)}
}

// lost is an assertion that is not there any more, the one that takes its place, and the weight: 3 for none.
func (a altered) lost() (was, is saying, weight int) {
	b, s := a.before.side, a.after.side
	gone, fresh := b.without(a.before.assertions, a.after.assertions), s.without(a.after.assertions, a.before.assertions)
	fresh = fresh[:min(len(fresh), maxCompared)]
	had, has := a.before.lineTexts(), a.after.lineTexts()
	weight = 3
	for _, c := range gone[:min(len(gone), maxCompared)] {
		i, of, by := closest(c, fresh), 1, saying{}
		if i >= 0 {
			of, by = 2, s.otherwise(had, fresh[i])
			if fresh[i].code == c.code {
				of = 0
			}
		}
		if of < weight {
			was, is, weight = b.otherwise(has, c), by, of
		}
	}
	return was, is, weight
}

// otherwise is an assertion or, of one that is too long to be quoted, the first line that is not one of the other side's.
func (s *side) otherwise(others map[string]int, c reading) saying {
	whole, at, end := "", c.line, s.line(int(c.to)-1)
	for n := at; n <= end && len(whole) <= maxText; n++ {
		whole = strings.TrimSpace(whole + " " + s.lineText(n))
	}
	if len(whole) <= maxText {
		return saying{at, whole}
	}
	for at < end && others[s.lineText(at)] > 0 {
		at++
	}
	return s.saying(at)
}

// line is what is gone or new and no assertion, and what to call it.
func (a altered) line(narrowed int) (was, is saying, what string, weight int) {
	b, s := a.before.side, a.after.side
	had, gone := a.before.apart(a.after, a.gone)
	has, fresh := a.after.apart(a.before, a.fresh)
	value := func(was, is int) bool { return valueless(b.lineText(was)) == valueless(s.lineText(is)) }
	for _, was := range gone {
		if i := slices.IndexFunc(fresh, func(is int) bool { return value(was, is) }); i >= 0 {
			return b.saying(was), s.saying(fresh[i]), "value", 3
		}
	}
	if len(gone) > 0 {
		was = b.saying(gone[0])
		if is = s.saying(s.alike(was.text, has)); is.line == 0 {
			return was, is, "line", 4
		}
		return was, is, "line", 5
	}
	if len(fresh) > 0 && !slices.Contains(has, narrowed) {
		narrowed = fresh[0]
	}
	is = s.saying(narrowed)
	return b.saying(b.alike(is.text, had)), is, "line", 6
}

// apart are the lines of a unit, and of these the ones with a word that it has more often, that the other one does not have.
func (u *unit) apart(other *unit, differs map[string]int) (all, telling []int) {
	others, last, said := other.lineTexts(), 0, 0
	u.telling(func(i int, says string) {
		if differs[says] > 0 && said == 0 {
			said = u.side.line(i)
		}
		for n := u.side.line(i); n <= u.side.line(i)+strings.Count(u.side.of(i), "\n"); n++ {
			if others[u.side.lineText(n)] > 0 {
				continue
			}
			if n != last && len(all) < maxCompared {
				all, last = append(all, n), n
			}
			if differs[says] > 0 && len(telling) < maxCompared && !slices.Contains(telling, n) {
				telling = append(telling, n)
			}
		}
	})
	if len(telling) == 0 && said > 0 { // the other side has such a line, too
		telling = []int{cmp.Or(u.parts(other), said)}
	}
	return all, telling
}

// parts is the first line of a unit that is not the one of another unit at its place; 0 if it is empty or behind the unit.
func (u *unit) parts(other *unit) int {
	n, m := u.side.line(u.from), other.side.line(other.from)
	for n < len(u.side.starts) && m < len(other.side.starts) && u.side.lineText(n) == other.side.lineText(m) {
		n, m = n+1, m+1
	}
	if u.side.lineText(n) == "" || n > u.side.line(u.to-1) {
		return 0
	}
	return n
}

// alike is the line that shares the most words with a text; 0 if none shares enough.
func (s *side) alike(text string, lines []int) (line int) {
	words := func(text string) map[string]bool { return set(strings.Join(wordsIn(text), " ")) }
	has, best := words(text), 0.34
	for _, n := range lines {
		says := words(s.lineText(n))
		if score := min(share(has, says), share(says, has)); score > best {
			best, line = score, n
		}
	}
	return line
}

// valueless is a line without its texts and numbers.
func valueless(line string) string { return values.ReplaceAllString(line, "") }

// values matches literals.
var values = regexp.MustCompile(`"[^"]*"|'[^']*'|\b\d[\w.]*`)

// lineTexts counts the lines of a unit.
func (u *unit) lineTexts() map[string]int {
	texts := map[string]int{}
	if u.from < u.to {
		for n := u.side.line(u.from); n <= u.side.line(u.to-1); n++ {
			texts[u.side.lineText(n)]++
		}
	}
	return texts
}

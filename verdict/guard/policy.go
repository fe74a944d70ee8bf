package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// isPolicy reports whether a file of this name says how changes are judged, by
// whom, or how contributors work.
func isPolicy(name string) bool {
	return strings.HasPrefix(name, ".touchstone/") || isOwnership(name) || isGuide(name) || path.Base(name) == ".gitattributes"
}

// isLaw reports whether a file of this name holds guidelines.
func isLaw(name string) bool {
	return strings.HasPrefix(name, ".touchstone/") && strings.HasSuffix(name, ".md")
}

// standsOn reports whether guidelines that moved are still read: in the same
// directory, or in the one that they are read from.
func standsOn(old, now string) bool {
	return isLaw(now) && (path.Dir(now) == path.Dir(old) || path.Dir(now) == ".touchstone/guidelines")
}

// isOwnership reports files whose every change is one of who decides. See
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
// for why even an added line can take an owner away: the last match wins.
func isOwnership(name string) bool {
	return matches(name, "CODEOWNERS", ".github/settings.yml", ".github/settings.yaml", ".github/rulesets/**", ".github/branch-protection*", ".github/branch_protection*",
		".gitlab/approval_rules*", ".policy.yml", ".github/policy.yml", "OWNERS", "OWNERS_ALIASES", ".mergify.yml", ".github/mergify.yml", ".prow.yaml")
}

func isGuide(name string) bool {
	return matches(name, "AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONTRIBUTING.md", ".cursorrules", ".github/copilot-instructions.md", ".cursor/rules/**", ".claude/**", "SECURITY.md")
}

// policies finds guidelines, owners and contributor rules that got weaker.
func policies(p *patch) []Hit {
	kept := map[string]bool{}
	for _, f := range p.files {
		if isPolicy(f.new.path) {
			for _, line := range f.new.lines {
				kept[plain(line)] = true
			}
		}
	}
	var hits []Hit
	for _, f := range p.files {
		name := f.path()
		switch {
		case isOwnership(f.old.path) || isOwnership(name):
			hits = append(hits, ownership(f)...)
		case isLaw(f.old.path) || isLaw(f.new.path):
			hits = append(hits, guidelineRows(f, p)...)
			hits = append(hits, rules(f, kept)...)
		case strings.HasPrefix(name, ".touchstone/") || strings.HasPrefix(f.old.path, ".touchstone/"):
			hits = append(hits, config(f)...)
		case f.new.base() == ".gitattributes":
			hits = append(hits, unshown(f)...)
		case isGuide(f.old.path):
			hits = append(hits, rules(f, kept)...)
		}
	}
	return hits
}

// plain is a line without what formatting adds to it.
func plain(line string) string {
	return strings.Join(strings.Fields(strings.Trim(line, " \t-*+#>")), " ")
}

// ownership hits on any change but of comments and blank lines, once per file.
func ownership(f *file) []Hit {
	effective := func(s side) (out []claim) {
		for i, line := range s.lines {
			// A "*" says what is owned: nothing is trimmed here but blanks.
			if text := strings.Join(strings.Fields(uncomment(strings.TrimSpace(line))), " "); text != "" {
				out = append(out, claim{text, i + 1})
			}
		}
		return out
	}
	was, is := effective(f.old), effective(f.new)
	why := "Who has to approve is changed."
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			return []Hit{{Policy, f.path(), was[i].line, was[i].text, "", why}}
		case i >= len(was):
			return []Hit{{Policy, f.path(), is[i].line, "", is[i].text, why}}
		case was[i].text != is[i].text:
			return []Hit{{Policy, f.path(), is[i].line, was[i].text, is[i].text, why}}
		}
	}
	return nil
}

// maxPolicy bounds the settings, and the new lines of a guide, that are compared.
const maxPolicy = 2000

// config hits on settings of this product that are changed or gone, and on new
// ones that make an exception or let more happen without a person. A file that
// was renamed is read no more.
func config(f *file) []Hit {
	was, is := settings(f.old), settings(f.new)
	if f.new.path != f.old.path && !f.added() {
		is = nil
	}
	if max(len(was), len(is)) > maxPolicy {
		return []Hit{{Kind: Unexamined, Path: f.path(), Why: "The file holds more settings than the guard compares; a person has to look."}}
	}
	id := func(s setting) string { return strings.Join(s.key, ".") }
	var hits []Hit
	for _, w := range was {
		at := slices.IndexFunc(is, func(s setting) bool { return id(s) == id(w) && s.value == w.value })
		if at >= 0 {
			continue
		}
		now := slices.IndexFunc(is, func(s setting) bool { return id(s) == id(w) && s.key[len(s.key)-1] != "[]" })
		switch {
		case now >= 0:
			hits = append(hits, Hit{Policy, f.path(), is[now].line, f.old.at(w.line), f.new.at(is[now].line), "A review setting is changed."})
		default:
			hits = append(hits, Hit{Policy, f.path(), w.line, f.old.at(w.line), "", "A review setting is gone."})
		}
	}
	for _, s := range is {
		if laxer(id(s), s.value) && !slices.ContainsFunc(was, func(w setting) bool { return id(s) == id(w) && (w.value == s.value || s.key[len(s.key)-1] != "[]") }) {
			hits = append(hits, Hit{Policy, f.path(), s.line, "", f.new.at(s.line), "The review is told to look away, or that less is needed than before."})
		}
	}
	return hits
}

var (
	excepting = regexp.MustCompile(`(?i)disable|off\b|ignore|exclude|skip|allow|exempt|waive|trust`)
	easing    = regexp.MustCompile(`(?i)\b(?:ratchet|merge\.auto)$`)
	verifying = regexp.MustCompile(`(?i)^verify\.command\b`)
	vacuous   = regexp.MustCompile(`^(?:/bin/|/usr/bin/)?(?:true|:|echo|exit(?: 0)?)$`)
)

// laxer reports whether a setting that was not there before asks for less.
func laxer(key, value string) bool {
	return excepting.MatchString(key) || easing.MatchString(key) && level01(value) != 0 || verifying.MatchString(key) && vacuous.MatchString(value)
}

// row is one line of a guideline's table.
type row struct {
	severity, scope, criterion string
	path, text                 string
	line                       int
}

var severities = []string{"nit", "minor", "major", "critical"}

// rowsOf reads the table rows that begin with an id and a severity.
func rowsOf(s side) map[string]row {
	out := map[string]row{}
	for i := range s.lines {
		cells := strings.Split(strings.ReplaceAll(s.at(i+1), `\|`, "\x00"), "|")
		if len(cells) < 6 || cells[0] != "" {
			continue
		}
		for j := range cells {
			cells[j] = strings.Trim(strings.ReplaceAll(cells[j], "\x00", "|"), " `")
		}
		if slices.Contains(severities, cells[2]) {
			out[cells[1]] = row{cells[2], cells[3], cells[4], s.path, s.at(i + 1), i + 1}
		}
	}
	return out
}

// guidelineRows finds rows that are gone, milder, narrower or say something else
// than they did: in what way a sentence of the law changed is for a person to tell.
func guidelineRows(f *file, p *patch) []Hit {
	was, is := rowsOf(f.old), rowsOf(f.new)
	if !standsOn(f.old.path, f.new.path) {
		is = nil
	}
	var hits []Hit
	for id, w := range was {
		n, there := is[id]
		if !there {
			n, there = rowElsewhere(id, f.old.path, p)
		}
		why := ""
		switch {
		case !there:
			hits = append(hits, Hit{Policy, f.path(), w.line, w.text, "", "The guideline " + id + " is gone."})
			continue
		case slices.Index(severities, n.severity) < slices.Index(severities, w.severity):
			why = " is milder than it was."
		case !wider(w.scope, n.scope):
			why = " applies to something else than it did."
		case n.criterion != w.criterion:
			why = " says something else than it did."
		default:
			continue
		}
		hits = append(hits, Hit{Policy, n.path, n.line, w.text, n.text, "The guideline " + id + why})
	}
	return hits
}

// wider reports whether a scope holds at least what it held: it is the same, all,
// or has parts added to it that take nothing away.
func wider(before, after string) bool {
	more, appended := strings.CutPrefix(after, before+",")
	return after == before || after == "all" || appended && !strings.Contains(more, "!")
}

// rowElsewhere looks for a row in the other guidelines of the change.
func rowElsewhere(id, old string, p *patch) (row, bool) {
	for _, f := range p.files {
		if !standsOn(old, f.new.path) {
			continue
		}
		if r, there := rowsOf(f.new)[id]; there {
			return r, true
		}
	}
	return row{}, false
}

var (
	binding = regexp.MustCompile(`(?i)\b(?:must|never|always|do not|don't|required?|shall|forbidden|may not|cannot|no|not|only|every|all)\b`)
	firm    = regexp.MustCompile(`(?i)\b(?:must|never|always|do not|don't|shall|forbidden|may not|required?|mandatory)\b`)
	hedge   = regexp.MustCompile(`(?i)\b(?:unless|except|optional(?:ly)?|should|may|can be skipped|try to|prefer(?:ably)?|ideally|when possible|if possible|where practical|when convenient|at (?:your|the author's) discretion|where reasonable|usually)\b`)
)

// hedged reports whether a rule lost its force or gained a way out.
func hedged(before, after string) bool {
	return len(hedge.FindAllString(after, -1)) > len(hedge.FindAllString(before, -1)) && !firmer(before, after) ||
		len(firm.FindAllString(after, -1)) < len(firm.FindAllString(before, -1)) && hedge.MatchString(after)
}

func firmer(before, after string) bool {
	return len(firm.FindAllString(after, -1)) > len(firm.FindAllString(before, -1))
}

// rules finds sentences that bind contributors and are gone or hedged. One that
// was put in other words still binds.
func rules(f *file, kept map[string]bool) []Hit {
	had := map[string]bool{}
	for _, line := range f.old.lines {
		had[plain(line)] = true
	}
	fresh := map[int]map[string]bool{} // the new lines
	for i, line := range f.new.lines {
		if !had[plain(line)] && len(fresh) < maxPolicy {
			fresh[i+1] = tokens([]string{line})
		}
	}
	var hits []Hit
	for i, raw := range f.old.lines {
		line := plain(raw)
		if kept[line] || !firm.MatchString(line) || len(strings.Fields(line)) < 3 || strings.HasPrefix(raw, "|") || strings.HasPrefix(raw, "#") {
			continue
		}
		best, most := 0, 0.0
		for j, set := range fresh {
			if s := share(tokens([]string{line}), set); s > most || s == most && s > 0 && j < best {
				best, most = j, s
			}
		}
		switch {
		case most < 0.5:
			hits = append(hits, Hit{Policy, f.path(), i + 1, line, "", "A rule for contributors is gone."})
		case hedged(line, f.new.at(best)) || !binding.MatchString(f.new.at(best)):
			hits = append(hits, Hit{Policy, f.path(), best, line, f.new.at(best), "A rule for contributors is weaker than it was."})
		}
		if f.deleted() && len(hits) > 0 || len(hits) > MaxHits {
			break
		}
	}
	return hits
}

package tools

import (
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"touchstone/verdict/guard/change"
)

// owning is one rule of an owners file: the owners of everything that matches a pattern. In an OWNERS file
// the pattern is the key of a list, such as "approvers".
type owning struct {
	pattern string
	matches gitignore.Pattern
	owners  []string
	line    int
}

// owned reads the rules from the statements of a file, in their order.
func owned(said []statement) (rules []owning) {
	for _, s := range said {
		pattern, owners, list := strings.Cut(s.text, "/[]: ")
		fields := strings.Fields(owners)
		if !list {
			all := strings.Fields(strings.TrimSuffix(strings.ReplaceAll(s.text, ": ", " "), ":"))
			pattern, fields = all[0], all[1:]
		}
		if last := len(rules) - 1; list && last >= 0 && rules[last].pattern == pattern {
			rules[last].owners = append(rules[last].owners, fields...)
			continue
		}
		if len(fields) > 0 || !strings.HasPrefix(strings.TrimPrefix(pattern, "^"), "[") { // a GitLab section may have no owners
			rules = append(rules, owning{pattern, gitignore.ParsePattern(pattern, nil), fields, s.line})
		}
	}
	return rules
}

// ownerOf is the rule that applies to what a pattern means: the last rule that matches, as in
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
func ownerOf(rules []owning, pattern string) owning {
	sample := strings.Split(strings.Trim(strings.ReplaceAll(pattern, "*", "x"), "/"), "/")
	for _, r := range slices.Backward(rules) {
		if r.pattern == pattern || r.matches.Match(sample, strings.HasSuffix(pattern, "/")) > gitignore.NoMatch {
			return r
		}
	}
	return owning{}
}

// everything reports whether a rule applies to the whole repository.
func everything(file, pattern string) bool {
	return strings.Trim(pattern, "/*") == "" || pattern == "approvers" && path.Dir(file) == "."
}

// ownersLost holds a change by which a remaining path loses its last owner, or the owners of its own rule, or the
// whole repository gets other owners. The reviewing session weighs owners that leave others behind, of whom GitHub
// asks one for each path, and owners that are added or swapped: they approve later changes, never this one, for
// which GitHub reads the file of the base.
func ownersLost(f change.File, before, after []owning, files []change.File) (found []change.Finding) {
	say := func(tier change.Tier, why string, was, is owning) {
		if len(found) > 0 && (tier != change.Hold || found[0].Tier == change.Hold) {
			return // one finding stands for all
		}
		at := change.Place{Path: f.Name(), Line: is.line, After: is.text(), Before: was.text()}
		if ruled(before, is.pattern) && is.pattern != was.pattern || is.line == 0 {
			at.Line = was.line
		}
		found = []change.Finding{policy(tier, "owners", why, at)}
	}
	for _, was := range before {
		if ownerOf(before, was.pattern).line != was.line {
			continue // a later rule applies, and did before
		}
		is := ownerOf(after, was.pattern)
		lost, gained := missingFrom(was.owners, is.owners), missingFrom(is.owners, was.owners)
		fallsBack := is.pattern != was.pattern && ruled(before, is.pattern)
		_, _, known := Folder(was.pattern)
		gone := removed(was.pattern, files) && !everything(f.Name(), was.pattern)
		vacant := slices.Contains(f.Vacant, was.pattern) && !fills(was.pattern, files)
		switch {
		case len(was.owners) == 0 || len(lost)+len(gained) == 0 || gone && known && !slices.Contains(f.Inhabited, was.pattern):
		case len(gained) == 0 && len(is.owners) > 0 && !fallsBack: // whoever approves now could do so before
			say(change.Evidence, "Fewer people can approve "+was.pattern+" now.", was, is)
		case len(lost) > 0 && (len(gained) == 0 || fallsBack):
			say(change.HoldIf(!vacant && (known || !gone)),
				"Those who had to approve "+was.pattern+" no longer have to: "+strings.Join(lost, ", ")+".", was, is)
		case everything(f.Name(), was.pattern) && !slices.EqualFunc(lost, gained, qualified):
			say(change.Hold, "Others can approve the whole repository now.", was, is)
		default:
			say(change.Evidence, "Who has to approve "+was.pattern+" is changed.", was, is)
		}
	}
	for _, is := range after {
		was := ownerOf(before, is.pattern)
		switch {
		case len(was.owners) == 0 || ruled(before, is.pattern) || slices.Equal(was.owners, is.owners):
		case len(is.owners) == 0:
			say(change.Hold, "Nobody has to approve "+is.pattern+" any more.", was, is)
		default:
			say(change.Evidence, "Who has to approve "+is.pattern+" is changed.", was, is)
		}
	}
	return found
}

func (o owning) text() string {
	return strings.TrimSpace(o.pattern + " " + strings.Join(o.owners, " "))
}

// ruled reports whether some rule has a pattern.
func ruled(rules []owning, pattern string) bool {
	return slices.ContainsFunc(rules, func(r owning) bool { return r.pattern == pattern })
}

// qualified reports whether an owner is named with its organization now, as GitHub asks of a team.
func qualified(was, is string) bool { return strings.HasPrefix(was, "@") && path.Base(is) == was[1:] }

func missingFrom(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// Folder returns the folder of the base to which a pattern of owners belongs, and what it says of the names there. It is not ok for
// one of several folders, with signs that platforms read differently, or of names that begin with a dot: the owners of these watch
// for what comes to be there, such as a workflow.
func Folder(pattern string) (dir, name string, ok bool) {
	dir, name = path.Split(strings.TrimSuffix(pattern, "/"))
	ok = dir != "" && !strings.ContainsAny(dir, "*?") && !strings.ContainsAny(pattern, `[\#:!`) && !strings.Contains("/"+pattern, "/.")
	return path.Join(".", dir), name, ok
}

// removed reports whether the change removes files that a pattern matches, and leaves none of those that it has.
func removed(pattern string, files []change.File) bool {
	fits := fitting(pattern)
	return !fills(pattern, files) && slices.ContainsFunc(files, func(f change.File) bool { return fits(f.OldPath) })
}

// fills reports whether the change has, when it is merged, a file that a pattern matches.
func fills(pattern string, files []change.File) bool {
	fits := fitting(pattern)
	return slices.ContainsFunc(files, func(f change.File) bool { return fits(f.Path) })
}

// fitting returns what reports whether a pattern matches a file.
func fitting(pattern string) func(name string) bool {
	p := gitignore.ParsePattern(pattern, nil)
	return func(name string) bool {
		return name != "" && p.Match(strings.Split(name, "/"), false) > gitignore.NoMatch
	}
}

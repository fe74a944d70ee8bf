package guard

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// nearest are the tools that take, for each file or for where they run, the nearest
// configuration that they find: a new one takes the place of those above it and of
// those beside it under another name.
var nearest = map[string]bool{
	"golangci-lint": true, "golangci-lint limits": true, "staticcheck": true, "ESLint": true, "oxlint": true, "Biome": true, "Stylelint": true, "TypeScript": true,
	"Jest": true, "Vitest": true, "nyc": true, "Ruff": true, "Ruff limits": true, "Flake8": true, "Flake8 limits": true, "Pylint": true, "Pylint limits": true,
	"mypy": true, "Pyright": true, "pytest": true, "coverage.py": true, "Codecov": true, "RuboCop": true, "RuboCop limits": true, "Clippy limits": true,
	"go-test-coverage": true, "tarpaulin": true, "hadolint": true, "yamllint": true, "shellcheck": true, "pre-commit": true,
}

// nearestTools are those among a file's tools.
func nearestTools(name string) []*tool {
	return slices.DeleteFunc(toolsOf(name), func(t *tool) bool { return !nearest[t.name] })
}

// rivals reports whether a file that is new may take the place of another: both
// configure one tool, and the new one lies beside the other or below it.
func rivals(fresh, standing string) bool {
	if fresh == standing || !below(fresh, path.Dir(standing)) {
		return false
	}
	for _, t := range nearestTools(fresh) {
		for _, o := range nearestTools(standing) {
			// "tsconfig.build.json" is for another purpose than "tsconfig.json".
			if t.name == o.name && (t.name != "TypeScript" || path.Base(fresh) == path.Base(standing)) {
				return true
			}
		}
	}
	return false
}

// below reports whether a path lies in a directory or below it.
func below(name, dir string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// within reports whether a directory is another one or lies below it.
func within(dir, other string) bool { return dir == other || below(dir, other) }

// builds is how a configuration says that it builds on another one.
var builds = regexp.MustCompile(`(?m)^.*\b(?:extends?|inherit_from|preset|import|require|mergeConfig)\b.*(?:\.\./|\./|"//").*$`)

var (
	eslintrc = regexp.MustCompile(`(?:^|/)\.eslintrc[^/]*$`)
	rooted   = regexp.MustCompile(`\broot["']?\s*:\s*true`)
)

// outranks finds new configurations that take the place of standing ones and are
// weaker. For code that is as new as they are only what they say otherwise counts,
// not what they leave out.
func outranks(p *patch) []Hit {
	var fresh, standing []*file
	for _, f := range p.files {
		switch {
		case f.new.path == "" || len(nearestTools(f.new.path)) == 0:
		case f.new.path != f.old.path:
			fresh = append(fresh, f)
		case f.new.text == f.old.text && len(standing) < maxAround:
			standing = append(standing, f)
		}
	}
	var hits []Hit
	for _, f := range fresh {
		for _, o := range standing {
			if rivals(f.new.path, o.new.path) && !slices.ContainsFunc(standing, func(n *file) bool { return between(f, n, o) }) {
				hits = append(hits, outranked(p, f, o)...)
			}
		}
	}
	return hits
}

// between reports whether a configuration stands nearer to a new one than another
// does, so that the new one takes the place of that one only.
func between(fresh, near, far *file) bool {
	return near != far && path.Dir(near.new.path) != path.Dir(far.new.path) &&
		rivals(fresh.new.path, near.new.path) && below(near.new.path, path.Dir(far.new.path))
}

// outranked compares a new configuration with the one whose place it takes. It
// returns the first hit for each pair: they are for a person to read anyway.
func outranked(p *patch, f, o *file) []Hit {
	dir := path.Dir(f.new.path)
	cascades := builds.MatchString(f.new.text) ||
		eslintrc.MatchString(f.new.path) && eslintrc.MatchString(o.new.path) && !rooted.MatchString(f.new.text) && dir != path.Dir(o.new.path)
	governs := slices.ContainsFunc(p.files, func(n *file) bool {
		return below(n.path(), dir) && languageOf(n.old.path) != "" && len(toolsOf(n.old.path)) == 0
	})
	place := func(t *tool) string { return t.name + ": this file takes the place of " + o.new.path }
	is, had := governed(f.new), byMovable(governed(o.new))
	now, lists := byMovable(is), map[string]bool{}
	for _, k := range is {
		lists[k.list()] = true
	}
	for _, was := range governed(o.new) {
		if !nearest[was.tool.name] || !adopts(f.new, was.tool.name) {
			continue
		}
		list := now[was.movable()]
		kept := slices.ContainsFunc(list, func(k known) bool { return !was.turn.weaker(was.value, k.value) })
		named := len(list) > 0 || was.turn.way == members && lists[was.list()]
		if kept || !named && (!governs || cascades) || len(list) == 0 && !was.turn.missed(was.value) {
			continue
		}
		line := 1
		if len(list) > 0 {
			line = list[0].line
		}
		return []Hit{{was.tool.kind, f.path(), line, o.new.at(was.line), f.new.at(line),
			fmt.Sprintf("%s, where %s is %s.", place(was.tool), was.name(), was.value)}}
	}
	for _, k := range is {
		if governs && nearest[k.tool.name] && adopts(o.new, k.tool.name) && len(had[k.movable()]) == 0 && k.turn.intrudes(k.value) {
			return []Hit{{k.tool.kind, f.path(), k.line, "", f.new.at(k.line),
				fmt.Sprintf("%s, which makes no exception such as %s (%s).", place(k.tool), k.name(), k.value)}}
		}
	}
	return nil
}

// list identifies the list that a setting is an element of, wherever it stands.
func (k known) list() string {
	key := slices.DeleteFunc(slices.Clone(k.key), func(s string) bool { return s == "[]" })
	return k.tool.name + "\x00" + strings.Join(key[max(0, len(key)-1):], "")
}

// adopts reports whether a side configures a tool of a name.
func adopts(s side, name string) bool {
	return slices.ContainsFunc(toolsOf(s.path), func(t *tool) bool { return t.name == name && adopted(s, t) })
}

func byMovable(list []known) map[string][]known {
	out := map[string][]known{}
	for _, k := range list {
		out[k.movable()] = append(out[k.movable()], k)
	}
	return out
}

// isModule reports whether a file of this name makes its folder a module of its own,
// which what is run for the one around it passes over.
func isModule(name string) bool { return matches(name, "go.mod", "Cargo.toml") }

var cargoWorkspace = regexp.MustCompile(`(?m)^\[workspace\]`)

// secluded finds folders that a new module takes out of the run of those around
// them, with the tests that were there, and that no pipeline of the change speaks of.
func secluded(p *patch) []Hit {
	var hits []Hit
	for _, f := range p.files {
		dir := path.Dir(f.new.path)
		alone := f.new.base() == "go.mod" || cargoWorkspace.MatchString(f.new.text)
		if !isModule(f.new.path) || f.new.path == f.old.path || dir == "." || !alone {
			continue
		}
		// A module that moved as a whole takes along what was its own.
		tested := slices.ContainsFunc(p.files, func(n *file) bool {
			return n.new.path != "" && isTest(n.old.path) && below(n.new.path, dir) && !(f.old.path != "" && below(n.old.path, path.Dir(f.old.path)))
		})
		spoken := slices.ContainsFunc(p.files, func(n *file) bool {
			return isPipeline(n.new.path) && n.new.text != n.old.text && slices.ContainsFunc(scriptLines(n.new), func(c claim) bool { return strings.Contains(c.text, dir) })
		})
		if tested && !spoken {
			hits = append(hits, Hit{Test, f.path(), 1, "", f.new.at(1), "The folder becomes a module of its own, so its tests are no longer run with those around it."})
		}
	}
	return hits
}

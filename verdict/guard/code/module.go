package code

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"touchstone/verdict/guard/change"
)

// A pattern such as ./... of the go command matches the packages below a folder that belong to its module, or to its
// workspace. See https://go.dev/ref/mod and https://pkg.go.dev/cmd/go#hdr-Package_lists_and_patterns.
const (
	goModule    = "go.mod"
	goWorkspace = "go.work"
)

// IsModule reports whether a file of this name says which folders are one Go module, or one workspace.
func IsModule(name string) bool {
	return path.Base(name) == goModule || path.Base(name) == goWorkspace
}

// apart is a folder that ./... may no longer match, and what says so.
type apart struct {
	dir string
	at  change.Place
	why string
	// module says that the folder is a module, whose tests run where something names it; fresh, that it was none before.
	module, fresh bool
}

// Apart returns the folders that a change takes out of what ./... of the go command matches, with or without tests in them.
func Apart(changed []change.File) (dirs []string) {
	for _, f := range changed {
		for _, a := range apartOf(f) {
			dirs = append(dirs, a.dir)
		}
	}
	return dirs
}

// apartOf are the folders that one file takes out: a new module, what a module ignores now, and the modules that a
// workspace does not use any more.
func apartOf(f change.File) (all []apart) {
	base, dir := path.Base(f.Name()), path.Dir(f.Name())
	switch {
	case base == goModule && f.Path != "" && f.Path != f.OldPath:
		line, _, _ := bytes.Cut(f.After, []byte("\n"))
		at := change.Place{Path: f.Path, Line: 1, After: cmp.Or(string(line), goModule)}
		return []apart{{dir, at, "is a module of its own now", true, true}}
	case base == goModule && f.Path == f.OldPath && bytes.Contains(f.After, []byte("ignore")):
		before, after := ignores(f.OldPath, f.Before), ignores(f.Path, f.After)
		for _, i := range after {
			if !slices.ContainsFunc(before, func(b *modfile.Ignore) bool { return b.Path == i.Path }) {
				at := change.Place{Path: f.Path, Line: i.Syntax.Start.Line, After: "ignore " + i.Path}
				all = append(all, apart{dir: path.Join(dir, i.Path), at: at, why: "is ignored by its module now"})
			}
		}
	case base == goWorkspace && f.OldPath != "":
		after := uses(f.Path, f.After)
		for _, u := range uses(f.OldPath, f.Before) {
			used := slices.ContainsFunc(after, func(a *modfile.Use) bool { return path.Clean(a.Path) == path.Clean(u.Path) })
			if !used && (f.Path != "" || path.Clean(u.Path) != ".") {
				at := change.Place{Path: f.Name(), Line: u.Syntax.Start.Line, Before: "use " + u.Path}
				all = append(all, apart{dir: path.Join(dir, u.Path), at: at, why: "is no longer a module of the workspace", module: true})
			}
		}
	}
	return all
}

// ignores and uses are the directives of a file; none if it is missing or does not parse, as then the go command fails.
func ignores(name string, content []byte) []*modfile.Ignore {
	if f, err := modfile.ParseLax(name, content, nil); err == nil {
		return f.Ignore
	}
	return nil
}

func uses(name string, content []byte) []*modfile.Use {
	if f, err := modfile.ParseWork(name, content, nil); err == nil {
		return f.Use
	}
	return nil
}

// compareApart finds Go tests that ./... does not match any more, because their folder is apart from its module or its
// workspace, if no pipeline or script names it.
func (x *examination) compareApart(files []change.File) {
	for _, f := range files {
		for _, a := range apartOf(f) {
			test := testBelow(files, a.dir)
			module := slices.ContainsFunc(files, func(m change.File) bool { return m.Path == path.Join(a.dir, goModule) })
			if test == "" || a.module && (!module || mentions(files, a.dir)) || a.fresh && !divided(files, a.dir) {
				continue
			}
			x.findings = append(x.findings, change.Finding{Tier: change.Evidence, Kind: change.Test, Rule: "test/module-apart", Place: a.at,
				Why: "The folder " + a.dir + " " + a.why + ", so ./... no longer runs its tests, such as " + test + "."})
		}
	}
}

// below reports whether a file is in a folder, or further down.
func below(dir, file string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }

// testBelow is a Go test of a folder, at the base and at the head, that is in no other module further down; "" if there
// is none.
func testBelow(files []change.File, dir string) string {
	for _, f := range files {
		inner := func(m change.File) bool {
			within := func(module, file string) bool {
				d := path.Dir(module)
				return path.Base(module) == goModule && d != dir && below(dir, d) && below(d, file)
			}
			return within(m.OldPath, f.OldPath) || within(m.Path, f.Path)
		}
		if isGoTest(f.OldPath) && isGoTest(f.Path) && below(dir, f.OldPath) && below(dir, f.Path) && !slices.ContainsFunc(files, inner) {
			return f.Path
		}
	}
	return ""
}

func isGoTest(name string) bool { return strings.HasSuffix(name, ".go") && isTestPath(name) }

// divided reports whether a folder belonged to the module around it, which is still there.
func divided(files []change.File, dir string) bool {
	for dir != "." {
		dir = path.Dir(dir)
		name := path.Join(dir, goModule)
		if i := slices.IndexFunc(files, func(f change.File) bool { return f.OldPath == name }); i >= 0 {
			return files[i].Path == name
		}
	}
	return false
}

var (
	// running matches the names of files that may run tests, and commands a line of those among them that are YAML.
	running = regexp.MustCompile(`(?i)(?:^|/)(?:(?:gnu)?makefile[^/]*|justfile|jenkinsfile|(?:scripts?|ci|hack|bin)/[^/.]+)$|` +
		`\.(?:ya?ml|sh|bash|mk)$`)
	commands = regexp.MustCompile(`(?m)^[\s-]*(?:run|script|commands?|cmds?|cmd)["']?:`)
	// modules match a line that looks for all modules, and inEach what runs tests in each of them.
	modules = regexp.MustCompile(`\b(?:find|ls-files|fd|wildcard)\b.*\bgo\.mod\b|\bgo list\b.*\s-m\b|\bgo work\b`)
	inEach  = regexp.MustCompile(`(?i)working-directory: *["']?\$|` +
		`(?:\bdo\b|%|\bxargs\b|-exec|\$[({]?(?:d|m|dir|dirname|mod|module|\*)\b).*test`)
)

// mentions reports whether a workspace, a pipeline, a build file or a script of the head names a folder, or looks for all modules.
func mentions(files []change.File, dir string) bool {
	end := `/?(?:["'\s,;)\]}&|]|$|/\.\.\.|/\*)`
	name := regexp.MustCompile(`(?:^|[\s"'=/(\[{,])` + regexp.QuoteMeta(dir) + end)
	if !strings.Contains(dir, "/") { // a word that may mean another thing
		name = regexp.MustCompile(`(?:\./|\bcd |\bpushd |-C ?|[\w-]+:\s+/?|^\s*- ["']?/?|["'\[,]|\bfor .*\s)` + regexp.QuoteMeta(dir) + end)
	}
	return slices.ContainsFunc(files, func(f change.File) bool {
		switch {
		case path.Base(f.Path) == goWorkspace:
			return slices.ContainsFunc(uses(f.Path, f.After), func(u *modfile.Use) bool { return path.Join(path.Dir(f.Path), u.Path) == dir })
		case !running.MatchString(f.Path), strings.HasSuffix(path.Ext(f.Path), "ml") && !commands.Match(f.After):
			return false
		}
		found, runs := false, false
		for line := range strings.Lines(change.Joined(string(f.After), " ")) {
			line, _, _ = strings.Cut(" "+strings.TrimSpace(line), " #")
			if name.MatchString(line) {
				return true
			}
			found, runs = found || modules.MatchString(line), runs || inEach.MatchString(line)
		}
		return found && runs
	})
}

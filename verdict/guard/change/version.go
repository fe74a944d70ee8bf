package change

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// locks are name patterns of files that a package manager writes, and that say which version of everything is used.
// They are fewer than in worktree/filekind: a lock that is too large to read is passed over.
var locks = strings.Fields("*.lock *.lockb *.lockfile package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum packages.lock.json " +
	"Package.resolved")

// manifests are name patterns of files that say which versions of tools and libraries a project asks for.
var manifests = strings.Fields(".pre-commit-config.y*ml package.json Directory.*.props *.csproj Gemfile *.gemfile gemfiles/*.rb " +
	"*.gemspec requirements*.txt pyproject.toml setup.cfg tox.ini Pipfile composer.json go.mod mix.exs pubspec.yaml pom.xml " +
	"Cargo.toml setup.py *.gradle *.gradle.kts libs.versions.toml build.sbt plugins.sbt .tool-versions mise.toml .mise.toml " +
	"rust-toolchain rust-toolchain.toml")

// IsLock reports whether a package manager writes a file of this name.
func IsLock(name string) bool { return FitsAny(locks, name) }

// IsManifest reports whether a file of this name says which versions of tools and libraries a project asks for.
func IsManifest(name string) bool { return FitsAny(manifests, name) }

// Fits reports whether a file's name matches a pattern in the lists of the guard, in
// the grammar of [path.Match]. A pattern without a slash applies to the base name. Patterns in other formats,
// such as CODEOWNERS, follow the rules of their format.
func Fits(pattern, name string) bool {
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	// Nearly all patterns end with a letter with which few names end, and each name is compared with hundreds of patterns.
	if last := len(pattern) - 1; last >= 0 && !strings.ContainsRune("*?]", rune(pattern[last])) && !strings.HasSuffix(name, pattern[last:]) {
		return false
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// FitsAny reports whether a file's name matches one of some patterns.
func FitsAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return Fits(pattern, name) })
}

// Brings reports whether a change brings another version of a tool, whose new rules never ran. Such a change has a new
// line, in a manifest, a lock, a pipeline or a Makefile, with a version after the name of what the tool comes with, or
// with a version alone near a line that has the name.
func Brings(files []File, tool *regexp.Regexp) bool {
	for _, f := range files {
		written := path.Ext(f.Path) == ".yml" || path.Ext(f.Path) == ".yaml" || strings.HasPrefix(path.Base(f.Path), "Makefile")
		oldest := path.Base(f.Path) == "Cargo.toml" // it names the oldest toolchain, not the one that runs
		if !written && !IsManifest(f.Path) && !IsLock(f.Path) || oldest || bytes.Equal(f.Before, f.After) {
			continue
		}
		had := map[string]bool{}
		for _, line := range bare(f.Before) {
			had[unquoted.Replace(line)] = true
		}
		lines := bare(f.After)
		for i, line := range lines {
			near := lines[max(0, i-reach):i]
			if written { // keys have no order
				near = lines[max(0, i-reach):min(len(lines), i+reach)]
			}
			if !had[unquoted.Replace(line)] && (pins(line, tool) || numbered.MatchString(line) && slices.ContainsFunc(near, tool.MatchString)) {
				return true
			}
		}
	}
	return false
}

// reach is how many lines away the name is that a version is of.
const reach = 3

// pins reports whether a line has a version after the name of a tool, unless it is a setting of the tool.
func pins(line string, tool *regexp.Regexp) bool {
	return slices.ContainsFunc(tool.FindAllStringIndex(line, -1), func(at []int) bool {
		return pinned.MatchString(line[at[1]:]) && !strings.HasSuffix(line[:at[0]], "tool.")
	})
}

// unquoted removes what is no part of a name or a version.
var unquoted = strings.NewReplacer(`"`, "", "'", "", " ", "")

// bare returns the lines of a file without comments.
func bare(content []byte) (all []string) {
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(" "+line, " #")
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

var (
	// pinned matches a version after a name.
	pinned = regexp.MustCompile(`(?i)^[\w./-]*["')]*\s*(?:[:,=(@]|\{?\s*version\b\s*[=:]?)*\s*["'({]*[\^~<>=!v@* ]*\d`)
	// numbered matches a line that is only a version.
	numbered = regexp.MustCompile(`(?i)^\W*(?:version|rev|channel|tag)\b.*\d`)
)

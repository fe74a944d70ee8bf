package change

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// locks are name patterns of files that a package manager writes, and that say which version of everything is used.
var locks = strings.Fields("*.lock *.lockb *.lockfile package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum packages.lock.json " +
	"Package.resolved")

// manifests are name patterns of files that say which versions of tools and libraries a project asks for.
var manifests = strings.Fields(".pre-commit-config.y*ml package.json Directory.*.props *.csproj Gemfile *.gemspec requirements*.txt " +
	"pyproject.toml setup.cfg tox.ini Pipfile composer.json go.mod mix.exs pubspec.yaml pom.xml Cargo.toml setup.py *.gradle *.gradle.kts " +
	"libs.versions.toml build.sbt plugins.sbt .tool-versions mise.toml .mise.toml rust-toolchain rust-toolchain.toml")

// IsLock reports whether a package manager writes a file of this name.
func IsLock(name string) bool { return named(locks, name) }

// IsManifest reports whether a file of this name says which versions of tools and libraries a project asks for.
func IsManifest(name string) bool { return named(manifests, name) }

func named(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, path.Base(name))
		return ok
	})
}

// Brings reports whether a change brings another version of a tool, whose new rules never ran. Such a change has a new
// line with a number, in a manifest, a lock, a pipeline or a Makefile, that names what the tool comes with, or a new
// version just below a line that names it.
func Brings(files []File, tool *regexp.Regexp) bool {
	for _, f := range files {
		written := path.Ext(f.Path) == ".yml" || path.Ext(f.Path) == ".yaml" || strings.HasPrefix(path.Base(f.Path), "Makefile")
		listed := IsManifest(f.Path) || IsLock(f.Path)
		if !written && !listed || bytes.Equal(f.Before, f.After) {
			continue
		}
		had, above := map[string]bool{}, []string{"", "", ""}
		for line := range strings.Lines(string(f.Before)) {
			had[bare(line)] = true
		}
		for line := range strings.Lines(string(f.After)) {
			line = bare(line)
			named := tool.FindStringIndex(line)
			switch {
			case had[line]:
			case named != nil && strings.ContainsAny(line[named[0]:], "0123456789") && (listed || pinned.MatchString(line)),
				numbered.MatchString(line) && slices.ContainsFunc(above, tool.MatchString):
				return true
			}
			above = append(above[1:], line)
		}
	}
	return false
}

// bare is a line without a comment at its end.
func bare(line string) string {
	line, _, _ = strings.Cut(line, " # ")
	return strings.TrimSpace(line)
}

var (
	// pinned matches a version among commands.
	pinned = regexp.MustCompile(`(?i)@v?\d|version|[:=]\s*["']?v?\d`)
	// numbered matches a line that is only a version.
	numbered = regexp.MustCompile(`(?i)^\W*(?:version|rev|channel|tag)\b.*\d`)
)

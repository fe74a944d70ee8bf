package guard

import (
	"path"
	"regexp"
	"strings"
)

// setting is one value in a configuration file, whatever its format.
type setting struct {
	// key is the way to the value. An element of a list has the segment "[]", an
	// XML attribute one that begins with "@"; an XML element that names itself
	// (id, name, Include) has that name as a segment of its own.
	key   []string
	value string
	line  int
	// item is the line of the outermost element of a YAML list that the value is in;
	// 0 outside of lists.
	item int
}

// maxDepth bounds the length of a key; what lies deeper is not read.
const maxDepth = 40

// settings reads a configuration file. The readers are tolerant: they take what
// they understand of any text and never fail.
func settings(s side) []setting {
	base := strings.ToLower(s.base())
	switch ext := path.Ext(base); {
	case ext == ".yml" || ext == ".yaml" || base == ".golangci" || base == ".clang-tidy":
		return readYAML(s.lines)
	case ext == ".toml" || ext == ".cfg" || ext == ".ini" || ext == ".properties" || base == ".coveragerc" ||
		base == ".editorconfig" || base == ".flake8" || base == ".pylintrc" || base == "pylintrc" || base == ".shellcheckrc" || base == ".globalconfig":
		return readINI(s.lines)
	case ext == ".xml" || ext == ".csproj" || ext == ".vbproj" || ext == ".fsproj" || ext == ".props" || ext == ".targets" || ext == ".ruleset" || ext == ".runsettings":
		return readXML(s.text)
	case base == "go.work" || ext == ".sln" || strings.HasPrefix(base, "settings.gradle"):
		return readMembers(s.lines)
	case strings.HasSuffix(base, "ignore") || base == ".rspec":
		return readLines(s.lines)
	case strings.HasPrefix(base, ".") && strings.HasSuffix(base, "rc") && !strings.HasPrefix(strings.TrimSpace(s.text), "{"):
		return readYAML(s.lines)
	}
	return readObject(s.text, nil, 1)
}

// readLines reads a file of patterns, one on each line.
func readLines(lines []string) []setting {
	var out []setting
	for i, line := range lines {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '!' {
			out = append(out, setting{key: []string{"[]"}, value: line, line: i + 1})
		}
	}
	return out
}

// member is a folder or project as go.work, a solution of .NET and Gradle's settings
// name it.
var member = regexp.MustCompile(`"([^"]+\.\w*proj)"|^\s*(?:use\s+)?(\.{1,2}/[^\s)]*)\s*$|["'](:[\w:.-]+)["']|(?:include\b|,)\s*\(?\s*["'](\w[\w:.-]*)["']`)

// readMembers reads the files that list what a build is made of.
func readMembers(lines []string) []setting {
	var out []setting
	for i, line := range lines {
		for _, m := range member.FindAllStringSubmatch(line, -1) {
			out = append(out, setting{key: []string{"[]"}, value: firstOf(m[1:]), line: i + 1})
		}
	}
	return out
}

func extend(key []string, more ...string) []string {
	return append(key[:len(key):len(key)], more...)
}

// unquote takes one pair of quotes away.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// keyMatches compares a key with a pattern of dotted segments: "*" within a
// segment stands for anything, "**" for any number of segments.
func keyMatches(pattern, key []string) bool {
	if len(pattern) == 0 {
		return len(key) == 0
	}
	if pattern[0] == "**" {
		for i := range len(key) + 1 {
			if keyMatches(pattern[1:], key[i:]) {
				return true
			}
		}
		return false
	}
	return len(key) > 0 && wild(pattern[0], key[0]) && keyMatches(pattern[1:], key[1:])
}

// wild compares a segment with a pattern in which "*" stands for anything and
// "|" separates alternatives.
func wild(pattern, segment string) bool {
	for alternative := range strings.SplitSeq(pattern, "|") {
		head, tail, found := strings.Cut(alternative, "*")
		if !found && strings.EqualFold(alternative, segment) {
			return true
		}
		if found && len(segment) >= len(head)+len(tail) && strings.HasPrefix(segment, head) && strings.HasSuffix(segment, tail) {
			return true
		}
	}
	return false
}

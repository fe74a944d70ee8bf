package guidelines

import (
	"bytes"
	"math/bits"
	"path"
	"slices"
	"strings"

	"touchstone/worktree/diff"
	"touchstone/worktree/filekind"
	"touchstone/worktree/lazyregexp"
)

// kinds are the kinds of a changed file, as a set of bits.
type kinds uint16

const (
	isCode kinds = 1 << iota
	isTests
	isDocs
	isConfig
	isCI
	isMigration
	isPublicAPI
	isDependencies
)

// everyKind asks for all kinds, for an answer that serves all scopes; ofChange is asked by words about the
// whole change.
const (
	everyKind       = ^kinds(0)
	ofChange  kinds = 1 << 15
)

// fileWords are the words of a scope that apply to single files.
var fileWords = map[string]kinds{
	"code": isCode, "tests": isTests, "docs": isDocs, "config": isConfig, "ci": isCI,
	"migration": isMigration, "public-api": isPublicAPI, "dependencies": isDependencies,
}

// FileWords returns the words of a scope that a file meets by its path alone.
func FileWords(path string) map[string]bool {
	k := kindsOf(path, File{Path: path}, everyKind)
	all := map[string]bool{}
	for word, kind := range fileWords {
		if k&kind != 0 {
			all[word] = true
		}
	}
	return all
}

// separate are groups of kinds of which kindsOf gives a file at most one.
var separate = []kinds{
	isCode | isDocs | isConfig, isDocs | isDependencies, isDocs | isMigration, isTests | isMigration, isTests | isPublicAPI,
	isConfig | isCI, isConfig | isDependencies, isConfig | isTests,
}

// exclusive reports whether no file can be of all these kinds.
func exclusive(k kinds) bool {
	return slices.ContainsFunc(separate, func(group kinds) bool { return bits.OnesCount16(uint16(k&group)) > 1 })
}

// kindsOf decides the kinds of a file from one of its paths and its changed lines. Names are compared in
// lower case. A file of no known kind counts as code: showing a rule needlessly is better than missing it for
// a new language. Kinds that require reading the changed lines are decided only if asked.
func kindsOf(spelled string, file File, asked kinds) kinds {
	name := strings.ToLower(spelled)
	base, ext := path.Base(name), path.Ext(name)
	var k kinds
	if ciDirs.MatchString(name) || strings.HasPrefix(name, "ci/") || ciNames.MatchString(base) {
		k |= isCI
	}
	if filekind.Lock(name) || dependencyNames.MatchString(base) || dependencyPath.MatchString(name) {
		k |= isDependencies
	}
	if filekind.Test(spelled) {
		k |= isTests
	}
	prose := docNames.MatchString(base) || anyFragment.MatchString(name) || slices.Contains(docExtensions, ext)
	setting := configNames.MatchString(base) || slices.Contains(configExtensions, ext)
	switch {
	case filekind.Code(name):
		k |= isCode
	case prose:
		if k&isDependencies == 0 && (k&isTests == 0 || strings.HasPrefix(base, "readme")) {
			k |= isDocs
		}
	case setting:
		if k&(isCI|isDependencies|isTests) == 0 {
			k |= isConfig
		}
	case k&(isCI|isDependencies) == 0 && !slices.Contains(dataExtensions, ext):
		k |= isCode
	}
	if asked&isMigration != 0 && k&isDocs == 0 && k&isTests == 0 && migrates(name, k, file) {
		k |= isMigration
	}
	if asked&isPublicAPI != 0 && k&isTests == 0 && publishes(name, k, file) {
		k |= isPublicAPI
	}
	return k
}

// schemaStatement matches an SQL statement that changes a schema.
var schemaStatement = lazyregexp.New(`(?i)\b(?:create|alter|drop|truncate|rename)\s+(?:or\s+replace\s+|unique\s+|temporary\s+` +
	`|materialized\s+|external\s+)*(?:table|index|column|schema|database|type|view|trigger|sequence|constraint)\b`)

// schemaVerbs exclude most lines before the expression runs, which is slow on long diffs.
var schemaVerbs = [][]byte{
	[]byte("create"), []byte("alter"), []byte("drop"), []byte("truncate"), []byte("rename"),
	[]byte("CREATE"), []byte("ALTER"), []byte("DROP"), []byte("TRUNCATE"), []byte("RENAME"),
}

func migrates(name string, k kinds, file File) bool {
	return migrationDirs.MatchString(name) || migrationNames.MatchString(path.Base(name)) || k&isCode != 0 &&
		mentions(file, func(line []byte) bool {
			hasVerb := slices.ContainsFunc(schemaVerbs, func(verb []byte) bool { return bytes.Contains(line, verb) })
			return hasVerb && schemaStatement.Match(line)
		})
}

// mentions reports whether a changed line matches, or may match: a truncated patch counts as a match.
func mentions(file File, match func(line []byte) bool) bool {
	if file.Truncated {
		return true
	}
	for line := range diff.Signed(file.Patch, '+', '-') {
		if match(line) {
			return true
		}
	}
	return false
}

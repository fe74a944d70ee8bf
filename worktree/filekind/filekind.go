// Package filekind says what a file is by its name alone: somebody else's code, a lock file, a test, and the language it
// is written in. Each fact has one table. What a package asks besides, such as how the lines of a lock file look or
// beside which file a test stands, it keeps itself.
//
// The guard has lists of its own (verdict/guard/files.go, guard/change/version.go, guard/code/language.go), since a name
// that is added here for a reader's comfort must not take a file out of what it examines.
package filekind

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// vendored are the folders into which people and package managers put other people's code. Letters count: Pods is
// CocoaPods', and pods may be a package about pods.
var vendored = strings.Fields("vendor/ _vendor/ Vendor/ third_party/ node_modules/ bower_components/ Godeps/ Pods/ Carthage/ " +
	".yarn/releases/ .yarn/cache/ .yarn/plugins/")

// Vendored returns the path of a file below the outermost folder of other people's code that it is in; ok is false if it
// is in none.
func Vendored(name string) (inside string, ok bool) {
	for rest := name; rest != ""; _, rest, _ = strings.Cut(rest, "/") {
		for _, folder := range vendored {
			if inside, ok = strings.CutPrefix(rest, folder); ok {
				return inside, true
			}
		}
	}
	return "", false
}

// locks are the ends, in lower case, of a slash and the name of a file in which a package manager stores the versions that
// it chose.
var locks = strings.Fields(".lock .lockb .locked .lockfile .lock.json .lock.yaml .lock.yml .lock.toml .lock.hcl .lock.txt .resolved " +
	"-lock.json conda-lock.yml /npm-shrinkwrap.json /pnpm-lock.yaml /requirements-lock.txt /pylock.toml /go.sum /go.work.sum " +
	"/maven_install.json")

// Lock reports whether a package manager stores in a file of this name which versions it chose.
func Lock(name string) bool {
	base := "/" + strings.ToLower(path.Base(name))
	return slices.ContainsFunc(locks, func(end string) bool { return strings.HasSuffix(base, end) })
}

var (
	// testFolders hold only what serves tests, whatever the language.
	testFolders = strings.Fields("test tests testing testsuite unittest unittests unit-test unit-tests unit_test unit_tests " +
		"__tests__ __mocks__ __snapshots__ testdata test-data test_data fixture fixtures __fixtures__ testfixtures golden goldens e2e " +
		"cypress integration-test integration-tests androidtest")
	// fuzzFolders hold the inputs of fuzzing, below a folder such as fuzz or fuzzing.
	fuzzFolders = strings.Fields("corpus corpora artifacts seeds crashes")
	fuzzing     = lazy(`^fuzz(?:ing|ers?|tests?)?(?:[-_.]|$)`)
	// projectFolder matches a project of tests in .NET: Acme.App.Tests.
	projectFolder = lazy(`.\.(?:unit|integration|functional|e2e)?tests?$`)
	// sourceFolder matches a folder in src of Gradle and Maven: test, integrationTest, testFixtures; and no latest.
	sourceFolder = lazy(`^(?:unit|int|it|integration|func|functional|acceptance|smoke|e2e|api|ui|perf|performance|component|contract|system` +
		`|shared|common|android|jvm|js|wasm\w*|native|ios\w*|macos\w*|linux\w*|apple|web|desktop)?[_-]?tests?` +
		`(?:fixtures|debug|release|utils?|kotlin|java)?$`)
	// testName matches base names in lower case.
	testName = lazy(`(?s)^(?:` + strings.Join([]string{
		`.+_(?:test|spec)\.[^.]+`,                         // Go, C++, Dart, Ruby
		`test_.+\.py`, `conftest\.py`, `tests\.(?:py|rs)`, // Python, Rust
		`.+[.-](?:test|spec|e2e|cy)\.[cm]?[jt]sx?`, `(?:karma|playwright|cypress)\.config\.[cm]?[jt]s`,
		`.+\.(?:bats|robot|feature|txtar|snap)`,
	}, "|") + `)$`)
	// testClass matches base names by a convention that only the case of letters shows: FooTest.java is a test, Latest.java
	// is not.
	testClass = lazy(`^(?:.*[a-z0-9_])?(?:Tests?|TestCase|Spec|IT)\.(?:cs|vb|fs|java|kt|kts|groovy|scala|swift|php|[jt]s)$` +
		`|^Test[A-Z].*\.(?:java|kt|cs)$`)
)

// lazy returns an expression that is compiled at its first use, as those of lazyregexp are.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// Test reports whether a file serves tests and does not ship: the data of tests, their helpers and the settings of their
// runner are among them. The guard asks for less (verdict/guard/code: a runner finds tests in it), and the order of a
// change for something else (agent/reviewer/change: which file it is the test of).
func Test(name string) bool {
	p := placeOf(name)
	base := path.Base(name)
	return p.tests || testName().MatchString(strings.ToLower(base)) || p.ruby && strings.HasSuffix(strings.ToLower(base), ".rb") ||
		!p.ships && testClass().MatchString(base)
}

// InTests reports whether a file is in a folder of tests, and not in what Gradle and Maven ship. The name of the file
// itself proves nothing of data: what a build takes from a folder may be called a_test.jar.
func InTests(name string) bool { return placeOf(name).inTests }

// place is what the folders above a file tell.
type place struct {
	// tests: one of them serves tests; inTests: it does, and is not in src/main; ships: there is a src/main above the tests;
	// ruby: one is RSpec's, which has helpers too (the specs are recognised by their names).
	tests, inTests, ships, ruby bool
}

func placeOf(name string) (p place) {
	folders := strings.Split(strings.ToLower(name), "/")
	above := ""
	for _, folder := range folders[:len(folders)-1] {
		if slices.Contains(testFolders, folder) || fuzzing().MatchString(above) && slices.Contains(fuzzFolders, folder) ||
			strings.Contains(folder, "test") && (projectFolder().MatchString(folder) || above == "src" && sourceFolder().MatchString(folder)) {
			p.tests, p.inTests = true, !p.ships
			return p
		}
		p.ruby = p.ruby || folder == "spec"
		// Gradle and Maven ship what is in src/main. A class name proves nothing there: a RetrySpec may not be a test.
		p.ships = p.ships || above == "src" && strings.HasSuffix(folder, "main")
		above = folder
	}
	return p
}

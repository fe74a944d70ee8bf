package guidelines

import (
	"slices"
	"strings"
	"testing"
)

// words are the names of kinds, sorted.
func (k kinds) words() string {
	var words []string
	for word, bit := range fileWords {
		if k&bit != 0 {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestKindsByName(t *testing.T) {
	tests := map[string]string{ // kinds, to the paths that are of just these
		"code": `main.go internal/hub/hub.go src/index.ts app/page.tsx lib/app.js server.mjs app/models/user.rb manage.py
			src/main/java/com/acme/App.java src/main/java/com/acme/RetrySpec.java src/commonMain/kotlin/LoadTest.kt src/main/kotlin/App.kt src/Latest.java src/lib.rs src/Program.cs Views/Home.cshtml index.php lib/app.ex
			Sources/App.swift main.c src/parser.cpp app.vue templates/mail.html styles/site.scss queries/report.sql analysis.ipynb
			Makefile CMakeLists.txt cmake/x.cmake BUILD.bazel tools.bzl Rakefile Justfile scripts/release.sh bin/run deploy.ps1 infra/policy.rego
			agent/githubsim/spec/spec.go src/contest.go src/latest/a.go src/attestation/sign.go attestation/sign.go new.language x.unknown webpack.config.js manifest.kt greatest.py protest/main.go`,
		"code tests": `hub_test.go src/app.test.ts src/app.spec.jsx components/__tests__/a.tsx test_app.py app_test.py tests/helpers.py conftest.py polls/tests.py
			src/test/java/com/acme/AppTest.java src/integrationTest/kotlin/X.kt src/commonTest/a.kt src/testFixtures/java/X.java lib/AppTests.swift src/UserServiceIT.java spec/models/user_spec.rb spec/spec_helper.rb
			test/app_test.exs tests/it.rs src/lexer/tests.rs Acme.App.Tests/Foo.cs Acme.UnitTests/FooTests.cs src/FooTest.php e2e/login.ts cypress/e2e/a.js testdata/script/a.txtar agent/testdata/x.txtar
			features/login.feature app/src/androidTest/A.kt widget_test.dart TestApp.java pkg/testdata/input.go AppSpec.scala playwright.config.ts user.cy.ts`,
		"tests": `testdata/golden.txt testdata/page.golden tests/fixtures/a.csv src/__snapshots__/a.snap tests/data.json fixtures/users.yml ` +
			`testdata/doc.md src/test/resources/application.yml`,
		"docs": `README.md db/migrations/README.md docs/guide.md docs/test.md guidelines/docs/security.md CHANGELOG.md CHANGELOG LICENSE LICENSE-MIT COPYING docs/index.rst manual.adoc AGENTS.md CLAUDE.md
			notes.txt site/a.mdx NOTICE CONTRIBUTING.md .github/PULL_REQUEST_TEMPLATE.md`,
		"docs tests": `tests/README.md testdata/README`, "ci docs": `.github/workflows/README.md`,
		"config": `config/app.yaml settings.toml app.ini .env .env.production Dockerfile Dockerfile.prod build/api.Dockerfile docker-compose.yml compose.yaml charts/app/values.yaml k8s/deploy.yml
			main.tf prod.tfvars nginx.conf appsettings.json web.config application.properties .gitignore .npmrc .dockerignore .github/CODEOWNERS .github/dependabot.yml Procfile
			.touchstone/config.yaml agent.example.yaml Info.plist firebase.json`,
		"ci": `.github/workflows/ci.yml .github/actions/setup/action.yml .gitlab-ci.yml .gitlab/ci/test.yml .circleci/config.yml Jenkinsfile .travis.yml azure-pipelines.yml
			bitbucket-pipelines.yml .buildkite/pipeline.yml .drone.yml .woodpecker/test.yml cloudbuild.yaml buildspec.yml appveyor.yml .pre-commit-config.yaml codecov.yml .codecov.yml .coveragerc
			.golangci.yml .eslintrc.json .eslintrc .prettierrc biome.json tsconfig.json tsconfig.build.json .rubocop.yml mypy.ini .flake8 ruff.toml pytest.ini tox.ini clippy.toml
			config/checkstyle/checkstyle.xml detekt.yml sonar-project.properties .editorconfig .clang-tidy Directory.Build.props phpstan.neon`,
		"ci code": `.ci/check.sh ci/run.py eslint.config.js jest.config.ts noxfile.py .husky/x.sh`,
		"dependencies": `go.mod go.sum tools/go.mod package.json package-lock.json web/package.json yarn.lock pnpm-lock.yaml requirements.txt requirements-dev.txt requirements/prod.txt Pipfile Pipfile.lock
			poetry.lock uv.lock buf.lock gems.locked pylock.toml pyproject.toml setup.cfg Cargo.toml Cargo.lock Gemfile Gemfile.lock acme.gemspec composer.json composer.lock pom.xml gradle/libs.versions.toml
			App.csproj packages.lock.json Directory.Packages.props mix.lock pubspec.yaml Podfile.lock vcpkg.json .terraform.lock.hcl .gitmodules vendor/modules.txt environment.yml`,
		"code dependencies": `build.gradle settings.gradle.kts setup.py mix.exs Package.swift conanfile.py`,
		"code migration": `db/migrate/20240101_add_users.rb migrations/0001_initial.py internal/store/migrations/0003.up.sql ` +
			`alembic/versions/ab12.py prisma/migrations/1/migration.sql src/main/resources/db/migration/V1__init.sql sql/V2_1__orders.sql ` +
			`src/Migrations/20240101_Add.cs schema-migrations/1.sql`,
		"config migration":  `liquibase/changelog.xml db/changelogs/001.yaml`,
		"code public-api":   `api/v1/user.proto schema.graphql types/index.d.ts rpc/svc.thrift`,
		"config public-api": `api/openapi.yaml docs/swagger.json events.schema.json asyncapi.yml`,
		"":                  `logo.png fonts/a.woff2 report.pdf data/users.csv archive.tar.gz icon.svg dump.sqlite translations/de.po`,
	}
	for want, paths := range tests {
		for _, path := range strings.Fields(paths) {
			if got := kindsOf(path, File{Path: path}, everyKind).words(); got != want {
				t.Errorf("%s: got %q, want %q", path, got, want)
			}
			if k := kindsOf(path, File{Path: path, Truncated: true}, everyKind); exclusive(k) {
				t.Errorf("%s cannot be all of %q", path, k.words())
			}
		}
	}
}

func TestKindsByChangedLines(t *testing.T) {
	tests := []struct {
		path, line string
		want       string // "migration", "public-api", both or neither
	}{
		{"a.go", "func Open(path string) error {", "public-api"},
		{"a.go", "func (s *Store) Close() error {", "public-api"},
		{"a.go", "type Store struct {", "public-api"},
		{"a.go", "const MaxSize = 1", "public-api"},
		{"a.go", "\tTimeout time.Duration // zero means none", "public-api"},
		{"a.go", "\tRead(ctx context.Context) error", "public-api"},
		{"a.go", "func open(path string) error {", ""},
		{"a.go", "func (s *store) close() {", ""},
		{"a.go", "\tTimeout: time.Second,", ""},
		{"a.go", "\treturn Open(path)", ""},
		{"a.go", "// Open opens", ""},
		{"internal/a.go", "func Open() {", ""},
		{"a_test.go", "func TestOpen(t *testing.T) {", ""},
		{"a.go", "\tdb.Exec(`ALTER TABLE users ADD COLUMN age int`)", "migration"},
		{"store.py", `    cur.execute("create unique index i on t (a)")`, "migration"},
		{"report.sql", "SELECT * FROM table_index;", ""},
		{"schema.sql", "CREATE TABLE users (id int);", "migration"},
		{"schema.sql", "DROP COLUMN age;", "migration"},
		{"README.md", "CREATE TABLE users (id int);", ""},
		{"store_test.go", "create table t (a int)", ""},
		{"a.ts", "export function open() {", "public-api"},
		{"a.ts", "  export default App;", "public-api"},
		{"a.js", "module.exports = { open };", "public-api"},
		{"a.ts", "function open() {", ""},
		{"a.ts", "import { exported } from './b';", ""},
		{"a.py", "def open(path):", "public-api"},
		{"a.py", "    async def close(self):", "public-api"},
		{"a.py", "class Store:", "public-api"},
		{"a.py", "def _open(path):", ""},
		{"a.py", "        def inner(x):", ""},
		{"A.java", "  public void open() {", "public-api"},
		{"A.java", "  protected int n;", "public-api"},
		{"A.java", "  private int n;", ""},
		{"A.java", "  int n = publicKeys.size();", ""},
		{"A.cs", "    [Obsolete] public string Name { get; set; }", "public-api"},
		{"A.cs", "    internal string Name;", ""},
		{"a.kt", "data class User(val name: String)", "public-api"},
		{"a.kt", "    private fun open() {", ""},
		{"a.rs", "pub fn open() {", "public-api"},
		{"a.rs", "pub(crate) fn open() {", ""},
		{"a.rs", "fn open() {", ""},
		{"a.rb", "  def open", "public-api"},
		{"a.php", "    public function open()", "public-api"},
		{"a.php", "    private function open()", ""},
		{"a.swift", "public struct User {", "public-api"},
		{"a.swift", "struct User {", ""},
		{"a.ex", "  def open(path) do", "public-api"},
		{"a.ex", "  defp open(path) do", ""},
		{"a.scala", "  def open(): Unit =", "public-api"},
		{"a.scala", "  private def open(): Unit =", ""},
		{"include/a.h", "int open(const char *path);", "public-api"},
		{"include/a.h", "/* a comment */", ""},
		{"a.c", "int open(const char *path);", ""},
		{"a.sh", "open() {", ""},
	}
	for _, test := range tests {
		for _, sign := range []string{"+", "-"} {
			patch := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n context\n" + sign + test.line + "\n"
			got := kindsOf(test.path, File{Path: test.path, Patch: []byte(patch)}, everyKind) & (isMigration | isPublicAPI)
			if got.words() != test.want {
				t.Errorf("%s: %s%s: got %q, want %q", test.path, sign, test.line, got.words(), test.want)
			}
		}
	}
}

func TestChangedLinesAreThoseOfHunks(t *testing.T) {
	const declaration = "func Open() {"
	for name, patch := range map[string]string{
		"context":       "@@ -1 +1 @@\n " + declaration + "\n+x\n",
		"hunk's header": "@@ -1 +1 @@ " + declaration + "\n+x\n",
		"file's header": "diff --git a/x b/x\n--- a/x\n+func Open() {\n",
		"second header": "@@ -1 +1 @@\n+x\ndiff --git a/y b/y\n+func Open() {\n",
		"no patch":      "",
	} {
		if got := kindsOf("a.go", File{Patch: []byte(patch)}, everyKind); got&isPublicAPI != 0 {
			t.Errorf("%s: counts as a changed line", name)
		}
	}
	if got := kindsOf("a.go", File{Truncated: true}, everyKind); got&isPublicAPI == 0 || got&isMigration == 0 {
		t.Errorf("of a patch that was cut something is ruled out: %s", got.words())
	}
}

func TestAFileMeetsTheWordsThatScopesMeetItBy(t *testing.T) {
	for _, path := range []string{"a_test.go", "a.go", "README.md", ".github/workflows/ci.yml", "go.mod", "db/migrations/1.sql",
		"deploy/app.yaml"} {
		words := FileWords(path)
		for word := range fileWords {
			if applies, _ := compiled(t, word).Applies(changed(path)); applies != words[word] {
				t.Errorf("%s is %s: %v, and by a scope %v", path, word, words[word], applies)
			}
		}
	}
}

func TestInlineTestsOfRustAreTestsAndTheRestIsNone(t *testing.T) {
	const header = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n"
	for name, test := range map[string]struct {
		patch      string
		cut        bool
		tests, not bool
	}{
		"code alone":                      {"@@ -1,2 +1,3 @@ fn a() {\n x\n+y\n }\n", false, false, true},
		"tests alone, below their module": {"@@ -90,2 +90,3 @@ mod tests {\n x\n+    y\n z\n", false, true, false},
		"a module that is new":            {"@@ -1,1 +1,6 @@\n }\n+\n+#[cfg(test)]\n+mod tests {\n+    fn a() {}\n+}\n", false, true, false},
		"both, in two hunks": {"@@ -1,2 +1,3 @@ fn a() {\n x\n+y\n }\n@@ -90,2 +91,3 @@ mod test {\n x\n+    y\n z\n", false, true,
			true},
		"both, behind the module's end": {"@@ -90,2 +90,4 @@ mod tests {\n+    y\n }\n+fn b() {}\n z\n", false, true, true},
		"helpers of tests":              {"@@ -90,2 +90,3 @@ mod test_utils {\n x\n+    y\n z\n", false, true, false},
		"no test by its whole name":     {"@@ -90,2 +90,3 @@ mod latest {\n x\n+    y\n z\n", false, false, true},
		"a test outside of a module":    {"@@ -1,2 +1,3 @@\n x\n+#[tokio::test]\n z\n", false, true, false},
		"a patch that was cut":          {"@@ -90,2 +90,3 @@ mod tests {\n x\n+    y\n z\n", true, true, true},
	} {
		change := Change{Files: []File{{Path: "src/a.rs", Patch: []byte(header + test.patch), Truncated: test.cut}}}
		tests, _ := compiled(t, "tests").Applies(change)
		not, _ := compiled(t, "code !tests").Applies(change)
		if tests != test.tests || not != test.not {
			t.Errorf("%s: tests %v, code that is none %v", name, tests, not)
		}
	}
}

func TestChangePredicates(t *testing.T) {
	titled := func(titles ...string) []Change {
		var changes []Change
		for _, title := range titles {
			change := changed("a.go")
			change.Title = title
			changes = append(changes, change)
		}
		return changes
	}
	adding := func(path string) Change {
		return Change{Files: []File{{Path: path,
			Patch: []byte("diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+it\n")}}}
	}
	branched := func(names ...string) []Change {
		var changes []Change
		for _, name := range names {
			change := changed("a.go")
			change.Branch = name
			changes = append(changes, change)
		}
		return changes
	}
	tests := map[string]struct{ yes, no []Change }{
		"all": {yes: []Change{changed("a.go"), changed("a.png")}, no: []Change{{}}},
		"docs-only": {
			yes: []Change{changed("README.md"), changed("README.md", "docs/a.rst", "LICENSE")},
			no:  []Change{changed("README.md", "a.go"), changed("logo.png"), {}, {Files: []File{{Path: "a.md", OldPath: "a.go"}}}},
		},
		"bug-fix": {
			yes: slices.Concat(
				titled("[FIXED] lost update", "[fix] lost update", "[api][BUGFIX] lost update", "(fix) lost update", "[Bug] race", "fix: lost update",
					"fix(api)!: lost update", "Fix the lost update", "Fixes a race", "fixed: race", "FIX race", "bugfix: race", "Hotfix for the race",
					"net/http: fix a leak", "ABC-12: Fix the race", "ABC-12 fix the race", "[ABC-12] Fix the race", "(api) fix the race",
					"🐛 Fix the race", "Fix", "store: fixes"),
				branched("fix/race", "fix-race", "bugfix/race", "hotfix-1", "alice/fix-race"),
				[]Change{
					adding("CHANGES/12.bugfix.rst"), adding("changelog.d/+a.fixed.md"), adding("pkg/newsfragments/12.bugfix"),
					adding("news/12.bugfix.2.rst"),
					{Files: []File{{Path: "changes/12.fix.md", Truncated: true}}},
					{Files: []File{{Path: "a.go"}}, Labels: []string{"size/S", "Bug"}},
					{Files: []File{{Path: "a.go"}}, Body: "It lost updates.\r\n\r\nRecurrence: add lint - forbid it\r\n"},
					{Files: []File{{Path: "a.go"}}, Commits: []string{"Repair it\n\nRecurrence: single occurrence - searched"}},
				},
			),
			no: slices.Concat(
				titled("[FEATURE] add a fix button", "[fixtures] more", "[prefix] more", "", "Add a fixture", "Fixture for tests",
					"Fixed-width columns", "Fix-up", "Prefix names", "Add a fix button", "docs: fix a typo", "chore(deps): fix versions",
					"ci: fix the cache", "Suffix: add", "feat: fixtures", "fixing"),
				[]Change{adding("CHANGES/12.feature.rst"), adding("CHANGES/fix.rst"), adding("src/a.fix.md"),
					{Files: []File{{Path: "CHANGES/12.bugfix.rst", Patch: []byte("diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n")}}}},
				branched("", "main", "fixture-cleanup", "feature/fix", "prefix/x"),
				[]Change{
					{Files: []File{{Path: "a.go"}}, Labels: []string{"debug", "not-a-bug"}},
					{Files: []File{{Path: "a.go"}}, Body: "no recurrence: here", Commits: []string{"recurrence:"}},
				},
			),
		},
		"post-review-fix": {
			yes: []Change{{Files: []File{{Path: "a.go"}}, Round: 2}, {Files: []File{{Path: "a.go"}}, Round: 9}},
			no:  []Change{{Files: []File{{Path: "a.go"}}, Round: 1}, {Files: []File{{Path: "a.go"}}}},
		},
	}
	for word, test := range tests {
		scope := compiled(t, word)
		for _, change := range test.yes {
			if ok, why := scope.Applies(change); !ok || why == "" {
				t.Errorf("%s does not apply to %+v", word, change)
			}
		}
		for _, change := range test.no {
			if ok, why := scope.Applies(change); ok {
				t.Errorf("%s applies to %+v because of %q", word, change, why)
			}
		}
	}
	for _, word := range predicates() {
		if _, ok := tests[word]; !ok && fileWords[word] == 0 {
			t.Errorf("%s has no test", word)
		}
	}
}

package guidelines

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// kinds are what a changed file is, as a set of bits.
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

// fileWords are the words of a scope about single files.
var fileWords = map[string]kinds{
	"code": isCode, "tests": isTests, "docs": isDocs, "config": isConfig, "ci": isCI,
	"migration": isMigration, "public-api": isPublicAPI, "dependencies": isDependencies,
}

// kindsOf decides what a file is from one of its paths and its changed lines.
// Names are compared in lower case. What is of no known kind counts as code, so
// that a rule is rather shown in vain than missing for a new language.
func kindsOf(spelled string, file File) kinds {
	name := strings.ToLower(spelled)
	base, ext := path.Base(name), path.Ext(name)
	var k kinds
	if ciName.MatchString(name) {
		k |= isCI
	}
	if dependencyName.MatchString(name) {
		k |= isDependencies
	}
	if testName.MatchString(name) || testClass.MatchString(spelled) {
		k |= isTests
	}
	named := codeName.MatchString(base)
	prose := docName.MatchString(base) || slices.Contains(docExtensions, ext)
	setting := configName.MatchString(base) || slices.Contains(configExtensions, ext)
	switch {
	case named || slices.Contains(codeExtensions, ext):
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
	if k&isDocs == 0 && k&isTests == 0 && migrates(name, k, file) {
		k |= isMigration
	}
	if k&isTests == 0 && publishes(name, k, file) {
		k |= isPublicAPI
	}
	return k
}

// schemaStatement begins an SQL statement that changes a schema.
var schemaStatement = regexp.MustCompile(`(?i)\b(?:create|alter|drop|truncate|rename)\s+(?:or\s+replace\s+|unique\s+|temporary\s+|materialized\s+|external\s+)*(?:table|index|column|schema|database|type|view|trigger|sequence|constraint)\b`)

// schemaVerbs spare most lines the expression, which is slow on long diffs.
var schemaVerbs = [][]byte{
	[]byte("create"), []byte("alter"), []byte("drop"), []byte("truncate"), []byte("rename"),
	[]byte("CREATE"), []byte("ALTER"), []byte("DROP"), []byte("TRUNCATE"), []byte("RENAME"),
}

func migrates(name string, k kinds, file File) bool {
	return migrationPath.MatchString(name) || k&isCode != 0 && mentions(file, func(line []byte) bool {
		hasVerb := slices.ContainsFunc(schemaVerbs, func(verb []byte) bool { return bytes.Contains(line, verb) })
		return hasVerb && schemaStatement.Match(line)
	})
}

// mentions reports whether a changed line matches, or may: of a patch that was
// cut nobody can say.
func mentions(file File, match func(line []byte) bool) bool {
	if file.Truncated {
		return true
	}
	for line := range file.changedLines() {
		if match(line) {
			return true
		}
	}
	return false
}

var (
	// testName is by convention of the language, or by directory.
	testName = regexp.MustCompile(`(?:^|/)(?:` + strings.Join([]string{
		`(?:tests?|__tests__|__mocks__|__snapshots__|testdata|test-data|fixtures?|__fixtures__|e2e|cypress|integration-tests?|androidtest|testfixtures|goldens?)/.*`,
		`src/[^/]*test[^/]*/.*`,                                   // Gradle and Maven: src/test, src/integrationTest
		`[^/]+\.(?:unit|integration|functional|e2e)?tests?/.*`,    // .NET: Acme.App.Tests/
		`[^/]+_test\.[^/.]+`, `[^/]+_spec\.[^/.]+`, `spec/.*\.rb`, // Go, C++, Dart, Ruby
		`test_[^/]+\.py`, `conftest\.py`, `tests\.py`, // Python
		`[^/]+[.-](?:test|spec|e2e|cy)\.[cm]?[jt]sx?`, `[^/]+\.snap`, // JavaScript
		`test[^/]*\.(?:bats|robot)`, `[^/]+\.(?:bats|robot|feature|txtar)`,
		`(?:karma|playwright|cypress)\.config\.[cm]?[jt]s`,
	}, "|") + `)$`)

	// testClass is by a convention that only the case of letters shows: a
	// FooTest.java is a test, a Latest.java is none.
	testClass = regexp.MustCompile(`(?:^|[a-z0-9_/])(?:Tests?|TestCase|Spec|IT)\.(?:cs|vb|fs|java|kt|kts|groovy|scala|swift|php|[jt]s)$|(?:^|/)Test[A-Z][^/]*\.(?:java|kt|cs)$`)

	ciName = regexp.MustCompile(`(?:^|/)(?:` + strings.Join([]string{
		// Pipelines.
		`\.github/(?:workflows|actions)/.*`, `action\.ya?ml`, `\.gitlab-ci[^/]*\.ya?ml`, `\.gitlab/ci/.*`,
		`\.(?:ci|circleci|buildkite|teamcity|woodpecker|semaphore|tekton|azuredevops|azure-pipelines|husky)/.*`,
		`jenkinsfile[^/]*`, `\.?(?:travis|appveyor|drone|woodpecker|cirrus|wercker)\.ya?ml`,
		`\.?azure-pipelines[^/]*\.ya?ml`, `bitbucket-pipelines\.ya?ml`, `cloudbuild[^/]*\.ya?ml`, `buildspec[^/]*\.ya?ml`, `codefresh\.ya?ml`,
		`\.?lefthook\.ya?ml`, `\.pre-commit-config\.ya?ml`, `tox\.ini`, `noxfile\.py`, `dangerfile[^/]*`,
		// Coverage and tests.
		`\.?codecov\.ya?ml`, `\.coveragerc`, `\.nycrc[^/]*`, `(?:jest|vitest|karma)\.config\.[^/]+`, `pytest\.ini`, `phpunit\.xml[^/]*`, `sonar-project\.properties`,
		// Linters, formatters, types and compilers.
		`\.golangci\.[^/]+`, `\.?eslint(?:rc|ignore|\.config)[^/]*`, `\.prettier[^/]+`, `biome\.jsonc?`, `tslint\.json`, `\.stylelint[^/]+`, `[tj]sconfig[^/]*\.json`,
		`\.?mypy\.ini`, `\.flake8`, `\.?ruff\.toml`, `\.?pylintrc`, `pyrightconfig\.json`, `\.?(?:clippy|rustfmt)\.toml`, `\.rubocop[^/]*\.ya?ml`,
		`checkstyle[^/]*\.xml`, `pmd[^/]*\.xml`, `detekt[^/]*\.ya?ml`, `\.scalafmt\.conf`, `\.editorconfig`, `\.swiftlint\.ya?ml`, `phpstan\.neon[^/]*`, `psalm\.xml`,
		`\.clang-(?:tidy|format)`, `directory\.build\.(?:props|targets)`, `\.globalconfig`, `[^/]+\.ruleset`, `stylecop\.json`, `\.yamllint[^/]*`, `\.hadolint\.ya?ml`,
	}, "|") + `)$|^ci/.*`)

	dependencyName = regexp.MustCompile(`(?:^|/)(?:` + strings.Join([]string{
		`go\.(?:mod|sum|work|work\.sum)`, `vendor/modules\.txt`,
		`package(?:-lock)?\.json`, `npm-shrinkwrap\.json`, `yarn\.lock`, `pnpm-(?:lock|workspace)\.yaml`, `bun\.lockb?`, `deno\.lock`,
		`[^/]*requirements[^/]*\.(?:txt|in)`, `requirements/[^/]+\.(?:txt|in)`, `constraints\.txt`, `pipfile(?:\.lock)?`, `(?:poetry|pdm|uv)\.lock`, `pyproject\.toml`, `setup\.(?:py|cfg)`, `environment\.ya?ml`,
		`cargo\.(?:toml|lock)`, `gemfile(?:\.lock)?`, `[^/]+\.gemspec`, `composer\.(?:json|lock)`,
		`pom\.xml`, `(?:build|settings)\.gradle(?:\.kts)?`, `gradle\.lockfile`, `[^/]+\.versions\.toml`, `build\.sbt`, `plugins\.sbt`,
		`[^/]+\.(?:cs|fs|vb)proj`, `packages\.config`, `packages\.lock\.json`, `directory\.packages\.props`, `paket\.(?:dependencies|lock)`,
		`mix\.(?:exs|lock)`, `rebar\.(?:config|lock)`, `pubspec\.(?:yaml|lock)`, `package\.(?:swift|resolved)`, `podfile(?:\.lock)?`, `cartfile(?:\.resolved)?`,
		`conanfile\.(?:txt|py)`, `vcpkg\.json`, `flake\.lock`, `chart\.lock`, `\.terraform\.lock\.hcl`, `\.gitmodules`, `stack\.yaml`, `[^/]+\.cabal`, `deps\.edn`, `module\.bazel(?:\.lock)?`,
	}, "|") + `)$`)

	migrationPath = regexp.MustCompile(`(?:^|/)(?:(?:db|schema|data|database)?[-_]?migrat(?:ions?|e)|alembic|flyway|liquibase|changelogs)/|(?:^|/)[vru]\d[\w.]*__[^/]+\.sql$|\.migration\.[^/]+$`)

	codeName   = regexp.MustCompile(`^(?:(?:gnu)?makefile|rakefile|justfile|cmakelists\.txt|meson\.build|build|workspace|build\.bazel|workspace\.bazel|tiltfile|earthfile|gradlew)$`)
	docName    = regexp.MustCompile(`^(?:licen[cs]e|copying|notice|authors|contributors|maintainers|readme|changelog|changes|news|history|security|contributing|todo)(?:-[\w-]+)?$`)
	configName = regexp.MustCompile(`^(?:[^/]*dockerfile[^/]*|containerfile|vagrantfile|procfile|codeowners|caddyfile|\.env[^/]*|\.[^.]+|.*\.conf\.[^.]+|compose[^/]*\.ya?ml|version)$`)
)

var (
	codeExtensions = strings.Fields(`.go .js .jsx .cjs .mjs .ts .tsx .cts .mts .vue .svelte .astro .py .pyi .pyx .ipynb .rb .erb .rake .php .phtml .java .kt .kts .scala .sc .groovy .gradle .clj .cljs .cljc .edn
		.c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .inl .cu .cs .csx .fs .fsx .vb .razor .cshtml .xaml .swift .rs .zig .nim .d .v .sv .vhd .ex .exs .heex .eex .erl .hrl .hs .lhs .elm .ml .mli .re .purs .lua .luau
		.pl .pm .t .r .jl .dart .pas .ada .adb .ads .f .f90 .cob .cbl .lisp .el .scm .rkt .sol .vy .move .wat .asm .s .sh .bash .zsh .fish .ps1 .psm1 .bat .cmd .awk .sed .tcl
		.sql .psql .plsql .pks .pkb .graphql .graphqls .gql .cypher .rego .cue .jsonnet .libsonnet .nix .dhall .promql .proto .thrift .avdl .smithy .fbs .capnp
		.html .htm .xhtml .css .scss .sass .less .styl .hbs .handlebars .mustache .ejs .pug .jade .haml .slim .liquid .njk .j2 .jinja .jinja2 .tmpl .tpl .gotmpl .templ .ftl .vm .twig .jsp .jspx .xsl .xslt
		.mk .mak .cmake .bzl .bazel .star .just .txtar .feature .bats .robot .glsl .hlsl .wgsl .metal .gd .vbs .applescript`)
	docExtensions    = strings.Fields(`.md .markdown .mdx .mdown .rst .adoc .asciidoc .txt .text .tex .org .rtf .wiki .textile .pod .man`)
	configExtensions = strings.Fields(`.yaml .yml .toml .ini .cfg .conf .config .cnf .json .json5 .jsonc .xml .plist .properties .env .tf .tfvars .hcl .tofu .bicep .props .targets .service .socket .timer .reg .kdl .hocon .neon .rules .nginx .desktop .entitlements`)
	// dataExtensions are files of which no rule asks what they do.
	dataExtensions = strings.Fields(`.png .jpg .jpeg .gif .webp .avif .ico .icns .bmp .tiff .svg .psd .ai .sketch .fig .mp3 .mp4 .wav .ogg .webm .mov .woff .woff2 .ttf .otf .eot .pdf .doc .docx .xls .xlsx .ppt .pptx
		.zip .gz .tgz .bz2 .xz .zst .tar .7z .jar .whl .csv .tsv .parquet .avro .arrow .db .sqlite .bin .dat .lock .sum .snap .golden .map .log .po .pot .mo .ics .patch .diff .bib`)
)

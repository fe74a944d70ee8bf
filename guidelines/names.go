package guidelines

import (
	"strings"

	"touchstone/worktree/lazyregexp"
)

// These expressions recognise a file's kind, in lower case, by the directories around it or its whole name.
//
// A file of tests is here one that serves tests and does not ship: their data, their helpers and the settings
// of their runner are among them. The guard asks for less (verdict/guard/code: a runner finds tests in it), and
// the order of a change for something else (agent/reviewer/change: which file it is the test of).
var (
	testDirs = inside(
		`tests?`, `__tests__`, `__mocks__`, `__snapshots__`, `testdata`, `test-data`, `fixtures?`, `__fixtures__`, `testfixtures`, `goldens?`,
		`e2e`, `cypress`, `integration-tests?`, `androidtest`,
		// Gradle and Maven: src/test, src/integrationTest, src/testFixtures; and no src/latest
		`src/(?:unit|int|it|integration|func|functional|acceptance|smoke|e2e|api|ui|perf|performance|component|contract|system|shared|common`+
			`|android|jvm|js|wasm\w*|native|ios\w*|macos\w*|linux\w*|apple|web|desktop)?[_-]?tests?(?:fixtures|debug|release|utils?|kotlin|java)?`,
		`[^/]+\.(?:unit|integration|functional|e2e)?tests?`, // .NET: Acme.App.Tests
	)
	testNames = named(
		`.+_(?:test|spec)\.[^.]+`,                  // Go, C++, Dart, Ruby
		`test_.+\.py`, `conftest\.py`, `tests\.py`, // Python
		`.+[.-](?:test|spec|e2e|cy)\.[cm]?[jt]sx?`, `(?:karma|playwright|cypress)\.config\.[cm]?[jt]s`,
		`.+\.(?:bats|robot|feature|txtar|snap)`,
	)
	// testClass matches a convention that only the case of letters shows: FooTest.java is a test, Latest.java
	// is not.
	testClass = lazyregexp.New(`^(?:.*[a-z0-9_])?(?:Tests?|TestCase|Spec|IT)\.(?:cs|vb|fs|java|kt|kts|groovy|scala|swift|php|[jt]s)$` +
		`|^Test[A-Z].*\.(?:java|kt|cs)$`)
	// mainSources are the sources that Gradle and Maven ship. A class name proves nothing there: a RetrySpec
	// may not be a test.
	mainSources = inside(`src/[^/]*main`)
	// rubySpec matches RSpec's helper files; the specs are recognised by their names.
	rubySpec = lazyregexp.New(`(?:^|/)spec/.*\.rb$`)

	ciDirs = inside(
		`\.github/(?:workflows|actions)`, `\.gitlab/ci`,
		`\.(?:ci|circleci|buildkite|teamcity|woodpecker|semaphore|tekton|azuredevops|azure-pipelines|husky)`,
	)
	ciNames = named(
		// Pipelines.
		`action\.ya?ml`, `\.gitlab-ci.*\.ya?ml`, `jenkinsfile.*`, `\.?(?:travis|appveyor|drone|woodpecker|cirrus|wercker)\.ya?ml`,
		`\.?azure-pipelines.*\.ya?ml`, `(?:bitbucket-pipelines|codefresh)\.ya?ml`, `(?:cloudbuild|buildspec).*\.ya?ml`,
		`\.?lefthook\.ya?ml`, `\.pre-commit-config\.ya?ml`, `tox\.ini`, `noxfile\.py`, `dangerfile.*`,
		// Coverage and tests.
		`\.?codecov\.ya?ml`, `\.coveragerc`, `\.nycrc.*`, `(?:jest|vitest|karma)\.config\..+`, `pytest\.ini`, `phpunit\.xml.*`,
		`sonar-project\.properties`,
		// Linters, formatters, types and compilers.
		`\.golangci\..+`, `\.?eslint(?:rc|ignore|\.config).*`, `\.prettier.+`, `biome\.jsonc?`, `tslint\.json`, `\.stylelint.+`,
		`[tj]sconfig.*\.json`,
		`\.?mypy\.ini`, `\.flake8`, `\.?ruff\.toml`, `\.?pylintrc`, `pyrightconfig\.json`, `\.?(?:clippy|rustfmt)\.toml`, `\.rubocop.*\.ya?ml`,
		`(?:checkstyle|pmd).*\.xml`, `detekt.*\.ya?ml`, `\.scalafmt\.conf`, `\.editorconfig`, `\.swiftlint\.ya?ml`, `phpstan\.neon.*`,
		`psalm\.xml`,
		`\.clang-(?:tidy|format)`, `directory\.build\.(?:props|targets)`, `\.globalconfig`, `.+\.ruleset`, `stylecop\.json`, `\.yamllint.*`,
		`\.hadolint\.ya?ml`,
	)

	dependencyPath  = lazyregexp.New(`(?:^|/)(?:vendor/modules\.txt|requirements/[^/]+\.(?:txt|in))$`)
	dependencyNames = named(
		`go\.(?:mod|sum|work|work\.sum)`,
		`package(?:-lock)?\.json`, `npm-shrinkwrap\.json`, `yarn\.lock`, `pnpm-(?:lock|workspace)\.yaml`, `bun\.lockb?`, `deno\.lock`,
		`.*requirements.*\.(?:txt|in)`, `constraints\.txt`, `pipfile(?:\.lock)?`, `(?:poetry|pdm|uv)\.lock`, `pyproject\.toml`,
		`setup\.(?:py|cfg)`, `environment\.ya?ml`,
		`cargo\.(?:toml|lock)`, `gemfile(?:\.lock)?`, `.+\.gemspec`, `composer\.(?:json|lock)`,
		`pom\.xml`, `(?:build|settings)\.gradle(?:\.kts)?`, `gradle\.lockfile`, `.+\.versions\.toml`, `build\.sbt`, `plugins\.sbt`,
		`.+\.(?:cs|fs|vb)proj`, `packages\.config`, `packages\.lock\.json`, `directory\.packages\.props`, `paket\.(?:dependencies|lock)`,
		`mix\.(?:exs|lock)`, `rebar\.(?:config|lock)`, `pubspec\.(?:yaml|lock)`, `package\.(?:swift|resolved)`, `podfile(?:\.lock)?`,
		`cartfile(?:\.resolved)?`,
		`conanfile\.(?:txt|py)`, `vcpkg\.json`, `flake\.lock`, `chart\.lock`, `\.terraform\.lock\.hcl`, `\.gitmodules`, `stack\.yaml`,
		`.+\.cabal`, `deps\.edn`, `module\.bazel(?:\.lock)?`,
	)

	migrationDirs  = inside(`(?:db|schema|data|database)?[-_]?migrat(?:ions?|e)`, `alembic`, `flyway`, `liquibase`, `changelogs`)
	migrationNames = named(`[vru]\d[\w.]*__.+\.sql`, `.+\.migration\.[^.]+`)

	codeNames = named(`(?:gnu)?makefile`, `rakefile`, `justfile`, `cmakelists\.txt`, `meson\.build`, `(?:build|workspace)(?:\.bazel)?`,
		`tiltfile`, `earthfile`, `gradlew`)
	docNames = named(`(?:licen[cs]e|copying|notice|authors|contributors|maintainers|readme|changelog|changes|news|history|security` +
		`|contributing|todo)(?:-[\w-]+)?`)
	// anyFragment matches a change log fragment, with the kinds of towncrier and keep-a-changelog.
	anyFragment = fragment(`[+\d][^/]*`, `feature|bugfix|bug|fix|fixed|doc|removal|misc|security|added|changed|deprecated|removed`+
		`|deprecation|breaking|improvement|trivial|vendor|process|contrib|packaging`)
	// configNames matches the settings of a program, a container or a tool, including dot-files without an
	// extension.
	configNames = named(`.*dockerfile.*`, `containerfile`, `vagrantfile`, `procfile`, `codeowners`, `caddyfile`, `\.env.*`,
		`\.[^.]+`, `.*\.conf\.[^.]+`, `compose.*\.ya?ml`, `version`)
)

// inside matches paths below one of the directories.
func inside(dirs ...string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?:^|/)(?:` + strings.Join(dirs, "|") + `)/`)
}

// named matches whole file names, without their directories.
func named(names ...string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?s)^(?:` + strings.Join(names, "|") + `)$`)
}

var (
	codeExtensions = strings.Fields(`.go .js .jsx .cjs .mjs .ts .tsx .cts .mts .vue .svelte .astro .py .pyi .pyx .ipynb .rb .erb .rake .php
		.phtml .java .kt .kts .scala .sc .groovy .gradle .clj .cljs .cljc .edn
		.c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .inl .cu .cs .csx .fs .fsx .vb .razor .cshtml .xaml .swift .rs .zig .nim .d .v .sv .vhd .ex
		.exs .heex .eex .erl .hrl .hs .lhs .elm .ml .mli .re .purs .lua .luau
		.pl .pm .t .r .jl .dart .pas .ada .adb .ads .f .f90 .cob .cbl .lisp .el .scm .rkt .sol .vy .move .wat .asm .s .sh .bash .zsh .fish .ps1
		.psm1 .bat .cmd .awk .sed .tcl
		.sql .psql .plsql .pks .pkb .graphql .graphqls .gql .cypher .rego .cue .jsonnet .libsonnet .nix .dhall .promql .proto .thrift .avdl
		.smithy .fbs .capnp
		.html .htm .xhtml .css .scss .sass .less .styl .hbs .handlebars .mustache .ejs .pug .jade .haml .slim .liquid .njk .j2 .jinja .jinja2
		.tmpl .tpl .gotmpl .templ .ftl .vm .twig .jsp .jspx .xsl .xslt
		.mk .mak .cmake .bzl .bazel .star .just .txtar .feature .bats .robot .glsl .hlsl .wgsl .metal .gd .vbs .applescript`)
	docExtensions    = strings.Fields(`.md .markdown .mdx .mdown .rst .adoc .asciidoc .txt .text .tex .org .rtf .wiki .textile .pod .man`)
	configExtensions = strings.Fields(`.yaml .yml .toml .ini .cfg .conf .config .cnf .json .json5 .jsonc .xml .plist .properties .env .tf ` +
		`.tfvars .hcl .tofu .bicep .props .targets .service .socket .timer .reg .kdl .hocon .neon .rules .nginx .desktop .entitlements`)
	// dataExtensions are the extensions of files whose effect no rule considers.
	dataExtensions = strings.Fields(`.png .jpg .jpeg .gif .webp .avif .ico .icns .bmp .tiff .svg .psd .ai .sketch .fig .mp3 .mp4 .wav .ogg
		.webm .mov .woff .woff2 .ttf .otf .eot .pdf .doc .docx .xls .xlsx .ppt .pptx
		.zip .gz .tgz .bz2 .xz .zst .tar .7z .jar .whl .csv .tsv .parquet .avro .arrow .db .sqlite .bin .dat .lock .sum .snap .golden .map .log
		.po .pot .mo .ics .patch .diff .bib`)
)

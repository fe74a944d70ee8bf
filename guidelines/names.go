package guidelines

import (
	"strings"

	"touchstone/worktree/lazyregexp"
)

// These expressions recognise a file's kind, in lower case, by the directories around it or its whole name.
var (
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

	dependencyPath = lazyregexp.New(`(?:^|/)(?:vendor/modules\.txt|requirements/[^/]+\.(?:txt|in))$`)
	// dependencyNames are the manifests; lock files count too.
	dependencyNames = named(
		`go\.(?:mod|work)`, `package\.json`, `pnpm-workspace\.yaml`, `.*requirements.*\.(?:txt|in)`, `constraints\.txt`, `pipfile`,
		`pyproject\.toml`, `setup\.(?:py|cfg)`, `environment\.ya?ml`, `cargo\.toml`, `gemfile`, `.+\.gemspec`, `composer\.json`,
		`pom\.xml`, `(?:build|settings)\.gradle(?:\.kts)?`, `.+\.versions\.toml`, `build\.sbt`, `plugins\.sbt`,
		`.+\.(?:cs|fs|vb)proj`, `packages\.config`, `directory\.packages\.props`, `paket\.dependencies`, `mix\.exs`, `rebar\.config`,
		`pubspec\.yaml`, `package\.swift`, `podfile`, `cartfile`, `conanfile\.(?:txt|py)`, `vcpkg\.json`, `\.gitmodules`,
		`stack\.yaml`, `.+\.cabal`, `deps\.edn`, `module\.bazel`,
	)

	migrationDirs  = inside(`(?:db|schema|data|database)?[-_]?migrat(?:ions?|e)`, `alembic`, `flyway`, `liquibase`, `changelogs`)
	migrationNames = named(`[vru]\d[\w.]*__.+\.sql`, `.+\.migration\.[^.]+`)

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
	docExtensions    = strings.Fields(`.md .markdown .mdx .mdown .rst .adoc .asciidoc .txt .text .tex .org .rtf .wiki .textile .pod .man`)
	configExtensions = strings.Fields(`.yaml .yml .toml .ini .cfg .conf .config .cnf .json .json5 .jsonc .xml .plist .properties .env .tf ` +
		`.tfvars .hcl .tofu .bicep .props .targets .service .socket .timer .reg .kdl .hocon .neon .rules .nginx .desktop .entitlements`)
	// dataExtensions are the extensions of files whose effect no rule considers.
	dataExtensions = strings.Fields(`.png .jpg .jpeg .gif .webp .avif .ico .icns .bmp .tiff .svg .psd .ai .sketch .fig .mp3 .mp4 .wav .ogg
		.webm .mov .woff .woff2 .ttf .otf .eot .pdf .doc .docx .xls .xlsx .ppt .pptx
		.zip .gz .tgz .bz2 .xz .zst .tar .7z .jar .whl .csv .tsv .parquet .avro .arrow .db .sqlite .bin .dat .lock .sum .snap .golden .map .log
		.po .pot .mo .ics .patch .diff .bib`)
)

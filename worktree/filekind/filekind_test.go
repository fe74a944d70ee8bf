package filekind_test

import (
	"strings"
	"testing"

	"touchstone/worktree/filekind"
)

// holds checks what a function says of names, those that it accepts and others.
func holds(t *testing.T, what string, is func(string) bool, yes, no string) {
	t.Helper()
	for names, want := range map[string]bool{yes: true, no: false} {
		for name := range strings.FieldsSeq(names) {
			if is(name) != want {
				t.Errorf("%s is %s: %t, want %t", name, what, !want, want)
			}
		}
	}
}

func TestOtherPeoplesCodeIsKnownByItsFolder(t *testing.T) {
	holds(t, "vendored", func(name string) bool { _, ok := filekind.Vendored(name); return ok },
		`vendor/a.go web/node_modules/b/c.js src/pip/_vendor/x.py Pods/A/B.m Carthage/x Godeps/y third_party/z.c app/Vendor/A.swift
			.yarn/releases/yarn-4.4.1.cjs web/.yarn/cache/a.zip`,
		`vendor vendors/a.go pkg/pods/pod.go src/vendor.go .yarn/a.yml releases/a.js .yarnrc.yml my_node_modules/a.js`)
	for name, want := range map[string]string{
		"a/node_modules/b/node_modules/c/d.js": "b/node_modules/c/d.js", ".yarn/releases/yarn.cjs": "yarn.cjs", "vendor/m/x/y.go": "m/x/y.go",
	} {
		if inside, _ := filekind.Vendored(name); inside != want {
			t.Errorf("%s is %q in its folder, want %q", name, inside, want)
		}
	}
}

func TestLockFilesAreKnownByName(t *testing.T) {
	holds(t, "a lock file", filekind.Lock,
		`go.sum go.work.sum yarn.lock web/package-lock.json node_modules/.package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lock bun.lockb
			Cargo.lock gems.locked Gemfile.lock ruby-3.4.gemfile.lock Package.resolved Cartfile.resolved .terraform.lock.hcl gradle.lockfile
			packages.lock.json pylock.toml conda-lock.yml maven_install.json MODULE.bazel.lock stack.yaml.lock`,
		`lock.go src/block.ts go.mod package.json .github/workflows/check-lock.yml deploy/leader-lock.yaml
			clock.json locked.py lego.sum pnpm-workspace.yaml`)
}

func TestTestsAreKnownByName(t *testing.T) {
	// The names that a rule's scope asks for are in guidelines.TestKindsByName.
	holds(t, "a test", filekind.Test,
		`a_test.go a_spec.rb test_a.py tests.py src/tests.rs UserTest.java src/commonTest/a.kt Acme.App.Tests/Foo.cs
			spec/helper.rb pkg/testdata/a.go e2e/login.ts`,
		`latest.go contest.go inspector.js specification.md protest/a.go src/main/java/RetrySpec.java spec/openapi.yaml src/attestation/a.go smoketest/a.go lint/no_focused_tests.rs
			.test/app.ts tests`)
}

func TestDataOfTestsIsKnownByItsFolder(t *testing.T) {
	holds(t, "data of tests", filekind.InTests, `tests/a.zip src/test/resources/src/main/a.jar Acme.App.Tests/a.bin `+
		`fuzz/corpus/a.bin b/fuzzing/artifacts/c/d testing/traces/a.pcap src/testsuite/a.bin UnitTests/a.bin`,
		`libs/a_test.jar a.test.js src/main/resources/fixtures/a.jar src/main/tests/a.bin latest/a.bin corpus/a.bin fuzz/a.bin fuzzy/seeds/a.bin`)
}

func TestCodeIsKnownByItsEnding(t *testing.T) {
	holds(t, "code", filekind.Code, `a.go b.TSX c.pl d.zig a.t index.html deploy.sh Makefile b/CMakeLists.txt`, `a.md b.json c d.zip e.yml go`)
}

func TestEndingsTellLanguages(t *testing.T) {
	for name, want := range map[string]filekind.Language{
		"a.go": filekind.Go, "A.TSX": filekind.JavaScript, "b.vue": filekind.JavaScript, "b.svelte": filekind.JavaScript,
		"c.hxx": filekind.C, "v.erb": filekind.Ruby,
		"a.kts": filekind.Kotlin, "a.yaml": "", "Makefile": "", "a.unknown": "",
	} {
		if got := filekind.LanguageOf(name); got != want {
			t.Errorf("%s is written in %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"a.go": "//", "a.pyi": "#", "a.yml": "#", "a.sql": "-- ", "a.hrl": "%",
		// Code can follow such a comment in its line, or it is the text of a template.
		"a.php": "", "a.lua": "", "a.erb": "", "a.svelte": "", "a.txt": "",
	} {
		if got := filekind.LineComment(name); got != want {
			t.Errorf("a comment of %s begins with %q, want %q", name, got, want)
		}
	}
}

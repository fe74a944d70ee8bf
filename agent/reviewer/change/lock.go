package change

import (
	"bytes"
	"os"
	"strings"

	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// lockFormats are the files in which package managers store the versions that they chose, with the format of
// the lines. A line in another format was not written by the package manager, so sessions see it.
var lockFormats = formats(map[string]string{
	"go.sum go.work.sum": `\S+ v\S+ h1:[\w+/]+=`,
	// Any row of JSON tokens: programs read them as data.
	`package-lock.json npm-shrinkwrap.json composer.lock Pipfile.lock deno.lock packages.lock.json flake.lock bun.lock
		Package.resolved MODULE.bazel.lock maven_install.json conan.lock`: jsonTokens,
	"Cargo.lock poetry.lock pdm.lock uv.lock": `\s*(?:\[\[?[\w."-]+\]?\]|[\w."-]+ = (?:` +
		tomlValue + `|\[|\{)|` + tomlValue + `,?|[\]}],?)?\s*(?:#.*)?`,
	"pnpm-lock.yaml pubspec.lock Chart.lock buf.lock pixi.lock stack.yaml.lock Podfile.lock": `\s*(?:#.*|-{3}|(?:- )*` + yamlKey +
		`:(?: .*)?|- \S.*)?`,
	"yarn.lock": `#.*|(?:"[^"]+@[^"]*"|[^\s"();$]+@[^"();$]*)(?:, .*)?:|__metadata:|  [a-zA-Z]+:|  (?:version|resolved|integrity` +
		`|resolution|checksum|languageName|linkType|conditions|cacheKey):? \S+|    "?[\w@./-]+"?:? (?:"[^"]*"|[\w.:@^~<>=*-]+)|`,
	"Gemfile.lock": `[A-Z][A-Z ]+|  (?:remote|specs|revision|branch|ref|tag|glob|submodules):(?: \S+)?` +
		`| {2,6}[\w.-]+!?(?: \([^()]*\))?!?| {2,3}(?:ruby )?[\d.a-z]+|`,
	".terraform.lock.hcl": `\s*(?:#.*|provider "[^"]+" \{|\w+\s*= (?:"[^"]*"|\[)|"[^"]*",?|[\]}])?`,
	// Terms of Elixir and Erlang without calls.
	"mix.lock rebar.lock":                         `(?:[\s\[\]{},%:]|<<|>>\.?|"[^"\\]*"|\w+|\.)*`,
	"gradle.lockfile buildscript-gradle.lockfile": `#.*|[\w.-]+:[\w.-]+:[\w.+-]+=[\w,.-]+|empty=[\w,.-]*|`,
	"Cartfile.resolved":                           `(?:github|git|binary) "[^"]+" "[^"]+"`,
})

const (
	jsonTokens = `(?:[\s\[\]{},:]|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)*`
	tomlString = `(?:"(?:[^"\\]|\\.)*"|'[^']*')`
	tomlValue  = `(?:` + tomlString + `|[\d.:TZ+-]+|true|false|\{(?:[\s\w=,.-]|` + tomlString + `)*\}|\[(?:[\s\w=,.{}-]|` + tomlString +
		`)*\])`
	yamlKey = `(?:"[^"]+"|'[^']+'|[\w@/.][^\s;$|&{}\"'<>]*(?: \([^()]*\))?|[A-Z][A-Z ]+)`
)

// formats compiles a table whose keys are lists of names.
func formats(table map[string]string) map[string]*lazyregexp.Regexp {
	all := map[string]*lazyregexp.Regexp{}
	for names, line := range table {
		compiled := lazyregexp.New(`^(?:` + line + `)$`)
		for _, name := range strings.Fields(names) {
			all[name] = compiled
		}
	}
	return all
}

// isLock reports whether all changed lines of a file have its package manager's format, and none of them uses
// a host that the file did not use before: no manifest says which host a package comes from.
func isLock(f diff.File, format *lazyregexp.Regexp, checkout *os.Root) bool {
	if format == nil || f.Truncated {
		return false
	}
	for line := range changedLines(f.Patch) {
		if !format.Match(bytes.TrimSuffix(line, []byte("\r"))) {
			return false
		}
	}
	for line := range diff.Signed(f.Patch, '+') {
		if elsewhere.Match(line) {
			return false
		}
	}
	added, gone := hosts(f.Patch, '+'), hosts(f.Patch, '-')
	if len(added) == 0 {
		return true
	}
	whole, err := read(checkout, f.Path, maxLock)
	if err != nil {
		return false
	}
	all := map[string]int{}
	countHosts(whole, all)
	for host, n := range added {
		if gone[host] == 0 && all[host] <= n {
			return false
		}
	}
	return true
}

// elsewhere matches an address whose host countHosts does not see: it is escaped, or has a short form of git.
var elsewhere = lazyregexp.New(`\\[/ux]|\bgit@|\w@[\w-]+\.[\w.-]+:[a-zA-Z~/]|(?i:\b(?:github|gitlab|bitbucket|gist):[\w.-])`)

// maxLock is the maximum size of a lock file that is left out, in bytes.
const maxLock = 32 << 20

// hosts counts the hosts in a diff's lines with the given sign, by name.
func hosts(patch []byte, sign byte) map[string]int {
	found := map[string]int{}
	for line := range diff.Signed(patch, sign) {
		countHosts(line, found)
	}
	return found
}

// countHosts adds the hosts of the addresses in a text.
func countHosts(text []byte, found map[string]int) {
	for {
		_, rest, ok := bytes.Cut(text, []byte("://"))
		if !ok {
			return
		}
		end := bytes.IndexAny(rest, "/\"'`, \t\r\n")
		if end < 0 {
			end = len(rest)
		}
		found[string(bytes.ToLower(rest[:end]))]++
		text = rest[end:]
	}
}

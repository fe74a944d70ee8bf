package guard

import (
	"regexp"
	"slices"
	"strings"
)

// steering are variables from which tools take options unseen. The first group is
// the name, the second the value.
var steering = regexp.MustCompile(`\b(GOFLAGS|GOTESTFLAGS|TESTFLAGS|PYTEST_ADDOPTS|PYTEST_DISABLE_PLUGIN_AUTOLOAD|NODE_OPTIONS|MAVEN_OPTS|MAVEN_ARGS|MAVEN_CLI_OPTS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GRADLE_OPTS|RUSTFLAGS|RUSTDOCFLAGS|CARGO_BUILD_RUSTFLAGS|RUBYOPT|SPEC_OPTS|TESTOPTS|TESTS?|MAKEFLAGS|GNUMAKEFLAGS|MFLAGS|ESLINT_FLAGS|FLAKE8_OPTS|MYPYFLAGS|GOLANGCI_LINT_ARGS|BASH_ENV|ENV|SHELLOPTS|SKIP|PRE_COMMIT_\w+|VITEST_\w+|JEST_\w+|DOTNET_CLI_TEST\w*|VSTEST_\w+|npm_config_\w+|NPM_CONFIG_\w+|SHELL|\.SHELLFLAGS|script-shell|scriptShell|node-options|nodeOptions)\b["']?\s*(?::=|\?=|\+=|=|:\s)\s*(.*)$`)

// usual are the values of such variables that take nothing from what is checked: how
// much memory, how much output, where modules come from, and what is stricter.
var usual = regexp.MustCompile(`^(?:-mod=\w+|-buildvcs=\w+|-trimpath|-race|-v|-count=\d+|-p=\d+|-tags=[\w,]+|-cover\S*|-ldflags=\S*|-timeout=\S+|--max[-_]old[-_]space[-_]size=\d+|--experimental-[\w-]+|--openssl-legacy-provider|--no-(?:warnings|deprecation)|--enable-source-maps|--trace-\w+|--unhandled-rejections=strict|--import=?\S*|--loader=?\S*|-r|ts-node/register\S*|tsx|-X(?:m[sx]|ss|X:)\S*|-XX:\S+|-D(?:file\.encoding|user\.\w+|org\.\w+|java\.\w+|maven\.(?:repo|wagon)|org\.gradle|kotlin)\S*|-B|-ntp|--batch-mode|--no-transfer-progress|--no-daemon|--stacktrace|--show-version|-e|-U|-T\w+|-D ?warnings|-Dwarnings|-D|warnings|-C|[\w-]+=[\w-]+|--cfg|-W\w*|-q|-ra|-vv+|-s|--color\S*|-n(?:=?\w+)?|auto|--cov\S*|--strict\S*|-j\d*|\$\([\w()]+\)|--format|--order|random|documentation|progress|(?:/usr/bin/env )?(?:\S*[/\\])?(?:ba|z|da|k|a)?sh(?:\.exe)?|pwsh(?:\.exe)?|powershell(?:\.exe)?|-e?u?o?|-[euxoc]+|pipefail|-euo|-o|\d+|true|false|["'])$`)

var (
	isShell   = regexp.MustCompile(`^(?:SHELL|script-shell|scriptShell)$`)
	shellPath = regexp.MustCompile(`(?:^|[/\\ ])(?:(?:ba|z|da|k|a)?sh|cmd|pwsh|powershell)(?:\.exe)?(?: -\w+| pipefail)*$|\$`)
)

// masked are lines by which a check's own name is made to mean something else.
var masked = regexp.MustCompile(`^(?:@|- |run: )*(?:alias (?:go|npm|yarn|pnpm|make|pytest|python3?|cargo|mvn|gradle|eslint|tsc|ruff|mypy|rspec|bundle|dotnet|jest|vitest|golangci-lint|staticcheck)=|(?:function )?(?:go|npm|yarn|pnpm|make|pytest|python3?|cargo|mvn|gradle|eslint|tsc|ruff|mypy|rspec|bundle|dotnet|jest|vitest|golangci-lint|staticcheck)\s*\(\)|(?:sudo )?(?:ln -sf?|cp|install) \S*/(?:true|echo) )|\btrap ['"]?(?:exit 0|true|:)`)

// steered finds variables of pipelines that came to take something from what checks
// look at, demands that are gone from them, and names of tools that mean something
// else.
func steered(f *file, before, after []claim) []Hit {
	if f.deleted() || len(after) == 0 {
		return nil
	}
	values := func(lines []claim) map[string][]claim {
		out := map[string][]claim{}
		for _, l := range lines {
			if m := steering.FindStringSubmatch(l.text); m != nil && !strings.HasPrefix(l.text, "name:") {
				out[m[1]] = append(out[m[1]], claim{strings.Trim(m[2], `"' `), l.line})
			}
		}
		return out
	}
	old, now := values(before), values(after)
	var hits []Hit
	for name, list := range now {
		for _, n := range list {
			had := slices.ContainsFunc(old[name], func(o claim) bool { return o.text == n.text })
			if !had && (unusual(n.text, old[name]) || isShell.MatchString(name) && !shellPath.MatchString(n.text)) {
				hits = append(hits, Hit{CI, f.path(), n.line, firstText(f.old, old[name]), f.new.at(n.line), "By the variable " + name + " a check may look at less, or not fail."})
			}
		}
	}
	for name, list := range old {
		for _, o := range list {
			for _, m := range demanding.FindAllStringSubmatch(o.text, -1) {
				if !f.added() && !slices.ContainsFunc(after, func(l claim) bool { return strings.Contains(l.text, m[1]) }) {
					hits = append(hits, Hit{CI, f.path(), o.line, f.old.at(o.line), "", "The variable " + name + " no longer demands " + m[1] + "."})
				}
			}
		}
	}
	had := map[string]bool{}
	for _, l := range before {
		had[l.text] = true
	}
	for _, l := range after {
		if masked.MatchString(l.text) && !had[l.text] {
			hits = append(hits, Hit{CI, f.path(), l.line, "", f.new.at(l.line), "What is named like a check is something else."})
		}
	}
	return hits
}

// unusual reports whether a value has a word that is neither usual nor was there.
func unusual(value string, old []claim) bool {
	for _, w := range strings.Fields(value) {
		w = strings.Trim(w, `"'`)
		if w == "" || usual.MatchString(w) {
			continue
		}
		if !slices.ContainsFunc(old, func(o claim) bool { return slices.Contains(strings.Fields(o.text), w) }) {
			return true
		}
	}
	return false
}

func firstText(s side, list []claim) string {
	if len(list) == 0 {
		return ""
	}
	return s.at(list[0].line)
}

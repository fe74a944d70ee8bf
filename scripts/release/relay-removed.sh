#!/bin/sh
# Before the relay's package is removed. The log in /var/lib/relay and the secrets stay.
set -e
# What rpm hands over is 1 while another version takes its place; what dpkg hands over is a word.
case "${1:-}" in
upgrade | 1) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now touchstone-relay
fi

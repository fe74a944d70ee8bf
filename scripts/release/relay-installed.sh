#!/bin/sh
# After the relay's package was installed: its user, and what is left to do.
set -e
if ! getent passwd relay >/dev/null; then
	useradd --system --home-dir /var/lib/relay --shell /usr/sbin/nologin relay
fi
if [ ! -e /etc/relay/secrets ]; then
	(umask 077 && : > /etc/relay/secrets)
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
echo "touchstone-relay: write RELAY_GITHUB_SECRET=… into /etc/relay/secrets, look at /etc/relay/relay.yaml, then"
echo "touchstone-relay: systemctl enable --now touchstone-relay"

#!/bin/sh
# After the agent's package was installed: what is left to do.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
echo "touchstone: run 'touchstone join LINK' with the link of an invitation, as the user who opens pull requests"

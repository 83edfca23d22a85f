#!/bin/sh
# Takes lines of shell from the console, and shows there what the journal has of the agent.
stty -echo -onlcr
# A pager would wait for a key.
export SYSTEMD_PAGER=cat
journalctl --unit vigie --follow --lines all --output cat | sed --unbuffered 's/^/vigie: /' &
# On a line of its own, whatever was written before it.
printf '\n@ready\n'
while read -r line; do eval "$line"; done

#!/bin/sh
# Takes lines of shell from the console, and shows there what the journal has of the agent.
stty -echo -onlcr
journalctl --unit vigie --follow --lines all --output cat | sed --unbuffered 's/^/vigie: /' &
echo "@ready"
while read -r line; do eval "$line"; done

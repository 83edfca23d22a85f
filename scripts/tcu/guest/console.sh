#!/bin/sh
# Takes lines of shell from the console, and shows there what the journal has of the agent.
stty -echo -onlcr
journalctl --unit vigie --follow --lines all --output cat | sed --unbuffered 's/^/vigie: /' &
# On a line of its own, whatever was written before it.
printf '\n@ready\n'
while read -r line; do eval "$line"; done

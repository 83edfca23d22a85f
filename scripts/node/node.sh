#!/bin/sh
# `node` in the scripts of a clone: the project's own, or on other machines the next one of the path. The packages of Node
# must not link it: npm 10 removes that link with the package for the other processor. So package-lock.json has no `bin` of
# theirs.
for own in "$(dirname "$(readlink -f "$0")")"/../../node_modules/node-linux-*/bin/node; do
  [ ! -x "$own" ] || exec "$own" "$@"
done
IFS=:
for folder in $PATH; do
  case "$folder" in */node_modules/.bin | */node_modules/.bin/) continue ;; esac
  [ ! -x "$folder/node" ] || exec "$folder/node" "$@"
done
echo 'node is not installed' >&2
exit 127

#!/bin/sh
# install.sh PACKAGE…: installs from Debian what building for other architectures needs: the packages named, and
# qemu-user-static. As root on Debian it installs what is missing; anywhere else it says what is missing and fails. It
# costs nothing when all is there.
set -eu

missing=
for name in qemu-user-static "$@"; do
  dpkg-query --show --showformat '${Status}' "$name" 2>/dev/null | grep -q ' installed$' || missing="$missing $name"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "missing:$missing (as root on Debian this script installs them)" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# The names are separate words on purpose.
# shellcheck disable=SC2086
apt-get -qq install --yes --no-install-recommends $missing >/dev/null

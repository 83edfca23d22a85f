#!/bin/sh
# Installs what the tests use beyond npm, from Debian: Chromium, Firefox, Mosquitto and its clients, NATS, RabbitMQ, can-utils,
# gpsd, strace, socat, gcc, Python (it opens sockets as systemd does) with cbor2, systemd (it judges our unit file),
# OpenSSL, script (it is a terminal), curl, jq, PostgreSQL, InfluxDB, Prometheus.
# As root on a Debian system it installs what is missing; anywhere else it says what is missing. It does no harm to
# run it again, and costs nothing when all is there.
set -eu

missing=
# PEERS_PATH replaces all places where this script looks: a test has its own.
path="${PEERS_PATH:-$PATH:/usr/sbin:/usr/local/sbin}"
pythons="${PEERS_PATH:+$PEERS_PATH/python3}"
if [ -z "${PEERS_PATH:-}" ]; then
  # Debian keeps the programs of a PostgreSQL server in a folder of its version.
  for folder in /usr/lib/postgresql/*/bin; do path="$path:$folder"; done
  # Debian's Python finds its libraries wherever the first Python of the path looks.
  pythons="python3 /usr/bin/python3"
fi
# The program that shows a package is there, and the package.
for pair in chromium:chromium firefox-esr:firefox-esr mosquitto:mosquitto mosquitto_pub:mosquitto-clients candump:can-utils gpsd:gpsd \
  nats-server:nats-server rabbitmq-server:rabbitmq-server strace:strace socat:socat gcc:gcc \
  python3:python3 systemd-analyze:systemd openssl:openssl script:bsdutils curl:curl jq:jq initdb:postgresql influxd:influxdb \
  promtool:prometheus; do
  PATH="$path" command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
# A library has no program of its own.
for python in $pythons; do
  "$python" -c 'import cbor2' 2>/dev/null && cbor2=there
done
[ -n "${cbor2:-}" ] || missing="$missing python3-cbor2"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || [ ! -e /etc/debian_version ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "not installed, their tests are skipped:$missing (as root on Debian this script installs them)"
  exit 0
fi

# A package that starts its daemon asks this file whether it may (invoke-rc.d(8)); 101 means no.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# The names are separate words on purpose.
# shellcheck disable=SC2086
apt-get -qq install --yes --no-install-recommends $missing >/dev/null

# Nor may it start with the next boot. Absent where there is no systemd.
if command -v systemctl >/dev/null 2>&1; then
  for broker in mosquitto nats-server rabbitmq-server postgresql influxdb prometheus; do
    case "$missing " in *" $broker "*) systemctl disable --quiet "$broker" >/dev/null 2>&1 || true ;; esac
  done
  case "$missing " in *" gpsd "*) systemctl disable --quiet gpsd.socket gpsd >/dev/null 2>&1 || true ;; esac
fi

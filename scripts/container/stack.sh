#!/bin/sh
# stack.sh IMAGE SOURCE FOLDER: runs the services of compose.yaml with the root of a built image and this machine's
# Mosquitto and PostgreSQL, since no registry has their images here: unchanged configurations, a read-only root, the user
# of the image, no capability. A car enrols and publishes. Needs root, and namespaces of its own for mounts, processes and network.
set -eu
image=$1 source=$2 folder=$3
user=10001
vin=VF3VGEBENCH000001

ip link set lo up
printf '127.0.0.1 localhost broker database\n' >"$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
cp "$folder/hosts" "$image/etc/hosts"
for place in hub certificates broker postgres root; do mkdir "$folder/$place"; done
chown $user:$user "$folder/hub" "$folder/certificates" "$folder/broker"
echo 'the password' >"$folder/database-password"

# A container engine makes the mount points too.
mkdir -p "$image/etc/vigie-hub" "$image/run/secrets" "$image/proc" "$image/dev"
: >"$image/etc/vigie-hub/hub.yaml"
: >"$image/run/secrets/database-password"
root="$folder/root"
mount --bind "$image" "$root"
mount -o remount,bind,ro "$root"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
mount --bind "$folder/hub" "$root/var/lib/vigie-hub"
mount --bind "$folder/certificates" "$root/var/lib/vigie-certificates"
mount --bind "$source/scripts/container/hub.yaml" "$root/etc/vigie-hub/hub.yaml"
mount --bind "$folder/database-password" "$root/run/secrets/database-password"

vigie() {
  setpriv --no-new-privs --bounding-set=-all,+setuid,+setgid,+sys_chroot \
    chroot --userspec=$user:$user "$root" /usr/bin/env -i -C /var/lib/vigie-hub PATH=/usr/bin HOME=/tmp /usr/bin/vigie "$@"
}

vigie hub certify broker,localhost vigie-cloud --data /var/lib/vigie-hub --out /var/lib/vigie-certificates

mkdir -p "$folder/etc/certs"
cp "$source/config/brokers/mosquitto.acl" "$folder/etc/"
mount --bind "$folder/etc" /etc/mosquitto
mount --bind "$folder/certificates" /etc/mosquitto/certs
mount --bind "$folder/broker" /var/lib/mosquitto
setpriv --reuid $user --regid $user --clear-groups mosquitto -c "$source/config/brokers/mosquitto.conf" 2>"$folder/broker.log" &

programs=$(echo /usr/lib/postgresql/*/bin)
chown postgres "$folder/postgres" "$folder/database-password"
as_postgres() { runuser -u postgres -- "$@" >"$folder/postgres.log"; }
as_postgres "$programs/initdb" -D "$folder/postgres" -U vigie --encoding UTF8 --locale C --auth=scram-sha-256 --pwfile "$folder/database-password"
as_postgres "$programs/pg_ctl" -D "$folder/postgres" -o "-k $folder/postgres -c listen_addresses=127.0.0.1" -w start
PGPASSWORD='the password' psql -q -h 127.0.0.1 -U vigie -d postgres -c 'CREATE DATABASE vigie'
chown $user "$folder/database-password"
chmod 400 "$folder/database-password"

# Repeats a command until it succeeds, or ends if the process is gone.
until_done() {
  process=$1
  shift
  until "$@"; do
    kill -0 "$process"
    sleep 0.3
  done
}
ask() { curl --silent --fail --cacert "$folder/certificates/ca.pem" "$@" >"$folder/answer"; }

token=$(vigie hub add $vin --fleet north --new --config /etc/vigie-hub/hub.yaml | sed -n 's/^token: //p')
vigie hub --config /etc/vigie-hub/hub.yaml &
hub=$!
until_done $hub ask https://localhost:8080/health
until_done $hub vigie hub status --data /var/lib/vigie-hub

vigie enroll https://localhost:8443 --token "$token" --data /tmp/car --config /tmp/car.yaml
sed -i "s|^data: .*|&\nprofile: generic-obd2\ngnss: { gpsd: 'tcp://127.0.0.1:2947' }|" "$root/tmp/car.yaml"
vigie run --config /tmp/car.yaml &
car=$!
bearer=$(vigie hub token --fleet north --config /etc/vigie-hub/hub.yaml)
served() { ask --header "Authorization: Bearer $bearer" https://localhost:8080/fleets/north/vehicles && grep -q $vin "$folder/answer"; }
until_done $car served

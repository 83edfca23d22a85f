#!/bin/sh
# The init of the unit: what a distribution would set up, a bus, and then whatever comes over the console, line by line.
# The disk with the label data keeps what the agent writes; all else is in memory or only read.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/tmp HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t ext4 "$(findfs LABEL=data)" /data
for module in can can-raw can-isotp can-dev vcan; do modprobe "$module" || echo "no module $module"; done
ip link set lo up
ip link add vcan0 type vcan
ip link set vcan0 up
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
stty -echo -onlcr
# On a line of its own, whatever was written before it.
printf '\n@ready\n'
while read -r line; do eval "$line"; done

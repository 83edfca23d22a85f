#!/bin/sh
# Goes on from first.sh: runs a program on a read-only view of the host's files, and switches the machine off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
export TMPDIR=/run HOME=/run
ip link set lo up
# vcan's frames go through the processor's backlog, as those of hardly any real controller do. It holds 1,000, which the
# players pass when the host lets the one processor stand still for a while.
echo 50000 >/proc/sys/net/core/netdev_max_backlog
cd "$VIGIE_ROOT" && "$VIGIE_NODE" "$VIGIE_PROGRAM" "$VIGIE_SECONDS"
# There is no init system to ask.
echo 1 >/proc/sys/kernel/sysrq
echo o >/proc/sysrq-trigger
while :; do sleep 1; done

#!/bin/sh
# The first process of the kernel that scripts/can-kernel/kernel.ts starts: loads what CAN needs, runs a script on a
# read-only view of the host's files, and switches the machine off. VIGIE_* come from the kernel's command line.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
export TMPDIR=/run HOME=/run
modules=/usr/lib/uml/modules/$(uname -r)/kernel
# vcan gives frames back to this machine when they are on the bus, as drivers of real controllers do (IFF_ECHO).
for module in net/can/can net/can/can-raw drivers/net/can/dev/can-dev 'drivers/net/can/vcan echo=1' net/sched/sch_tbf; do
  # The name, and what follows it.
  # shellcheck disable=SC2086
  set -- $module
  insmod "$modules/$1.ko" ${2:+"$2"} || echo "module $1 is missing"
done
ip link set lo up
# vcan's frames go through the processor's backlog, as those of hardly any real controller do. It holds 1,000, which the
# players pass when the host lets the one processor stand still for a while.
echo 50000 >/proc/sys/net/core/netdev_max_backlog
cd "$VIGIE_ROOT" && "$VIGIE_NODE" "scripts/can-kernel/$VIGIE_SCRIPT" "$VIGIE_SECONDS"
# There is no init system to ask.
echo 1 >/proc/sys/kernel/sysrq
echo o >/proc/sysrq-trigger
while :; do sleep 1; done

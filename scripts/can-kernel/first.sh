#!/bin/busybox sh
# The first process of the kernel that kernel.ts starts, from the initial memory disk: loads what CAN needs and goes on
# with boot.sh on a read-only view of the host's files. VIGIE_* come from the kernel's command line.
bb=/bin/busybox
$bb mkdir -p /proc /sys /dev /host
$bb mount -t proc proc /proc
$bb mount -t sysfs sysfs /sys
$bb mount -t devtmpfs devtmpfs /dev
# Boards have one of these.
for module in virtio_mmio virtio_pci; do $bb modprobe -q "$module"; done
for module in 9pnet_virtio 9p can can-raw can-dev sch_tbf; do $bb modprobe "$module" || echo "no module $module"; done
# vcan gives frames back to this machine when they are on the bus, as drivers of real controllers do (IFF_ECHO).
$bb modprobe vcan echo=1 || echo "no module vcan"
# The host's files do not change meanwhile, so what was read is kept.
$bb mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=524288 host /host || echo "no view of the host's files"
$bb mount --move /dev /host/dev
$bb umount /sys /proc
exec $bb switch_root /host "$VIGIE_ROOT/scripts/can-kernel/boot.sh"

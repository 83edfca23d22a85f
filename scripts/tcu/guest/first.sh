#!/bin/busybox sh
# The first process of the unit, from the initial memory disk: finds its disks and goes on from the system's.
bb=/bin/busybox
$bb mkdir -p /proc /sys /dev /system
$bb mount -t proc proc /proc
$bb mount -t sysfs sysfs /sys
$bb mount -t devtmpfs devtmpfs /dev
# Boards have one of these.
for module in virtio_mmio virtio_pci; do $bb modprobe -q "$module"; done
for module in virtio_blk virtio_net virtio-rng crc32c_generic ext4; do $bb modprobe "$module" || echo "no module $module"; done
$bb mount -t ext4 -o ro "$($bb findfs LABEL=system)" /system
$bb mount --move /dev /system/dev
$bb umount /sys /proc
exec $bb switch_root /system /sbin/init

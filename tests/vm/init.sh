#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The first and only process tree of the guest: mounts what every Linux has, runs the test script with its
# output on the second serial port, and powers off.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mkdir -p /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
cd /tmp || exit

exec >/dev/ttyS1 2>&1 </dev/null
sh /guest.sh
echo "exit status $?"
poweroff -f

#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The guest's only process: what the kernel's command line names behind `--`, then the end. What it says goes to the second
# serial port (named in /output), where no message of the kernel stands in the middle of a line.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tracefs tracefs /sys/kernel/tracing
exec >"/dev/$(cat /output)" 2>&1
case $1 in
nothing) ;;
slow) cd /ftrace && sh ./ftracetest $(ls test.d/stackmap/*.tc | grep -v /bits.tc) ;;
boot | refused | taken-back) sh /boot.sh $1 ;;
retention) sh /retention.sh ;;
user-cost) sh /user_cost.sh ;;
ftracetest) cd /ftrace && shift && sh ./ftracetest "$@" ;;
*) cd /ftrace && sh ./ftracetest test.d/stackmap ;;
esac
reboot -f

#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The only process tree of the guest of bench/count: runs the commands of /runs, each between two marks. A line is
# "LABEL<tab>COMMAND"; with the label "-" the command is not counted.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
echo -1 >/proc/sys/kernel/perf_event_paranoid
echo 0 >/proc/sys/kernel/kptr_restrict
exec >/dev/ttyS1 2>&1 </dev/null
cd /tmp || exit
count_mark notes
head -c 1 /dev/random >/dev/null
tab=$(printf '\t')
while IFS=$tab read -r label command; do
	sleep 0.5
	[ "$label" = - ] || count_mark begin "$label"
	sh -c "exec $command" </dev/null >/tmp/output 2>&1
	status=$?
	[ "$label" = - ] || count_mark end
	[ $status = 0 ] || { echo "failed: $command: exit $status"; head -n 20 /tmp/output; }
done </runs
echo 'all runs are done'
exec >/dev/null 2>&1
poweroff -f

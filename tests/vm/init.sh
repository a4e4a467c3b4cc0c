#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The first and only process tree of the guest: mounts what every Linux has, runs each test script in a folder of its
# own, with the output on another serial port than the kernel's and in cmocka's words, which scripts/test-results counts, and powers off.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mkdir -p /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# An emulator on a busy machine takes long for an interrupt, and the kernel would not let sample at 999 Hz any more.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
export WATCH_LOADS=/tmp/loads
[ ! -e /bin/watch_loads.so ] || export LD_PRELOAD=/bin/watch_loads.so

exec >"/dev/$(cat /output)" 2>&1 </dev/null
echo "kernel $(uname -r)"
echo "version $(uname -v)"

# By this clock, which no script sets.
seconds() {
	cut -d. -f1 /proc/uptime
}

failed=0
for script in $(cat /order); do
	name=${script%.sh}
	mkdir "/tmp/$name"
	cd "/tmp/$name" || exit
	echo "[ RUN      ] $name"
	begin=$(seconds)
	sh "/tests/$script"
	status=$?
	echo "    $(($(seconds) - begin)) s"
	case $status in
	0) echo "[       OK ] $name" ;;
	77) echo "[  SKIPPED ] $name" ;;
	*)
		echo "[  FAILED  ] $name"
		failed=1
		;;
	esac
done
# Files that the scripts leave in /given go to the caller of run-kernel.
for file in /given/*; do
	[ ! -f "$file" ] || echo "given ${file##*/} $(base64 "$file" | tr -d '\n')"
done
echo "exit status $failed"
exec >/dev/null 2>&1 # the last to close a terminal waits until all of it is sent
poweroff -f

#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A CPU goes offline and comes back while the machine is recorded: it is sampled again, and the ledger says that it came.
# Where Debian's kernel lets CAP_SYS_ADMIN alone open perf events, the ledger says that it is not sampled.
set -u

control=/sys/devices/system/cpu/cpu1/online
paranoid=/proc/sys/kernel/perf_event_paranoid
data=/tmp/hotplug.data
faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# samples FROM: of CPU 1, from then on (seconds since boot)
samples() {
	stackmap script --ids $data | awk -v from="$1" '$2 == "[001]" && $3 + 0 >= from' | wc -l
}

# record_cpu PARANOID NOTE WANTED: sets $since, the samples of CPU 1 after it came back. The recording ends when there are as many
# as wanted: an emulated CPU may run no timer for some seconds.
record_cpu() {
	local recorder back seconds=0
	echo "$1" >$paranoid
	rm -f $data
	stackmap record -q -o $data -a -F 99 -e cpu-clock -e page-faults &
	recorder=$!
	while [ ! -e $data ] && kill -0 $recorder; do sleep 0.1; done
	sleep 1
	echo '    recording: CPU 1 goes offline'
	echo 0 >$control || fault 'CPU 1 does not go offline'
	sleep 1
	echo '    CPU 1 comes back'
	echo 1 >$control || fault 'CPU 1 does not come back'
	sleep 5
	back=$(cut -d' ' -f1 /proc/uptime)
	sleep 2
	while [ "$(samples "$back")" -lt "$3" ] && [ $((seconds += 1)) -lt 60 ]; do sleep 1; done
	echo '    the recording ends'
	kill -INT $recorder
	wait $recorder || fault "record ended with $?"
	since=$(samples "$back")
	echo "    $(samples 0) samples of CPU 1, $since of them since it came back"
	stackmap report $data | grep -q "1 times that a CPU came online$2" || fault "$(stackmap report $data | grep ledger)"
}

[ -e $control ] || fault 'there is one CPU'
record_cpu 2 ', not sampled for up to' 50
[ "$since" -ge 50 ] || fault 'CPU 1 is not sampled again'
record_cpu 3 ' and could not be sampled' 0
[ "$since" -eq 0 ] || fault 'CPU 1 is sampled'
[ $faults -eq 0 ]

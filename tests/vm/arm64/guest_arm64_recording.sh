#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes the recording of arm64 for both-architectures, and says what this machine reads in it, and in the one of x86-64.
set -u

. /sysroots/say_recordings.sh
cp -r /sysroots/arm64 /sysroots/x86-64* . || exit
export LD_LIBRARY_PATH=/bin # libcurl, which the agent loads
stackmap record -F 499 -e cpu-clock --time -e syscalls:sys_enter_getppid -e u:/bin/frame_kinds_protected:mark \
	--comm 'inlined_calls*' --comm 'frame_kinds*' -o arm64.data -- sh -c \
	'inlined_calls_static 50; frame_kinds_protected 20 5000000' || exit
record_more arm64 /bin/frame_kinds_protected || { cat ./*.log; exit 1; }
say_recordings
mkdir /given
tar -czf /given/recordings.tar.gz arm64*.data arm64.stacks arm64.mappings arm64-windows arm64-spool && tar -czf /given/said.tar.gz said

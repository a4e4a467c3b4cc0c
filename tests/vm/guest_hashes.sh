#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The hashes of a program's stacks, and where the kernel lies. For two-boots.
set -u

stackmap record -e syscalls:sys_enter_getppid -o hashes.data -- known_counts_static getppid=100 || exit
stackmap script --no-inline hashes.data | awk '/^\t/' | sort | uniq -c
stackmap script --hashes hashes.data | sed -n 's/.* <stack \([0-9a-f]*\)>$/hash \1/p' | sort | uniq -c
sed -n 's/^\([0-9a-f]*\) T _stext$/kernel at \1/p' /proc/kallsyms

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints SYSCALL(name) for every __NR_name that a header defines. Arguments: the header, then a compiler command.
# arm64's header also defines the number of calls and the first architecture-specific number; these two are left out.
set -eu
header=$1
shift
"$@" -dM -E -x c "$header" |
	sed -n 's/^#define __NR_\([a-z_][a-z0-9_]*\) .*/SYSCALL(\1)/p' |
	grep -vx 'SYSCALL(syscalls)\|SYSCALL(arch_specific_syscall)' | LC_ALL=C sort -u

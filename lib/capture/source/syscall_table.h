/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The system calls of this architecture, by name and number. */
#ifndef LIB_CAPTURE_SYSCALL_TABLE_H
#define LIB_CAPTURE_SYSCALL_TABLE_H

#include <stddef.h>

#include "scalar.h"

struct syscall_entry {
	const char *name;  /* as the kernel names its event: newstat */
	const char *alias; /* as the manual names it, where that differs: stat; else NULL */
	u32 number;
};

const struct syscall_entry *syscall_table(size_t *count);

#endif

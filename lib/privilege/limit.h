/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Explains failures by the limits of this process (setrlimit(2)). */
#ifndef LIB_PRIVILEGE_LIMIT_H
#define LIB_PRIVILEGE_LIMIT_H

#include <stdbool.h>

/* Returns advice to append to a message about this errno; "" if no limit explains the failure. */
const char *limit_advice(int code);

/*
 * Returns advice for a failure in a library, whose errno need not be ENOMEM. NULL: memory can be
 * allocated, so no limit explains the failure.
 */
const char *limit_memory_advice(void);

/*
 * False if the process can hardly allocate any memory. A sandbox can call only this function of the
 * three, because its filter forbids reading limits.
 */
bool can_map_memory_below_limits(void);

#endif

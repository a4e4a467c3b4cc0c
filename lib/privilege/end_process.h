/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of a child that may be stuck in the kernel, or may be a user whom we may not kill. */
#ifndef LIB_PRIVILEGE_END_PROCESS_H
#define LIB_PRIVILEGE_END_PROCESS_H

#include <sys/types.h>

/* Until it ends by itself, but no longer than that. It stays a zombie. */
void wait_for_end(pid_t child, int wait_ms);

/* Kills it, and waits for its end for so long at most. One that is not gone by then is left behind:
 * as a zombie, once it can go. */
void end_process(pid_t child, int wait_ms);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of this kernel's tracepoints. */
#ifndef LIB_CAPTURE_TRACEPOINT_H
#define LIB_CAPTURE_TRACEPOINT_H

/* Receives one name; a non-zero return ends the walk and is its result. */
typedef int (*tracepoint_visit)(void *arg, const char *name);

/* Visits all "CATEGORY:NAME" below an `events` directory of tracefs, sorted by category. */
int tracepoint_each_event(int events, tracepoint_visit visit, void *arg);

/* Visits all NAMEs, without their categories, by the kernel's BTF. -errno: the kernel has no BTF.
 */
int tracepoint_each_btf(tracepoint_visit visit, void *arg);

#endif

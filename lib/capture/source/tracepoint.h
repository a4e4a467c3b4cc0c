/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of this kernel's tracepoints. */
#ifndef LIB_CAPTURE_TRACEPOINT_H
#define LIB_CAPTURE_TRACEPOINT_H

/* Gets one name; non-zero ends the walk, which returns it. */
typedef int (*tracepoint_visit)(void *arg, const char *name);

/* Every "CATEGORY:NAME" below an `events` directory of tracefs, categories in the order of their
 * names. */
int tracepoint_each_event(int events, tracepoint_visit visit, void *arg);

/* Every NAME, without its category, by the kernel's type information. -errno: there is none. */
int tracepoint_each_btf(tracepoint_visit visit, void *arg);

#endif

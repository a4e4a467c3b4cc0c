/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's tracing file system, mounted or not. */
#ifndef LIB_CAPTURE_TRACEFS_H
#define LIB_CAPTURE_TRACEFS_H

/* A file descriptor of tracefs' directory `events`, or -errno. The caller closes it. */
int tracefs_open_events(void);

#endif

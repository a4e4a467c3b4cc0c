/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the limits of this process (setrlimit(2)) have to do with a failure. */
#ifndef LIB_PRIVILEGE_LIMIT_H
#define LIB_PRIVILEGE_LIMIT_H

/* The way out, to stand behind a message about this errno; "" if no limit explains it. */
const char *limit_advice(int code);

/* The same for whatever libraries say when a limit leaves them no memory; NULL: it does. */
const char *limit_memory_advice(void);

#endif

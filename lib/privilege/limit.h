/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the limits of this process (setrlimit(2)) have to do with a failure. */
#ifndef LIB_PRIVILEGE_LIMIT_H
#define LIB_PRIVILEGE_LIMIT_H

#include <stdbool.h>

/* The way out, to stand behind a message about this errno; "" if no limit explains it. */
const char *limit_advice(int code);

/* The same for whatever libraries say when a limit leaves them no memory; NULL: it does. */
const char *limit_memory_advice(void);

/* False if the process gets hardly any memory. A sandbox can ask for this, not for advice: the
 * limits themselves are hidden from it. */
bool limit_leaves_memory(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The jitdump of a process (jitdump.h): a file jit-PID.dump in any folder, PID by the process's own
 * idea of its id. By custom its writer maps the beginning of it executable, and leaves it so, for
 * tracers to see.
 *
 * What is mapped is the process's own choice, so its path and links do not matter. It counts if it
 * is a regular file of the process's user or root, written since the process began.
 */
#ifndef LIB_SYMBOL_JITDUMP_FILE_H
#define LIB_SYMBOL_JITDUMP_FILE_H

#include "runtime_process.h"

/* That of a process that lives, open for reading; or -ENOENT. */
int jitdump_open(const struct runtime_process *process);

#endif

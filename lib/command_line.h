/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_COMMAND_LINE_H
#define LIB_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the command line of this process in the form that a shell takes: words that need quotes
 * have them. The caller frees it. NULL: it cannot be read.
 */
char *command_line_read(void);

/* Makes a command line of words that each end in a NUL; a NUL follows the last byte. NULL: no
 * memory. */
char *command_line_of(const char *words, size_t bytes);

#endif

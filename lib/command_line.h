/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_COMMAND_LINE_H
#define LIB_COMMAND_LINE_H

/*
 * The command line of this process, words joined by blanks; the caller frees it. NULL: it cannot be
 * read.
 */
char *command_line_read(void);

#endif

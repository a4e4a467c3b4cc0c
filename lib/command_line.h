/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_COMMAND_LINE_H
#define LIB_COMMAND_LINE_H

/* Of this process, as it was typed, words joined by blanks; the caller frees it. NULL: it cannot be
 * told. */
char *command_line_read(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

/* As it was typed, words joined by blanks; the caller frees it. NULL: it cannot be told. */
char *command_line_read(void);

#endif

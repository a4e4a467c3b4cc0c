/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options and commands of perf, trace-cmd and the bcc tools that people type here out of habit. The
 * parser takes options that mean the same here. Each other option or command is answered with a
 * line that says how to do it here. */
#ifndef CLI_FOREIGN_OPTION_H
#define CLI_FOREIGN_OPTION_H

#include <stddef.h>

/* Returns the replacement of `option` ("-g", "--stdio") as the rest of a sentence; NULL: unknown
 * option. */
const char *foreign_option(const char *command, const char *option);

/* The rows of options that mean the same here, up to a row without name: the i-th that `command`
 * takes, or NULL. */
struct option_row;
const struct option_row *foreign_row(const char *command, size_t i);

/* Says what does the job of a command of perf, as the rest of a sentence; NULL: unknown command. */
const char *foreign_command(const char *name);

#endif

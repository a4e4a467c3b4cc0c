/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of perf, trace-cmd and the bcc tools that people type here out of habit. */
#ifndef CLI_FOREIGN_OPTION_H
#define CLI_FOREIGN_OPTION_H

/* Returns the replacement of `option` ("-g", "--stdio") as the rest of a sentence; NULL: unknown
 * option. */
const char *foreign_option(const char *command, const char *option);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the word at the cursor of a command line can become: `stackmap --complete WORD...`, which
 * the function for bash calls (cli/completion/stackmap). The words are those behind `stackmap`, the
 * last is the one to be completed, up to the cursor.
 *
 * One candidate a line, without the `--name=` that it may stand behind. What the shell knows better
 * is left to it, by a last line:
 *
 *   :files, :directories, :commands
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "option/option.h"

/* Exit status; what does not work gives no candidates. */
int completion_print(int count, char *const *words);

/* The words of an argument or operand that begin with `start`, by what the usage line calls it.
 * `option` is NULL for an operand. */
void completion_values(const struct option_row *option, const char *argument, const char *start);

#endif

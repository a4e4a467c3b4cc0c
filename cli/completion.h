/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Candidates for the word at the cursor of a command line: `stackmap --complete WORD...`, which the
 * bash function calls (cli/completion/stackmap). The words are those behind `stackmap`; the last
 * one is completed and ends at the cursor.
 *
 * Each line has one candidate, without the `--name=` in front of it. A last line leaves other
 * candidates to the shell:
 *
 *   :files, :directories, :commands
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "option/option.h"

/* Returns the exit status; an error gives no candidates. */
int completion_print(int count, char *const *words);

/*
 * Prints the values of an argument or operand that begin with `start`, by its name in the usage
 * line. `option` is NULL for an operand.
 */
void completion_values(const struct option_row *option, const char *argument, const char *start);

#endif

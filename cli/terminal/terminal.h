/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What may be done on an output: progress lines and colours belong on a terminal only, and NO_COLOR
 * (no-color.org) takes the colours away there too. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

bool terminal_progress(FILE *stream);
bool terminal_color(FILE *stream);

#endif

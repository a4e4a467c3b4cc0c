/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the commands that show a recording name its frames. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "option.h"
#include "report/frame_names.h"

struct names_values {
	bool no_demangle;
};

/* The rows of a command whose struct `values` has a struct names_values as `member`. */
/* clang-format off */
#define NAMES_ROWS(values, member)								\
	{"no-demangle", 0, OPTION_FLAG, NULL, offsetof(values, member.no_demangle), "Names",	\
		"names as in the symbol table"}
/* clang-format on */

/* Call before the recording is opened. 0, or a message and EXIT_FAILED or EXIT_USAGE. */
int names_open(const struct names_values *values, struct frame_naming *naming);
void names_close(struct frame_naming *naming);

#endif

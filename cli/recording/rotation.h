/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One recording after another: when a file is to end, what the next is called, and which are to
 * go. */
#ifndef CLI_ROTATION_H
#define CLI_ROTATION_H

#include <stdbool.h>

#include "scalar.h"

struct rotation {
	u64 period_ms; /* 0: it does not end by time */
	u64 bytes;     /* 0: it does not end by size */
	u64 keep;      /* so many files; 0: all */
	const char *output;
	u64 number; /* of the file that is written */
	u64 end_ms; /* of its time */
};

/* "60s", "10min", "2h", or a size like "100M". Exit status; what is wrong was said. */
int rotation_choose(const char *word, u64 keep, const char *output, struct rotation *rotation);

static inline bool rotation_is_on(const struct rotation *rotation)
{
	return rotation->period_ms || rotation->bytes;
}

bool rotation_is_due(const struct rotation *rotation, u64 now_ms, u64 bytes);

/* Goes on to the next file, whose number is higher than that of any there is: its name, to be
 * freed; NULL: no memory. Removes files that are too many with it. */
char *rotation_next(struct rotation *rotation, u64 now_ms);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One recording after another: when a file is to end, what the next is called, and which are to
 * go. */
#ifndef LIB_SESSION_ROTATION_H
#define LIB_SESSION_ROTATION_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"

struct rotation {
	u64 period_ms; /* 0: it does not end by time */
	u64 bytes;     /* 0: it does not end by size */
	u64 keep;      /* so many files; 0: all */
	const char *output;
	u64 number; /* of the file that is written */
	u64 end_ms; /* of its time */
};

/* `word`: "60s", "10min", "2h", or a size like "100M"; NULL: no rotation. -EINVAL. */
int rotation_choose(const char *word, u64 keep, const char *output, struct rotation *rotation,
		    struct stackmap_error *error);

static inline bool rotation_is_on(const struct rotation *rotation)
{
	return rotation->period_ms || rotation->bytes;
}

bool rotation_is_due(const struct rotation *rotation, u64 now_ms, u64 bytes);

/* Goes on to the next file, with a number above that of every file of this output: returns its
 * name, to be freed; NULL: no memory. Removes the oldest files beyond `keep`. If a file cannot be
 * removed, error->message says why; else it is empty. */
char *rotation_next(struct rotation *rotation, u64 now_ms, struct stackmap_error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording in consecutive files: when a file ends, how the next file is named, and which old
 * files are removed.
 */
#ifndef LIB_SESSION_ROTATION_H
#define LIB_SESSION_ROTATION_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"

struct rotation {
	u64 period_ms; /* time after which a file ends; 0: files do not end by time */
	u64 bytes;     /* size at which a file ends; 0: files do not end by size */
	u64 keep;      /* number of files to keep; 0: all files are kept */
	const char *output;
	u64 number; /* number of the file that is being written */
	u64 end_ms; /* time by clock_ms() at which the file that is being written ends */
};

/* Parses `word`: "60s", "10min", "2h", or a size like "100M"; NULL: no rotation. -EINVAL. */
int rotation_parse_option(const char *word, u64 keep, const char *output, struct rotation *rotation,
			  struct stackmap_error *error);

static inline bool rotation_is_on(const struct rotation *rotation)
{
	return rotation->period_ms || rotation->bytes;
}

bool rotation_is_due(const struct rotation *rotation, u64 now_ms, u64 bytes);

/*
 * Returns the name of the next file, whose number is above that of every file of this output. The
 * caller frees the name; NULL if memory is short. Removes the oldest files beyond `keep`. If a file
 * cannot be removed, error->message says why; otherwise error->message is empty.
 */
char *rotation_name_next_and_remove_oldest(struct rotation *rotation, u64 now_ms,
					   struct stackmap_error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an instance tells of itself to those who open it later (abi/metadata_map.h). */
#ifndef LIB_CAPTURE_METADATA_H
#define LIB_CAPTURE_METADATA_H

#include <stdbool.h>

#include "capture/source/source.h"
#include "stackmap/error.h"

struct metadata {
	u64 start_realtime;	    /* ns since the epoch at start_monotonic */
	u64 start_monotonic;	    /* ns */
	bool address_shown;	    /* by kptr_restrict, when it started */
	char *command;		    /* the command line that started it */
	struct source_list sources; /* without what only attaching needs */
};

/* Makes the map, which cannot be changed any more: its descriptor, for the caller to close, or
 * -errno. */
int metadata_write(const struct source_list *sources, bool address_shown, const char *command,
		   struct stackmap_error *error);

/* -EPROTO: the instance was started by another version of stackmap. -EINVAL: the map is damaged, or
 * something else. *out is untouched on failure. */
int metadata_read(int map_fd, struct metadata **out, struct stackmap_error *error);
void metadata_free(struct metadata **metadata);

#endif

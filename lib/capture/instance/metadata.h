/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The description of an instance, for processes that open it later (abi/kept_records.h). */
#ifndef LIB_CAPTURE_METADATA_H
#define LIB_CAPTURE_METADATA_H

#include <stdbool.h>

#include "capture/source/source.h"
#include "stackmap/error.h"

struct metadata {
	u64 start_realtime;	    /* ns since the epoch at start_monotonic */
	u64 start_monotonic;	    /* ns */
	bool address_shown;	    /* kptr_restrict allowed addresses when the instance started */
	char *command;		    /* the command line that started the instance */
	struct source_list sources; /* without fields that only attaching needs */
};

/* Makes the map and freezes it: its descriptor, for the caller to close, or -errno. */
int metadata_write(const struct source_list *sources, bool address_shown, const char *command,
		   struct stackmap_error *error);

/* -EPROTO: another version of stackmap started the instance; -EINVAL: the map is damaged, or
 * another kind of map. *out is untouched on failure. */
int metadata_read(int map_fd, struct metadata **out, struct stackmap_error *error);
void metadata_free(struct metadata **metadata);

#endif

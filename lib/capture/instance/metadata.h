/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The description of an instance in a pinned BPF map, for processes that open the instance later
 * (abi/kept_records.h). */
#ifndef LIB_CAPTURE_METADATA_H
#define LIB_CAPTURE_METADATA_H

#include <stdbool.h>

#include "capture/source/source.h"
#include "stackmap/error.h"

struct metadata {
	u64 start_realtime;  /* ns: time of CLOCK_REALTIME when the instance started */
	u64 start_monotonic; /* ns: time of CLOCK_MONOTONIC when the instance started */
	bool address_shown;  /* kptr_restrict allowed addresses when the instance started */
	char *command;	     /* the command line that started the instance */
	/* The sources, without the members that are needed for attaching only. */
	struct source_list sources;
};

/* Makes a frozen BPF map with the description of an instance. Returns its descriptor, which the
 * caller closes, or -errno. */
int metadata_write_to_new_map(const struct source_list *sources, bool address_shown,
			      const char *command, struct stackmap_error *error);

/* Reads the description of an instance from its map. -EPROTO: another version of stackmap started
 * the instance; -EINVAL: the map is damaged, or is another kind of map. *out is untouched on
 * failure. */
int metadata_read(int map_fd, struct metadata **out, struct stackmap_error *error);
void metadata_free(struct metadata **metadata);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that hosts did not have: frames of a store are looked up by build id in files of this
 * machine, of a folder, or of debuginfod servers, and sent back with the rank of debug information,
 * inlined functions and lines included. A host needs no debug files for that, one machine has them
 * for all.
 *
 * Of the files nothing is read here: symbol/debuginfo/debug_lookup.h.
 */
#ifndef LIB_STORE_READ_STORE_SYMBOLIZE_H
#define LIB_STORE_READ_STORE_SYMBOLIZE_H

#include "store/read/debug_folder.h"
#include "store/wire/clickhouse.h"

struct symbolize_request {
	struct debug_lookup *lookup;
	const struct debug_folder
		*files; /* of the folder that is the lookup's sysroot; NULL: none */
	u32 days;	/* today, and those before it */
};

struct symbolize_counts {
	u64 objects, frames;	  /* that lacked names */
	u64 named_objects, named; /* of these */
};

/* Adds to the counts, also on failure. */
int store_symbolize(struct clickhouse *server, const struct symbolize_request *request,
		    struct symbolize_counts *counts, struct stackmap_error *error);

#endif

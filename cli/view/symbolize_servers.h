/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `stackmap store symbolize`: one reader of debug files for all servers of a store. */
#ifndef CLI_SYMBOLIZE_SERVERS_H
#define CLI_SYMBOLIZE_SERVERS_H

#include "store/read/store_symbolize.h"

struct symbolize_values {
	const char *debug_dir;
	bool debuginfod;
	u32 days;
};

struct symbolizer {
	struct debug_lookup *lookup; /* NULL: not begun */
	struct debug_folder *files;
	struct symbolize_counts counts;
};

/* Both return an exit status; errors were printed. The first call begins. */
int symbolize_server(struct symbolizer *symbolizer, const struct symbolize_values *values,
		     struct clickhouse *server);
int symbolize_end(struct symbolizer *symbolizer);

#endif

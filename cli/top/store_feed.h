/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `top` of a store: the last minutes of it, asked for anew at every refresh. */
#ifndef CLI_STORE_FEED_H
#define CLI_STORE_FEED_H

#include "session/session_options.h"
#include "view/from.h"

struct store_feed {
	const struct from_values *values; /* NULL: there is no store */
	struct from_choice choice;
	const char *cgroup;
	u64 seconds;		/* that are shown */
	struct text_set events; /* by kind */
};

/* Asks for nothing yet but whether the store is there. Exit status; what is wrong was said. */
int store_feed_open(struct store_feed *feed, const struct from_values *from,
		    const struct session_options *record);
/* Exit status: whether all servers were there at the last refresh; it says which were not. */
int store_feed_close(struct store_feed *feed);

int store_feed_take(struct store_feed *feed, struct trace_reader **reader,
		    struct stackmap_error *error);

#endif

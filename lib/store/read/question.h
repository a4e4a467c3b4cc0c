/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A question to a store: a selection of events, a time range, and the detail. An empty list selects
 * all events; otherwise an event must match one item of the list.
 */
#ifndef LIB_STORE_READ_QUESTION_H
#define LIB_STORE_READ_QUESTION_H

#include <stdbool.h>

#include "scalar.h"
#include "string_list.h"

/* X(ID, column of `events`), in the order of the queries for values: each narrows the next. */
#define STORE_FIELDS(X)                                                                            \
	X(SERVICE, "service")                                                                      \
	X(HOST, "host")                                                                            \
	X(VERSION, "version")                                                                      \
	X(EVENT, "event")                                                                          \
	X(CGROUP, "cgroup")                                                                        \
	X(COMM, "comm")

#define X(id, column) STORE_FIELD_##id,
enum store_field { STORE_FIELDS(X) STORE_FIELD_COUNT };
#undef X

#define STORE_CAP_DEFAULT 100000 /* stacks */

struct store_question {
	struct string_list wanted[STORE_FIELD_COUNT]; /* globs; a cgroup includes its descendants */
	u64 from, to;	 /* seconds since the epoch: windows that begin in [from, to) */
	u32 cap;	 /* number of stacks shown one by one; all others become [rest] */
	u32 step;	 /* seconds of a time step; 0: one step for the whole range */
	bool by_cgroup;	 /* false: events have no cgroup */
	bool no_inlined; /* leaves inlined functions out */
};

const char *store_field_name(enum store_field field);

#endif

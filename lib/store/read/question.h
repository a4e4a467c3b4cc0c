/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is asked of a store: which events, of which time, in which detail. An empty list lets all
 * pass; of a list any item does.
 */
#ifndef LIB_STORE_READ_QUESTION_H
#define LIB_STORE_READ_QUESTION_H

#include <stdbool.h>

#include "scalar.h"
#include "string_list.h"

/* X(ID, column of `events`). In the order in which they are looked for: each narrows the next. */
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
	struct string_list wanted[STORE_FIELD_COUNT]; /* globs; cgroups: each with those below it */
	u64 from, to;	 /* seconds since the epoch: windows that begin in [from, to) */
	u32 cap;	 /* of stacks that are shown one by one; all others are one, [rest] */
	u32 step;	 /* seconds that times are told by; 0: one time for all */
	bool by_cgroup;	 /* else events have none */
	bool no_inlined; /* only what is in symbol tables */
};

const char *store_field_name(enum store_field field);

#endif

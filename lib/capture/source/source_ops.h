/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One struct per kind of event source: how to find what a word stands for. Matching, "did you
 * mean", the list and the catalogue are written once in source.c on top of it.
 */
#ifndef LIB_CAPTURE_SOURCE_OPS_H
#define LIB_CAPTURE_SOURCE_OPS_H

#include "name_match.h"
#include "source.h"

struct source_query {
	const char *text;    /* the word as written */
	const char *subject; /* what an error begins with: "-e WORD" */
	const char *prefix;  /* what stands before the matched part: "u:/bin/sh:" */
	struct name_match match;
	bool on_return;	   /* functions: ur:, kr: */
	u64 period;	   /* NAME/PERIOD; 0: not given */
	u64 frequency;	   /* -F; 0: not given */
	const char *field; /* NAME/value=FIELD:UNIT/; NULL: no value */
	const char *unit;  /* NULL: by the field's name */
	const char *file;  /* user functions */
	u64 offset; /* user functions: added to the symbol, or the file offset if `has_no_symbol` */
	bool has_no_symbol;
	const char
		*hint; /* set by find(): why a name that one might expect is not found; else NULL */
};

/* Gets a source that matched; it and its strings live until the return. Non-zero ends the search.
 */
typedef int (*source_visit)(void *arg, const struct source *source);

struct source_ops {
	const char *group;
	/* Visits all sources that match. 0, what `visit` returned, or -errno: could not even look.
	 */
	int (*find)(struct source_query *query, source_visit visit, void *arg,
		    struct stackmap_error *error);
};

extern const struct source_ops source_perf_ops;
extern const struct source_ops source_tracepoint_ops;
extern const struct source_ops source_syscall_ops;
extern const struct source_ops source_off_cpu_ops;
extern const struct source_ops source_user_ops;
extern const struct source_ops source_kernel_ops;

/* The value that the query asks for, by tracefs' directory `events` (-errno: there is none); if it
 * asks for none, nothing. The strings are the query's. -ENOENT: there is no such field. */
int source_set_value(struct source *source, const struct source_query *query, int events,
		     struct stackmap_error *error);

#endif

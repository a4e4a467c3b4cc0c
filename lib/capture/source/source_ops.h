/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each kind of event source (perf events, tracepoints, functions...) has one struct with its search
 * function. Matching, "did you mean", the list of sources and the catalogue are in source_list.c,
 * for all kinds.
 */
#ifndef LIB_CAPTURE_SOURCE_OPS_H
#define LIB_CAPTURE_SOURCE_OPS_H

#include "capture/source/source_question.h"
#include "name_match.h"
#include "source.h"

struct source_query {
	const char *text;    /* the word as the user wrote it */
	const char *subject; /* text with which an error begins: "-e WORD" */
	const char *prefix;  /* text before the part that is matched: "u:/bin/sh:" */
	struct name_match match;
	bool on_return;	   /* the source is the return of a function: ur:, kr: */
	u64 period;	   /* the period in NAME/PERIOD; 0 = not given */
	const char *modes; /* modes of a perf event, for example "kp" of cycles:kp; NULL = none */
	/* The event of a PMU as the user wrote it (pmu_event.h); NULL = none. */
	const char *pmu_event;
	u64 frequency;	    /* frequency that option -F gives; 0 = not given */
	u64 period_default; /* period that option -c gives; 0 = not given */
	bool is_counter; /* perf events: the event is a counter that other events read, so it takes
			    no samples */
	struct question_words asks; /* parsed question of NAME/value=...,if=.../ */
	const char *file; /* path or name of the file, for user functions and USDT probes */
	u64 offset; /* user functions: offset from the symbol; if `has_no_symbol` the file offset */
	bool has_no_symbol;
	bool has_any_provider; /* USDT probes: the pattern has no provider, so all providers match
				*/
	const char *hint;      /* set by find(): a reason why names may be missing, or NULL */
};

/* Callback for a source that matches; the source's strings are valid until the return. A non-zero
 * return ends the search. */
typedef int (*source_visit)(void *arg, const struct source *source);

struct source_ops {
	const char *group;
	/* Calls visit() for all sources that match the query. Returns 0, the non-zero return of
	 * `visit`, or -errno if the search failed. */
	int (*find)(struct source_query *query, source_visit visit, void *arg,
		    struct stackmap_error *error);
};

extern const struct source_ops source_perf_ops;
extern const struct source_ops source_pmu_ops;
extern const struct source_ops source_tracepoint_ops;
extern const struct source_ops source_syscall_ops;
extern const struct source_ops source_off_cpu_ops;
extern const struct source_ops source_user_ops;
extern const struct source_ops source_usdt_ops;
extern const struct source_ops source_kernel_ops;

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files by build id from the debuginfod servers that DEBUGINFOD_URLS names, through libdebuginfod,
 * which keeps what it has got in a cache of its own. What a server sends is as foreign as any file:
 * whoever asks checks its build id, in a sandbox.
 *
 * A file has DEBUG_FETCH_SECONDS, or as many as DEBUGINFOD_MAXTIME says. After servers that did not
 * answer in time, or when the user has had enough, nothing more is asked for.
 */
#ifndef LIB_SYMBOL_DEBUG_FETCH_H
#define LIB_SYMBOL_DEBUG_FETCH_H

#include <stdbool.h>

#include "scalar.h"

#define DEBUG_FETCH_SECONDS 30

enum debug_fetch_what { DEBUG_FETCH_DEBUG, DEBUG_FETCH_CODE };

/* Who looks on. */
struct debug_watch {
	/* Of the file for `name` this much is here; total 0: not known yet. From before the first
	 * byte on, at least once a second. False: enough, no more requests. */
	bool (*progress)(void *arg, const char *name, u64 bytes, u64 total);
	void (*done)(void *arg); /* with one file */
	void *arg;
};

struct debug_fetch;
int debug_fetch_create(const struct debug_watch *watch, struct debug_fetch **out);
void debug_fetch_free(struct debug_fetch **fetch);

/* A descriptor; *path, for the caller to free, is where it lies. Or a reason (below). */
int debug_fetch_open(struct debug_fetch *fetch, enum debug_fetch_what what, const u8 *build_id,
		     u32 bytes, const char *name, char **path);

/* In words. NULL: it was reported already. */
const char *debug_fetch_reason(int result);

/* Whether DEBUGINFOD_URLS names any. */
bool debug_fetch_has_servers(void);

#endif

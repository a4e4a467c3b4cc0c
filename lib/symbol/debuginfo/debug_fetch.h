/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Downloads files by build id from the debuginfod servers in DEBUGINFOD_URLS, through
 * libdebuginfod, which has a cache of its own. A file from a server is not trusted: the caller
 * checks its build id in a sandbox.
 *
 * The download of a file may take DEBUGINFOD_MAXTIME seconds, or DEBUG_FETCH_SECONDS if that
 * variable is not set. No more requests are made once the servers have not answered in time, or the
 * user has abandoned a request.
 */
#ifndef LIB_SYMBOL_DEBUG_FETCH_H
#define LIB_SYMBOL_DEBUG_FETCH_H

#include <stdbool.h>

#include "scalar.h"

#define DEBUG_FETCH_SECONDS 30

enum debug_fetch_what { DEBUG_FETCH_DEBUG, DEBUG_FETCH_CODE };

/* Callbacks that tell the user of downloads; each may be NULL. */
struct debug_watch {
	/* `bytes` of the `total` bytes of the file for `name` have arrived; total 0: the size is
	 * not known yet. Called before the first byte, then at least once a second. False: abandon
	 * this and all later requests. */
	bool (*progress)(void *arg, const char *name, u64 bytes, u64 total);
	void (*done)(void *arg); /* called when a request has ended */
	void *arg;
};

struct debug_fetch;
int debug_fetch_create(const struct debug_watch *watch, struct debug_fetch **out);
void debug_fetch_free(struct debug_fetch **fetch);

/* Downloads a file: returns its descriptor, and its path for the caller to free; or a negative
 * reason. */
int debug_fetch_open(struct debug_fetch *fetch, enum debug_fetch_what what, const u8 *build_id,
		     u32 bytes, const char *name, char **path);

/* The text for a negative result of debug_fetch_open(). NULL: requests had ended before, and that
 * was reported. */
const char *debug_fetch_reason(int result);

/* True if DEBUGINFOD_URLS names a server. */
bool debug_fetch_has_servers(void);

#endif

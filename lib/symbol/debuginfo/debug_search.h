/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files with the debug information of some code: first those of this machine, then those of
 * debuginfod servers. Of each that could be the one meant somebody else says what it is; the first
 * whose build id is right, and which has what is looked for, is taken.
 */
#ifndef LIB_SYMBOL_DEBUG_SEARCH_H
#define LIB_SYMBOL_DEBUG_SEARCH_H

#include "debug_fetch.h"
#include "debug_lookup.h"
#include "debug_path.h"
#include "debug_service.h"
#include "symbol/elf/debug_link.h"

struct debug_searcher {
	const struct debug_choice *choice;
	struct debug_fetch *fetch; /* NULL: no servers */

	/* What a file says of itself; false: nothing that could be relied upon. */
	bool (*read_link)(void *arg, int file, struct debug_link *link);
	void *arg;
};

struct debug_search {
	const struct debug_searcher *searcher;
	const struct debug_code *code;
	const u8 *build_id;
	u32 build_id_bytes;
	struct debug_roots roots;
	char process_root[64];

	/* What was found. */
	bool is_replaced;	/* the mapped path leads to another file now */
	int files[DEBUG_FILES]; /* -1: not */
	struct debug_link link; /* of the file that says most */
	char path[DEBUG_PATH_BYTES];
};

/* -ENOENT: the code has no build id, or none of its own. Else close it in the end. */
int debug_search_begin(struct debug_search *search, const struct debug_searcher *searcher,
		       const struct debug_code *code);
void debug_search_end(struct debug_search *search);

/* After -ENOENT: notes a file with debug information that nothing proves to be the recorded one. */
void debug_search_unproven(struct debug_search *search);

void debug_search_here(struct debug_search *search);
void debug_search_servers(struct debug_search *search);

/* What dwz has moved away from the file that was found. */
void debug_search_shared(struct debug_search *search);

#endif

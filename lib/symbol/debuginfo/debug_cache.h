/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was found in debug information, by build id, so that another report of the same code does
 * not read it again: places that have functions and lines, and places that are known to have none.
 *
 * It holds for the file that it was found in. Where another one has the debug information now, it
 * is to be asked: it may know more. Where none is found any more, what was known stands.
 *
 * A cache is input: what is damaged, of another version, or does not make sense is not there.
 */
#ifndef LIB_SYMBOL_DEBUG_CACHE_H
#define LIB_SYMBOL_DEBUG_CACHE_H

#include "debug_items.h"

#define DEBUG_CACHE_BYTES_MAX (256ULL << 20)

struct debug_cache_key {
	const u8 *build_id;
	u32 build_id_bytes;
	u64 stext; /* of a kernel, which lies elsewhere after each boot; else 0 */
};

/* Which file it was found in. */
struct debug_source {
	u64 bytes;
	u64 seconds; /* of its last change */
	u64 nanoseconds;
	u64 code_bytes; /* of the file with the code, 0: it was not there */
};

/* The file with the debug information, and the one with the code or -1. 0 or -errno. */
int debug_source_of(int debug, int code, struct debug_source *source);

/* Not in conflict: one of them may lack the code. */
bool debug_source_equal(const struct debug_source *a, const struct debug_source *b);

/* `folder`: symbol/debuginfo/cache_folder.h. -ENOENT: there is nothing to rely on. */
int debug_cache_read(int folder, const struct debug_cache_key *key, struct debug_source *source,
		     struct debug_names **out);

/* All of `names`; of too many the last ones are left out. Two at once: the later one's stay. */
void debug_cache_write(int folder, const struct debug_cache_key *key,
		       const struct debug_source *source, const struct debug_names *names);

#endif

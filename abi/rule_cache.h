/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that were found once, for all programs and all CPUs: direct-mapped, written without a lock
 * by anyone at any time. A rule is of a place in a file, so it holds in every process and as long
 * as the file does.
 *
 * An entry is its rule and a seal over rule and key. Writers that meet in one entry may leave words
 * of both: the seal does not fit then, and the entry is as good as empty. That a torn entry fits by
 * chance takes two equal 64-bit hashes.
 *
 * Code without tables may change in place: its rules are made from the code each time.
 */
#ifndef STACKMAP_ABI_RULE_CACHE_H
#define STACKMAP_ABI_RULE_CACHE_H

#include "address_space.h"
#include "rule.h"
#include "scalar.h"

#define RULE_CACHE_BITS 16

/* Which step: from this frame (abi/stack.h), whose pc is exact (bit 63), or behind a call. */
#define RULE_KEY_INTERRUPTED (1ULL << 63)

struct rule_key {
	u64 place; /* frame | RULE_KEY_INTERRUPTED */
	/* 0: of the pc alone; or bytes of a granule; or RULE_KEY_TABLE; or RULE_KEY_CODE; or an
	 * address space's (rule_key_own, rule_key_settled). */
	u64 code;
};

/*
 * Code may be interrupted anywhere, and calls from many places; most of them have the same rule as
 * what stands beside them. So a rule of a file that holds for a whole granule, aligned to its size
 * in bytes, is kept for all of it. The granule of a pc behind a call is that of the call. One at
 * which code was interrupted may be behind a system call, and then belongs to the code before: the
 * granule's first byte is not served.
 */
#define RULE_GRANULE_MAX 256
#define RULE_GRANULE_MIN 16
#define RULE_GRANULE_STEP 4 /* 256, 64, 16 */

static inline u64 rule_key_address(const struct rule_key *key)
{
	return key->place & RULE_KEY_INTERRUPTED ? key->place & ~RULE_KEY_INTERRUPTED
						 : key->place - 1;
}

ABI_INLINE struct rule_key rule_key_of_granule(const struct rule_key *key, u64 bytes)
{
	return (struct rule_key){.place = rule_key_address(key) & -bytes, .code = bytes};
}

/* Bytes of the largest granule that serves a pc, an address or an offset in its file, and of which
 * all lies in [from, to), where the pc's rule holds; 1: the pc alone. */
ABI_INLINE u32 rule_granule(u64 pc, u32 is_interrupted, u64 from, u64 to)
{
	u64 address = is_interrupted ? pc : pc - 1;

	for (u32 bytes = RULE_GRANULE_MAX; bytes >= RULE_GRANULE_MIN; bytes /= RULE_GRANULE_STEP) {
		u64 start = address & -(u64)bytes;

		if (start != pc && start >= from && start + bytes <= to)
			return bytes;
	}
	return 1;
}

/*
 * Where the table of a file is that does not say so costs more to find out than all else, and most
 * for those that have none. It is kept as if it were a rule, under this as the code and the place
 * of the file's header: `cfa_offset` is how far behind that the table begins, 0: there is none.
 */
#define RULE_KEY_TABLE 2

/*
 * A rule that was made from the bytes around a pc, where the tables of the process say nothing, may
 * be a guess. The table of the whole file (abi/file_table.h) may know better, and may come later: a
 * rule under this key counts only where that table says nothing, either.
 */
#define RULE_KEY_CODE 3

ABI_INLINE struct rule_key rule_key_by_code(const struct rule_key *key)
{
	return (struct rule_key){.place = key->place, .code = RULE_KEY_CODE};
}

/*
 * A rule that was made from memory that its process may have written to, or a debugger or the
 * kernel for it (a breakpoint gives a page of a file a copy), serves this address space alone.
 */
ABI_INLINE struct rule_key rule_key_own(const struct rule_key *key,
					const struct address_space *space)
{
	u64 hash = (space->mm ^ space->process << 1) * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ hash >> 29 ^ space->execs) * 0xbf58476d1ce4e5b9ULL;
	return (struct rule_key){.place = key->place, .code = (hash | 1ULL << 63) & ~1ULL};
}

/*
 * Where a row of a table begins, the code before the pc decides which of two rules it is
 * (core/unwind/direct_walk.c). Its process may have written to that: it serves this address space
 * alone, too, as the code was when it was first met.
 */
ABI_INLINE struct rule_key rule_key_settled(const struct rule_key *key,
					    const struct address_space *space)
{
	struct rule_key settled = rule_key_own(key, space);

	settled.code |= 1;
	return settled;
}

struct cached_rule {
	u64 seal;
	u64 word[2]; /* a struct unwind_rule */
	u64 reserved;
};
ABI_SIZE(struct cached_rule, 32);

struct rule_cache {
	struct cached_rule entry[1U << RULE_CACHE_BITS];
};

#endif

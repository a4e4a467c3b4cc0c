/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of one generation of a stack map:
 *
 *   header | one line per CPU | slots[2^(bits + 1)] | pool[pool_words] | slack
 *
 *   slot      upper 32 hash bits << 32 | (pool word of the element + 1); 0 = free.
 *             Written once, by the cmpxchg() that publishes a finished element.
 *   element   in the pool: ref_count, identity, then the words of the stack. Only
 *             ref_count changes after publication.
 *   slack     room behind the pool, so that each element can be seen as a
 *             struct of fixed size.
 *
 * A stack id has 32 bits: the slot index in the low bits + 1 bits, and above it
 * the tag of the generation, which is the generation modulo (2^k - 1) plus 1 for
 * the k bits left. No id is 0, and an id of another generation differs, until
 * the tags wrap.
 *
 * Invariants: sum(ref_count) + sum(drops) = calls of stackid_map_get_id();
 * published elements <= 2^bits.
 */
#ifndef _TRACE_STACKMAP_TABLE_H
#define _TRACE_STACKMAP_TABLE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/types.h>

#include "stack.h"

#define STACKID_BITS_MIN 10
#define STACKID_BITS_MAX 20
#define STACKID_BITS_DEFAULT 14
#define STACKID_PROBES_MAX 64
#define STACKID_WORDS_PER_STACK                                                \
	32 /* default pool: this many words for each of 2^bits stacks */

enum stackid_drop {
	STACKID_DROP_POOL_FULL,	  /* no room for the frames in the pool */
	STACKID_DROP_TABLE_FULL,  /* 2^bits stacks are stored */
	STACKID_DROP_PROBE_LIMIT, /* 64 neighbouring slots hold other stacks */
	STACKID_DROP_COUNT,
};

struct stackid_header {
	u64 generation; /* starts at 1, never wraps in use */
	u64 seed;
	u32 id_tag; /* stackid_id_tag(), so that a hit needs no division */
	/*
	 * Entries handed out << 32 | pool words handed out. Racing writers may
	 * push either number beyond its limit; a writer whose share lies beyond
	 * the limit was refused.
	 */
	atomic64_t allocated ____cacheline_aligned_in_smp;
};

struct stackid_cpu {
	atomic64_t inserts;
	atomic64_t drops[STACKID_DROP_COUNT];
	u64 spare; /* capacity << 32 | pool word + 1 of an unused element; 0: no spare */
	atomic64_t
		lost_races; /* number of times that another CPU published the same stack first */
	/*
	 * number of pool words that were given up: the excess of a spare, a
	 * replaced spare, the end of a full pool
	 */
	atomic64_t wasted;
} ____cacheline_aligned_in_smp;

#define STACKID_ELEMENT_HEADER_WORDS 2

#define STACKID_SLOTS(bits) (2ULL << (bits))
#define STACKID_SLOTS_OFFSET(cpus)                                             \
	(sizeof(struct stackid_header) +                                       \
	 sizeof(struct stackid_cpu) * (u64)(cpus))
#define STACKID_POOL_OFFSET(bits, cpus)                                        \
	(STACKID_SLOTS_OFFSET(cpus) + 8 * STACKID_SLOTS(bits))
#define STACKID_SLACK_WORDS (STACKID_ELEMENT_HEADER_WORDS + STACKID_WORDS_MAX)
#define STACKID_BYTES(bits, cpus, pool_words)                                  \
	(STACKID_POOL_OFFSET(bits, cpus) +                                     \
	 8ULL * ((u64)(pool_words) + STACKID_SLACK_WORDS))

#define STACKID_POOL_WORDS_MIN 1024U
#define STACKID_POOL_WORDS_MAX (60U << 20)

/* The bits of an id above the slot index */
static inline u32 stackid_id_tag(u64 generation, u32 bits)
{
	u32 tags = (1U << (31 - bits)) - 1;

	return (u32)(generation % tags + 1) << (bits + 1);
}

#endif

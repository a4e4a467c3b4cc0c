/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of one generation of a stack map: one flat value, the same bytes in a BPF array map
 * and in a process.
 *
 *   header | one line per CPU | slots[2^(bits + 1)] | pool[pool_words] | slack
 *
 *   slot      u64: upper 32 hash bits << 32 | (pool word of the element + 1); 0 = free. Written
 *             once, by one compare-and-swap that publishes a finished element.
 *   element   in the pool: ref_count, identity, then the stack's words. Only ref_count changes
 *             after publication.
 *   slack     lets a reader take a fixed-size view of any element without leaving the value.
 *
 * A stack id (32 bits) is the slot index in the low bits + 1 bits, and above it the generation's
 * tag: generation modulo (2^k - 1) plus 1, for the k bits left. No id is 0, and an id of another
 * generation is seen to be stale.
 *
 * Invariants: sum(ref_count) + sum(drops) = get_id calls; published elements <= 2^bits.
 */
#ifndef STACKMAP_ABI_TABLE_H
#define STACKMAP_ABI_TABLE_H

#include "scalar.h"
#include "stack.h"

#define TABLE_BITS_MIN 10
#define TABLE_BITS_MAX 20
#define TABLE_BITS_DEFAULT 14
#define TABLE_PROBES_MAX 64
#define TABLE_WORDS_PER_STACK 32 /* default pool: this many words for each of 2^bits stacks */

#define TABLE_DROPS(X)                                                                             \
	X(POOL_FULL, "pool_full", "no room for the frames in the pool")                            \
	X(TABLE_FULL, "table_full", "2^bits stacks are stored")                                    \
	X(PROBE_LIMIT, "probe_limit", "64 neighbouring slots hold other stacks")                   \
	X(RESETTING, "resetting", "the map is being reset")

#define X(id, name, meaning) ABI_ENUM_ENTRY(TABLE_DROP, id)
enum table_drop { TABLE_DROPS(X) TABLE_DROP_COUNT };
#undef X

/*
 * The roles in an instance's outer map: the generation that programs write, and the former
 * generation, as long as readers may look up its ids.
 */
enum table_role { TABLE_CURRENT = 0, TABLE_PREVIOUS = 1, TABLE_ROLES };

struct table_header {
	u64 generation; /* starts at 1, never wraps in use */
	u64 seed;
	u32 bits;
	u32 cpus;
	u32 pool_words;
	u32 resetting; /* not 0: get_id fails */
	u32 id_tag;    /* STACK_ID_TAG(generation, bits), so that a hit needs no division */
	u32 reserved2;
	u64 reserved0[11];
	/*
	 * In a cache line of its own: entries handed out << 32 | pool words handed out. Racing
	 * writers may push either number beyond its limit; a writer whose share lies beyond the
	 * limit was refused.
	 */
	u64 allocated;
	u64 reserved1[15];
};
ABI_SIZE(struct table_header, 256);
ABI_OFFSET(struct table_header, allocated, 128);

struct table_cpu {
	u64 inserts;
	u64 drops[TABLE_DROP_COUNT];
	u64 spare;	/* capacity << 32 | pool word + 1 of an unused element; 0: no spare */
	u64 lost_races; /* number of times that another CPU published the same stack first */
	/*
	 * number of pool words that were given up: the excess of a spare, a replaced spare, the end
	 * of a full pool
	 */
	u64 wasted;
};
ABI_SIZE(struct table_cpu, 64);

struct table_element {
	u64 ref_count;
	u64 identity; /* lower 32 hash bits << 32 | flags << 16 | depth */
	u64 word[];
};
#define TABLE_ELEMENT_HEADER_WORDS 2

#define TABLE_SLOTS(bits) (2ULL << (bits))
#define TABLE_SLOTS_OFFSET(cpus)                                                                   \
	(sizeof(struct table_header) + sizeof(struct table_cpu) * (u64)(cpus))
#define TABLE_POOL_OFFSET(bits, cpus) (TABLE_SLOTS_OFFSET(cpus) + 8 * TABLE_SLOTS(bits))
#define TABLE_SLACK_WORDS (TABLE_ELEMENT_HEADER_WORDS + STACK_WORDS_MAX)
#define TABLE_BYTES(bits, cpus, pool_words)                                                        \
	(TABLE_POOL_OFFSET(bits, cpus) + 8ULL * ((u64)(pool_words) + TABLE_SLACK_WORDS))

/* Pool offsets are bounded so that a verifier accepts every variable offset (2^29 bytes). */
#define TABLE_POOL_WORDS_MIN 1024U
#define TABLE_POOL_WORDS_MAX (60U << 20)

#define STACK_ID_INDEX(id, bits) ((id) & (u32)(TABLE_SLOTS(bits) - 1))
#define STACK_ID_TAG(generation, bits)                                                             \
	((u32)((generation) % ((1U << (31 - (bits))) - 1) + 1) << ((bits) + 1))

#endif

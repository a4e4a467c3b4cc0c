/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cache of rules for all programs and all CPUs: direct-mapped, written without a lock by any
 * program at any time. A rule belongs to a place in a file, so it holds in every process and as
 * long as the file exists.
 *
 * An entry is a rule and a seal over the rule and its key. Writers that meet in one entry may leave
 * words of both rules: then the seal does not fit, and the entry counts as empty. A torn entry fits
 * by chance only if two 64-bit hashes are equal.
 *
 * Code without tables may change in place: its rules are made from the code each time.
 */
#ifndef STACKMAP_ABI_RULE_CACHE_H
#define STACKMAP_ABI_RULE_CACHE_H

#include "mapping.h"
#include "rule.h"
#include "scalar.h"

#define RULE_CACHE_BITS 16

/*
 * Bit 63 of rule_key.place; the other bits are the frame (abi/stack.h) from which the rule steps.
 * 1: the pc of the frame is exact; 0: the pc is the address after a call.
 */
#define RULE_KEY_INTERRUPTED (1ULL << 63)

struct rule_key {
	u64 place; /* frame | RULE_KEY_INTERRUPTED */
	/*
	 * what the rule holds for. 0: this pc; else bytes of a granule, RULE_KEY_TABLE,
	 * RULE_KEY_CODE, or the hash of an address space (rule_key_of_address_space,
	 * rule_key_of_row_start).
	 */
	u64 code;
};

/*
 * Code may be interrupted anywhere, and calls from many places; neighbouring places mostly have the
 * same rule. Therefore a rule of a file that holds for a whole granule (a block of code aligned to
 * its size in bytes) is cached once for the granule. A pc after a call is in the granule of the
 * call. A pc at which code was interrupted may be after a system call, and then belongs to the
 * code before: so a granule does not serve its own first byte.
 */
#define RULE_GRANULE_MAX 256
#define RULE_GRANULE_MIN 16
/* each granule has a quarter of the bytes of the next larger one: 256, 64, 16 */
#define RULE_GRANULE_STEP 4

static inline u64 rule_key_address(const struct rule_key *key)
{
	return key->place & RULE_KEY_INTERRUPTED ? key->place & ~RULE_KEY_INTERRUPTED
						 : key->place - 1;
}

ABI_INLINE struct rule_key rule_key_of_granule(const struct rule_key *key, u64 bytes)
{
	return (struct rule_key){.place = rule_key_address(key) & -bytes, .code = bytes};
}

/*
 * Bytes of the largest granule that serves a pc and lies within [from, to), where the pc's rule
 * holds; 1: the pc alone. The pc is an address or an offset in its file.
 */
ABI_INLINE u32 rule_granule_bytes(u64 pc, u32 is_interrupted, u64 from, u64 to)
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
 * The key for the place of a file's table, if the file does not say where the table is. The search
 * for the table is the most expensive part of a step, above all for files that have no table. The
 * result is therefore cached like a rule, under the place of the file's header: `cfa_offset` is the
 * distance from the header to the table; 0: the file has no table.
 */
#define RULE_KEY_TABLE 2

/*
 * The key for a rule that was made from the bytes around a pc, because the tables of the process do
 * not cover the pc. Such a rule may be a guess. The table of the whole file (abi/file_table.h) may
 * know more and may come later: the cached rule counts only if that table does not cover the pc
 * either.
 */
#define RULE_KEY_CODE 3

ABI_INLINE struct rule_key rule_key_by_code(const struct rule_key *key)
{
	return (struct rule_key){.place = key->place, .code = RULE_KEY_CODE};
}

/*
 * The key for a rule that was made from memory which the process, a debugger or the kernel may have
 * changed (a breakpoint gives a page of a file a private copy). The rule serves this address space
 * alone.
 */
ABI_INLINE struct rule_key rule_key_of_address_space(const struct rule_key *key,
						     const struct address_space *space)
{
	u64 hash = (space->mm ^ space->process << 1) * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ hash >> 29 ^ space->execs) * 0xbf58476d1ce4e5b9ULL;
	return (struct rule_key){.place = key->place, .code = (hash | 1ULL << 63) & ~1ULL};
}

/*
 * The key for a pc at which a row of a table begins: the code before the pc decides which of two
 * rules holds (core/unwind/direct_walk.c). The process may have written to that code, so the
 * decision serves this address space alone. The first decision stays, whatever is written to the
 * code later.
 */
ABI_INLINE struct rule_key rule_key_of_row_start(const struct rule_key *key,
						 const struct address_space *space)
{
	struct rule_key settled = rule_key_of_address_space(key, space);

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

/*
 * A cache of the latest steps on one CPU: place in a file -> its rule, ready to be applied.
 * Direct-mapped. The owner of the CPU's scratch slot 0 (abi/scratch.h) owns the cache, so it is
 * plain memory.
 *
 * A place determines its step, so a cached step holds in every process and as long as the file
 * exists. Steps that depend on more than the place are not cached: steps in generated code, with
 * rules of one process, and after a system call. Such steps, and all steps of programs in other
 * scratch slots, use the entry of their scratch slot while they are applied. A step always lies in
 * this map, so the verifier follows one kind of pointer.
 */

#define STEP_CACHE_BITS 12
#define STEP_CACHE_KEPT (1U << STEP_CACHE_BITS)
#define STEP_CACHE_SLOTS 8 /* number of scratch slots, each with one entry of its own */

/* A flag in cached_step.place: the pc is exact, not after a call. */
#define STEP_INTERRUPTED (1ULL << 63)

/*
 * Steps of an older generation do not count: a table that marks code (abi/script.h) begins a new
 * one. Stored in bits of `place` that no mapping number reaches.
 */
#define STEP_GENERATION(number) (((u64)(number)&0x1ff) << 53)

struct cached_step {
	u64 place; /* (frame (abi/stack.h) | STEP_INTERRUPTED) ^ STEP_GENERATION; 0: empty */
	struct unwind_rule rule;
	/* Derived from the rule; masks are by DWARF number, from STEP_MASK_SHIFT on: */
	u16 kept;     /* mask of the registers that keep their value */
	u16 restored; /* mask of the registers that are saved below the CFA */
	/*
	 * number of words below the CFA that a step reads, and STEP_BY_LINK; 0: the direct walk
	 * cannot restore the registers by this rule
	 */
	u16 words;
	u16 is_plain; /* 1: CFA = register + offset, and the rule has no special case */
};
ABI_SIZE(struct cached_step, 32);

struct step_cache {
	struct cached_step entry[STEP_CACHE_KEPT + STEP_CACHE_SLOTS];
};

#endif

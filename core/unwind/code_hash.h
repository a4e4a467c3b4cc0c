/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code without tables may change in place, generated code and a file's that is mapped apart from
 * its tables. So its rules are remembered together with a hash of what they were made from: the
 * code around the pc. Never 0, which stands for other code.
 */
#ifndef CORE_CODE_HASH_H
#define CORE_CODE_HASH_H

#include "env.h"

#define CODE_HASH_BEFORE 8 /* bytes before the pc */
#define CODE_HASH_AFTER 24 /* from the pc on */
#define CODE_HASH_WORDS ((CODE_HASH_BEFORE + CODE_HASH_AFTER) / 8)

/* Where the bytes begin: not before the mapping does. */
CORE_PART u64 code_hash_start(u64 pc, u64 mapping_start)
{
	return pc - mapping_start < CODE_HASH_BEFORE ? mapping_start : pc - CODE_HASH_BEFORE;
}

#define CODE_HASH_FACTOR 0xd6e8feb86659fd93ULL

CORE_PART u64 code_hash(const u64 word[CODE_HASH_WORDS])
{
	u64 hash = 0;

	for (u32 i = 0; i < CODE_HASH_WORDS; i++) {
		hash = (hash ^ word[i]) * CODE_HASH_FACTOR;
		hash ^= hash >> 32;
	}
	return hash | 1;
}

#endif

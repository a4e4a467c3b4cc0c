/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind_memory.h"

#include <string.h>

#include "unwind/cached_rule.h"

struct rule_cache *memory_rules;
u64 memory_image;

u32 memory_block, memory_waits;

#define BLOCKS_MAX 65536

static const u8 *memory_start;
static u32 memory_bytes;
static bool is_there[BLOCKS_MAX];
static u32 absent; /* the absent block that a read has met */
static u32 budget; /* budget before the absent block */

void memory_set(struct unwind *unwind, const void *memory, u32 bytes)
{
	memory_start = memory;
	memory_bytes = bytes;
	memset(is_there, 0, sizeof(is_there));
	absent = BLOCKS_MAX;
	memory_waits = 0;
	memset(unwind, 0, sizeof(*unwind));
	unwind->budget = UNWIND_BUDGET;
	unwind->registers.known = REGISTERS_ALL;
	unwind->is_interrupted = true;
}

static bool is_whole_read_in_memory(u64 offset, u32 bytes)
{
	if (!memory_block)
		return true;
	for (u64 block = offset / memory_block; block * memory_block < offset + bytes; block++) {
		absent = block;
		if (!is_there[block])
			return false;
	}
	absent = BLOCKS_MAX;
	return true;
}

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	u64 offset = address - MEMORY_BASE;

	if (offset > memory_bytes || memory_bytes - offset < bytes)
		return false;
	if (!is_whole_read_in_memory(offset, bytes)) {
		budget = unwind->budget;
		unwind->budget = 0;
		return false;
	}
	memcpy(buffer, memory_start + offset, bytes);
	return true;
}

bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	u64 offset = address - MEMORY_BASE;

	(void)unwind;
	if (offset > memory_bytes || memory_bytes - offset < bytes)
		return false;
	memcpy(buffer, memory_start + offset, bytes);
	return true;
}

bool unwind_wait_for_missing_page(struct unwind *unwind)
{
	if (absent == BLOCKS_MAX)
		return false;
	is_there[absent] = true;
	absent = BLOCKS_MAX;
	memory_waits++;
	unwind->budget = budget;
	return true;
}

bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	if (pc - MEMORY_BASE >= memory_bytes)
		return false;
	unwind->mapping = (struct unwind_mapping){
		.start = MEMORY_BASE, .end = MEMORY_BASE + memory_bytes, .image = memory_image};
	return true;
}

u64 unwind_frame(struct unwind *unwind, u64 pc)
{
	(void)unwind;
	return pc;
}

static struct rule_key current_key(const struct unwind *unwind)
{
	return unwind_rule_key(unwind, MEMORY_FRAME(unwind->registers.value[REGISTER_PC]));
}

bool unwind_find_cached_rule(struct unwind *unwind)
{
	struct rule_key key = current_key(unwind), by_code;

	if (unwind->mapping.image == MEMORY_IMAGE_LOST)
		unwind->mapping.image = 0;
	by_code = rule_key_by_code(&key);
	return memory_rules && (rule_cache_get(memory_rules, &key, &unwind->rule) ||
				(!unwind->is_search &&
				 rule_cache_get_exact(memory_rules, &by_code, &unwind->rule)));
}

void unwind_cache_rule(struct unwind *unwind)
{
	struct rule_key key = current_key(unwind);

	if (memory_rules)
		rule_cache_put(memory_rules, &key, &unwind->rule);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walked_memory.h"

#include <stddef.h>

u64 memory[WALKED_WORDS];
struct rule_cache rules;
struct step_cache steps;
struct direct_walk walk;
struct stack stack;
struct unwind unwind, builder;
struct direct direct = {.walk = &walk, .steps = &steps, .rules = &rules, .stack = &stack};
bool is_generated_code;
bool is_code_apart;
u64 file_moved;
struct file_table_chunk chunks[CHUNKS];
bool has_table;

bool direct_read(u64 address, void *buffer, u32 bytes)
{
	return unwind_read(&unwind, address, buffer, bytes);
}

bool rule_search_read(struct rule_search *search, u64 address, void *buffer, u32 bytes)
{
	(void)search;
	return direct_read(address, buffer, bytes);
}

u64 direct_frame_of_pc(struct direct *context, u64 pc, bool *is_generated)
{
	(void)context;
	*is_generated = is_generated_code;
	return pc - MEMORY_BASE < sizeof(memory) ? MEMORY_FRAME(pc) + file_moved : 0;
}

bool direct_code_has_no_elf_header(struct direct *context)
{
	(void)context;
	return is_code_apart;
}

struct code_range direct_mapping_range(struct direct *context)
{
	(void)context;
	return (struct code_range){MEMORY_BASE, MEMORY_BASE + sizeof(memory)};
}

const struct file_table_chunk *file_table_chunk(const struct file_table_search *search, u32 index)
{
	return has_table && search->number == FRAME_MAPPING(MEMORY_FRAME(MEMORY_BASE)) &&
			       index < CHUNKS
		       ? &chunks[index]
		       : NULL;
}

void file_table_mark_used(struct file_table_search *search, const struct file_table_chunk *root)
{
	(void)search;
	(void)root;
}

void rule_keep(const struct unwind_rule *rule)
{
	struct rule_key key =
		unwind_rule_key(&builder, MEMORY_FRAME(builder.registers.value[REGISTER_PC]));

	rule_cache_put(&rules, &key, rule);
}

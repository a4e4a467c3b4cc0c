/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder's embedder: its memory is raw_memory.h, its mappings are those listed with the
 * stack, its rules are kept in the cache that the kernel's walks use too, so that what was finished
 * here once need not come here again.
 *
 * What was learned of an image is kept within one stack only: the next one is of another task.
 */
#include "user_unwinder.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "raw_memory.h"
#include "unwind/rule_search.h"
#include "unwind/unwind.h"

#define PAGE_BYTES 4096U

struct user_unwinder {
	struct user_unwinder_options options;
	struct raw_memory memory;
	struct unwind unwind;
	struct rule_search search;
	struct file_table_chunk
		chunk; /* returned last by file_table_chunk(); a search uses one at a time */
};

int user_unwinder_create(const struct user_unwinder_options *options,
			 struct user_unwinder **unwinder)
{
	struct user_unwinder *made;
	int err;

	if (!options->mapping || !options->max_depth || options->max_depth > STACK_WALK_DEPTH_MAX)
		return -EINVAL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->options = *options;
	err = raw_memory_create(&made->memory);
	if (err) {
		user_unwinder_free(&made);
		return err;
	}
	made->memory.is_foreign = options->is_foreign;
	*unwinder = made;
	return 0;
}

void user_unwinder_free(struct user_unwinder **unwinder)
{
	if (!*unwinder)
		return;
	raw_memory_release(&(*unwinder)->memory);
	free(*unwinder);
	*unwinder = NULL;
}

u32 user_unwinder_processes(const struct user_unwinder *unwinder, u32 *pids)
{
	return readers_processes(unwinder->memory.readers, pids);
}

/* The mapping of an address, or NULL. One whose end is 0 was gone when it was looked up. */
static const struct raw_mapping *mapping_of(const struct raw_stack *raw, u64 address)
{
	u32 low = 0, high = raw->mapping_count;

	while (low < high) {
		u32 middle = (low + high) / 2;
		const struct raw_mapping *mapping = &raw->mapping[middle];

		if (address < mapping->start)
			high = middle;
		else if (address >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

static u64 frame_in(const struct raw_mapping *mapping, u64 address)
{
	return FRAME_USER(mapping->number & FRAME_MAPPING_MAX,
			  address - mapping->start + mapping->offset);
}

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	struct user_unwinder *unwinder = unwind->memory;

	return raw_memory_read(&unwinder->memory, address, buffer, bytes);
}

/* Other code than the current pc's can be read as that of its own file. */
static bool peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	struct user_unwinder *unwinder = unwind->memory;
	const struct raw_mapping *mapping = mapping_of(unwinder->memory.raw, address);
	struct raw_memory current = unwinder->memory;
	bool is_read;

	if (!mapping || mapping == current.mapping)
		return unwind_read(unwind, address, buffer, bytes);
	raw_memory_enter(&unwinder->memory, mapping,
			 unwinder->options.mapping(unwinder->options.argument, mapping->number));
	is_read = raw_memory_read(&unwinder->memory, address, buffer, bytes);
	unwinder->memory = current;
	return is_read;
}

/* What lies in front of the first bytes of code need not be readable, and counts as 0. */
bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	u32 missing = -address & (PAGE_BYTES - 1);

	if (peek(unwind, address, buffer, bytes))
		return true;
	if (!missing || missing >= bytes)
		return false;
	memset(buffer, 0, missing);
	return peek(unwind, address + missing, (u8 *)buffer + missing, bytes - missing);
}

bool unwind_refill(struct unwind *unwind)
{
	(void)unwind;
	return false;
}

bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	struct user_unwinder *unwinder = unwind->memory;
	const struct user_unwinder_options *options = &unwinder->options;
	const struct raw_mapping *mapping = mapping_of(unwinder->memory.raw, pc);
	const struct mapping_record *record;

	if (!mapping)
		return false;
	record = options->mapping(options->argument, mapping->number);
	unwind->mapping = (struct unwind_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.image = raw_memory_enter(&unwinder->memory, mapping, record),
	};
	return true;
}

u64 unwind_frame(struct unwind *unwind, u64 pc)
{
	const struct user_unwinder *unwinder = unwind->memory;
	const struct raw_mapping *mapping = mapping_of(unwinder->memory.raw, pc);

	return mapping ? frame_in(mapping, pc) : FRAME_USER(MAPPING_UNKNOWN, pc);
}

/* False: the current frame's mapping has no number, or rules are not kept. */
static bool cache_key(const struct unwind *unwind, struct rule_key *key)
{
	const struct user_unwinder *unwinder = unwind->memory;
	const struct raw_mapping *mapping = unwinder->memory.mapping;

	if (!unwinder->options.rules || mapping->number == MAPPING_UNKNOWN)
		return false;
	*key = unwind_rule_key(unwind, frame_in(mapping, unwind->registers.value[REGISTER_RIP]));
	return true;
}

static struct user_unwinder *unwinder_of(const struct rule_search *search)
{
	return (void *)((char *)search - offsetof(struct user_unwinder, search));
}

const struct file_table_chunk *file_table_chunk(const struct file_table_search *table, u32 index)
{
	const struct rule_search *search =
		(const void *)((const char *)table - offsetof(struct rule_search, table));
	struct user_unwinder *unwinder = unwinder_of(search);
	const struct user_unwinder_options *options = &unwinder->options;

	if (!options->chunk ||
	    options->chunk(options->argument, FILE_TABLE_KEY(table->number, index),
			   &unwinder->chunk))
		return NULL;
	return &unwinder->chunk;
}

/* The direct walk reads the same tables and notes their use, so the use is not noted here. */
void file_table_use(struct file_table_search *table, const struct file_table_chunk *root)
{
	(void)table;
	(void)root;
}

bool rule_search_read(struct rule_search *search, u64 address, void *buffer, u32 bytes)
{
	return raw_memory_read(&unwinder_of(search)->memory, address, buffer, bytes);
}

/* The address space of a stack is not known here, so search.space stays zero. A rule at the
 * beginning of a row is therefore cached for all processes: code is taken to be that of the file.
 */
bool unwind_recall(struct unwind *unwind)
{
	struct user_unwinder *unwinder = unwind->memory;
	struct rule_cache *rules = unwinder->options.rules;
	struct rule_key key;

	if (!cache_key(unwind, &key))
		return false;
	if (unwind->is_search)
		return rule_cache_get_exact(rules, &key, &unwind->rule);
	unwinder->search.place = key.place;
	unwinder->search.pc = unwind->registers.value[REGISTER_RIP];
	if (!rule_search_find(&unwinder->search, rules))
		return false;
	unwind->rule = unwinder->search.rule;
	unwind->is_listed = unwinder->search.is_listed;
	return true;
}

/* What a process shows in place of a file is not that file. */
static bool is_genuine(const struct raw_memory *memory)
{
	if (memory->kind != MAPPING_FILE)
		return true;
	return memory->file && !code_file_is_held(memory->file);
}

void unwind_remember(struct unwind *unwind)
{
	const struct user_unwinder *unwinder = unwind->memory;
	struct rule_key key;

	if (is_genuine(&unwinder->memory) && cache_key(unwind, &key))
		rule_cache_put(unwinder->options.rules, &key, &unwind->rule);
}

static void walk(struct user_unwinder *unwinder, const struct raw_stack *raw)
{
	struct unwind *unwind = &unwinder->unwind;

	raw_memory_begin(&unwinder->memory, raw);
	unwind_forget(unwind);
	unwind->memory = unwinder;
	unwind->is_compat = raw->flags & RAW_COMPAT;
	unwind->budget = UNWIND_BUDGET;
	unwind->guess_mark = FRAME_GUESSED;
	for (u32 i = 0; i < REGISTER_COUNT; i++)
		unwind->registers.value[i] = raw->value[i];
	unwind->registers.known = (1U << REGISTER_COUNT) - 1;
	unwind->registers.at_entry = raw->flags & RAW_AT_ENTRY;
	unwind_stack(unwind, unwinder->options.max_depth);
}

/* A list of mappings that is not complete is no proof that there is no code. */
static u32 stop_of(const struct user_unwinder *unwinder, const struct raw_stack *raw)
{
	u32 stop = unwinder->unwind.stop;

	return stop == STOP_NOT_CODE && raw->flags & RAW_SOME_MAPPINGS ? STOP_BUDGET : stop;
}

int user_unwinder_unwind(struct user_unwinder *unwinder, const struct raw_stack *raw,
			 struct unwound_stack *stack)
{
	if (raw->mapping_count > RAW_MAPPINGS_MAX || raw->stack_bytes > RAW_STACK_BYTES_MAX)
		return -EINVAL;
	walk(unwinder, raw);
	stack->depth = unwinder->unwind.depth;
	stack->flags = stack_flags_of_stop(stop_of(unwinder, raw));
	memcpy(stack->frame, unwinder->unwind.frame, stack->depth * sizeof(*stack->frame));
	return 0;
}

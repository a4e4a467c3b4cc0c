/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Supplies the unwinder of core/ with memory and mappings, for stacks that the kernel left
 * unfinished. Memory comes from struct raw_memory, mappings from the list that was sent with the
 * stack. Rules are stored in the cache that the BPF programs use, so that the kernel can unwind the
 * next stack of the same code itself.
 *
 * Facts about a mapped ELF file are kept only during one stack, because the next stack is of
 * another task.
 */
#include "user_unwinder.h"

#include <errno.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "code_file.h"
#include "raw_stack.h"
#include "symbol/elf/vdso.h"
#include "unwind/rule_search.h"
#include "unwind/unwind.h"

/*
 * The memory of a task, as far as it can still be read. The first source that has all bytes is
 * used, in this order: the copy of the stack; the file of the current code, whose unwind tables are
 * found by the program headers at the start of the mapping; the vdso of this process, which is the
 * same in every 64-bit task; the memory of the process itself. The process's memory is read only
 * while the task still waits at the event (RAW_ALIVE), or for code without a file: otherwise the
 * memory may have changed.
 */

struct raw_memory {
	struct readers *readers;
	struct code_files *files;
	Elf *vdso; /* the vdso of this process; NULL: it has no vdso */

	const struct raw_stack *raw;
	/* The mapping whose code and tables can be read now; NULL: none. */
	const struct raw_mapping *mapping;
	u32 kind; /* kind of the mapping: enum mapping_kind */
	/* File of the mapping if `kind` is MAPPING_FILE; may be NULL. */
	const struct code_file *file;
	bool is_foreign; /* ids of tasks are those of another PID namespace */
	u64 bias;	 /* load bias: address = bias + virtual address in the file */
};

static u64 open_mapped_file_and_find_elf_header(struct raw_memory *memory,
						const struct mapping_record *record)
{
	const struct raw_mapping *mapping = memory->mapping;
	const struct reader_file seen = {
		.number = mapping->number,
		.tgid = memory->raw->tgid,
		.start = mapping->start,
		.end = mapping->end,
		.record = record,
	};
	u64 code, header;

	memory->file = code_files_get(memory->files, &seen);
	if (!memory->file)
		/*
		 * This is the address of the ELF header in most files. For rules that are in the
		 * cache the address is enough. If the process may be read, its memory has the
		 * header itself.
		 */
		return mapping->start - mapping->offset;
	if (!code_file_address_of_offset(memory->file, mapping->offset, &code) ||
	    !code_file_address_of_elf_header(memory->file, &header))
		return 0;
	memory->bias = mapping->start - code;
	return memory->bias + header;
}

/*
 * Makes the code and the tables of a mapping readable. `record` may be NULL. Returns the address of
 * the ELF header of the mapped file; 0: it has no ELF header.
 */
static u64 choose_mapping_to_read(struct raw_memory *memory, const struct raw_mapping *mapping,
				  const struct mapping_record *record)
{
	memory->mapping = mapping;
	memory->kind = record ? record->key.kind : MAPPING_FREE;
	memory->file = NULL;
	if (memory->kind == MAPPING_FILE)
		return open_mapped_file_and_find_elf_header(memory, record);
	return memory->kind == MAPPING_VDSO ? mapping->start : 0;
}

static bool copy_bytes_if_all_available(const void *from, u64 available, u64 at, void *buffer,
					u32 bytes)
{
	if (at > available || available - at < bytes)
		return false;
	memcpy(buffer, (const u8 *)from + at, bytes);
	return true;
}

static bool read_task_memory_from_stack_copy(const struct raw_memory *memory, u64 address,
					     void *buffer, u32 bytes)
{
	const struct raw_stack *raw = memory->raw;

	return copy_bytes_if_all_available(raw->stack, raw->stack_bytes, address - raw->stack_start,
					   buffer, bytes) &&
	       !(raw->missing >> (RAW_STACK_PAGE(raw, address) & 63) & 1) &&
	       !(raw->missing >> (RAW_STACK_PAGE(raw, address + bytes - 1) & 63) & 1);
}

static bool is_in_mapping(const struct raw_memory *memory, u64 address, u32 bytes)
{
	const struct raw_mapping *mapping = memory->mapping;

	return mapping && address >= mapping->start && address < mapping->end &&
	       mapping->end - address >= bytes;
}

/* Code is read by its position in the mapping, other parts of the file by the program headers. */
static bool read_task_memory_from_code_file(const struct raw_memory *memory, u64 address,
					    void *buffer, u32 bytes)
{
	const struct raw_mapping *mapping = memory->mapping;

	if (!mapping || !memory->file)
		return false;
	if (is_in_mapping(memory, address, bytes))
		return code_file_read(memory->files, memory->file,
				      mapping->offset + (address - mapping->start), buffer, bytes);
	return code_file_read_at_address(memory->files, memory->file, address - memory->bias,
					 buffer, bytes);
}

static bool read_task_memory_from_vdso_image(const struct raw_memory *memory, u64 address,
					     void *buffer, u32 bytes)
{
	size_t available = 0;
	const char *image;

	if (!memory->mapping || memory->kind != MAPPING_VDSO || !memory->vdso ||
	    memory->raw->flags & RAW_COMPAT)
		return false;
	image = elf_rawfile(memory->vdso, &available);
	return image && copy_bytes_if_all_available(
				image, available, address - memory->mapping->start, buffer, bytes);
}

static bool read_process_memory(const struct raw_memory *memory, u64 address, void *buffer,
				u32 bytes)
{
	const struct raw_stack *raw = memory->raw;
	bool is_alive = raw->flags & RAW_ALIVE;

	if (memory->is_foreign ||
	    (!is_alive && !(memory->kind == MAPPING_ANON && is_in_mapping(memory, address, bytes))))
		return false;
	return readers_read_memory(memory->readers, is_alive ? raw->tid : raw->tgid, raw->tgid,
				   address, buffer, bytes);
}

/* Reads memory of the task. False: not all bytes can be read. */
static bool read_task_memory(struct raw_memory *memory, u64 address, void *buffer, u32 bytes)
{
	return read_task_memory_from_stack_copy(memory, address, buffer, bytes) ||
	       read_task_memory_from_code_file(memory, address, buffer, bytes) ||
	       read_task_memory_from_vdso_image(memory, address, buffer, bytes) ||
	       read_process_memory(memory, address, buffer, bytes);
}

#define PAGE_BYTES 4096U

struct user_unwinder {
	struct user_unwinder_options options;
	struct raw_memory memory;
	struct unwind unwind;
	struct rule_search search;
	/* the chunk that file_table_chunk() has copied last; a search uses one chunk at a time */
	struct file_table_chunk chunk;
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
	made->memory.vdso = vdso_open();
	err = readers_create(&made->memory.readers)
		      ?: code_files_create(made->memory.readers, &made->memory.files);
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
	code_files_free(&(*unwinder)->memory.files);
	readers_free(&(*unwinder)->memory.readers);
	elf_end((*unwinder)->memory.vdso);
	free(*unwinder);
	*unwinder = NULL;
}

u32 user_unwinder_worker_pids(const struct user_unwinder *unwinder, u32 *pids)
{
	return readers_worker_pids(unwinder->memory.readers, pids);
}

/*
 * Returns the mapping that contains an address; NULL: none does. A mapping with end 0 no longer
 * existed when it was looked up.
 */
static const struct raw_mapping *find_mapping_of_address(const struct raw_stack *raw, u64 address)
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

static u64 frame_of_mapping(const struct raw_mapping *mapping, u64 address)
{
	return FRAME_USER(mapping->number & FRAME_MAPPING_MAX,
			  address - mapping->start + mapping->offset);
}

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	struct user_unwinder *unwinder = unwind->memory;

	return read_task_memory(&unwinder->memory, address, buffer, bytes);
}

/*
 * Reads code at any address. If the address is outside of the current mapping, the code is read
 * from the file of the mapping that contains it.
 */
static bool read_any_code(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	struct user_unwinder *unwinder = unwind->memory;
	const struct raw_mapping *mapping = find_mapping_of_address(unwinder->memory.raw, address);
	struct raw_memory current = unwinder->memory;
	bool is_read;

	if (!mapping || mapping == current.mapping)
		return unwind_read(unwind, address, buffer, bytes);
	choose_mapping_to_read(
		&unwinder->memory, mapping,
		unwinder->options.mapping(unwinder->options.argument, mapping->number));
	is_read = read_task_memory(&unwinder->memory, address, buffer, bytes);
	unwinder->memory = current;
	return is_read;
}

/* Reads code. If not all bytes can be read, those before the next page boundary are set to 0 and
 * the rest is read: a mapping may start there. */
bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	u32 missing = -address & (PAGE_BYTES - 1);

	if (read_any_code(unwind, address, buffer, bytes))
		return true;
	if (!missing || missing >= bytes)
		return false;
	memset(buffer, 0, missing);
	return read_any_code(unwind, address + missing, (u8 *)buffer + missing, bytes - missing);
}

bool unwind_wait_for_missing_page(struct unwind *unwind)
{
	(void)unwind;
	return false;
}

bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	struct user_unwinder *unwinder = unwind->memory;
	const struct user_unwinder_options *options = &unwinder->options;
	const struct raw_mapping *mapping = find_mapping_of_address(unwinder->memory.raw, pc);
	const struct mapping_record *record;

	if (!mapping)
		return false;
	record = options->mapping(options->argument, mapping->number);
	unwind->mapping = (struct unwind_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.image = choose_mapping_to_read(&unwinder->memory, mapping, record),
	};
	unwind->mapping.is_vdso = unwinder->memory.kind == MAPPING_VDSO;
	return true;
}

u64 unwind_frame(struct unwind *unwind, u64 pc)
{
	const struct user_unwinder *unwinder = unwind->memory;
	const struct raw_mapping *mapping = find_mapping_of_address(unwinder->memory.raw, pc);

	return mapping ? frame_of_mapping(mapping, pc) : FRAME_USER(MAPPING_UNKNOWN, pc);
}

/*
 * Makes the cache key of the current frame. False: the frame's mapping has no number, or there is
 * no cache.
 */
static bool make_cache_key(const struct unwind *unwind, struct rule_key *key)
{
	const struct user_unwinder *unwinder = unwind->memory;
	const struct raw_mapping *mapping = unwinder->memory.mapping;

	if (!unwinder->options.rules || mapping->number == MAPPING_UNKNOWN)
		return false;
	*key = unwind_rule_key(unwind,
			       frame_of_mapping(mapping, unwind->registers.value[REGISTER_PC]));
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

/*
 * The walk in the kernel reads the same tables and marks them as used, so they are not marked here.
 */
void file_table_mark_used(struct file_table_search *table, const struct file_table_chunk *root)
{
	(void)table;
	(void)root;
}

bool rule_search_read(struct rule_search *search, u64 address, void *buffer, u32 bytes)
{
	return read_task_memory(&unwinder_of(search)->memory, address, buffer, bytes);
}

/*
 * The address space of a stack is not known here, so search.space stays zero. A rule for the first
 * address of a table row is therefore cached for all processes. This assumes that the code in
 * memory equals its file.
 */
bool unwind_find_cached_rule(struct unwind *unwind)
{
	struct user_unwinder *unwinder = unwind->memory;
	struct rule_cache *rules = unwinder->options.rules;
	struct rule_key key;

	if (!make_cache_key(unwind, &key))
		return false;
	if (unwind->is_search)
		return rule_cache_get_exact(rules, &key, &unwind->rule);
	unwinder->search.place = key.place;
	unwinder->search.pc = unwind->registers.value[REGISTER_PC];
	if (!rule_search_find(&unwinder->search, rules))
		return false;
	unwind->rule = unwinder->search.rule;
	unwind->is_listed = unwinder->search.is_listed;
	return true;
}

void unwind_cache_rule(struct unwind *unwind)
{
	const struct user_unwinder *unwinder = unwind->memory;
	const struct raw_memory *memory = &unwinder->memory;
	struct rule_key key;

	/*
	 * The content of a file that a worker keeps open may differ from process to process, so
	 * rules from it are not cached.
	 */
	if (memory->kind == MAPPING_FILE && (!memory->file || code_file_is_held(memory->file)))
		return;
	if (make_cache_key(unwind, &key))
		rule_cache_put(unwinder->options.rules, &key, &unwind->rule);
}

int user_unwinder_unwind(struct user_unwinder *unwinder, const struct raw_stack *raw,
			 struct unwound_stack *stack)
{
	struct unwind *unwind = &unwinder->unwind;
	u32 stop;

	if (raw->mapping_count > RAW_MAPPINGS_MAX || raw->stack_bytes > RAW_STACK_BYTES_MAX)
		return -EINVAL;
	unwinder->memory.raw = raw;
	unwinder->memory.mapping = NULL;
	readers_drop_process_owners(unwinder->memory.readers);
	unwind_drop_mapping_and_tables(unwind);
	unwind->memory = unwinder;
	unwind->is_compat = raw->flags & RAW_COMPAT;
	unwind->budget = UNWIND_BUDGET;
	unwind->guess_mark = FRAME_GUESSED;
	for (u32 i = 0; i < REGISTER_COUNT; i++)
		unwind->registers.value[i] = raw->value[i];
	unwind->registers.known = REGISTERS_ALL;
	unwind->registers.at_entry = raw->flags & RAW_AT_ENTRY;
	unwind_stack(unwind, unwinder->options.max_depth);
	stack->depth = unwind->depth;
	/* If the list of mappings is incomplete, an address without a mapping may still be code. */
	stop = unwind->stop;
	if (stop == STOP_NOT_CODE && raw->flags & RAW_SOME_MAPPINGS)
		stop = STOP_BUDGET;
	stack->flags = stack_flags_of_stop(stop);
	memcpy(stack->frame, unwind->frame, stack->depth * sizeof(*stack->frame));
	return 0;
}

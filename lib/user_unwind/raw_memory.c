/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In this order, the first that has all bytes: the copy of the stack; the file of the current code,
 * whose unwind tables are found by its program headers from where its code was mapped; our own
 * vdso, which is that of every 64-bit task; the process itself. The process may have gone on since:
 * it is asked only if it cannot have, or for code that is in no file.
 */
#include "raw_memory.h"

#include <string.h>

#include "symbol/elf/vdso.h"

int raw_memory_create(struct raw_memory *memory)
{
	*memory = (struct raw_memory){.vdso = vdso_open()};
	return readers_create(&memory->readers)
		       ?: code_files_create(memory->readers, &memory->files);
}

void raw_memory_release(struct raw_memory *memory)
{
	code_files_free(&memory->files);
	readers_free(&memory->readers);
	if (memory->vdso)
		elf_end(memory->vdso);
	memory->vdso = NULL;
}

void raw_memory_begin(struct raw_memory *memory, const struct raw_stack *raw)
{
	memory->raw = raw;
	memory->mapping = NULL;
	readers_begin(memory->readers);
}

/* Where the header is in most files: rules that are known already need no more than that it is
 * there, and a process that may be asked has it. */
static u64 usual_header(const struct raw_mapping *mapping)
{
	return mapping->start - mapping->offset;
}

static u64 enter_file(struct raw_memory *memory, const struct mapping_record *record)
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
		return usual_header(mapping);
	if (!code_file_address(memory->file, mapping->offset, &code) ||
	    !code_file_header(memory->file, &header))
		return 0;
	memory->bias = mapping->start - code;
	return memory->bias + header;
}

u64 raw_memory_enter(struct raw_memory *memory, const struct raw_mapping *mapping,
		     const struct mapping_record *record)
{
	memory->mapping = mapping;
	memory->kind = record ? record->key.kind : MAPPING_FREE;
	memory->file = NULL;
	if (memory->kind == MAPPING_FILE)
		return enter_file(memory, record);
	return memory->kind == MAPPING_VDSO ? mapping->start : 0;
}

static bool copy_from(const void *from, u64 available, u64 at, void *buffer, u32 bytes)
{
	if (at > available || available - at < bytes)
		return false;
	memcpy(buffer, (const u8 *)from + at, bytes);
	return true;
}

static bool stack_read(const struct raw_memory *memory, u64 address, void *buffer, u32 bytes)
{
	const struct raw_stack *raw = memory->raw;

	return copy_from(raw->stack, raw->stack_bytes, address - raw->stack_start, buffer, bytes);
}

static bool is_in_mapping(const struct raw_memory *memory, u64 address, u32 bytes)
{
	const struct raw_mapping *mapping = memory->mapping;

	return mapping && address >= mapping->start && address < mapping->end &&
	       mapping->end - address >= bytes;
}

/* Code lies where it is mapped, whatever the program headers say. */
static bool file_read(const struct raw_memory *memory, u64 address, void *buffer, u32 bytes)
{
	const struct raw_mapping *mapping = memory->mapping;

	if (!mapping || !memory->file)
		return false;
	if (is_in_mapping(memory, address, bytes))
		return code_file_read(memory->files, memory->file,
				      mapping->offset + (address - mapping->start), buffer, bytes);
	return code_file_read_address(memory->files, memory->file, address - memory->bias, buffer,
				      bytes);
}

static bool vdso_read(const struct raw_memory *memory, u64 address, void *buffer, u32 bytes)
{
	size_t available = 0;
	const char *image;

	if (!memory->mapping || memory->kind != MAPPING_VDSO || !memory->vdso ||
	    memory->raw->flags & RAW_COMPAT)
		return false;
	image = elf_rawfile(memory->vdso, &available);
	return image &&
	       copy_from(image, available, address - memory->mapping->start, buffer, bytes);
}

static bool may_ask_process(const struct raw_memory *memory, u64 address, u32 bytes)
{
	if (memory->is_foreign)
		return false;
	return memory->raw->flags & RAW_ALIVE ||
	       (memory->kind == MAPPING_ANON && is_in_mapping(memory, address, bytes));
}

static bool process_read(const struct raw_memory *memory, u64 address, void *buffer, u32 bytes)
{
	const struct raw_stack *raw = memory->raw;

	return may_ask_process(memory, address, bytes) &&
	       readers_memory(memory->readers, raw->flags & RAW_ALIVE ? raw->tid : raw->tgid,
			      raw->tgid, address, buffer, bytes);
}

bool raw_memory_read(struct raw_memory *memory, u64 address, void *buffer, u32 bytes)
{
	return stack_read(memory, address, buffer, bytes) ||
	       file_read(memory, address, buffer, bytes) ||
	       vdso_read(memory, address, buffer, bytes) ||
	       process_read(memory, address, buffer, bytes);
}

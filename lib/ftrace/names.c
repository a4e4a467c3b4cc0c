/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames become sorted addresses, so the addresses of a mapping are one query; kernel addresses
 * (bit 63) come last. */
#include "ftrace/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace/stacks.h"
#include "symbol/file/file_place.h"
#include "trace/write/frame_addresses.h"

struct names {
	struct trace_writer *writer;
	const struct ftrace_naming *naming;
};

/* Names the marker that ftrace writes for its trampolines, which is not an address. */
static int write_trampoline(const struct names *names)
{
	const struct trace_symbol symbol = {
		.start = FTRACE_TRAMPOLINE_FRAME - 1,
		.address = FTRACE_TRAMPOLINE_FRAME - 1,
		.size = 2,
		.name = "[FTRACE TRAMPOLINE]",
	};

	return trace_writer_symbol(names->writer, &symbol);
}

static int name_kernel(const struct names *names, u64 address)
{
	struct trace_symbol symbol = {};
	struct symbol found = {};

	if (address + 1 == FTRACE_TRAMPOLINE_FRAME)
		return write_trampoline(names);
	if (!names->naming->kernel(names->naming->arg, address, &found) || !found.name)
		return 0;
	symbol.start = symbol.address = found.start;
	symbol.size = found.size ?: address - found.start + 1;
	symbol.name = found.name;
	return trace_writer_symbol(names->writer, &symbol);
}

/* Stores a path as its components, innermost first. A path that is too long is left out. */
static void put_path(const char *path, struct mapping_record *record)
{
	u32 used = 0;

	for (const char *end = path + strlen(path), *name; end > path; end = name - 1) {
		u32 bytes;

		for (name = end; name > path && name[-1] != '/'; name--)
			;
		bytes = (u32)(end - name);
		if (name == path || used + bytes + 1 > sizeof(record->path))
			return;
		memcpy(record->path + used, name, bytes);
		used += bytes + 1;
	}
	record->path_bytes = used;
	record->path_whole = 1;
}

static struct mapping_record record_of(const struct mapping_text *line)
{
	struct mapping_record record = {
		.key = {.kind = MAPPING_FILE, .inode = line->number},
		.build_id_bytes = line->build_id_bytes,
	};

	memcpy(record.build_id, line->build_id, line->build_id_bytes);
	put_path(line->path, &record);
	return record;
}

/* The sandbox that parses the file compares the build id. */
static int open_by_path(const struct mapping_record *record, const char *path)
{
	return path[0] == '/' && record->path_whole ? file_place_take(file_place_below("/", path))
						    : -ENOENT;
}

static int write_symbol(void *arg, const struct trace_symbol *symbol, bool is_alone)
{
	(void)is_alone;
	return trace_writer_symbol(arg, symbol);
}

/* `run` has addresses of one mapping. Without the mapping's file the addresses have no names. */
static int name_user(const struct names *names, u64 *run, u32 count)
{
	const struct ftrace_naming *naming = names->naming;
	const struct mapping_text *line = NULL;
	struct mapping_record record;
	struct symbol_query query = {
		.number = FRAME_MAPPING(run[0]),
		.record = &record,
		.open = open_by_path,
		.addresses = run,
		.count = count,
		.each = write_symbol,
		.arg = names->writer,
	};

	if (naming->mappings)
		line = mappings_find(naming->mappings, query.number);
	if (!line || !line->build_id_bytes || !naming->lookup)
		return 0;
	record = record_of(line);
	for (u32 i = 0; i < count; i++)
		run[i] = FRAME_OFFSET(run[i]);
	symbol_lookup_find(naming->lookup, &query);
	return 0;
}

static u32 run_length(const u64 *items, u32 count)
{
	u32 length = 1;

	while (length < count && !FRAME_IS_KERNEL(items[length]) &&
	       FRAME_MAPPING(items[length]) == FRAME_MAPPING(items[0]))
		length++;
	return length;
}

static int name_all(const struct names *names, const struct frame_addresses *addresses)
{
	u32 step;
	int err = 0;

	for (u32 i = 0; i < addresses->count && !err; i += step) {
		u64 *item = &addresses->items[i];

		step = FRAME_IS_KERNEL(*item) ? 1 : run_length(item, addresses->count - i);
		err = FRAME_IS_KERNEL(*item) ? name_kernel(names, *item)
					     : name_user(names, item, step);
	}
	return err;
}

int ftrace_names_write(struct trace_writer *writer, const struct ftrace_naming *naming)
{
	const struct names names = {writer, naming};
	struct frame_addresses addresses = {};
	int err = frame_addresses_collect(writer, &addresses);

	err = err ?: name_all(&names, &addresses);
	free(addresses.items);
	return err;
}

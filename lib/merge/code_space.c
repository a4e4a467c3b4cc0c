/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording has hundreds of modules and files, but an attacker's recording may have hundreds of
 * thousands. Each is looked up once for each recording, in hash tables. Frames are many, so the new
 * mapping number of a frame is looked up in an array, and its module by binary search.
 */
#include "code_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"
#include "intern.h"
#include "order.h"

#define MACHINE_SHIFT 48
#define ADDRESS_MASK ((1ULL << MACHINE_SHIFT) - 1)

struct build_id {
	u8 bytes[TRACE_BUILD_ID_MAX];
	u32 count;
};

struct placed_module {
	char *name;
	struct build_id id;
	u32 machine;
	u64 start, end;
};

struct placed_file {
	struct intern_key id; /* struct build_id of the file */
	u32 number;
};

struct code_space {
	struct placed_module *modules;
	struct intern files; /* entries: struct placed_file, of files with a build id */
	struct hash_index module_index;
	u32 module_room;
	u32 last_number; /* last number given to a mapping */
};

struct moved_module {
	u64 start, end;
	u64 shift; /* the number that is added to an address, modulo 2^64 */
};

struct code_map {
	u32 machine;
	struct moved_module *modules; /* modules of the recording, sorted by address */
	u32 module_count;
	/* by number of a mapping in the recording: its number in the code space; 0: no such mapping
	 */
	u32 *numbers;
	u32 number_count;
};

int code_space_create(struct code_space **out)
{
	struct code_space *space = calloc(1, sizeof(*space));

	if (!space)
		return -ENOMEM;
	space->files = INTERN(struct placed_file);
	*out = space;
	return 0;
}

void code_space_free(struct code_space **space)
{
	struct code_space *old = *space;

	if (!old)
		return;
	for (u32 i = 0; i < old->module_index.count; i++)
		free(old->modules[i].name);
	hash_index_free(&old->module_index);
	intern_clear(&old->files);
	free(old->modules);
	free(old);
	*space = NULL;
}

void code_map_free(struct code_map **map)
{
	if (!*map)
		return;
	free((*map)->modules);
	free((*map)->numbers);
	free(*map);
	*map = NULL;
}

static struct build_id make_build_id(const u8 *bytes, u32 count)
{
	struct build_id id = {.count = count};

	memcpy(id.bytes, bytes, count);
	return id;
}

_Static_assert(sizeof(struct build_id) % sizeof(u64) == 0, "hashed by words");

/* The address of kernel code in the merged recording: unchanged for the first machine, in a
 * range of its own for each other machine. */
static u64 kernel_address_of_merged_machine(u32 machine, u64 address)
{
	if (!machine)
		return address;
	return 1ULL << 63 | (u64)machine << MACHINE_SHIFT | (address & ADDRESS_MASK);
}

/* Key of a module in a lookup. */
struct module_key {
	const struct trace_module *module;
	u32 machine;
};

/* Modules are equal by build id and name; without a build id by machine, address range and name. */
static bool is_same_module(const void *modules, u32 index, const void *key)
{
	const struct placed_module *placed = &((const struct placed_module *)modules)[index];
	const struct trace_module *module = ((const struct module_key *)key)->module;
	u32 machine = ((const struct module_key *)key)->machine;
	bool same_place =
		placed->machine == machine && !placed->id.count && !module->build_id_bytes &&
		placed->start == kernel_address_of_merged_machine(machine, module->start) &&
		placed->end - placed->start == module->end - module->start;
	bool same_id = module->build_id_bytes && placed->id.count == module->build_id_bytes &&
		       memcmp(placed->id.bytes, module->build_id, module->build_id_bytes) == 0;

	return (same_place || same_id) && strcmp(placed->name, module->name) == 0;
}

/* Finds the module in the code space; a new module is added and written. NULL: no memory, or the
 * writer failed. */
static const struct placed_module *find_or_write_module(struct code_space *space,
							const struct module_key *key,
							struct trace_writer *writer)
{
	struct trace_module moved = *key->module;
	const struct build_id id = make_build_id(moved.build_id, moved.build_id_bytes);
	u64 start = kernel_address_of_merged_machine(key->machine, moved.start);
	u64 sum = hash_word(hash_words(0, &id, sizeof(id)), hash_text(moved.name));
	u32 hash = hash_end(id.count ? sum : hash_word(sum, start));
	u32 count = space->module_index.count;
	u32 found =
		hash_index_find(&space->module_index, hash, is_same_module, space->modules, key);
	struct placed_module *placed;

	if (found != HASH_INDEX_NONE)
		return &space->modules[found];
	if (array_make_room(space->modules, count, space->module_room))
		return NULL;
	placed = &space->modules[count];
	moved.start = start;
	moved.end = moved.start + (key->module->end - key->module->start);
	*placed = (struct placed_module){.name = strdup(moved.name),
					 .id = id,
					 .machine = key->machine,
					 .start = moved.start,
					 .end = moved.end};
	if (!placed->name || hash_index_add(&space->module_index, hash, count)) {
		free(placed->name);
		return NULL;
	}
	return trace_writer_module(writer, &moved) ? NULL : placed;
}

static int compare_module_starts(const void *a, const void *b)
{
	const struct moved_module *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int translate_modules(struct code_space *space, const struct trace_reader *reader,
			     struct trace_writer *writer, struct code_map *map)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(reader, &modules);

	map->modules = calloc(count + 1UL, sizeof(*map->modules));
	if (!map->modules)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		const struct module_key key = {&modules[i], map->machine};
		const struct placed_module *placed = find_or_write_module(space, &key, writer);

		if (!placed)
			return -ENOMEM;
		map->modules[i] = (struct moved_module){.start = modules[i].start,
							.end = modules[i].end,
							.shift = placed->start - modules[i].start};
	}
	map->module_count = count;
	qsort(map->modules, count, sizeof(*map->modules), compare_module_starts);
	return 0;
}

_Static_assert(sizeof(struct build_id) == sizeof(struct intern_key), "a build id is a key");

static int write_new_mapping(struct code_space *space, const struct trace_mapping *mapping,
			     u32 first_tid, struct trace_writer *writer, u32 *number)
{
	struct trace_mapping moved = *mapping;

	if (space->last_number + 1 == MAPPING_UNKNOWN)
		return -E2BIG;
	moved.number = ++space->last_number;
	moved.tgid += first_tid;
	*number = moved.number;
	return trace_writer_mapping(writer, &moved);
}

/* Sets the new number for a mapping of the recording. If a number has several records, only the
 * last record counts. */
static int translate_mapping(struct code_space *space, const struct trace_reader *reader,
			     const struct trace_mapping *mapping, u32 first_tid,
			     struct trace_writer *writer, struct code_map *map)
{
	struct placed_file *file;
	struct build_id id;
	struct intern_key key;
	u32 *number;
	int err = 0;

	if (trace_reader_mapping(reader, mapping->number) != mapping ||
	    mapping->number >= MAPPING_UNKNOWN)
		return 0;
	if (array_make_zeroed(map->numbers, mapping->number + 1UL, map->number_count))
		return -ENOMEM;
	number = &map->numbers[mapping->number];
	/* Anonymous memory belongs to one process, even if it has a build id. */
	if (mapping->kind == MAPPING_ANON || !mapping->build_id_bytes)
		return write_new_mapping(space, mapping, first_tid, writer, number);
	id = make_build_id(mapping->build_id, mapping->build_id_bytes);
	memcpy(&key, &id, sizeof(key));
	file = intern_find_or_add_entry(&space->files, &key);
	if (!file)
		return -ENOMEM;
	if (!file->number)
		err = write_new_mapping(space, mapping, first_tid, writer, &file->number);
	*number = file->number;
	return err;
}

int code_space_add_recording(struct code_space *space, const struct trace_reader *reader,
			     u32 machine, u32 first_tid, struct trace_writer *writer,
			     struct code_map **out)
{
	struct code_map *map = calloc(1, sizeof(*map));
	const struct trace_mapping *mappings;
	u32 count;
	int err;

	if (!map)
		return -ENOMEM;
	map->machine = machine;
	err = translate_modules(space, reader, writer, map);
	count = trace_reader_mappings(reader, &mappings);
	for (u32 i = 0; i < count && !err; i++)
		err = translate_mapping(space, reader, &mappings[i], first_tid, writer, map);
	if (err)
		code_map_free(&map);
	else
		*out = map;
	return err;
}

static u64 translate_kernel_address(const struct code_map *map, u64 address)
{
	u32 low = bisect(map->module_count, i, map->modules[i].start <= address);
	if (low && address < map->modules[low - 1].end)
		return address + map->modules[low - 1].shift;
	return kernel_address_of_merged_machine(map->machine, address);
}

/* A mapping that the recording does not describe becomes MAPPING_UNKNOWN. */
static u32 translate_mapping_number(const struct code_map *map, u32 number)
{
	u32 moved = number < map->number_count ? map->numbers[number] : 0;

	return moved ? moved : MAPPING_UNKNOWN;
}

u64 code_map_frame(const struct code_map *map, u64 frame)
{
	if (!frame || FRAME_IS_OMITTED(frame))
		return frame;
	if (FRAME_IS_KERNEL(frame))
		return translate_kernel_address(map, frame);
	return FRAME_USER(translate_mapping_number(map, FRAME_MAPPING(frame)),
			  FRAME_OFFSET(frame)) |
	       (FRAME_IS_GUESSED(frame) ? FRAME_GUESSED : 0);
}

struct trace_symbol code_map_symbol(const struct code_map *map, const struct trace_symbol *symbol)
{
	struct trace_symbol moved = *symbol;

	if (symbol->mapping)
		moved.mapping = translate_mapping_number(map, symbol->mapping);
	else
		moved.start = moved.address = translate_kernel_address(map, symbol->start);
	return moved;
}

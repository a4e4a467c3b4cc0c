/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Modules and files are few (hundreds), but a file made for it has hundreds of thousands, and each
 * is looked for once for each recording: hash tables. Frames are many, so mapping numbers are
 * looked up in an array, and modules by binary search.
 */
#include "code_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bisect.h"
#include "hash_index.h"
#include "intern.h"

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
	struct intern_key id; /* a struct build_id */
	u32 number;
};

struct code_space {
	struct placed_module *modules;
	struct intern files; /* that have a build id */
	struct hash_index module_index;
	u32 module_room;
	u32 last_number; /* of the mappings so far */
};

struct moved_module {
	u64 start, end;
	u64 shift; /* modulo 2^64 */
};

struct code_map {
	u32 machine;
	struct moved_module *modules; /* by address */
	u32 module_count;
	u32 *numbers; /* by number in the recording; 0: no such mapping */
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

static struct build_id build_id_of(const u8 *bytes, u32 count)
{
	struct build_id id = {.count = count};

	memcpy(id.bytes, bytes, count);
	return id;
}

_Static_assert(sizeof(struct build_id) % sizeof(u64) == 0, "hashed by words");

static u64 hash_id(const struct build_id *id)
{
	return hash_words(0, id, sizeof(*id));
}

static bool is_same(const struct build_id *id, const u8 *bytes, u32 count)
{
	return count && id->count == count && memcmp(id->bytes, bytes, count) == 0;
}

/* The first machine's addresses stand for themselves. */
static u64 own_place(u32 machine, u64 address)
{
	if (!machine)
		return address;
	return 1ULL << 63 | (u64)machine << MACHINE_SHIFT | (address & ADDRESS_MASK);
}

/* One that is looked for. */
struct module_key {
	const struct trace_module *module;
	u32 machine;
};

/* Without a build id it is the same where it is still in its place. */
static bool is_module(const void *modules, u32 index, const void *key)
{
	const struct placed_module *placed = &((const struct placed_module *)modules)[index];
	const struct trace_module *module = ((const struct module_key *)key)->module;
	u32 machine = ((const struct module_key *)key)->machine;
	bool stayed = placed->machine == machine && !placed->id.count && !module->build_id_bytes &&
		      placed->start == own_place(machine, module->start) &&
		      placed->end - placed->start == module->end - module->start;

	return (stayed || is_same(&placed->id, module->build_id, module->build_id_bytes)) &&
	       strcmp(placed->name, module->name) == 0;
}

static u32 module_hash(const struct module_key *key)
{
	const struct trace_module *module = key->module;
	const struct build_id id = build_id_of(module->build_id, module->build_id_bytes);
	u64 hash = hash_word(hash_id(&id), hash_text(module->name));

	return hash_end(id.count ? hash : hash_word(hash, own_place(key->machine, module->start)));
}

static const struct placed_module *find_module(const struct code_space *space,
					       const struct module_key *key)
{
	u32 found = hash_index_find(&space->module_index, module_hash(key), is_module,
				    space->modules, key);

	return found == HASH_INDEX_NONE ? NULL : &space->modules[found];
}

static const struct placed_module *place_module(struct code_space *space,
						const struct module_key *key,
						struct trace_writer *writer)
{
	struct trace_module moved = *key->module;
	u32 count = space->module_index.count;
	struct placed_module *placed;

	if (array_make_room(space->modules, count, space->module_room))
		return NULL;
	placed = &space->modules[count];
	moved.start = own_place(key->machine, key->module->start);
	moved.end = moved.start + (key->module->end - key->module->start);
	*placed = (struct placed_module){.name = strdup(moved.name),
					 .id = build_id_of(moved.build_id, moved.build_id_bytes),
					 .machine = key->machine,
					 .start = moved.start,
					 .end = moved.end};
	if (!placed->name || hash_index_add(&space->module_index, module_hash(key), count)) {
		free(placed->name);
		return NULL;
	}
	return trace_writer_module(writer, &moved) ? NULL : placed;
}

static int by_start(const void *a, const void *b)
{
	const struct moved_module *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int map_modules(struct code_space *space, const struct trace_reader *reader,
		       struct trace_writer *writer, struct code_map *map)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(reader, &modules);

	map->modules = calloc(count + 1UL, sizeof(*map->modules));
	if (!map->modules)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		const struct module_key key = {&modules[i], map->machine};
		const struct placed_module *placed =
			find_module(space, &key) ?: place_module(space, &key, writer);

		if (!placed)
			return -ENOMEM;
		map->modules[i] = (struct moved_module){.start = modules[i].start,
							.end = modules[i].end,
							.shift = placed->start - modules[i].start};
	}
	map->module_count = count;
	qsort(map->modules, count, sizeof(*map->modules), by_start);
	return 0;
}

/* Only a file is the same for its build id: what lies in anonymous memory belongs to its process.
 */
static bool has_identity(const struct trace_mapping *mapping)
{
	return mapping->kind != MAPPING_ANON && mapping->build_id_bytes;
}

_Static_assert(sizeof(struct build_id) == sizeof(struct intern_key), "a build id is a key");

static struct placed_file *find_file(struct code_space *space, const struct trace_mapping *mapping)
{
	const struct build_id id = build_id_of(mapping->build_id, mapping->build_id_bytes);
	struct intern_key key;

	memcpy(&key, &id, sizeof(key));
	return intern_entry(&space->files, &key);
}

static int place_mapping(struct code_space *space, const struct trace_mapping *mapping,
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

/* Of several records for a number only the last one counts. */
static int map_mapping(struct code_space *space, const struct trace_reader *reader,
		       const struct trace_mapping *mapping, u32 first_tid,
		       struct trace_writer *writer, struct code_map *map)
{
	struct placed_file *file;
	u32 *number;
	int err = 0;

	if (trace_reader_mapping(reader, mapping->number) != mapping ||
	    mapping->number >= MAPPING_UNKNOWN)
		return 0;
	if (array_make_zeroed(map->numbers, mapping->number + 1UL, map->number_count))
		return -ENOMEM;
	number = &map->numbers[mapping->number];
	if (!has_identity(mapping))
		return place_mapping(space, mapping, first_tid, writer, number);
	file = find_file(space, mapping);
	if (!file)
		return -ENOMEM;
	if (!file->number)
		err = place_mapping(space, mapping, first_tid, writer, &file->number);
	*number = file->number;
	return err;
}

static int map_mappings(struct code_space *space, const struct trace_reader *reader, u32 first_tid,
			struct trace_writer *writer, struct code_map *map)
{
	const struct trace_mapping *mappings;
	u32 count = trace_reader_mappings(reader, &mappings);
	int err = 0;

	for (u32 i = 0; i < count && !err; i++)
		err = map_mapping(space, reader, &mappings[i], first_tid, writer, map);
	return err;
}

int code_space_add(struct code_space *space, const struct trace_reader *reader, u32 machine,
		   u32 first_tid, struct trace_writer *writer, struct code_map **out)
{
	struct code_map *map = calloc(1, sizeof(*map));
	int err;

	if (!map)
		return -ENOMEM;
	map->machine = machine;
	err = map_modules(space, reader, writer, map);
	err = err ?: map_mappings(space, reader, first_tid, writer, map);
	if (err)
		code_map_free(&map);
	else
		*out = map;
	return err;
}

static u64 kernel_place(const struct code_map *map, u64 address)
{
	u32 low = bisect(map->module_count, i, map->modules[i].start <= address);
	if (low && address < map->modules[low - 1].end)
		return address + map->modules[low - 1].shift;
	return own_place(map->machine, address);
}

/* A mapping that the recording does not describe is not known in the merged one either. */
static u32 mapping_number(const struct code_map *map, u32 number)
{
	u32 moved = number < map->number_count ? map->numbers[number] : 0;

	return moved ? moved : MAPPING_UNKNOWN;
}

u64 code_map_frame(const struct code_map *map, u64 frame)
{
	if (!frame || FRAME_IS_OMITTED(frame))
		return frame;
	if (FRAME_IS_KERNEL(frame))
		return kernel_place(map, frame);
	return FRAME_USER(mapping_number(map, FRAME_MAPPING(frame)), FRAME_OFFSET(frame)) |
	       (FRAME_IS_GUESSED(frame) ? FRAME_GUESSED : 0);
}

struct trace_symbol code_map_symbol(const struct code_map *map, const struct trace_symbol *symbol)
{
	struct trace_symbol moved = *symbol;

	if (symbol->mapping)
		moved.mapping = mapping_number(map, symbol->mapping);
	else
		moved.start = moved.address = kernel_place(map, symbol->start);
	return moved;
}

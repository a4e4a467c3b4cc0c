/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables are found by what they say themselves (their generation) and by the outer map, which says
 * which one programs write: nothing else is remembered, so a reset that was killed leaves no doubt.
 */
#include "capture/load/generation.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/loaded.h"
#include "capture/load/skeleton.h"
#include "stack_map.h"
#include "stack_pack.h"

static int outer_fd(const struct loaded *loaded)
{
	return bpf_map__fd(loaded_programs(loaded)->maps.tables);
}

u64 generation_of(const struct generation_table *table)
{
	const struct table_header *header = table->memory;

	return header ? __atomic_load_n(&header->generation, __ATOMIC_ACQUIRE) : 0;
}

void generations_init(struct generation_table *tables)
{
	for (u32 i = 0; i < TABLE_ROLES; i++)
		tables[i] = (struct generation_table){.fd = -1};
}

static u64 mapped_bytes(const struct loaded *loaded)
{
	u64 page = sysconf(_SC_PAGESIZE);

	return (loaded->plan.geometry.bytes + page - 1) & ~(page - 1);
}

static void free_table(const struct loaded *loaded, struct generation_table *table)
{
	if (table->memory)
		munmap(table->memory, mapped_bytes(loaded));
	if (table->fd >= 0)
		close(table->fd);
	*table = (struct generation_table){.fd = -1};
}

void generations_free(struct loaded *loaded)
{
	for (u32 i = 0; i < TABLE_ROLES; i++)
		free_table(loaded, &loaded->tables[i]);
}

static int map_id(int fd, u32 *id)
{
	struct bpf_map_info info = {};
	u32 bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &bytes))
		return -errno;
	*id = info.id;
	return 0;
}

static int map_memory(const struct loaded *loaded, struct generation_table *table)
{
	void *memory =
		mmap(NULL, mapped_bytes(loaded), PROT_READ | PROT_WRITE, MAP_SHARED, table->fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	table->memory = memory;
	return 0;
}

static struct generation_table *unmade(struct loaded *loaded)
{
	for (u32 i = 0; i < TABLE_ROLES; i++)
		if (loaded->tables[i].fd < 0)
			return &loaded->tables[i];
	return NULL;
}

int generations_add(struct loaded *loaded, int fd)
{
	struct generation_table *table = unmade(loaded);
	int result;

	if (!table) {
		close(fd);
		return -EEXIST;
	}
	table->fd = fd;
	result = map_id(table->fd, &table->id) ?: map_memory(loaded, table);
	if (result)
		free_table(loaded, table);
	return result;
}

int generations_make(struct loaded *loaded)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd;

	if (!unmade(loaded))
		return -EEXIST;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "stack_table", sizeof(u32),
			    loaded->plan.geometry.bytes, 1, &options);
	return fd < 0 ? -errno : generations_add(loaded, fd);
}

int generation_fill(const struct loaded *loaded, struct generation_table *table, u64 generation)
{
	u64 seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return -errno;
	memset(table->memory, 0, loaded->plan.geometry.bytes);
	stack_table_init(table->memory, &loaded->plan.geometry, generation, seed);
	return 0;
}

int generations_create(struct loaded *loaded)
{
	return generations_make(loaded)
		       ?: generation_fill(loaded, &loaded->tables[0], GENERATION_FIRST);
}

int generation_set(const struct loaded *loaded, enum table_role role,
		   const struct generation_table *table)
{
	u32 key = role;

	return bpf_map_update_elem(outer_fd(loaded), &key, &table->fd, BPF_ANY) ? -errno : 0;
}

int generation_clear_previous(const struct loaded *loaded)
{
	u32 key = TABLE_PREVIOUS;

	if (!bpf_map_delete_elem(outer_fd(loaded), &key) || errno == ENOENT)
		return 0;
	return -errno;
}

u64 generation_published(const struct loaded *loaded)
{
	return __atomic_load_n(&loaded_programs(loaded)->bss->generation, __ATOMIC_ACQUIRE);
}

void generation_publish(struct loaded *loaded, u64 generation)
{
	__atomic_store_n(&loaded_programs(loaded)->bss->generation, generation, __ATOMIC_RELEASE);
}

void generation_wait(struct loaded *loaded)
{
	const struct generation_table *current = generation_current(loaded);

	if (current)
		generation_set(loaded, TABLE_CURRENT, current);
}

struct generation_table *generation_current(struct loaded *loaded)
{
	u32 key = TABLE_CURRENT, id;

	if (bpf_map_lookup_elem(outer_fd(loaded), &key, &id))
		return NULL;
	for (u32 i = 0; i < TABLE_ROLES; i++)
		if (loaded->tables[i].id == id)
			return &loaded->tables[i];
	return NULL;
}

static struct generation_table *table_of_generation(struct loaded *loaded, u64 generation)
{
	for (u32 i = 0; i < TABLE_ROLES; i++)
		if (generation_of(&loaded->tables[i]) == generation)
			return &loaded->tables[i];
	return NULL;
}

struct generation_table *generation_seen(struct loaded *loaded)
{
	return table_of_generation(loaded, generation_published(loaded));
}

struct generation_table *generation_of_id(const struct loaded *loaded, u32 id)
{
	const struct generation_table *tables = loaded->tables;
	u32 tag = id & ~loaded->plan.geometry.slot_mask;

	for (u32 i = 0; i < TABLE_ROLES; i++) {
		const struct table_header *header = tables[i].memory;

		if (header && header->id_tag == tag)
			return (struct generation_table *)&tables[i];
	}
	return NULL;
}

/* False: it is not for the map. */
static bool fill_stack(const struct loaded *loaded, const u64 *frames, u32 depth, u32 flags,
		       struct stack *stack)
{
	if (loaded->plan.config.no_dedup || depth > STACK_USER_DEPTH_MAX)
		return false;
	*stack = (struct stack){.depth = depth, .flags = flags};
	memcpy(stack->word, frames, depth * sizeof(*frames));
	return stack_pack(stack);
}

u32 generation_stack_id(struct loaded *loaded, const u64 *frames, u32 depth, u32 flags,
			bool inserts)
{
	const struct generation_table *table = generation_seen(loaded);
	const struct plan *plan = &loaded->plan;
	struct stack stack;
	s64 id;

	if (!table || !fill_stack(loaded, frames, depth, flags, &stack))
		return 0;
	id = inserts ? stack_map_get_id(table->memory, &plan->geometry, plan->config.cpus, &stack)
		     : stack_map_lookup(table->memory, &plan->geometry, &stack);
	return id > 0 ? id : 0;
}

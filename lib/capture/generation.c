/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables are found by what they say themselves (their generation) and by the outer map, which says
 * which one programs write: nothing else is remembered, so a reset that was killed leaves no doubt.
 */
#include "capture/generation.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/instance.h"
#include "capture/load/skeleton.h"

static int outer_fd(const struct capture *capture)
{
	return bpf_map__fd(capture_programs(capture)->maps.tables);
}

u64 generation_of(const struct generation_table *table)
{
	const struct table_header *header = table->memory;

	return header ? __atomic_load_n(&header->generation, __ATOMIC_ACQUIRE) : 0;
}

static u64 written_bytes(const struct capture *capture)
{
	return TABLE_SLOTS(capture->plan.geometry.bits) * sizeof(struct written_stack);
}

static void forget(const struct capture *capture, struct generation_table *table)
{
	memset(table->written, 0, written_bytes(capture));
}

void generations_init(struct generations *generations)
{
	u32 i;

	*generations = (struct generations){};
	for (i = 0; i < TABLE_ROLES; i++)
		generations->tables[i].fd = -1;
}

static u64 mapped_bytes(const struct capture *capture)
{
	u64 page = sysconf(_SC_PAGESIZE);

	return (capture->plan.geometry.bytes + page - 1) & ~(page - 1);
}

static void free_table(const struct capture *capture, struct generation_table *table)
{
	if (table->memory)
		munmap(table->memory, mapped_bytes(capture));
	if (table->fd >= 0)
		close(table->fd);
	free(table->written);
	*table = (struct generation_table){.fd = -1};
}

void generations_free(struct capture *capture)
{
	u32 i;

	for (i = 0; i < TABLE_ROLES; i++)
		free_table(capture, &capture->generations.tables[i]);
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

static int map_memory(const struct capture *capture, struct generation_table *table)
{
	void *memory =
		mmap(NULL, mapped_bytes(capture), PROT_READ | PROT_WRITE, MAP_SHARED, table->fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	table->memory = memory;
	return 0;
}

static int fill_table(const struct capture *capture, struct generation_table *table)
{
	int result = map_id(table->fd, &table->id) ?: map_memory(capture, table);

	if (result)
		return result;
	table->written = calloc(1, written_bytes(capture));
	return table->written ? 0 : -ENOMEM;
}

static struct generation_table *unmade(struct capture *capture)
{
	u32 i;

	for (i = 0; i < TABLE_ROLES; i++)
		if (capture->generations.tables[i].fd < 0)
			return &capture->generations.tables[i];
	return NULL;
}

int generations_add(struct capture *capture, int fd)
{
	struct generation_table *table = unmade(capture);
	int result;

	if (!table) {
		close(fd);
		return -EEXIST;
	}
	table->fd = fd;
	result = fill_table(capture, table);
	if (result)
		free_table(capture, table);
	return result;
}

int generations_make(struct capture *capture)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd;

	if (!unmade(capture))
		return -EEXIST;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "stack_table", sizeof(u32),
			    capture->plan.geometry.bytes, 1, &options);
	return fd < 0 ? -errno : generations_add(capture, fd);
}

int generation_fill(const struct capture *capture, struct generation_table *table, u64 generation)
{
	u64 seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return -errno;
	memset(table->memory, 0, capture->plan.geometry.bytes);
	stack_table_init(table->memory, &capture->plan.geometry, generation, seed);
	return 0;
}

int generations_create(struct capture *capture)
{
	return generations_make(capture)
		       ?: generation_fill(capture, &capture->generations.tables[0],
					  GENERATION_FIRST);
}

int generation_set(const struct capture *capture, enum table_role role,
		   const struct generation_table *table)
{
	u32 key = role;

	return bpf_map_update_elem(outer_fd(capture), &key, &table->fd, BPF_ANY) ? -errno : 0;
}

int generation_clear_previous(const struct capture *capture)
{
	u32 key = TABLE_PREVIOUS;

	if (!bpf_map_delete_elem(outer_fd(capture), &key) || errno == ENOENT)
		return 0;
	return -errno;
}

u64 generation_published(const struct capture *capture)
{
	return __atomic_load_n(&capture_programs(capture)->bss->generation, __ATOMIC_ACQUIRE);
}

void generation_publish(struct capture *capture, u64 generation)
{
	__atomic_store_n(&capture_programs(capture)->bss->generation, generation, __ATOMIC_RELEASE);
}

int generations_begin(struct capture *capture)
{
	int result = generation_set(capture, TABLE_CURRENT, &capture->generations.tables[0]);

	if (!result)
		generation_publish(capture, GENERATION_FIRST);
	return result;
}

void generation_wait(struct capture *capture)
{
	const struct generation_table *current = generation_current(capture);

	if (current)
		generation_set(capture, TABLE_CURRENT, current);
}

struct generation_table *generation_current(struct capture *capture)
{
	u32 i, key = TABLE_CURRENT, id;

	if (bpf_map_lookup_elem(outer_fd(capture), &key, &id))
		return NULL;
	for (i = 0; i < TABLE_ROLES; i++)
		if (capture->generations.tables[i].id == id)
			return &capture->generations.tables[i];
	return NULL;
}

static struct generation_table *table_of_generation(struct capture *capture, u64 generation)
{
	u32 i;

	for (i = 0; i < TABLE_ROLES; i++)
		if (generation_of(&capture->generations.tables[i]) == generation)
			return &capture->generations.tables[i];
	return NULL;
}

struct generation_table *generation_seen(struct capture *capture)
{
	return table_of_generation(capture, generation_published(capture));
}

struct generation_table *generation_of_id(const struct capture *capture, u32 id)
{
	const struct generation_table *tables = capture->generations.tables;
	u32 i, tag = id & ~capture->plan.geometry.slot_mask;

	for (i = 0; i < TABLE_ROLES; i++) {
		const struct table_header *header = tables[i].memory;

		if (header && header->id_tag == tag)
			return (struct generation_table *)&tables[i];
	}
	return NULL;
}

struct written_stack *generation_written(const struct capture *capture,
					 struct generation_table *table, u32 id)
{
	u64 generation = generation_of(table);

	if (table->written_generation != generation)
		forget(capture, table);
	table->written_generation = generation;
	return &table->written[STACK_ID_INDEX(id, capture->plan.geometry.bits)];
}

void generations_forget_written(struct capture *capture)
{
	u32 i;

	for (i = 0; i < TABLE_ROLES; i++)
		if (capture->generations.tables[i].written)
			forget(capture, &capture->generations.tables[i]);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance without sources, rings and files. It consists of the engine's maps, a stack map, and
 * the programs that unwind the waiting stacks of tasks that exit. The tool itself provides the
 * events and their output.
 */
#include "stackmap/client.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "arch/host.h"
#include "capture/bpffs/engine_folder.h"
#include "capture/feature/task_work.h"
#include "config.h"
#include "error.h"
#include "scratch.h"
#include "stack_map/table_find.h"
#include "symbol/file/mapped_file.h"

#define HOOKS 2
#define SECTION ".rodata"

struct stackmap_client {
	struct bpf_object *object;
	struct engine *engine;
	struct table_geometry geometry;
	int table_fd; /* descriptor of the map that holds the stack map; -1: not created */
	void *table;
	const struct mapping_record *mappings;
	struct bpf_link *hook[HOOKS];
};

static const char *const hooks[HOOKS] = {"stackmap_task_exit", "stackmap_task_exec"};

static int map_pages(int fd, u64 bytes, int access, void **out)
{
	void *memory = mmap(NULL, bytes, access, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*out = memory;
	return 0;
}

/* Creates an empty stack map. */
static int create_stack_map(struct stackmap_client *client)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	u64 bytes = client->geometry.bytes, seed;
	int result;

	client->table_fd =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "stack_table", sizeof(u32), bytes, 1, &options);
	if (client->table_fd < 0)
		return -errno;
	result = map_pages(client->table_fd, bytes, PROT_READ | PROT_WRITE, &client->table);
	if (result)
		return result;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return -errno;
	stack_table_init(client->table, &client->geometry, 1, seed);
	return 0;
}

static int set_max_entries_of_map(const struct bpf_object *object, const char *name, u32 entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__set_max_entries(map, entries) : -EINVAL;
}

/*
 * Finds the map that holds the object's constants. libbpf prefixes the map's name with the object's
 * name, so only the end of the name is compared.
 */
static struct bpf_map *find_map_of_constants(const struct bpf_object *object)
{
	const size_t suffix = sizeof(SECTION) - 1;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		const char *name = bpf_map__name(map);
		size_t length = strlen(name);

		if (length >= suffix && !strcmp(name + length - suffix, SECTION))
			return map;
	}
	return NULL;
}

/* Finds a constant in the object's type information, which gives the constant's offset. */
static const struct btf_var_secinfo *find_constant_in_object_btf(const struct btf *btf,
								 const char *name)
{
	s32 section = btf__find_by_name_kind(btf, SECTION, BTF_KIND_DATASEC);
	const struct btf_type *type = section > 0 ? btf__type_by_id(btf, section) : NULL;

	for (u32 i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_var_secinfo *variable = &btf_var_secinfos(type)[i];
		const struct btf_type *named = btf__type_by_id(btf, variable->type);

		if (!strcmp(btf__name_by_offset(btf, named->name_off), name))
			return variable;
	}
	return NULL;
}

/*
 * Sets a constant of an object that is not loaded yet. -EINVAL: the object has no constant of this
 * name and size; -ENOMEM.
 */
static int set_object_constant(const struct bpf_object *object, const char *name, const void *value,
			       size_t bytes)
{
	const struct btf_var_secinfo *variable =
		find_constant_in_object_btf(bpf_object__btf(object), name);
	struct bpf_map *map = find_map_of_constants(object);
	size_t whole = 0;
	const void *old = map ? bpf_map__initial_value(map, &whole) : NULL;
	char *values;
	int result;

	if (!old || !variable || variable->size != bytes || variable->offset + bytes > whole)
		return -EINVAL;
	/* libbpf sets only the whole section of constants at once. */
	values = malloc(whole);
	if (!values)
		return -ENOMEM;
	memcpy(values, old, whole);
	memcpy(values + variable->offset, value, bytes);
	result = bpf_map__set_initial_value(map, values, whole);
	free(values);
	return result;
}

static int set_constants(const struct stackmap_client *client, u32 cpus)
{
	const struct capture_config config = {
		.cpus = cpus,
		.user_stacks = true,
		.user_unwind = USER_UNWIND_AUTO,
		.code_mask = code_address_mask(),
		.page_scale = page_scale(),
		.max_user_depth = STACK_USER_DEPTH_MAX,
		.deferral = task_work_works() ? DEFERRAL_TASK_WORK : DEFERRAL_ASSISTED,
	};
	int result = set_object_constant(client->object, "config", &config, sizeof(config));

	return result
		       ?: set_object_constant(client->object, "geometry", &client->geometry,
					      sizeof(client->geometry));
}

static int prepare_object(struct stackmap_client *client, u32 cpus)
{
	struct bpf_map *tables = bpf_object__find_map_by_name(client->object, "tables");
	int result = set_constants(client, cpus);

	task_work_remove_unusable_functions(client->object);
	result = result ?: set_max_entries_of_map(client->object, "scratch_slots", cpus);
	result = result ?: set_max_entries_of_map(client->object, "steps", cpus);
	result = result ?: create_stack_map(client);
	if (!result && !tables)
		result = -EINVAL;
	result = result ?: bpf_map__set_inner_map_fd(tables, client->table_fd);
	result = result ?: engine_open(0, &client->engine);
	return result ?: engine_use_maps_in_object(client->engine, client->object);
}

int stackmap_client_open(struct bpf_object *object, unsigned int bits, struct stackmap_client **out,
			 struct stackmap_error *error)
{
	struct stackmap_client *client;
	int cpus = libbpf_num_possible_cpus(), result;

	if (!object || !out)
		return error_set(error, EINVAL, "no %s is given (NULL)",
				 object ? "place for the client" : "BPF object");
	if (bits < STACKMAP_BITS_MIN || bits > STACKMAP_BITS_MAX)
		return error_set(error, ERANGE, "bits %u: not in %d to %d", bits, STACKMAP_BITS_MIN,
				 STACKMAP_BITS_MAX);
	if (cpus < 0)
		return error_set(error, -cpus, "number of CPUs: %s", strerror(-cpus));
	client = calloc(1, sizeof(*client));
	if (!client)
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	client->object = object;
	client->table_fd = -1;
	table_geometry_set(&client->geometry, bits, cpus, 0);
	result = prepare_object(client, cpus);
	if (result) {
		stackmap_client_close(&client);
		return error_set(error, -result, "preparing BPF programs that use stackmap: %s",
				 strerror(-result));
	}
	*out = client;
	return 0;
}

int stackmap_client_start(struct stackmap_client *client, struct stackmap_error *error)
{
	int tables, mappings, result;
	u32 zero = 0;

	if (!client)
		return error_set(error, EINVAL, "no client is given (NULL)");
	mappings = bpf_object__find_map_fd_by_name(client->object, "mappings");
	result = map_pages(mappings, MAPPINGS_MAX * sizeof(*client->mappings), PROT_READ,
			   (void **)&client->mappings);
	tables = bpf_object__find_map_fd_by_name(client->object, "tables");
	if (!result && bpf_map_update_elem(tables, &zero, &client->table_fd, BPF_ANY))
		result = -errno;
	/*
	 * Without task work no stack is deferred, so no task has to be served. Some of these
	 * tracepoints are missing on older kernels.
	 */
	for (u32 i = 0; i < HOOKS && task_work_works() && !result; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(client->object, hooks[i]);

		client->hook[i] = bpf_program__attach(program);
		if (!client->hook[i])
			result = -errno;
	}
	if (result)
		return error_set(error, -result, "starting BPF programs that use stackmap: %s",
				 strerror(-result));
	engine_publish(client->engine, client->object);
	return 0;
}

int stackmap_client_find(struct stackmap_client *client, uint32_t id, struct stackmap_stack *stack,
			 uint64_t *frames, uint32_t max)
{
	if (!client || !stack || (!frames && max))
		return -EINVAL;
	return table_find_stack_by_id(client->table, &client->geometry, id, stack, frames, max);
}

int stackmap_client_place(const struct stackmap_client *client, uint64_t frame, char *path,
			  size_t path_bytes, uint64_t *offset)
{
	u32 number = FRAME_MAPPING(frame);

	if (!client || !offset || !path)
		return -EINVAL;
	if (FRAME_IS_KERNEL(frame) || number >= MAPPINGS_MAX ||
	    client->mappings[number].key.kind == MAPPING_FREE)
		return -ENOENT;
	mapped_file_path(&client->mappings[number], path, path_bytes);
	*offset = FRAME_OFFSET(frame);
	return 0;
}

void stackmap_client_close(struct stackmap_client **client)
{
	struct stackmap_client *gone = client ? *client : NULL;

	if (!gone)
		return;
	for (u32 i = 0; i < HOOKS; i++)
		bpf_link__destroy(gone->hook[i]);
	if (gone->mappings)
		munmap((void *)gone->mappings, MAPPINGS_MAX * sizeof(*gone->mappings));
	if (gone->table)
		munmap(gone->table, gone->geometry.bytes);
	if (gone->table_fd >= 0)
		close(gone->table_fd);
	engine_close(&gone->engine);
	free(gone);
	*client = NULL;
}

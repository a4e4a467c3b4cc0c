/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/load/loaded.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "capture/load/skeleton.h"
#include "capture/load/text_ranges.h"
#include "config.h"
#include "counted_row.h"
#include "error.h"
#include "interrupt.h"
#include "kept_records.h"
#include "privilege/capability.h"
#include "privilege/limit.h"
#include "ring_writer.h"
#include "rule_cache.h"
#include "scalar.h"
#include "stack_map.h"
#include "stack_pack.h"
#include "table.h"

/*
 * Preloading: slow work that needs no BPF programs runs in a thread of its own while programs are
 * loaded: the addresses of kernel functions are read, and the kernel is prepared for perf events of
 * tasks. If no thread can be made, the work is done after the programs are loaded.
 */

/* Opens a perf event of a task and closes it. The first such event makes the kernel patch the task
 * switch, and wait for all CPUs; the kernel undoes the patch a second after the last such event is
 * closed. A failure shows when the real events are opened. */
static void open_and_close_perf_event_of_task(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (event >= 0)
		close(event);
}

static void *run_preload_thread(void *arg)
{
	struct preload *preload = arg;

	if (preload->opens_event)
		open_and_close_perf_event_of_task();
	if (preload->reads_text) {
		preload->text = calloc(1, sizeof(*preload->text));
		preload->result = preload->text ? text_ranges_read(preload->list_symbols,
								   preload->text, &preload->copy)
						: -ENOMEM;
		/* If kallsyms cannot be read, or hides addresses, the list of functions stays
		 * empty. */
		if (preload->result != -ENOMEM)
			preload->result = 0;
	}
	return NULL;
}

/* Waits for the preloading, and copies the addresses of the kernel functions. -errno: kallsyms
 * cannot be read. */
static int preload_take_kernel_text(struct preload *preload, struct kernel_text *text)
{
	if (preload->has_thread)
		pthread_join(preload->thread, NULL);
	else if (!preload->is_done)
		run_preload_thread(preload);
	preload->has_thread = false;
	preload->is_done = true;
	if (!preload->result)
		memcpy(text, preload->text, sizeof(*text));
	return preload->result;
}

static void preload_end(struct preload *preload)
{
	if (preload->has_thread)
		pthread_join(preload->thread, NULL);
	if (preload->text)
		kernel_copy_close(&preload->copy);
	free(preload->text);
	*preload = (struct preload){};
}

struct kernel_copy loaded_take_kernel_copy(struct loaded *loaded)
{
	struct kernel_copy copy = loaded->preload.copy;

	loaded->preload.copy = (struct kernel_copy){-1, -1};
	preload_end(&loaded->preload);
	return copy;
}

/*
 * The generations of a stack map: two tables take turns. Programs write one table; the other table
 * has the generation before, or is empty, or not made yet.
 *
 * Reset (capture/instance/reset.h) and reader may be two processes. Two words of the programs'
 * memory are between them:
 *
 *   generation       the generation that programs write; set at the end of a swap
 *   generation_done  the reader needs no stack of this or older generations any more
 *
 * A table is emptied only when its generation is not needed any more. The rings therefore name
 * stacks of at most two successive generations, whose tags differ.
 *
 * A table has its generation in its header, and the map of maps `tables` says which table programs
 * write. No other state exists, so a reset that is killed leaves a consistent state.
 */

static int tables_map_fd(const struct loaded *loaded)
{
	return bpf_map__fd(loaded_programs(loaded)->maps.tables);
}

u64 generation_of_table(const struct generation_table *table)
{
	const struct table_header *header = table->memory;

	return header ? __atomic_load_n(&header->generation, __ATOMIC_ACQUIRE) : 0;
}

static u64 table_mapped_bytes(const struct loaded *loaded)
{
	u64 page = sysconf(_SC_PAGESIZE);

	return (loaded->plan.geometry.bytes + page - 1) & ~(page - 1);
}

static void free_generation_table(const struct loaded *loaded, struct generation_table *table)
{
	if (table->memory)
		munmap(table->memory, table_mapped_bytes(loaded));
	if (table->fd >= 0)
		close(table->fd);
	*table = (struct generation_table){.fd = -1};
}

static struct generation_table *find_unused_table_slot(struct loaded *loaded)
{
	for (u32 i = 0; i < TABLE_ROLES; i++)
		if (loaded->tables[i].fd < 0)
			return &loaded->tables[i];
	return NULL;
}

int generations_add_table(struct loaded *loaded, int fd)
{
	struct generation_table *table = find_unused_table_slot(loaded);
	struct bpf_map_info info = {};
	u32 bytes = sizeof(info);
	void *memory;
	int result;

	if (!table) {
		close(fd);
		return -EEXIST;
	}
	table->fd = fd;
	memory = bpf_obj_get_info_by_fd(fd, &info, &bytes)
			 ? MAP_FAILED
			 : mmap(NULL, table_mapped_bytes(loaded), PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		result = -errno;
		free_generation_table(loaded, table);
		return result;
	}
	table->id = info.id;
	table->memory = memory;
	return 0;
}

int generations_make_table(struct loaded *loaded)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd;

	if (!find_unused_table_slot(loaded))
		return -EEXIST;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "stack_table", sizeof(u32),
			    loaded->plan.geometry.bytes, 1, &options);
	return fd < 0 ? -errno : generations_add_table(loaded, fd);
}

int generation_reset_table(const struct loaded *loaded, struct generation_table *table,
			   u64 generation)
{
	u64 seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return -errno;
	memset(table->memory, 0, loaded->plan.geometry.bytes);
	stack_table_init(table->memory, &loaded->plan.geometry, generation, seed);
	return 0;
}

int generation_set_role(const struct loaded *loaded, enum table_role role,
			const struct generation_table *table)
{
	u32 key = role;

	return bpf_map_update_elem(tables_map_fd(loaded), &key, &table->fd, BPF_ANY) ? -errno : 0;
}

int generation_clear_previous(const struct loaded *loaded)
{
	u32 key = TABLE_PREVIOUS;

	if (!bpf_map_delete_elem(tables_map_fd(loaded), &key) || errno == ENOENT)
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

void generation_wait_for_programs(struct loaded *loaded)
{
	const struct generation_table *current = generation_current_table(loaded);

	if (current)
		generation_set_role(loaded, TABLE_CURRENT, current);
}

struct generation_table *generation_current_table(struct loaded *loaded)
{
	u32 key = TABLE_CURRENT, id;

	if (bpf_map_lookup_elem(tables_map_fd(loaded), &key, &id))
		return NULL;
	for (u32 i = 0; i < TABLE_ROLES; i++)
		if (loaded->tables[i].id == id)
			return &loaded->tables[i];
	return NULL;
}

struct generation_table *generation_published_table(struct loaded *loaded)
{
	u64 generation = generation_published(loaded);

	for (u32 i = 0; i < TABLE_ROLES; i++)
		if (generation_of_table(&loaded->tables[i]) == generation)
			return &loaded->tables[i];
	return NULL;
}

struct generation_table *generation_table_of_id(const struct loaded *loaded, u32 id)
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

u32 generation_find_or_add_stack(struct loaded *loaded, const u64 *frames, u32 depth, u32 flags,
				 bool inserts)
{
	const struct generation_table *table = generation_published_table(loaded);
	const struct plan *plan = &loaded->plan;
	struct stack stack = {.depth = depth, .flags = flags};
	s64 id;

	if (!table || plan->config.no_dedup || depth > STACK_USER_DEPTH_MAX)
		return 0;
	memcpy(stack.word, frames, depth * sizeof(*frames));
	if (!stack_pack(&stack))
		return 0;
	id = inserts ? stack_map_get_id(table->memory, &plan->geometry, plan->config.cpus, &stack)
		     : stack_map_lookup(table->memory, &plan->geometry, &stack);
	return id > 0 ? id : 0;
}

static int map_array_memory(struct shared_array *array, int fd, u64 value_bytes, u32 count)
{
	u64 page = sysconf(_SC_PAGESIZE);
	void *memory;

	array->stride = (value_bytes + 7) & ~7ULL;
	array->bytes = (array->stride * count + page - 1) & ~(page - 1);
	memory = mmap(NULL, array->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	array->memory = memory;
	return 0;
}

static void unmap_array(struct shared_array *array)
{
	if (array->memory)
		munmap(array->memory, array->bytes);
	array->memory = NULL;
}

struct capture_bpf *loaded_programs(const struct loaded *loaded)
{
	return loaded->attachment.sets[0].object;
}

struct ring_view loaded_ring(const struct loaded *loaded, u32 cpu)
{
	return ring_view_of_mapped_memory(loaded->rings.memory, cpu, loaded->rings.stride,
					  loaded->plan.config.ring_slots,
					  loaded->plan.config.slot_size);
}

struct ring_view loaded_task_ring(const struct loaded *loaded, u32 cpu)
{
	return ring_view_of_mapped_memory(loaded->task_rings.memory, cpu, loaded->task_rings.stride,
					  loaded->plan.config.task_slots, sizeof(struct task_slot));
}

const struct scratch *loaded_scratch(const struct loaded *loaded, u32 cpu)
{
	return (const void *)((u8 *)loaded->scratch_slots.memory +
			      cpu * loaded->scratch_slots.stride);
}

struct counted_table *loaded_counted_table(const struct loaded *loaded, u32 cpu)
{
	if (!loaded->plan.config.count)
		return NULL;
	return (void *)((u8 *)loaded->counted.memory + cpu * loaded->counted.stride);
}

void loaded_free_old_counted_rows(const struct loaded *loaded, u32 cpu)
{
	const struct capture_config *config = &loaded->plan.config;
	struct counted_table *table = loaded_counted_table(loaded, cpu);
	u32 tag = STACK_ID_TAG(generation_published(loaded), config->bits);

	for (u32 i = 0; table && i < config->counted_rows; i++)
		counted_row_free_old(&table->row[i], counted_range_at(config, table, i),
				     loaded->plan.geometry.slot_mask, tag);
}

#define ROWS_LOOKED_AT 1024U

u32 loaded_aggregates_fill_percent(struct loaded *loaded)
{
	const struct generation_table *stacks = generation_published_table(loaded);
	const struct capture_config *config = &loaded->plan.config;
	u32 rows = config->counted_rows < ROWS_LOOKED_AT ? config->counted_rows : ROWS_LOOKED_AT;
	u32 fill = stacks ? stack_table_fill_percent(stacks->memory, &loaded->plan.geometry) : 0;

	for (u32 cpu = 0; cpu < config->cpus; cpu++) {
		const struct counted_table *table = loaded_counted_table(loaded, cpu);
		u32 used = table ? counted_rows_in_use(table, rows) * 100 / rows : 0;

		fill = used > fill ? used : fill;
	}
	return fill;
}

u64 *loaded_source_losses(const struct loaded *loaded, u32 cpu, u32 kind)
{
	return (u64 *)loaded->source_losses.memory +
	       SOURCE_LOSSES_AT(loaded->plan.config, cpu, kind);
}

struct trigger_state *loaded_triggers(const struct loaded *loaded)
{
	return loaded->triggers.memory;
}

void loaded_write_event(const struct loaded *loaded, const struct event_slot *event, u64 value)
{
	const struct capture_config *config = &loaded->plan.config;
	struct scratch_counters *counters =
		&((struct scratch *)loaded_scratch(loaded, 0))->counters;
	struct ring_view ring = loaded_ring(loaded, 0);
	u64 position = ring_take_positions(ring.header, config->ring_slots, 1);
	struct event_slot *slot;

	counters->produced++;
	if (!position) {
		counters->lost[LOST_RING_FULL]++;
		if (config->losses)
			++*loaded_source_losses(loaded, 0, STAMP_KIND(event->stamp));
		return;
	}
	slot = (struct event_slot *)ring_slot(&ring, position);
	slot->tid = event->tid;
	slot->stamp = event->stamp;
	slot->kernel = event->kernel;
	slot->user = event->user;
	memset(slot->extra, 0, ring.slot_size - offsetof(struct event_slot, extra));
	slot->extra[config->leaf] = value;
	__atomic_store_n(&slot->commit, COMMIT_OF(position), __ATOMIC_RELEASE);
}

struct walk_counts loaded_walk_counts(const struct loaded *loaded)
{
	struct walk_counts counts = {};

	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++)
		for (u32 i = 0; i < SCRATCH_SLOTS; i++) {
			const struct scratch *scratch = &loaded_scratch(loaded, cpu)[i];

			counts.walked += scratch->counters.walked;
			counts.table_frames += scratch->counters.table_steps;
			counts.mapping_walks += scratch->search.walks;
			counts.script_loops += scratch->counters.script_joined;
			for (u32 stop = 0; stop < STOP_COUNT; stop++)
				counts.deferred[stop] += scratch->counters.deferred[stop];
		}
	return counts;
}

struct mapping_record *loaded_mapping_record(const struct loaded *loaded, u32 number)
{
	return (struct mapping_record *)((u8 *)loaded->mappings.memory +
					 number * loaded->mappings.stride);
}

void loaded_forget_rules(struct loaded *loaded)
{
	struct engine_state *engine = loaded->engine_state.memory;

	memset(loaded->rules.memory, 0, sizeof(struct rule_cache));
	__atomic_fetch_add(&engine->step_generation, 1, __ATOMIC_RELEASE);
}

void loaded_stop_walks_at_generated_code(struct loaded *loaded)
{
	struct engine_state *engine = loaded->engine_state.memory;

	if (loaded->plan.config.deferral == DEFERRAL_TASK_WORK)
		__atomic_store_n(&engine->leaves_generated, 1, __ATOMIC_RELAXED);
}

int loaded_map_memory(struct loaded *loaded)
{
	const struct capture_config *config = &loaded->plan.config;
	const __typeof__(loaded_programs(loaded)->maps) *maps = &loaded_programs(loaded)->maps;
	const struct {
		struct shared_array *array;
		const struct bpf_map *map;
		u64 value_bytes;
		u32 count;
	} shared[] = {
		{&loaded->rings, maps->rings, RING_BYTES(config->ring_slots, config->slot_size),
		 config->cpus},
		{&loaded->task_rings, maps->task_rings,
		 RING_BYTES(config->task_slots, sizeof(struct task_slot)), config->cpus},
		{&loaded->scratch_slots, maps->scratch_slots,
		 SCRATCH_SLOTS * sizeof(struct scratch), config->cpus},
		{&loaded->counted, maps->counted,
		 COUNTED_BYTES(config->counted_rows, config->aggregate),
		 config->count ? config->cpus : 1},
		{&loaded->source_losses, maps->source_losses, sizeof(u64),
		 config->losses ? (config->cpus + 1) * config->losses : 1},
		{&loaded->attribute_slots, maps->attribute_slots, sizeof(struct attribute_slot),
		 config->trace_ids ? ATTRIBUTE_SLOTS : 1},
		{&loaded->triggers, maps->triggers, sizeof(struct trigger_state), 1},
		{&loaded->mappings, maps->mappings, sizeof(struct mapping_record), MAPPINGS_MAX},
		{&loaded->rules, maps->rules, sizeof(struct rule_cache), 1},
		{&loaded->engine_state, maps->engine_state, sizeof(struct engine_state), 1},
		{&loaded->cgroup_paths, maps->cgroup_paths, sizeof(struct cgroup_path),
		 CGROUP_PATHS},
		{&loaded->kernel_text, maps->kernel_text, sizeof(struct kernel_text), 1},
	};
	int result = 0;
	u32 i;

	for (i = 0; i < sizeof(shared) / sizeof(shared[0]) && !result; i++)
		result = map_array_memory(shared[i].array, bpf_map__fd(shared[i].map),
					  shared[i].value_bytes, shared[i].count);
	return result;
}

static bool has_source_of_type(const struct source_list *sources, enum source_type type)
{
	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].type == type)
			return true;
	return false;
}

/* The id of a cgroup is the inode number of its directory. */
static int set_cgroup_filter(struct capture_config *config, const char *path,
			     struct stackmap_error *error)
{
	struct statfs system;
	struct stat directory;

	if (!path)
		return 0;
	if (stat(path, &directory) || statfs(path, &system))
		return error_set(error, errno, "--cgroup %s: %s", path, strerror(errno));
	if (!S_ISDIR(directory.st_mode))
		return error_set(error, ENOTDIR, "--cgroup %s: %s", path, strerror(ENOTDIR));
	if (system.f_type != CGROUP2_SUPER_MAGIC)
		return error_set(error, EINVAL,
				 "--cgroup %s: not a directory of a cgroup2 file system", path);
	config->cgroup = directory.st_ino;
	return 0;
}

/* Tries to make a BPF map. Called before anything else, as most refusals are of this kind. */
static int check_bpf_is_allowed(struct stackmap_error *error)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, sizeof(u32), sizeof(u64), 1, NULL);
	int code = errno;

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (code == ENOSYS)
		return error_set(error, code,
				 "this kernel has no bpf() system call (CONFIG_BPF_SYSCALL)");
	if (code != EPERM && code != EACCES)
		return error_set(error, code, "a BPF map: %s", strerror(code));
	return error_set(error, code, "the kernel refuses BPF maps to this user: %s; %s",
			 strerror(code), capability_advice());
}

static int copy_shared_array_to_own_memory(struct shared_array *array)
{
	void *copy = malloc(array->bytes);

	if (!copy)
		return -ENOMEM;
	array->live = array->memory;
	array->memory = memcpy(copy, array->live, array->bytes);
	return 0;
}

static void free_own_copy_of_shared_array(struct shared_array *array)
{
	if (!array->live)
		return;
	free(array->memory);
	array->memory = array->live;
	array->live = NULL;
}

void loaded_init(struct loaded *loaded)
{
	*loaded = (struct loaded){.unwind_blocked_program = -1, .running_code_program = -1};
	for (u32 i = 0; i < TABLE_ROLES; i++)
		loaded->tables[i].fd = -1;
}

int loaded_plan(struct loaded *loaded, const struct capture_options *options,
		struct stackmap_error *error)
{
	loaded->sources = options->sources;
	loaded->attachment = (struct attachment){
		.sources = options->sources,
		.plan = &loaded->plan,
		.command = options->command,
	};
	return check_bpf_is_allowed(error)
		       ?: plan_make(options, &loaded->plan, error)
		       ?: set_cgroup_filter(&loaded->plan.config, options->cgroup, error);
}

static int set_error_of_ring_creation(int result, struct stackmap_error *error)
{
	return error_set(error, -result, "rings: %s%s", strerror(-result), limit_advice(-result));
}

int loaded_prepare(struct loaded *loaded, struct stackmap_error *error)
{
	const struct source_list *sources = loaded->sources;
	struct preload *preload = &loaded->preload;
	bool has_perf_events = has_source_of_type(sources, SOURCE_SAMPLE) ||
			       has_source_of_type(sources, SOURCE_PERF);
	int result = engine_open(loaded->plan.config.pids.inode, &loaded->engine)
			     ?: generations_make_table(loaded)
			     ?: generation_reset_table(loaded, &loaded->tables[0], GENERATION_FIRST)
			     ?: interrupted() ? -EINTR : 0;

	if (result)
		return error_set(error, -result, "stack map of %llu bytes: %s%s",
				 (unsigned long long)loaded->plan.geometry.bytes, strerror(-result),
				 limit_advice(-result));
	result = attachment_prepare(&loaded->attachment, loaded->tables[0].fd, loaded->engine,
				    error);
	if (result)
		return result;
	*preload = (struct preload){
		.copy = {-1, -1},
		.list_symbols =
			program_set_find_fd(&loaded->attachment.sets[0],
					    loaded_programs(loaded)->progs.list_kernel_symbols),
		.reads_text = loaded->plan.kernel_text,
		.opens_event = loaded->attachment.command && has_perf_events,
	};
	if (preload->reads_text || preload->opens_event)
		preload->has_thread =
			!pthread_create(&preload->thread, NULL, run_preload_thread, preload);
	result = loaded_map_memory(loaded);
	if (result)
		return set_error_of_ring_creation(result, error);
	loaded->running_code_program = program_set_find_fd(
		&loaded->attachment.sets[0], loaded_programs(loaded)->progs.number_running_code);
	return 0;
}

int loaded_load(struct loaded *loaded, const struct meanwhile *meanwhile,
		struct stackmap_error *error)
{
	int result = attachment_load(&loaded->attachment, loaded->tables[0].fd, meanwhile, error);

	if (result)
		return result;
	/* The address ranges of kernel functions: programs use them to recognise frames of the
	 * tracer and of interrupts, the drain to recognise kernel code that was interrupted. */
	if (loaded->preload.reads_text)
		result = preload_take_kernel_text(&loaded->preload, loaded->kernel_text.memory);
	if (result)
		return set_error_of_ring_creation(result, error);
	generation_publish(loaded, GENERATION_FIRST);
	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(loaded, cpu);
		struct ring_view task_ring = loaded_task_ring(loaded, cpu);

		ring_view_make_empty(&ring);
		ring_view_make_empty(&task_ring);
	}
	loaded->unwind_blocked_program = program_set_find_fd(
		&loaded->attachment.sets[0], loaded_programs(loaded)->progs.unwind_blocked);
	return 0;
}

void loaded_free(struct loaded *loaded)
{
	preload_end(&loaded->preload);
	for (u32 i = 0; i < TABLE_ROLES; i++)
		free_generation_table(loaded, &loaded->tables[i]);
	unmap_array(&loaded->rings);
	unmap_array(&loaded->task_rings);
	unmap_array(&loaded->scratch_slots);
	unmap_array(&loaded->counted);
	unmap_array(&loaded->source_losses);
	unmap_array(&loaded->attribute_slots);
	unmap_array(&loaded->triggers);
	unmap_array(&loaded->mappings);
	unmap_array(&loaded->rules);
	unmap_array(&loaded->engine_state);
	unmap_array(&loaded->cgroup_paths);
	unmap_array(&loaded->kernel_text);
	engine_close(&loaded->engine);
	while (loaded->program_count)
		close(loaded->programs[--loaded->program_count]);
	free(loaded->programs);
	if (loaded->opened && loaded->unwind_blocked_program >= 0)
		close(loaded->unwind_blocked_program);
}

bool loaded_is_flight(const struct loaded *loaded)
{
	return loaded->plan.config.flight;
}

bool loaded_lacks_deferral(const struct loaded *loaded)
{
	return loaded->plan.frame_pointers_only && loaded->plan.config.user_stacks;
}

bool loaded_lacks_engine(const struct loaded *loaded)
{
	return loaded->plan.config.user_stacks && !engine_is_shared(loaded->engine);
}

void loaded_leave_out_self(struct loaded *loaded)
{
	if (!loaded->foreign)
		__atomic_store_n(&loaded_programs(loaded)->bss->own_tgid, getpid(),
				 __ATOMIC_RELAXED);
}

void loaded_leave_out_process(struct loaded *loaded, pid_t pid)
{
	loaded->beside = pid;
}

int loaded_set_frequency(struct loaded *loaded, u64 frequency)
{
	return attach_perf_set_frequency(&loaded->attachment, frequency);
}

static int open_events_of_cpu(void *attachment, u32 cpu)
{
	return attachment_open_cpu_events(attachment, cpu);
}

void loaded_follow_cpus(struct loaded *loaded)
{
	struct attachment *attachment = &loaded->attachment;

	if (attachment_has_events_by_cpu(attachment))
		cpu_hotplug_poll(&attachment->hotplug, loaded->plan.config.cpus, open_events_of_cpu,
				 attachment);
}

bool loaded_has_events_by_cpu(const struct loaded *loaded)
{
	return attachment_has_events_by_cpu(&loaded->attachment);
}

pid_t loaded_pid_if_only_command_is_recorded(const struct loaded *loaded)
{
	if (loaded->running || has_source_of_type(loaded->sources, SOURCE_WAKER) ||
	    has_source_of_type(loaded->sources, SOURCE_ORIGIN))
		return 0;
	return loaded->attachment.command;
}

void loaded_pause(struct loaded *loaded, enum pause why)
{
	__atomic_fetch_or(&loaded_programs(loaded)->bss->paused, why, __ATOMIC_SEQ_CST);
	generation_wait_for_programs(loaded);
}

void loaded_resume(struct loaded *loaded, enum pause why)
{
	__atomic_fetch_and(&loaded_programs(loaded)->bss->paused, ~why, __ATOMIC_SEQ_CST);
}

bool loaded_is_paused(const struct loaded *loaded)
{
	const u32 *paused = &loaded_programs(loaded)->bss->paused;

	return __atomic_load_n(paused, __ATOMIC_RELAXED) & PAUSE_USER;
}

/* If this process is killed while events are paused for a copy, the BPF program at its exit ends
 * the pause. That program does not know a process of another PID namespace; then the pause lasts
 * until the next snapshot. */
static void set_freezer_process(struct loaded *loaded, pid_t freezer)
{
	__atomic_store_n(&loaded_programs(loaded)->bss->freezer_tgid, freezer, __ATOMIC_SEQ_CST);
}

int loaded_freeze(struct loaded *loaded)
{
	set_freezer_process(loaded, loaded->foreign ? 0 : getpid());
	loaded_pause(loaded, PAUSE_SNAPSHOT);
	return copy_shared_array_to_own_memory(&loaded->rings)
		       ?: copy_shared_array_to_own_memory(&loaded->task_rings)
		       ?: copy_shared_array_to_own_memory(&loaded->scratch_slots)
		       ?: copy_shared_array_to_own_memory(&loaded->counted)
		       ?: copy_shared_array_to_own_memory(&loaded->attribute_slots);
}

void loaded_resume_events(struct loaded *loaded)
{
	loaded_resume(loaded, PAUSE_SNAPSHOT);
	set_freezer_process(loaded, 0);
}

void loaded_thaw(struct loaded *loaded)
{
	free_own_copy_of_shared_array(&loaded->rings);
	free_own_copy_of_shared_array(&loaded->task_rings);
	free_own_copy_of_shared_array(&loaded->scratch_slots);
	free_own_copy_of_shared_array(&loaded->counted);
	free_own_copy_of_shared_array(&loaded->attribute_slots);
}

bool loaded_is_frozen(const struct loaded *loaded)
{
	return loaded->rings.live;
}

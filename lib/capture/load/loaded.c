/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loading, sharing, pausing. */
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

#include "capture/load/attach_perf.h"
#include "capture/load/skeleton.h"
#include "error.h"
#include "interrupt.h"
#include "privilege/capability.h"
#include "privilege/limit.h"
#include "ring_writer.h"
#include "rule_cache.h"
#include "task_name.h"

static int share(struct shared_array *array, int fd, u64 value_bytes, u32 count)
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
	return ring_view_at(loaded->rings.memory, cpu, loaded->rings.stride,
			    loaded->plan.config.ring_slots, loaded->plan.config.slot_size);
}

struct ring_view loaded_task_ring(const struct loaded *loaded, u32 cpu)
{
	return ring_view_at(loaded->task_rings.memory, cpu, loaded->task_rings.stride,
			    loaded->plan.config.task_slots, sizeof(struct task_slot));
}

const struct scratch *loaded_scratch(const struct loaded *loaded, u32 cpu)
{
	return (const void *)((u8 *)loaded->scratch_slots.memory +
			      cpu * loaded->scratch_slots.stride);
}

void loaded_put_event(const struct loaded *loaded, const struct event_slot *event, u64 value)
{
	const struct capture_config *config = &loaded->plan.config;
	struct scratch_counters *counters =
		&((struct scratch *)loaded_scratch(loaded, 0))->counters;
	struct ring_view ring = loaded_ring(loaded, 0);
	u64 position = ring_take(ring.header, config->ring_slots, 1);
	struct event_slot *slot;

	counters->produced++;
	if (!position) {
		counters->lost[LOST_RING_FULL]++;
		return;
	}
	slot = (struct event_slot *)ring_slot(&ring, position);
	slot->tid = event->tid;
	slot->stamp = event->stamp;
	slot->kernel = event->kernel;
	slot->user = event->user;
	if (config->leaf)
		slot->extra[0] = 0;
	slot->extra[config->leaf] = value;
	__atomic_store_n(&slot->commit, COMMIT_OF(position), __ATOMIC_RELEASE);
}

static void add_walks(const struct scratch *scratch, struct walk_counts *counts)
{
	const struct scratch_counters *counters = &scratch->counters;

	counts->walked += counters->walked;
	counts->table_frames += counters->table_steps;
	counts->mapping_walks += scratch->search.walks;
	counts->script_loops += counters->script_joined;
	for (u32 stop = 0; stop < STOP_COUNT; stop++)
		counts->deferred[stop] += counters->deferred[stop];
}

struct walk_counts loaded_walks(const struct loaded *loaded)
{
	struct walk_counts counts = {};

	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++)
		for (u32 i = 0; i < SCRATCH_SLOTS; i++)
			add_walks(&loaded_scratch(loaded, cpu)[i], &counts);
	return counts;
}

struct mapping_record *loaded_mapping(const struct loaded *loaded, u32 number)
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

int loaded_share(struct loaded *loaded)
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
		result = share(shared[i].array, bpf_map__fd(shared[i].map), shared[i].value_bytes,
			       shared[i].count);
	return result;
}

static bool has_source(const struct source_list *sources, enum source_type type)
{
	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].type == type)
			return true;
	return false;
}

static bool has_tracepoints(const struct source_list *sources)
{
	return has_source(sources, SOURCE_TRACEPOINT) || has_source(sources, SOURCE_SYSCALL) ||
	       has_source(sources, SOURCE_WAKER);
}

static bool has_perf_events(const struct source_list *sources)
{
	return has_source(sources, SOURCE_SAMPLE) || has_source(sources, SOURCE_PERF);
}

/* Fills the map kernel_text: the programs recognise frames of the tracer and of interrupts by the
 * map, the drain recognises kernel code that was interrupted. */
static int set_kernel_text(struct loaded *loaded)
{
	if (!loaded->ahead.reads_text)
		return 0;
	return ahead_take_text(&loaded->ahead, loaded->kernel_text.memory);
}

static void init_rings(struct loaded *loaded)
{
	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(loaded, cpu);
		struct ring_view task_ring = loaded_task_ring(loaded, cpu);

		ring_view_init(&ring);
		ring_view_init(&task_ring);
	}
}

/* A cgroup's id is its directory's inode number. */
static int filter_cgroup(struct capture_config *config, const char *path,
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

/* Checked first: most refusals are of this kind. */
static int check_bpf(struct stackmap_error *error)
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

static int copy_array(struct shared_array *array)
{
	void *copy = malloc(array->bytes);

	if (!copy)
		return -ENOMEM;
	array->live = array->memory;
	array->memory = memcpy(copy, array->live, array->bytes);
	return 0;
}

static void drop_copy(struct shared_array *array)
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
	generations_init(loaded->tables);
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
	return check_bpf(error)
		       ?: plan_make(options, &loaded->plan, error)
		       ?: filter_cgroup(&loaded->plan.config, options->cgroup, error);
}

static int rings_failed(int result, struct stackmap_error *error)
{
	return error_set(error, -result, "rings: %s%s", strerror(-result), limit_advice(-result));
}

static int set_program_fd(const struct loaded *loaded, const struct bpf_program *program)
{
	return program_set_fd(&loaded->attachment.sets[0], program);
}

static int prepare_programs(struct loaded *loaded, struct stackmap_error *error)
{
	int result = attachment_prepare(&loaded->attachment, loaded->tables[0].fd, loaded->engine,
					error);

	if (result)
		return result;
	result = loaded_share(loaded);
	if (result)
		return rings_failed(result, error);
	loaded->running_code_program =
		set_program_fd(loaded, loaded_programs(loaded)->progs.number_running_code);
	return 0;
}

int loaded_prepare(struct loaded *loaded, struct stackmap_error *error)
{
	int result = engine_open(loaded->plan.config.pids.inode, &loaded->engine)
			     ?: generations_create(loaded)
			     ?: interrupted() ? -EINTR : 0;

	if (result)
		return error_set(error, -result, "stack map of %llu bytes: %s%s",
				 (unsigned long long)loaded->plan.geometry.bytes, strerror(-result),
				 limit_advice(-result));
	loaded->ahead = (struct ahead){
		.reads_text = loaded->plan.config.kernel_stacks || has_tracepoints(loaded->sources),
		.opens_event = loaded->attachment.command && has_perf_events(loaded->sources),
	};
	ahead_begin(&loaded->ahead);
	return prepare_programs(loaded, error);
}

int loaded_load(struct loaded *loaded, const struct meanwhile *meanwhile,
		struct stackmap_error *error)
{
	int result = attachment_load(&loaded->attachment, loaded->tables[0].fd, meanwhile, error);

	if (result)
		return result;
	result = set_kernel_text(loaded);
	if (result)
		return rings_failed(result, error);
	generation_publish(loaded, GENERATION_FIRST);
	init_rings(loaded);
	loaded->unwind_blocked_program =
		set_program_fd(loaded, loaded_programs(loaded)->progs.unwind_blocked);
	return 0;
}

static void close_programs(struct loaded *loaded)
{
	while (loaded->program_count)
		close(loaded->programs[--loaded->program_count]);
	free(loaded->programs);
	if (loaded->opened && loaded->unwind_blocked_program >= 0)
		close(loaded->unwind_blocked_program);
}

void loaded_free(struct loaded *loaded)
{
	ahead_end(&loaded->ahead);
	generations_free(loaded);
	unmap_array(&loaded->rings);
	unmap_array(&loaded->task_rings);
	unmap_array(&loaded->scratch_slots);
	unmap_array(&loaded->mappings);
	unmap_array(&loaded->rules);
	unmap_array(&loaded->engine_state);
	unmap_array(&loaded->cgroup_paths);
	unmap_array(&loaded->kernel_text);
	engine_close(&loaded->engine);
	close_programs(loaded);
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

void loaded_leave_out(struct loaded *loaded, pid_t pid)
{
	loaded->beside = pid;
}

int loaded_set_frequency(struct loaded *loaded, u64 frequency)
{
	return attach_perf_set_frequency(&loaded->attachment, frequency);
}

void loaded_follow_cpus(struct loaded *loaded)
{
	cpu_hotplug_poll(&loaded->attachment);
}

bool loaded_is_by_cpu(const struct loaded *loaded)
{
	return attachment_is_by_cpu(&loaded->attachment);
}

pid_t loaded_only_task(const struct loaded *loaded)
{
	if (loaded->running || has_source(loaded->sources, SOURCE_WAKER))
		return 0;
	return loaded->attachment.command;
}

void loaded_pause(struct loaded *loaded, enum pause why)
{
	__atomic_fetch_or(&loaded_programs(loaded)->bss->paused, why, __ATOMIC_SEQ_CST);
	generation_wait(loaded);
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

/* If this process is killed meanwhile, the hook at its exit ends it; of a reader from another PID
 * namespace, which the hook does not know, only the next snapshot does. */
static void set_freezer(struct loaded *loaded, pid_t freezer)
{
	__atomic_store_n(&loaded_programs(loaded)->bss->freezer_tgid, freezer, __ATOMIC_SEQ_CST);
}

int loaded_freeze(struct loaded *loaded)
{
	set_freezer(loaded, loaded->foreign ? 0 : getpid());
	loaded_pause(loaded, PAUSE_SNAPSHOT);
	return copy_array(&loaded->rings)
		       ?: copy_array(&loaded->task_rings)
		       ?: copy_array(&loaded->scratch_slots);
}

void loaded_go_on(struct loaded *loaded)
{
	loaded_resume(loaded, PAUSE_SNAPSHOT);
	set_freezer(loaded, 0);
}

void loaded_thaw(struct loaded *loaded)
{
	drop_copy(&loaded->rings);
	drop_copy(&loaded->task_rings);
	drop_copy(&loaded->scratch_slots);
}

bool loaded_is_frozen(const struct loaded *loaded)
{
	return loaded->rings.live;
}

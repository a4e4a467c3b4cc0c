/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the programs of an instance, sets their constants and sizes, and loads them.
 *
 * The object of the first set has the maps, and the programs of all sets except those of single
 * functions, which have objects of their own. The programs that libbpf has fitted there are loaded
 * by program_image.c, for each set with the constants of the set.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "capture/bpffs/engine_folder.h"
#include "capture/feature/bpf_attr.h"
#include "capture/load/loaded.h"
#include "capture/load/plan.h"
#include "capture/load/program_set.h"
#include "capture/load/skeleton.h"
#include "deferral.h"
#include "error.h"
#include "ring.h"
#include "scratch.h"

/* Selects the programs that unwind user stacks outside of events. */
static void select_deferral(struct program_set *set, const struct plan *plan)
{
	bool by_task_work = plan->config.deferral == DEFERRAL_TASK_WORK;

	bpf_program__set_autoload(set->object->progs.task_leave, plan_defers(plan));
	bpf_program__set_autoload(set->object->progs.number_running_code,
				  plan_defers(plan) && plan->task_iterators);
	bpf_program__set_autoload(set->object->progs.take_at_syscall, plan->config.user_at_syscall);
	bpf_program__set_autoload(set->object->progs.drop_at_syscall, plan->config.user_at_syscall);
	bpf_program__set_autoload(set->object->progs.unwind_blocked,
				  plan_defers(plan) && by_task_work);
}

/* Selects the iterator of the start: the one that asks for callbacks, or the plain one. */
static void select_start(const struct plan *plan, bool is_recording, struct bpf_program *asking,
			 struct bpf_program *plain)
{
	bool visits = is_recording && plan->visits_at_start;
	bool asks = plan_defers(plan) && plan->config.deferral == DEFERRAL_TASK_WORK;

	bpf_program__set_autoload(asking, visits && asks);
	bpf_program__set_autoload(plain, visits && !asks);
}

static void select_off_cpu(struct program_set *set, const struct plan *plan)
{
	bool is_recording = !plan->config.has_files;

	select_start(plan, is_recording, set->object->progs.on_start,
		     set->object->progs.on_start_plain);
	bpf_program__set_autoload(set->object->progs.on_stop, is_recording && plan->task_iterators);
}

static void select_time(struct program_set *set, const struct plan *plan)
{
	bpf_program__set_autoload(set->object->progs.on_time_wakeup, true);
	bpf_program__set_autoload(set->object->progs.on_time_new, true);
	bpf_program__set_autoload(set->object->progs.on_time_exec, true);
	select_start(plan, true, set->object->progs.on_time_start,
		     set->object->progs.on_time_start_plain);
	bpf_program__set_autoload(set->object->progs.on_time_stop, plan->task_iterators);
}

static void select_origins(struct program_set *set)
{
	bpf_program__set_autoload(set->object->progs.on_queue_timer, true);
	bpf_program__set_autoload(set->object->progs.on_queue_request, true);
	bpf_program__set_autoload(set->object->progs.on_work_begin, true);
	bpf_program__set_autoload(set->object->progs.on_work_end, true);
	bpf_program__set_autoload(set->object->progs.on_timer_begin, true);
	bpf_program__set_autoload(set->object->progs.on_timer_end, true);
	bpf_program__set_autoload(set->object->progs.on_hrtimer_begin, true);
	bpf_program__set_autoload(set->object->progs.on_hrtimer_end, true);
}

static void select_programs(struct program_set *set, const struct plan *plan)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, set->object->obj)
		bpf_program__set_autoload(program, false);
	for (u32 bit = PROGRAM_TASKS; bit <= PROGRAM_LAST; bit <<= 1)
		if (set->programs & bit)
			bpf_program__set_autoload(program_set_program(set, bit), true);
	if (set->programs & PROGRAM_TASKS) {
		bpf_program__set_autoload(set->object->progs.task_rename, true);
		bpf_program__set_autoload(set->object->progs.task_exec, true);
		bpf_program__set_autoload(set->object->progs.task_exit, true);
		bpf_program__set_autoload(set->object->progs.task_free, true);
		bpf_program__set_autoload(set->object->progs.cgroup_made, true);
		bpf_program__set_autoload(set->object->progs.task_move, true);
		bpf_program__set_autoload(set->object->progs.list_kernel_symbols,
					  plan->kernel_text && plan->symbol_iterators);
		bpf_program__set_autoload(set->object->progs.on_count_switch,
					  plan->config.counters);
		select_deferral(set, plan);
	}
	if (set->programs & PROGRAM_OFF_CPU)
		select_off_cpu(set, plan);
	if (set->programs & PROGRAM_TIME)
		select_time(set, plan);
	if (set->programs & PROGRAM_ORIGIN)
		select_origins(set);
	bpf_program__set_expected_attach_type(set->object->progs.on_user_functions,
					      ATTACH_TYPE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(set->object->progs.defer_uprobe_multi,
					      ATTACH_TYPE_UPROBE_MULTI);
}

/* The program of a set for one function, as a bit of enum program; 0: a set for other sources. */
static enum program function_of(const struct program_set *set)
{
	return set->programs & (PROGRAM_KERNEL_ENTRY | PROGRAM_KERNEL_RETURN);
}

/* The programs of an object that need callbacks, as bits. */
static u32 callers_of(const struct program_set *set, u32 programs, const struct plan *plan)
{
	u32 callers = 0;

	if (!plan_defers(plan) || plan->config.deferral != DEFERRAL_TASK_WORK)
		return 0;
	for (u32 bit = PROGRAM_SAMPLE; bit <= PROGRAM_LAST; bit <<= 1)
		if (programs & bit && program_set_callback(set, bit).program)
			callers |= bit;
	return plan->config.user_at_syscall && !set->is_copy ? callers | PROGRAM_TRACEPOINT
							     : callers;
}

static void select_callbacks(struct program_set *set, u32 callers)
{
	for (u32 bit = PROGRAM_SAMPLE; bit <= PROGRAM_LAST; bit <<= 1)
		if (callers & bit)
			bpf_program__set_autoload(program_set_callback(set, bit).program, true);
}

static void set_own_constants(const struct program_set *set, struct capture_config *config)
{
	config->cookie = set->cookie;
	config->kind = set->kind;
	config->sample = set->sample;
}

static void set_constants(struct program_set *set, const struct plan *plan)
{
	struct capture_bpf__rodata *constants = set->object->rodata;

	memcpy(&constants->config, &plan->config, sizeof(plan->config));
	memcpy(&constants->geometry, &plan->geometry, sizeof(plan->geometry));
	memcpy(&constants->syscalls, &plan->syscalls, sizeof(plan->syscalls));
	set_own_constants(set, (struct capture_config *)&constants->config);
}

/* Each CPU holds some free elements of the map. */
#define TASK_NAMES 8192
#define TASK_NAMES_A_CPU 128

/* The first calls of a function come in a burst, before rules are known. */
#define RAW_STACKS_PROBED (32U << 20)

/* An instance without deferral has these maps only because its programs name them. */
static int size_deferral(struct capture_bpf *object, const struct plan *plan)
{
	u32 cpus = plan_defers(plan) ? plan->config.cpus : 1;
	u32 buffers = cpus * bpf_map__max_entries(object->maps.raw_buffers);
	int result = bpf_map__set_max_entries(object->maps.steps, cpus);

	result = result ?: bpf_map__set_max_entries(object->maps.raw_buffers, buffers);
	if (plan_defers(plan) && plan->user_functions &&
	    plan->config.deferral != DEFERRAL_TASK_WORK)
		result = result
				 ?: bpf_map__set_max_entries(object->maps.raw_stacks,
							     RAW_STACKS_PROBED);
	if (plan_defers(plan))
		return result;
	result = result ?: bpf_map__set_max_entries(object->maps.deferrals, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.execve_calls, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.works, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.unlearned, 1);
	return result ?: bpf_map__set_max_entries(object->maps.raw_stacks, sysconf(_SC_PAGESIZE));
}

static int size_maps(struct program_set *set, const struct plan *plan, int table_fd)
{
	const struct capture_config *config = &plan->config;
	struct capture_bpf *object = set->object;
	int result = bpf_map__set_max_entries(object->maps.scratch_slots, config->cpus);

	result = result ?: bpf_map__set_max_entries(object->maps.steps, config->cpus);
	if (config->count)
		result = result ?: bpf_map__set_max_entries(object->maps.counted, config->cpus);
	if (!plan->off_cpu)
		result = result ?: bpf_map__set_max_entries(object->maps.blocked, 1);
	if (!plan->times) {
		result = result ?: bpf_map__set_max_entries(object->maps.thread_times, 1);
		result = result
				 ?: bpf_map__set_max_entries(object->maps.ended_times,
							     sysconf(_SC_PAGESIZE));
	}
	if (config->trace_ids) {
		result = result
				 ?: bpf_map__set_max_entries(object->maps.context_places,
							     CONTEXT_PLACES_MAX);
		if (plan->off_cpu)
			result = result
					 ?: bpf_map__set_max_entries(object->maps.waiting_contexts,
								     TASKS_MAX);
	}
	if (config->origins) {
		result = result ?: bpf_map__set_max_entries(object->maps.origins, ORIGINS_MAX);
		result = result
				 ?: bpf_map__set_max_entries(object->maps.origin_works,
							     ORIGIN_WORKS_MAX);
		result =
			result ?: bpf_map__set_max_entries(object->maps.origin_calls, config->cpus);
	}
	if (plan->questions)
		result =
			result ?: bpf_map__set_max_entries(object->maps.questions, plan->questions);
	if (plan->spans)
		result = result ?: bpf_map__set_max_entries(object->maps.spans, SPANS_MAX);
	if (config->alive) {
		result = result ?: bpf_map__set_max_entries(object->maps.alive, ALIVE_MAX);
		result = result
				 ?: bpf_map__set_max_entries(object->maps.alive_calls,
							     ALIVE_CALLS_MAX);
	}
	if (config->counters) {
		result = result
				 ?: bpf_map__set_max_entries(object->maps.counters,
							     config->counters * config->cpus);
		result = result ?: bpf_map__set_max_entries(object->maps.thread_counts, TASKS_MAX);
	}
	if (plan->comm_patterns)
		result = result
				 ?: bpf_map__set_max_entries(object->maps.comm_patterns,
							     plan->comm_patterns);
	if (!config->by_task)
		result = result ?: bpf_map__set_max_entries(object->maps.followed, 1);
	if (config->has_files)
		result = result
				 ?: bpf_map__set_max_entries(object->maps.task_names,
							     TASK_NAMES + TASK_NAMES_A_CPU *
										  config->cpus);
	result = result ?: bpf_map__set_max_entries(object->maps.rings, config->cpus);
	result = result
			 ?: bpf_map__set_value_size(
				    object->maps.rings,
				    RING_BYTES(config->ring_slots, config->slot_size));
	result = result ?: bpf_map__set_max_entries(object->maps.task_rings, config->cpus);
	result = result
			 ?: bpf_map__set_value_size(
				    object->maps.task_rings,
				    RING_BYTES(config->task_slots, sizeof(struct task_slot)));
	result = result ?: size_deferral(object, plan);
	return result ?: bpf_map__set_inner_map_fd(object->maps.tables, table_fd);
}

/* Reuses all maps of the first set except the constants. */
static int share_maps(struct program_set *set, const struct program_set *first)
{
	struct bpf_map *map, *lent;

	bpf_object__for_each_map(map, set->object->obj)
	{
		int result;

		if (map == set->object->maps.rodata)
			continue;
		lent = bpf_object__find_map_by_name(first->object->obj, bpf_map__name(map));
		result = lent ? bpf_map__reuse_fd(map, bpf_map__fd(lent)) : -ENOENT;
		if (result)
			return result;
	}
	return 0;
}

/* Notes the selected programs as those of the set. */
static int note_selected(struct program_set *set)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, set->object->obj)
	{
		if (!bpf_program__autoload(program))
			continue;
		if (array_make_room(set->loaded, set->loaded_count, set->loaded_room))
			return -ENOMEM;
		set->loaded[set->loaded_count++] =
			(struct set_program){.program = program, .fd = -1};
	}
	return 0;
}

static int open_object(struct program_set *set, const struct plan *plan, u32 callers_programs)
{
	enum program function = function_of(set);
	int result = program_set_open_object(set);

	if (result)
		return result;
	select_programs(set, plan);
	select_callbacks(set, callers_of(set, callers_programs, plan));
	set_constants(set, plan);
	if (function)
		result = bpf_program__set_attach_target(program_set_program(set, function), 0,
							set->function);
	return result ?: note_selected(set);
}

/* Notes the descriptors of the programs that libbpf has loaded. */
static void find_loaded(struct program_set *set, const struct program_images *images)
{
	for (u32 i = 0; i < set->loaded_count; i++)
		if (!images || !program_image_of(images, set->loaded[i].program))
			set->loaded[i].fd = bpf_program__fd(set->loaded[i].program);
}

/* Loads a set for one function, which has an object of its own. */
static int load_function(struct program_set *set, const struct plan *plan,
			 const struct program_set *first)
{
	int result = open_object(set, plan, set->programs)
			     ?: share_maps(set, first)
			     ?: program_set_load_object(set);

	find_loaded(set, NULL);
	return result;
}

static bool is_copy(const struct program_set *set)
{
	return !function_of(set);
}

static u32 programs_of_object(const struct program_set *sets, u32 count)
{
	u32 programs = sets[0].programs;

	for (u32 i = 1; i < count; i++)
		if (is_copy(&sets[i]))
			programs |= sets[i].programs;
	return programs;
}

/* Plans a copy with one program, that of its source. */
static int plan_copy(struct program_set *set, const struct program_set *first)
{
	set->object = first->object;
	set->is_copy = true;
	if (array_make_room(set->loaded, set->loaded_count, set->loaded_room))
		return -ENOMEM;
	set->loaded[set->loaded_count++] =
		(struct set_program){.program = program_set_program(set, set->programs), .fd = -1};
	bpf_program__set_autoload(program_set_program(set, set->programs), true);
	return 0;
}

/* Prepares the object with the programs of all sets except those for functions. */
static int prepare_object(struct program_set *sets, u32 count, const struct plan *plan,
			  int table_fd, struct engine *engine, struct program_images *images)
{
	struct program_set *first = &sets[0];
	int result = program_images_prepare()
			     ?: open_object(first, plan, programs_of_object(sets, count))
			     ?: size_maps(first, plan, table_fd)
			     ?: engine_lend(engine, first->object->obj);

	for (u32 i = 1; i < count && !result; i++)
		if (is_copy(&sets[i]))
			result = plan_copy(&sets[i], first);
	program_images_begin(images);
	result = result ?: program_set_load_object(first);
	program_images_end(images);
	if (result)
		return result;
	find_loaded(first, images);
	engine_publish(engine, first->object->obj);
	return 0;
}

/* Makes the map of a copy's constants; programs that use it keep it. */
static int create_constants(const struct program_set *set)
{
	const struct bpf_map *map = set->object->maps.rodata;
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(map));
	u32 bytes = bpf_map__value_size(map), key = 0;
	struct capture_bpf__rodata *constants = malloc(bytes);
	int fd, result = -ENOMEM;

	if (!constants)
		return result;
	memcpy(constants, set->object->rodata, bytes);
	set_own_constants(set, (struct capture_config *)&constants->config);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, ".rodata", sizeof(key), bytes, 1, &options);
	if (fd >= 0)
		result = bpf_map_update_elem(fd, &key, constants, BPF_ANY) ?: bpf_map_freeze(fd);
	free(constants);
	if (fd >= 0 && result)
		close(fd);
	return fd < 0 ? fd : result ?: fd;
}

/* Loads by program_image.c, and the program that each load is for. */
struct loads {
	struct program_load *loads;
	struct set_program **programs; /* of each */
	u32 count, load_room, program_room;
};

static int add_load(struct loads *loads, struct set_program *program,
		    const struct program_image *image, int constants, int own_constants)
{
	if (array_make_room(loads->loads, loads->count, loads->load_room) ||
	    array_make_room(loads->programs, loads->count, loads->program_room))
		return -ENOMEM;
	loads->programs[loads->count] = program;
	loads->loads[loads->count++] = (struct program_load){
		.image = image,
		.constants = constants,
		.own_constants = own_constants,
	};
	return 0;
}

static int add_set(struct loads *loads, struct program_set *set,
		   const struct program_images *images)
{
	int constants = bpf_map__fd(set->object->maps.rodata), own = constants, result = 0;

	if (set->is_copy)
		own = create_constants(set);
	if (own < 0)
		return own;
	for (u32 i = 0; i < set->loaded_count && !result; i++) {
		const struct program_image *image =
			program_image_of(images, set->loaded[i].program);

		if (image)
			result = add_load(loads, &set->loaded[i], image, constants, own);
	}
	return result;
}

static void close_constants(const struct loads *loads)
{
	for (u32 i = 0; i < loads->count; i++)
		if (loads->loads[i].own_constants != loads->loads[i].constants)
			close(loads->loads[i].own_constants);
}

static int run_loads(struct loads *loads, const struct meanwhile *meanwhile)
{
	const struct program_load *failed;
	int result = program_loads_run(loads->loads, loads->count, meanwhile, &failed);

	if (result && failed)
		programs_note(failed->image->program, -result);
	for (u32 i = 0; i < loads->count && !result; i++) {
		loads->programs[i]->fd = loads->loads[i].fd;
		loads->programs[i]->is_owned = true;
	}
	return result;
}

static int load_images(struct program_set *sets, u32 count, const struct program_images *images,
		       const struct meanwhile *meanwhile)
{
	struct loads loads = {};
	int result = 0;

	for (u32 i = 0; i < count && !result; i++)
		if (!i || sets[i].is_copy)
			result = add_set(&loads, &sets[i], images);
	result = result ?: run_loads(&loads, meanwhile);
	close_constants(&loads);
	free(loads.loads);
	free(loads.programs);
	return result;
}

static int connect_callbacks(const struct program_set *set, u32 callers)
{
	u32 key = 0;
	int result = 0;

	for (u32 bit = PROGRAM_SAMPLE; bit <= PROGRAM_LAST && !result; bit <<= 1) {
		struct callback_programs callback = program_set_callback(set, bit);
		int fd;

		if (!(callers & bit))
			continue;
		fd = program_set_fd(set, callback.program);
		result = bpf_map_update_elem(bpf_map__fd(callback.array), &key, &fd, BPF_ANY);
	}
	return result;
}

static int load_functions(struct program_set *sets, u32 count, const struct plan *plan)
{
	int result = 0;

	for (u32 i = 1; i < count && !result; i++)
		if (!is_copy(&sets[i]))
			result = load_function(&sets[i], plan, &sets[0]);
	return result;
}

/* Gives the first table its role in a thread while programs are loaded: the kernel waits for all
 * CPUs, although no table had the role before. */
struct table_place {
	int tables, table;
	int result;
	pthread_t thread;
	bool has_thread;
};

static void *put_table(void *arg)
{
	struct table_place *place = arg;
	u32 key = TABLE_CURRENT;

	place->result =
		bpf_map_update_elem(place->tables, &key, &place->table, BPF_ANY) ? -errno : 0;
	return NULL;
}

static void put_table_begin(struct table_place *place)
{
	place->has_thread = !pthread_create(&place->thread, NULL, put_table, place);
	if (!place->has_thread)
		put_table(place);
}

static int put_table_end(struct table_place *place)
{
	if (place->has_thread)
		pthread_join(place->thread, NULL);
	return place->result;
}

static int load_all(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
		    const struct program_images *images, const struct meanwhile *meanwhile)
{
	struct table_place place = {.tables = bpf_map__fd(sets[0].object->maps.tables),
				    .table = table_fd};
	int result, placed;

	put_table_begin(&place);
	result = load_functions(sets, count, plan) ?: load_images(sets, count, images, meanwhile);
	placed = put_table_end(&place);
	return result ?: placed;
}

int program_sets_prepare(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
			 struct engine *engine, struct program_images *images,
			 struct stackmap_error *error)
{
	int result;

	programs_listen();
	result = prepare_object(sets, count, plan, table_fd, engine, images);
	return result ? programs_refused(-result, error) : 0;
}

int program_sets_load(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
		      const struct program_images *images, const struct meanwhile *meanwhile,
		      struct stackmap_error *error)
{
	u32 callers = callers_of(&sets[0], programs_of_object(sets, count), plan);
	int result = load_all(sets, count, plan, table_fd, images, meanwhile)
			     ?: connect_callbacks(&sets[0], callers);

	return result ? programs_refused(-result, error) : 0;
}

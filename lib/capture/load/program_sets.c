/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the BPF programs of an instance, sets their constants and the sizes of maps, and loads
 * the programs.
 *
 * The BPF object of the first set has the maps, and the programs of all sets except sets for a
 * single kernel function (fentry), which have objects of their own. libbpf relocates the programs
 * of this object; program_image.c then loads them, for each set with the constants of the set.
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

/* Selects the programs that take or unwind user stacks outside of events. */
static void select_deferral_programs(struct program_set *set, const struct plan *plan)
{
	bool by_task_work = plan->config.deferral == DEFERRAL_TASK_WORK;

	bpf_program__set_autoload(set->object->progs.task_leave, plan_defers_user_stacks(plan));
	bpf_program__set_autoload(set->object->progs.number_running_code,
				  plan_defers_user_stacks(plan) && plan->task_iterators);
	bpf_program__set_autoload(set->object->progs.take_at_syscall, plan->config.user_at_syscall);
	bpf_program__set_autoload(set->object->progs.drop_at_syscall, plan->config.user_at_syscall);
	bpf_program__set_autoload(set->object->progs.unwind_blocked,
				  plan_defers_user_stacks(plan) && by_task_work);
}

/* Selects the iterator that records the tasks that are blocked at the start: with task work the
 * program that asks for callbacks, else the plain program. */
static void select_start_iterator(const struct plan *plan, bool is_recording,
				  struct bpf_program *asking, struct bpf_program *plain)
{
	bool visits = is_recording && plan->visits_at_start;
	bool asks = plan_defers_user_stacks(plan) && plan->config.deferral == DEFERRAL_TASK_WORK;

	bpf_program__set_autoload(asking, visits && asks);
	bpf_program__set_autoload(plain, visits && !asks);
}

static void select_origin_programs(struct program_set *set)
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

static void select_programs_to_load(struct program_set *set, const struct plan *plan)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, set->object->obj)
		bpf_program__set_autoload(program, false);
	for (u32 bit = PROGRAM_TASKS; bit <= PROGRAM_LAST; bit <<= 1)
		if (set->programs & bit)
			bpf_program__set_autoload(program_set_find_program(set, bit), true);
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
		select_deferral_programs(set, plan);
	}
	if (set->programs & PROGRAM_OFF_CPU) {
		bool is_recording = !plan->config.has_files;

		select_start_iterator(plan, is_recording, set->object->progs.on_start,
				      set->object->progs.on_start_plain);
		bpf_program__set_autoload(set->object->progs.on_stop,
					  is_recording && plan->task_iterators);
	}
	if (set->programs & PROGRAM_TIME) {
		bpf_program__set_autoload(set->object->progs.on_time_wakeup, true);
		bpf_program__set_autoload(set->object->progs.on_time_new, true);
		bpf_program__set_autoload(set->object->progs.on_time_exec, true);
		select_start_iterator(plan, true, set->object->progs.on_time_start,
				      set->object->progs.on_time_start_plain);
		bpf_program__set_autoload(set->object->progs.on_time_stop, plan->task_iterators);
	}
	if (set->programs & PROGRAM_ORIGIN)
		select_origin_programs(set);
	bpf_program__set_expected_attach_type(set->object->progs.on_user_functions,
					      ATTACH_TYPE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(set->object->progs.defer_uprobe_multi,
					      ATTACH_TYPE_UPROBE_MULTI);
}

/* Returns the bit of enum program if the set is for a single kernel function (fentry, fexit); 0: it
 * is another set. */
static enum program program_if_set_is_one_function(const struct program_set *set)
{
	return set->programs & (PROGRAM_KERNEL_ENTRY | PROGRAM_KERNEL_RETURN);
}

/* Returns the programs of an object that need task-work callbacks, as bits of enum program. */
static u32 programs_with_callbacks(const struct program_set *set, u32 programs,
				   const struct plan *plan)
{
	u32 callers = 0;

	if (!plan_defers_user_stacks(plan) || plan->config.deferral != DEFERRAL_TASK_WORK)
		return 0;
	for (u32 bit = PROGRAM_SAMPLE; bit <= PROGRAM_LAST; bit <<= 1)
		if (programs & bit && program_set_find_callback(set, bit).program)
			callers |= bit;
	return plan->config.user_at_syscall && !set->is_copy ? callers | PROGRAM_TRACEPOINT
							     : callers;
}

static void set_config_constants_of_set(const struct program_set *set,
					struct capture_config *config)
{
	config->cookie = set->cookie;
	config->kind = set->kind;
	config->sample = set->sample;
}

/* Number of elements of the map task_names; each CPU keeps some free elements for itself. */
#define TASK_NAMES 8192
#define TASK_NAMES_A_CPU 128

/* Size in bytes of the ring buffer for raw stacks if user functions are probed: their first calls
 * come in a burst, before unwind rules are known. */
#define RAW_STACKS_PROBED (32U << 20)

/* Sets the sizes of maps for deferred stacks. Without deferral these maps exist only because
 * programs refer to them, so they are as small as possible. */
static int set_sizes_of_deferral_maps(struct capture_bpf *object, const struct plan *plan)
{
	u32 cpus = plan_defers_user_stacks(plan) ? plan->config.cpus : 1;
	u32 buffers = cpus * bpf_map__max_entries(object->maps.raw_buffers);
	int result = bpf_map__set_max_entries(object->maps.steps, cpus);

	result = result ?: bpf_map__set_max_entries(object->maps.raw_buffers, buffers);
	if (plan_defers_user_stacks(plan) && plan->user_functions &&
	    plan->config.deferral != DEFERRAL_TASK_WORK)
		result = result
				 ?: bpf_map__set_max_entries(object->maps.raw_stacks,
							     RAW_STACKS_PROBED);
	if (plan_defers_user_stacks(plan))
		return result;
	result = result ?: bpf_map__set_max_entries(object->maps.deferrals, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.execve_calls, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.works, 1);
	result = result ?: bpf_map__set_max_entries(object->maps.unlearned, 1);
	return result ?: bpf_map__set_max_entries(object->maps.raw_stacks, sysconf(_SC_PAGESIZE));
}

static int set_map_sizes_of_object(struct program_set *set, const struct plan *plan, int table_fd)
{
	const struct capture_config *config = &plan->config;
	struct capture_bpf *object = set->object;
	int result = bpf_map__set_max_entries(object->maps.scratch_slots, config->cpus);

	result = result ?: bpf_map__set_max_entries(object->maps.steps, config->cpus);
	if (config->count)
		result = result ?: bpf_map__set_max_entries(object->maps.counted, config->cpus);
	result = result
			 ?: bpf_map__set_value_size(
				    object->maps.counted,
				    COUNTED_BYTES(config->counted_rows, config->aggregate));
	if (config->losses)
		result = result
				 ?: bpf_map__set_max_entries(object->maps.source_losses,
							     (config->cpus + 1) * config->losses);
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
		result = result
				 ?: bpf_map__set_max_entries(object->maps.attribute_slots,
							     ATTRIBUTE_SLOTS);
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
	result = result ?: set_sizes_of_deferral_maps(object, plan);
	return result ?: bpf_map__set_inner_map_fd(object->maps.tables, table_fd);
}

/* Makes a set use all maps of the first set, except the map of constants. */
static int reuse_maps_of_first(struct program_set *set, const struct program_set *first)
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

/* Adds the selected programs of the object to the set; they are not loaded yet. */
static int add_selected_programs(struct program_set *set)
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

static int open_object_and_select_programs(struct program_set *set, const struct plan *plan,
					   u32 callers_programs)
{
	enum program function = program_if_set_is_one_function(set);
	int result = program_set_open_object(set);
	struct capture_bpf__rodata *constants;
	u32 callers;

	if (result)
		return result;
	constants = set->object->rodata;
	select_programs_to_load(set, plan);
	callers = programs_with_callbacks(set, callers_programs, plan);
	for (u32 bit = PROGRAM_SAMPLE; bit <= PROGRAM_LAST; bit <<= 1)
		if (callers & bit)
			bpf_program__set_autoload(program_set_find_callback(set, bit).program,
						  true);
	memcpy(&constants->config, &plan->config, sizeof(plan->config));
	memcpy(&constants->geometry, &plan->geometry, sizeof(plan->geometry));
	memcpy(&constants->syscalls, &plan->syscalls, sizeof(plan->syscalls));
	set_config_constants_of_set(set, (struct capture_config *)&constants->config);
	if (function)
		result = bpf_program__set_attach_target(program_set_find_program(set, function), 0,
							set->function);
	return result ?: add_selected_programs(set);
}

/* Stores the descriptors of the programs that libbpf has loaded. */
static void store_loaded_descriptors(struct program_set *set, const struct program_images *images)
{
	for (u32 i = 0; i < set->loaded_count; i++)
		if (!images || !program_images_find(images, set->loaded[i].program))
			set->loaded[i].fd = bpf_program__fd(set->loaded[i].program);
}

static bool is_set_of_first_object(const struct program_set *set)
{
	return !program_if_set_is_one_function(set);
}

/* True if on_sample is loaded only once: the program then schedules its callbacks itself. */
static bool does_on_sample_schedule_callbacks(const struct program_set *sets, u32 count)
{
	u32 samples = 0;

	for (u32 i = 0; i < count; i++)
		samples += !!(sets[i].programs & PROGRAM_SAMPLE);
	return samples == 1;
}

/* Returns the programs of all sets of the first object, as bits, that let another program schedule
 * their callbacks. */
static u32 collect_calling_programs(const struct program_set *sets, u32 count)
{
	u32 programs = sets[0].programs;

	for (u32 i = 1; i < count; i++)
		if (is_set_of_first_object(&sets[i]))
			programs |= sets[i].programs;
	return does_on_sample_schedule_callbacks(sets, count) ? programs & ~PROGRAM_SAMPLE
							      : programs;
}

/* Prepares a set that uses the first set's object and has one program, that of its source. */
static int prepare_set_of_copied_program(struct program_set *set, const struct program_set *first)
{
	set->object = first->object;
	set->is_copy = true;
	if (array_make_room(set->loaded, set->loaded_count, set->loaded_room))
		return -ENOMEM;
	set->loaded[set->loaded_count++] = (struct set_program){
		.program = program_set_find_program(set, set->programs), .fd = -1};
	bpf_program__set_autoload(program_set_find_program(set, set->programs), true);
	return 0;
}

/* Prepares the object of the first set, with the programs of all sets except sets for single
 * functions. */
static int prepare_first_object(struct program_set *sets, u32 count, const struct plan *plan,
				int table_fd, struct engine *engine, struct program_images *images)
{
	struct program_set *first = &sets[0];
	int result = program_images_register_handlers()
			     ?: open_object_and_select_programs(first, plan, collect_calling_programs(sets, count))
			     ?: set_map_sizes_of_object(first, plan, table_fd)
			     ?: engine_use_maps_in_object(engine, first->object->obj);

	if (!result)
		((struct capture_config *)&first->object->rodata->config)->schedules =
			does_on_sample_schedule_callbacks(sets, count);
	for (u32 i = 1; i < count && !result; i++)
		if (is_set_of_first_object(&sets[i]))
			result = prepare_set_of_copied_program(&sets[i], first);
	program_images_begin_keeping(images);
	result = result ?: program_set_load_object(first);
	program_images_end_keeping(images);
	if (result)
		return result;
	store_loaded_descriptors(first, images);
	engine_publish(engine, first->object->obj);
	return 0;
}

/* Makes the map with the constants of a copied set. The programs that use the map keep it alive. */
static int create_constants_map(const struct program_set *set)
{
	const struct bpf_map *map = set->object->maps.rodata;
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(map));
	u32 bytes = bpf_map__value_size(map), key = 0;
	struct capture_bpf__rodata *constants = malloc(bytes);
	int fd, result = -ENOMEM;

	if (!constants)
		return result;
	memcpy(constants, set->object->rodata, bytes);
	set_config_constants_of_set(set, (struct capture_config *)&constants->config);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, ".rodata", sizeof(key), bytes, 1, &options);
	if (fd >= 0)
		result = bpf_map_update_elem(fd, &key, constants, BPF_ANY) ?: bpf_map_freeze(fd);
	free(constants);
	if (fd >= 0 && result)
		close(fd);
	return fd < 0 ? fd : result ?: fd;
}

/* A list of programs to load for program_image.c, and for each of them the set's program that gets
 * the descriptor. */
struct loads {
	struct program_load *loads;
	struct set_program **programs; /* the set's program that gets the descriptor of each load;
					  indexed like `loads` */
	u32 count, load_room, program_room;
};

static int add_program_load(struct loads *loads, struct set_program *program,
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

static int add_loads_of_set(struct loads *loads, struct program_set *set,
			    const struct program_images *images)
{
	int constants = bpf_map__fd(set->object->maps.rodata), own = constants, result = 0;

	if (set->is_copy)
		own = create_constants_map(set);
	if (own < 0)
		return own;
	for (u32 i = 0; i < set->loaded_count && !result; i++) {
		const struct program_image *image =
			program_images_find(images, set->loaded[i].program);

		if (image)
			result = add_program_load(loads, &set->loaded[i], image, constants, own);
	}
	return result;
}

static int run_program_loads(struct loads *loads, const struct meanwhile *meanwhile)
{
	const struct program_load *failed;
	int result = program_loads_run(loads->loads, loads->count, meanwhile, &failed);

	if (result && failed)
		programs_keep_error(failed->image->program, -result);
	for (u32 i = 0; i < loads->count && !result; i++) {
		loads->programs[i]->fd = loads->loads[i].fd;
		loads->programs[i]->is_owned = true;
	}
	return result;
}

static int load_program_images(struct program_set *sets, u32 count,
			       const struct program_images *images,
			       const struct meanwhile *meanwhile)
{
	struct loads loads = {};
	int result = 0;

	for (u32 i = 0; i < count && !result; i++)
		if (!i || sets[i].is_copy)
			result = add_loads_of_set(&loads, &sets[i], images);
	result = result ?: run_program_loads(&loads, meanwhile);
	for (u32 i = 0; i < loads.count; i++)
		if (loads.loads[i].own_constants != loads.loads[i].constants)
			close(loads.loads[i].own_constants);
	free(loads.loads);
	free(loads.programs);
	return result;
}

static int store_callback_programs_for_callers(const struct program_set *set, u32 callers)
{
	u32 key = 0;
	int result = 0;

	for (u32 bit = PROGRAM_SAMPLE; bit <= PROGRAM_LAST && !result; bit <<= 1) {
		struct callback_programs callback = program_set_find_callback(set, bit);
		int fd;

		if (!(callers & bit))
			continue;
		fd = program_set_find_fd(set, callback.program);
		result = bpf_map_update_elem(bpf_map__fd(callback.array), &key, &fd, BPF_ANY);
	}
	return result;
}

/* Makes the first table of the stack map the current one, in a thread while programs are loaded:
 * the kernel waits for all CPUs, although there was no current table before. */
struct table_place {
	int tables, table;
	int result;
	pthread_t thread;
};

static void *set_current_table(void *arg)
{
	struct table_place *place = arg;
	u32 key = TABLE_CURRENT;

	place->result =
		bpf_map_update_elem(place->tables, &key, &place->table, BPF_ANY) ? -errno : 0;
	return NULL;
}

int program_sets_prepare(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
			 struct engine *engine, struct program_images *images,
			 struct stackmap_error *error)
{
	int result;

	programs_keep_warning();
	result = prepare_first_object(sets, count, plan, table_fd, engine, images);
	return result ? programs_set_error(-result, error) : 0;
}

int program_sets_load(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
		      const struct program_images *images, const struct meanwhile *meanwhile,
		      struct stackmap_error *error)
{
	u32 callers =
		programs_with_callbacks(&sets[0], collect_calling_programs(sets, count), plan);
	struct table_place place = {.tables = bpf_map__fd(sets[0].object->maps.tables),
				    .table = table_fd};
	bool has_thread = !pthread_create(&place.thread, NULL, set_current_table, &place);
	int result = 0;

	if (!has_thread)
		set_current_table(&place);
	/* A set for one kernel function has an object of its own. */
	for (u32 i = 1; i < count && !result; i++) {
		if (is_set_of_first_object(&sets[i]))
			continue;
		result = open_object_and_select_programs(&sets[i], plan, sets[i].programs)
				 ?: reuse_maps_of_first(&sets[i], &sets[0])
				 ?: program_set_load_object(&sets[i]);
		store_loaded_descriptors(&sets[i], NULL);
	}
	result = result ?: load_program_images(sets, count, images, meanwhile);
	if (has_thread)
		pthread_join(place.thread, NULL);
	result = result ?: place.result ?: store_callback_programs_for_callers(&sets[0], callers);
	return result ? programs_set_error(-result, error) : 0;
}

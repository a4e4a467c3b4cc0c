/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The size of the stack map. The stack map of a recording only saves space in the rings: a stack
 * that does not fit into the map is recorded in full. The stack map of an instance counts each call
 * path as long as the instance exists, so it is larger; docs/internals/instances.md has sizes that
 * machines needed.
 */
#include "capture/load/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "arch/host.h"
#include "capture/feature/task_work.h"
#include "capture/load/pid_namespace.h"
#include "comm_glob.h"
#include "counted.h"
#include "error.h"
#include "order.h"
#include "ring.h"
#include "symbol/file/whole_file.h"
#include "thread_context.h"
#include "trace/block/source_name.h"

#define CPUS_FILE "/sys/devices/system/cpu/possible"

#define RING_BYTES_DEFAULT (4ULL << 20)
#define RING_BYTES_ALL (256ULL << 20) /* default size of the rings of all CPUs together */
#define RING_BYTES_LEAST (64ULL << 10)
#define RING_BYTES_MAX (256ULL << 20)
#define TASK_SLOTS_DRAIN 8192
#define TASK_SLOTS_FLIGHT 2048
#define TASK_SLOTS_ALL (1U << 20)
#define TASK_SLOTS_LEAST 256
/* Default log2 of an instance's stack map with user stacks; kernel stacks alone are few. */
#define INSTANCE_BITS 17
/* Number of lines of counters in the stack map: one for each CPU, and one for stacks that user
 * space adds. */
#define TABLE_LINES(cpus) ((cpus) + 1)

/* The highest possible CPU number + 1, which is more than the number of CPUs if numbers are
 * missing. */
static u32 read_possible_cpus(void)
{
	FILE *file = fopen(CPUS_FILE, "re");
	u32 cpu, cpus = 0;

	while (file && fscanf(file, "%u%*[-,]", &cpu) == 1)
		cpus = cpu + 1;
	if (file)
		fclose(file);
	return cpus;
}

static int plan_stack_table_size(const struct capture_options *options, struct plan *plan,
				 struct stackmap_error *error)
{
	struct capture_config *config = &plan->config;
	bool is_instance = options->has_files && !options->no_user_stacks && !options->no_dedup;
	u64 words = options->pool_bytes / 8;
	int result;

	config->bits = options->bits ?: is_instance ? INSTANCE_BITS : TABLE_BITS_DEFAULT;
	if (options->pool_bytes && (words < TABLE_POOL_WORDS_MIN || words > TABLE_POOL_WORDS_MAX))
		return error_set(error, ERANGE, "--pool %llu: must be between %u and %llu bytes",
				 (unsigned long long)options->pool_bytes, TABLE_POOL_WORDS_MIN * 8,
				 TABLE_POOL_WORDS_MAX * 8ULL);
	result =
		table_geometry_set(&plan->geometry, config->bits, TABLE_LINES(config->cpus), words);
	if (result)
		return error_set(error, ERANGE, "--bits %u: must be between %d and %d",
				 config->bits, TABLE_BITS_MIN, TABLE_BITS_MAX);
	config->pool_words = plan->geometry.pool_words;
	return 0;
}

/* Sets the size of the tables of counted events. A capture that aggregates has as many rows as fit
 * into *bytes, the size of a ring. Its ring has deferred stacks only, and becomes small. */
static int plan_counted_rows(struct capture_config *config, u64 *bytes,
			     struct stackmap_error *error)
{
	config->counted_rows = config->count ? COUNTED_ROWS : COUNTED_ROWS_LEAST;
	if (config->aggregate) {
		if (*bytes < COUNTED_BYTES(COUNTED_ROWS_LEAST, 1) || *bytes > RING_BYTES_MAX)
			return error_set(
				error, ERANGE,
				"table of %llu bytes per CPU: must be between %llu and %llu",
				(unsigned long long)*bytes,
				(unsigned long long)COUNTED_BYTES(COUNTED_ROWS_LEAST, 1),
				RING_BYTES_MAX);
		config->counted_rows = COUNTED_ROWS_LEAST;
		while (COUNTED_BYTES(2ULL * config->counted_rows, 1) <= *bytes)
			config->counted_rows *= 2;
		*bytes = RING_BYTES_LEAST;
	}
	config->last_counted = (config->counted_rows - 1) * sizeof(struct counted_row);
	config->counted_ranges = COUNTED_RANGES_AT(config->counted_rows);
	return 0;
}

static int plan_ring_sizes(const struct capture_options *options, struct plan *plan,
			   struct stackmap_error *error)
{
	struct capture_config *config = &plan->config;
	u64 bytes = options->ring_bytes
			    ?: clamp_u64(RING_BYTES_ALL / config->cpus, RING_BYTES_LEAST,
					 RING_BYTES_DEFAULT);
	u64 header = sizeof(struct ring_header);
	u64 least = header + RING_SLOTS_MIN * config->slot_size;
	int result;

	if (options->flight_bytes) {
		config->flight = 1;
		bytes = options->flight_bytes / config->cpus;
	}
	config->count =
		!config->flight && !config->alive && !config->begin_stacks && !config->further;
	result = plan_counted_rows(config, &bytes, error);
	if (result)
		return result;
	if (bytes < least || bytes > RING_BYTES_MAX)
		return error_set(
			error, ERANGE, "ring of %llu bytes per CPU: must be between %llu and %llu",
			(unsigned long long)bytes, (unsigned long long)least, RING_BYTES_MAX);
	config->ring_slots = (bytes - header) / config->slot_size;
	config->last_slot = (config->ring_slots - 1) * config->slot_size;
	config->task_slots = clamp_u64(TASK_SLOTS_ALL / config->cpus, TASK_SLOTS_LEAST,
				       config->flight ? TASK_SLOTS_FLIGHT : TASK_SLOTS_DRAIN);
	return 0;
}

static void set_config_of_source_question(const struct source *source, u32 kind, struct plan *plan)
{
	if (!source->question.value.bytes && !source->question.count &&
	    !source->question.span_role && !source->question.counter)
		return;
	if (source->question.counter > plan->config.counters)
		plan->config.counters = source->question.counter;
	plan->spans |= source->question.span_role == SPAN_BEGIN;
	if (source->question.span_role == ALIVE_BEGIN && !plan->config.alive)
		plan->config.alive = ALIVE_ALL;
	if (source->question.every)
		plan->config.alive = ALIVE_SAMPLED;
	plan->config.begin_stacks |= source->question.stacks != SPAN_STACKS_END;
	plan->config.further |= source->further_unit != NULL;
	plan->config.questions = 1;
	plan->config.refuses_early |= source->question.refuses_early;
	plan->questions = kind + 1;
	for (u32 i = 0; i < source->question.count; i++)
		plan->comm_patterns += source->question.conditions[i].subject == CONDITION_COMM;
}

static void set_config_of_sources(const struct capture_options *options, struct plan *plan)
{
	for (u32 state = 0; state < TIME_STATES; state++)
		plan->config.time_kinds[state] = TIME_KIND_NONE;
	for (u32 kind = 0; kind < options->sources->count; kind++) {
		const struct source *source = &options->sources->sources[kind];

		if (source->type == SOURCE_SAMPLE)
			plan->config.leaf = 1;
		if (source->type == SOURCE_USER)
			plan->user_functions = true;
		if (source->type == SOURCE_TRACEPOINT || source->type == SOURCE_SYSCALL ||
		    source->type == SOURCE_WAKER || source->type == SOURCE_ORIGIN)
			plan->kernel_text = true;
		if (source->type == SOURCE_OFF_CPU)
			plan->config.off_cpu_kind = kind;
		if (source->type == SOURCE_WAKER)
			plan->config.waker_kind = kind;
		if (source->type == SOURCE_ORIGIN) {
			plan->config.origins = 1;
			plan->config.origin_kind = kind;
		}
		if (source->type == SOURCE_OFF_CPU || source->type == SOURCE_WAKER)
			plan->off_cpu = true;
		if (source->type == SOURCE_HOLDER) {
			plan->holders = true;
			plan->holder_kind = kind;
		}
		if (source->type == SOURCE_TIME) {
			plan->config.time_kinds[source->wait] = kind;
			plan->times = true;
		}
		if (source->type == SOURCE_SYSCALL && source->syscall < CONFIG_SYSCALLS_MAX) {
			struct syscall_side *side =
				source->on_return ? &plan->syscalls.exit : &plan->syscalls.enter;

			side->kind[source->syscall] = kind + 1;
		}
		if (source->unit || source->question.span_role == ALIVE_BEGIN)
			plan->config.value = 1;
		set_config_of_source_question(source, kind, plan);
	}
}

static int check_wakers_have_off_cpu(const struct source_list *sources,
				     struct stackmap_error *error)
{
	const char *needs = NULL;
	bool blocked = false;

	for (u32 kind = 0; kind < sources->count; kind++) {
		if (sources->sources[kind].type == SOURCE_WAKER ||
		    sources->sources[kind].type == SOURCE_HOLDER)
			needs = sources->sources[kind].name;
		blocked |= sources->sources[kind].type == SOURCE_OFF_CPU;
	}
	if (!needs || blocked)
		return 0;
	return error_set(error, EINVAL,
			 "-e %s: it needs -e offcpu-time, which knows who is blocked", needs);
}

/* Checks the sources of thread times: a thread's time account needs a begin and an end, and covers
 * all CPUs that the thread runs on. */
static int check_thread_time_options(const struct capture_options *options, const struct plan *plan,
				     struct stackmap_error *error)
{
	if (!plan->times)
		return 0;
	if (options->has_files || options->flight_bytes)
		return error_set(error, EINVAL,
				 "--time, -e time:...: only a recording into a file has them: the "
				 "account needs a begin and an end");
	if (options->cpu_mask)
		return error_set(error, EINVAL,
				 "--time, -e time:...: threads move between CPUs; choose tasks, "
				 "not CPUs (-C)");
	return 0;
}

/* Checks origins: an origin, the thread that queued work, is kept as two stack ids until the work's
 * events. */
static int check_origin_options(const struct capture_options *options, const struct plan *plan,
				struct stackmap_error *error)
{
	if (!plan->config.origins)
		return 0;
	if (options->sources->count == 1)
		return error_set(error, EINVAL,
				 "-e " TRACE_ORIGIN
				 ": it goes with other events, which the work that "
				 "was queued makes");
	if (options->has_files)
		return error_set(error, EINVAL,
				 "--origins, -e " TRACE_ORIGIN ": only a recording into a file has "
				 "them");
	if (options->no_dedup)
		return error_set(error, EINVAL,
				 "--origins, -e " TRACE_ORIGIN
				 ": --no-dedup does without the stack "
				 "map, which keeps their stacks");
	return 0;
}

/* Refuses options that need what aggregated events do not have: a time, a second value, a trace, or
 * room for a stack that the stack map refuses. Sources whose events loaded_write_event() adds to a
 * ring are refused, too, since such events cannot be counted only. */
static int check_options_allow_aggregate(const struct capture_options *options,
					 const struct plan *plan, struct stackmap_error *error)
{
	const struct capture_config *config = &plan->config;
	const char *other = options->flight_bytes  ? "--flight"
			    : options->no_dedup	   ? "--no-dedup"
			    : options->trace_ids   ? "--trace-ids"
			    : plan->times	   ? "--time, -e time:..."
			    : plan->holders	   ? "-e offcpu-holder"
			    : config->origins	   ? "--origins, -e " TRACE_ORIGIN
			    : config->alive	   ? "--leaks, -e alive:..."
			    : config->begin_stacks ? "stack=begin, stack=both"
			    : config->further	   ? "values=A,B"
						   : NULL;

	if (!options->aggregate || !other)
		return 0;
	return error_set(error, EINVAL,
			 "--aggregate: the kernel keeps counts and sums of values by stack, and no "
			 "single events; record without %s",
			 other);
}

static int choose_user_stack_method(const struct capture_options *options, struct plan *plan,
				    struct stackmap_error *error)
{
	struct capture_config *config = &plan->config;
	u32 depth = options->max_user_depth;

	if (depth > STACK_WALK_DEPTH_MAX)
		return error_set(error, ERANGE, "--max-depth %u: must be between 1 and %d", depth,
				 STACK_WALK_DEPTH_MAX);
	config->user_stacks = !options->no_user_stacks;
	config->code_mask = code_address_mask();
	config->page_scale = page_scale();
	config->user_unwind = options->user_unwind;
	config->max_user_depth = depth ? depth : STACK_WALK_DEPTH_MAX;
	if (config->user_unwind == USER_UNWIND_AUTO)
		config->deferral = !options->no_task_work && task_work_works() ? DEFERRAL_TASK_WORK
									       : DEFERRAL_ASSISTED;
	plan->frame_pointers_only = options->has_files && config->deferral == DEFERRAL_ASSISTED;
	if (plan->frame_pointers_only)
		config->user_unwind = USER_UNWIND_FP;
	config->user_at_syscall =
		options->user_at_syscall && config->user_unwind == USER_UNWIND_AUTO;
	return 0;
}

int plan_make(const struct capture_options *options, struct plan *plan,
	      struct stackmap_error *error)
{
	struct capture_config *config = &plan->config;
	int result;

	memset(plan, 0, sizeof(*plan));
	config->cpus = read_possible_cpus();
	if (!config->cpus)
		return error_set(error, ENOENT,
				 CPUS_FILE
				 " cannot be read: mount sysfs (mount -t sysfs sysfs /sys)");
	if (config->cpus > CONFIG_CPUS_MAX)
		return error_set(error, ERANGE, "%u CPUs: no more than %d are supported",
				 config->cpus, CONFIG_CPUS_MAX);
	plan->kernel_text = !options->no_kernel_stacks;
	plan->symbol_iterators = !options->no_symbol_iterators;
	plan->task_iterators = !options->no_task_iterators;
	plan->visits_at_start = plan->task_iterators && !options->command;
	config->no_dedup = options->no_dedup;
	config->has_files = options->has_files;
	config->losses = options->sources->count > 1 ? options->sources->count : 0;
	config->triggers = options->has_files;
	for (u32 kind = 0; kind < options->sources->count; kind++)
		config->triggers |= options->sources->sources[kind].triggers != 0;
	config->kernel_stacks = !options->no_kernel_stacks;
	config->max_depth = STACK_KERNEL_DEPTH_MAX;
	whole_file_scan("/proc/sys/kernel/perf_event_max_stack", "%u", &config->max_depth);
	set_config_of_sources(options, plan);
	config->trace_ids = options->trace_ids;
	if (config->trace_ids && getrandom(config->attribute_key, sizeof(config->attribute_key),
					   0) != sizeof(config->attribute_key))
		return error_set(error, errno, "--trace-ids: no random numbers: %s",
				 strerror(errno));
	config->count_unmet = options->count_unmet;
	config->aggregate = options->aggregate;
	config->slot_size =
		EVENT_SLOT_SIZE(EVENT_NUMBERS(*config) + (config->trace_ids ? CONTEXT_WORDS : 0));
	config->by_task = options->by_task;
	/* If all threads are recorded, an early test saves no lookup. If unmet events are counted,
	 * the filters have to come first, since an event that they refuse does not count. */
	config->refuses_early &= config->by_task && !config->count_unmet;
	config->by_comm = options->comms.count > 0;
	config->by_cpu = options->cpu_mask != NULL;
	if (options->cpu_mask)
		memcpy(config->cpu_mask, options->cpu_mask, sizeof(config->cpu_mask));
	result = comm_globs_compile(&options->comms, &config->comms, error)
			 ?: pid_namespace_find(&config->pids, error);
	result = result ?: check_wakers_have_off_cpu(options->sources, error);
	result = result ?: check_thread_time_options(options, plan, error) ?: check_origin_options(options, plan, error);
	result = result ?: check_options_allow_aggregate(options, plan, error);
	if (result)
		return result;
	/* Counters stay open only as long as the process that has opened them. */
	if (config->counters && config->has_files)
		return error_set(error, EINVAL,
				 "value=+EVENT: an instance has no process that keeps the counter "
				 "open; record into a file");
	/* The readable files of an instance, and its readers, show only one value of an event. */
	if (config->further && config->has_files)
		return error_set(error, EINVAL,
				 "-e .../values=A,B/: an instance has one value of an event: "
				 "value=A, or 'stackmap record' for both");
	result = choose_user_stack_method(options, plan, error);
	result = result ? result : plan_stack_table_size(options, plan, error);
	return result ? result : plan_ring_sizes(options, plan, error);
}

bool plan_defers_user_stacks(const struct plan *plan)
{
	return plan->config.user_stacks && plan->config.user_unwind == USER_UNWIND_AUTO;
}

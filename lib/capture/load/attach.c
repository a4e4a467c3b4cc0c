/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Choosing program sets by source type, and attaching each type its way. */
#include "capture/load/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/feature/kernel_btf.h"
#include "capture/feature/tracefs.h"
#include "capture/load/attach_field_value.h"
#include "capture/load/attach_perf.h"
#include "capture/load/skeleton.h"
#include "capture/source/source_needs.h"
#include "capture/source/source_question.h"
#include "clock.h"
#include "engine.h"
#include "error.h"
#include "privilege/capability.h"
#include "privilege/limit.h"

/* The kernel does not run a program inside itself: a timer's event that interrupts an allocation's
 * would be lost if both had the same program. */
#define TRACEPOINT_SETS_MAX 8

#define PERF_PROBE_RETURN 1 /* attr.config of the kprobe and uprobe PMUs */

static u32 count_type(const struct attachment *attachment, enum source_type type)
{
	u32 count = 0;

	for (u32 kind = 0; kind < attachment->sources->count; kind++)
		count += attachment->sources->sources[kind].type == type;
	return count;
}

static int choose_kernel_way(struct attachment *attachment, struct stackmap_error *error)
{
	struct kernel_ways *ways = &attachment->kernel;
	u32 count = count_type(attachment, SOURCE_KERNEL);

	if (!count)
		return 0;
	*ways = way_kernel(count);
	if (ways->multi || ways->entry || ways->probe)
		return 0;
	error_set(error, EOPNOTSUPP, "kernel functions (k:, kr:): %s", strerror(EOPNOTSUPP));
	return source_needs_explain(attachment->sources, EOPNOTSUPP, error);
}

static int probe_features(struct attachment *attachment, struct stackmap_error *error)
{
	attachment->tracepoint_cookies =
		count_type(attachment, SOURCE_TRACEPOINT) && way_tracepoint_cookies();
	attachment->user_multi = count_type(attachment, SOURCE_USER) && way_user_multi();
	return choose_kernel_way(attachment, error);
}

static bool needs_probe(const struct attachment *attachment, const struct source *source)
{
	const struct kernel_ways *ways = &attachment->kernel;

	return ways->probe && ways->few && kernel_btf_function(source->target) < 0;
}

static bool by_entry(const struct attachment *attachment, const struct source *source)
{
	return attachment->kernel.entry && !needs_probe(attachment, source);
}

static bool by_multi(const struct attachment *attachment, const struct source *source)
{
	return attachment->kernel.multi && !needs_probe(attachment, source);
}

static bool needs_own_set(const struct attachment *attachment, const struct source *source)
{
	switch (source->type) {
	case SOURCE_SAMPLE:
	case SOURCE_PERF:
		return true;
	case SOURCE_TRACEPOINT:
		return !attachment->tracepoint_cookies;
	case SOURCE_KERNEL:
		return by_entry(attachment, source);
	default:
		return false;
	}
}

/* The program that serves a source, in a set of its own or in the common one. */
static u32 program_of(const struct attachment *attachment, const struct source *source, bool own)
{
	switch (source->type) {
	case SOURCE_SAMPLE:
	case SOURCE_PERF:
		return PROGRAM_SAMPLE;
	case SOURCE_TRACEPOINT:
		return question_reads_event(&source->question) ? PROGRAM_FIELD_VALUE
							       : PROGRAM_TRACEPOINT;
	case SOURCE_SYSCALL:
		return source->on_return ? PROGRAM_SYSCALL_EXIT : PROGRAM_SYSCALL_ENTER;
	case SOURCE_USER:
		return attachment->user_multi ? PROGRAM_USER_MULTI : PROGRAM_USER;
	case SOURCE_KERNEL:
		if (own)
			return source->on_return ? PROGRAM_KERNEL_RETURN : PROGRAM_KERNEL_ENTRY;
		return by_multi(attachment, source) ? PROGRAM_KERNEL_MULTI : PROGRAM_KERNEL_PROBE;
	case SOURCE_OFF_CPU:
		return PROGRAM_OFF_CPU;
	case SOURCE_WAKER:
		return PROGRAM_WAKER;
	case SOURCE_TIME:
		return PROGRAM_TIME;
	case SOURCE_HOLDER: /* lib/capture/file/lock_holders.h */
		return 0;
	}
	return 0;
}

static bool same_category(const struct source *a, const struct source *b)
{
	size_t bytes = strcspn(a->name, ":") + 1;

	return !strncmp(a->name, b->name, bytes);
}

static struct program_set *place(struct attachment *attachment, u32 kind, u32 set, bool own)
{
	u32 program = program_of(attachment, &attachment->sources->sources[kind], own);

	attachment->placements[kind] = (struct placement){.set = set, .program = program};
	attachment->sets[set].programs |= program;
	return &attachment->sets[set];
}

/* A recording of a single source needs no second set: the first has the kind as a constant then. */
static void place_own(struct attachment *attachment, const struct source *source, u32 kind)
{
	bool single = attachment->sources->count == 1;
	struct program_set *set =
		place(attachment, kind, single ? 0 : attachment->set_count++, true);

	set->cookie = false;
	set->kind = kind;
	set->sample = source->type == SOURCE_SAMPLE;
	set->function = source->target;
}

/* The one that counts is not shared: the kernel would skip it where one of its tracepoints
 * interrupts another. */
static void place_field_value(struct attachment *attachment, u32 kind)
{
	bool single = attachment->sources->count == 1;
	u32 set = single ? 0 : attachment->set_count++;

	place(attachment, kind, 0, false);
	attachment->placements[kind].call_set = set;
	attachment->sets[set].programs |= PROGRAM_FIELD_CALL;
	attachment->sets[set].kind = kind;
}

/* A tracepoint joins others of its category; new categories have sets of their own while there are
 * few. */
static void place_tracepoint(struct attachment *attachment, const struct source *source, u32 kind,
			     u32 *categories)
{
	const struct source *sources = attachment->sources->sources;

	for (u32 earlier = 0; earlier < kind; earlier++)
		if (attachment->placements[earlier].program == PROGRAM_TRACEPOINT &&
		    same_category(&sources[earlier], source)) {
			place(attachment, kind, attachment->placements[earlier].set, false);
			return;
		}
	if (++*categories > 1 && *categories <= TRACEPOINT_SETS_MAX)
		place(attachment, kind, attachment->set_count++, false)->cookie = true;
	else
		place(attachment, kind, 0, false);
}

static int plan_sets(struct attachment *attachment)
{
	u32 count = attachment->sources->count, categories = 0;

	attachment->sets = calloc(count + 1, sizeof(*attachment->sets));
	attachment->placements = calloc(count + 1, sizeof(*attachment->placements));
	if (!attachment->sets || !attachment->placements)
		return -ENOMEM;
	attachment->sets[0].programs = PROGRAM_TASKS;
	attachment->sets[0].cookie = true;
	attachment->set_count = 1;
	for (u32 kind = 0; kind < count; kind++) {
		const struct source *source = &attachment->sources->sources[kind];

		if (source->type == SOURCE_TRACEPOINT && question_reads_event(&source->question))
			place_field_value(attachment, kind);
		else if (needs_own_set(attachment, source))
			place_own(attachment, source, kind);
		else if (source->type == SOURCE_TRACEPOINT)
			place_tracepoint(attachment, source, kind, &categories);
		else
			place(attachment, kind, 0, false);
	}
	return 0;
}

static int hook_failed(const struct attachment *attachment, const char *tracepoint, int code,
		       struct stackmap_error *error)
{
	error_set(error, code, "tracepoint %s: %s", tracepoint, strerror(code));
	return source_needs_explain(attachment->sources, code, error);
}

int attachment_hooks(struct attachment *attachment, struct stackmap_error *error)
{
	struct task_hook hooks[TASK_HOOKS];

	program_set_hooks(&attachment->sets[0], hooks);
	for (u32 i = 0; i < TASK_HOOKS; i++) {
		int result = hooks[i].program < 0 ? 0
						  : link_raw_tracepoint(&attachment->task_links,
									hooks[i].tracepoint,
									hooks[i].program, false, 0);

		if (result && !(result == -ENOENT && hooks[i].is_optional))
			return hook_failed(attachment, hooks[i].tracepoint, -result, error);
	}
	return 0;
}

static int note_refused(struct attachment *attachment, int result)
{
	attachment->refused = result && result != -ENOMEM && result != -EMFILE &&
			      (result != -EPERM || capability_to_trace());
	return result;
}

int attachment_prepare(struct attachment *attachment, int table_fd, struct engine *engine,
		       struct stackmap_error *error)
{
	int result = probe_features(attachment, error);

	if (result)
		return result;
	result = plan_sets(attachment);
	if (result)
		return error_set(error, -result, "programs: %s", strerror(-result));
	result = program_sets_prepare(attachment->sets, attachment->set_count, attachment->plan,
				      table_fd, engine, &attachment->images, error);
	if (!result && attachment->plan->config.questions)
		result = attachment_store_questions(attachment, error);
	return note_refused(attachment, result);
}

int attachment_load(struct attachment *attachment, int table_fd, const struct meanwhile *meanwhile,
		    struct stackmap_error *error)
{
	int result = program_sets_load(attachment->sets, attachment->set_count, attachment->plan,
				       table_fd, &attachment->images, meanwhile, error);

	program_images_free(&attachment->images);
	return note_refused(attachment, result);
}

static int program_fd(const struct attachment *attachment, u32 kind)
{
	struct placement at = attachment->placements[kind];

	return program_set_event_fd(&attachment->sets[at.set], at.program);
}

static int attach_tracepoint(struct attachment *attachment, const struct source *source, u32 kind)
{
	if (question_reads_event(&source->question))
		return attach_field_value(attachment, source, kind);
	return link_raw_tracepoint(&attachment->links, source->target, program_fd(attachment, kind),
				   attachment->tracepoint_cookies, kind);
}

/* One link serves all system calls of a direction. */
static int attach_syscall(struct attachment *attachment, const struct source *source, u32 kind)
{
	const char *name = source->on_return ? "sys_exit" : "sys_enter";

	for (u32 earlier = 0; earlier < kind; earlier++)
		if (attachment->sources->sources[earlier].type == SOURCE_SYSCALL &&
		    attachment->sources->sources[earlier].on_return == source->on_return)
			return 0;
	return link_raw_tracepoint(&attachment->links, name, program_fd(attachment, kind), false,
				   0);
}

static int attach_probe(struct attachment *attachment, const struct source *source, u32 kind,
			const char *pmu)
{
	struct perf_event_attr attr = {
		.config = source->on_return ? PERF_PROBE_RETURN : 0,
		.config1 = (u64)source->target,
		.config2 = source->offset,
		.sample_period = 1,
	};
	int type = pmu_type(pmu);

	if (type < 0)
		return type;
	attr.type = type;
	return link_perf_event(&attachment->links, &attr, -1, 0, program_fd(attachment, kind),
			       COOKIE_OF(kind, source->at_entry));
}

static bool same_link(const struct attachment *attachment, u32 kind, u32 other)
{
	const struct source *a = &attachment->sources->sources[kind];
	const struct source *b = &attachment->sources->sources[other];

	return attachment->placements[kind].program == attachment->placements[other].program &&
	       a->on_return == b->on_return &&
	       (a->type == SOURCE_KERNEL || !strcmp(a->target, b->target));
}

/* The sources that one link serves: all functions of the kernel, or of one file, in one direction.
 */
struct functions {
	const char **names;
	u64 *offsets;
	u64 *cookies;
	u32 count;
};

static void add_function(struct functions *functions, const struct source *source, u32 kind)
{
	functions->names[functions->count] = source->target;
	functions->offsets[functions->count] = source->offset;
	functions->cookies[functions->count++] = COOKIE_OF(kind, source->at_entry);
}

static int link_functions(struct attachment *attachment, const struct source *source, u32 kind,
			  const struct functions *functions)
{
	int fd = program_fd(attachment, kind);

	if (source->type == SOURCE_KERNEL)
		return link_kernel_functions(&attachment->links, functions->names,
					     functions->cookies, functions->count,
					     source->on_return, fd);
	return link_user_functions(&attachment->links, source->target, functions->offsets,
				   functions->cookies, functions->count, source->on_return, fd);
}

/* Made at the first of the sources that share it. */
static int attach_functions(struct attachment *attachment, const struct source *source, u32 kind)
{
	const struct source_list *list = attachment->sources;
	struct functions functions = {};
	int result = -ENOMEM;

	for (u32 other = 0; other < kind; other++)
		if (same_link(attachment, kind, other))
			return 0;
	functions.names = calloc(list->count, sizeof(*functions.names));
	functions.offsets = calloc(list->count, sizeof(*functions.offsets));
	functions.cookies = calloc(list->count, sizeof(*functions.cookies));
	if (functions.names && functions.offsets && functions.cookies) {
		for (u32 other = kind; other < list->count; other++)
			if (same_link(attachment, kind, other))
				add_function(&functions, &list->sources[other], other);
		result = link_functions(attachment, source, kind, &functions);
	}
	free(functions.names);
	free(functions.offsets);
	free(functions.cookies);
	return result;
}

static int attach_kernel(struct attachment *attachment, const struct source *source, u32 kind)
{
	switch (attachment->placements[kind].program) {
	case PROGRAM_KERNEL_MULTI:
		return attach_functions(attachment, source, kind);
	case PROGRAM_KERNEL_PROBE:
		return attach_probe(attachment, source, kind, "kprobe");
	default:
		return link_typed(&attachment->links, program_fd(attachment, kind));
	}
}

/* Runs an iterator to its end. */
static void visit_tasks(int fd)
{
	char nothing[16];

	while (fd > 0 && read(fd, nothing, sizeof(nothing)) > 0)
		;
}

/* The descriptor of an iterator over all tasks, 0 if it is not loaded, or -errno. */
static int open_tasks(struct attachment *attachment, const struct bpf_program *program)
{
	int fd = program_set_fd(&attachment->sets[0], program);

	return fd < 0 ? 0 : link_tasks(&attachment->links, fd);
}

/* Opens the iterator of the end, which need not be opened then, when privileges have been given up.
 */
static int open_tasks_at_stop(struct attachment *attachment, const struct bpf_program *program,
			      int *stop_fd)
{
	int result = open_tasks(attachment, program);

	*stop_fd = result > 0 ? result : 0;
	return result < 0 ? result : 0;
}

/* Enters the tasks that wait already. */
static int visit_tasks_at_start(struct attachment *attachment, const struct bpf_program *program)
{
	int fd = open_tasks(attachment, program);

	visit_tasks(fd);
	return fd < 0 ? fd : 0;
}

static int attach_off_cpu(struct attachment *attachment, u32 kind)
{
	struct capture_bpf *object = attachment->sets[0].object;
	int result =
		open_tasks_at_stop(attachment, object->progs.on_stop, &attachment->stop_fds[0]);

	object->bss->recording_begin = attachment->begun ?: clock_ns(CLOCK_MONOTONIC);
	return result
		       ?: link_typed(&attachment->links, program_fd(attachment, kind))
		       ?: visit_tasks_at_start(attachment, object->progs.on_start);
}

/* The accounts of all threads begin when all programs are attached, at the first of the sources. A
 * thread that has no account when all tasks were visited has come later. Where they cannot be
 * visited a thread's first change is taken for that, unless it may have been left out so far. */
static int attach_time(struct attachment *attachment, u32 kind)
{
	struct capture_bpf *object = attachment->sets[0].object;
	const struct program_set *set = &attachment->sets[0];
	const struct capture_config *config = &attachment->plan->config;
	int result;

	for (u32 earlier = 0; earlier < kind; earlier++)
		if (attachment->sources->sources[earlier].type == SOURCE_TIME)
			return 0;
	result = open_tasks_at_stop(attachment, object->progs.on_time_stop,
				    &attachment->stop_fds[1])
			 ?: link_typed(&attachment->links, program_fd(attachment, kind))
			 ?: link_typed(&attachment->links,
				       program_set_fd(set, object->progs.on_time_wakeup))
			 ?: link_typed(&attachment->links,
				       program_set_fd(set, object->progs.on_time_new))
			 ?: link_typed(&attachment->links,
				       program_set_fd(set, object->progs.on_time_exec));
	if (result)
		return result;
	__atomic_store_n(&object->bss->time_begin, clock_ns(CLOCK_MONOTONIC), __ATOMIC_SEQ_CST);
	result = visit_tasks_at_start(attachment, object->progs.on_time_start);
	__atomic_store_n(&object->bss->time_seeded,
			 attachment->plan->task_iterators || config->by_comm || config->cgroup,
			 __ATOMIC_SEQ_CST);
	return result;
}

/* From here on no account changes. */
static void stop_times(struct attachment *attachment)
{
	u64 *end = &attachment->sets[0].object->bss->time_end;

	if (attachment->plan->times && !*end)
		__atomic_store_n(end, clock_ns(CLOCK_MONOTONIC), __ATOMIC_SEQ_CST);
}

static int attach(struct attachment *attachment, u32 kind)
{
	const struct source *source = &attachment->sources->sources[kind];

	switch (source->type) {
	case SOURCE_SAMPLE:
	case SOURCE_PERF:
		return attach_perf(attachment, source, kind, program_fd(attachment, kind));
	case SOURCE_TRACEPOINT:
		return attach_tracepoint(attachment, source, kind);
	case SOURCE_SYSCALL:
		return attach_syscall(attachment, source, kind);
	case SOURCE_USER:
		if (attachment->user_multi)
			return attach_functions(attachment, source, kind);
		return attach_probe(attachment, source, kind, "uprobe");
	case SOURCE_KERNEL:
		return attach_kernel(attachment, source, kind);
	case SOURCE_OFF_CPU:
		return attach_off_cpu(attachment, kind);
	case SOURCE_WAKER:
		return link_typed(&attachment->links, program_fd(attachment, kind));
	case SOURCE_TIME:
		return attach_time(attachment, kind);
	case SOURCE_HOLDER:
		return 0;
	}
	return -EINVAL;
}

static int attach_failed(const struct attachment *attachment, const struct source *source, int code,
			 struct stackmap_error *error)
{
	const char *advice = limit_advice(code);

	error_set(error, code, "-e %s: cannot attach: %s%s", source->name, strerror(code), advice);
	return *advice ? -code : source_needs_explain(attachment->sources, code, error);
}

static bool is_perf_event(const struct source *source)
{
	return source->type == SOURCE_SAMPLE || source->type == SOURCE_PERF;
}

bool attachment_is_by_cpu(const struct attachment *attachment)
{
	return attachment->event_count && !attachment->command;
}

int attachment_add_cpu(struct attachment *attachment, u32 cpu)
{
	int result = 0;

	for (u32 kind = 0; kind < attachment->sources->count && !result; kind++) {
		const struct source *source = &attachment->sources->sources[kind];

		if (is_perf_event(source))
			result = attach_perf_cpu(attachment, source, kind,
						 program_fd(attachment, kind), cpu);
	}
	return result;
}

int attachment_start(struct attachment *attachment, struct stackmap_error *error)
{
	cpu_hotplug_begin(&attachment->hotplug);
	for (u32 kind = 0; kind < attachment->sources->count; kind++) {
		int result = attach(attachment, kind);

		if (!result)
			continue;
		attachment_stop(attachment);
		return attach_failed(attachment, &attachment->sources->sources[kind], -result,
				     error);
	}
	return 0;
}

/* Once: an iterator is at its end then. */
static void record_unfinished_waits(struct attachment *attachment)
{
	for (u32 i = 0; i < sizeof(attachment->stop_fds) / sizeof(*attachment->stop_fds); i++) {
		visit_tasks(attachment->stop_fds[i]);
		attachment->stop_fds[i] = 0;
	}
}

/* A program of an instance is never asked for waits that last, so an instance misses none. */
static bool misses_waits(const struct attachment *attachment)
{
	return attachment->plan->off_cpu && !attachment->plan->config.has_files &&
	       !attachment->plan->task_iterators;
}

static u64 count_elements(int map)
{
	u64 count = 0;
	u32 key, next;

	while (count < TASKS_MAX && !bpf_map_get_next_key(map, count ? &key : NULL, &next)) {
		key = next;
		count++;
	}
	return count;
}

static u64 count_unfinished_spans(int map)
{
	struct span_begins begins;
	struct span_key key, next;
	u64 keys = 0, spans = 0;

	while (keys < SPANS_MAX && !bpf_map_get_next_key(map, keys++ ? &key : NULL, &next)) {
		key = next;
		if (!bpf_map_lookup_elem(map, &key, &begins))
			spans += begins.depth;
	}
	return spans;
}

void attachment_stop(struct attachment *attachment)
{
	stop_times(attachment);
	record_unfinished_waits(attachment);
	attach_perf_stop(attachment);
	link_list_clear(&attachment->links);
	if (attachment->plan->spans && !attachment->unfinished_spans)
		attachment->unfinished_spans =
			count_unfinished_spans(bpf_map__fd(attachment->sets[0].object->maps.spans));
	if (misses_waits(attachment))
		attachment->missed_waits =
			count_elements(bpf_map__fd(attachment->sets[0].object->maps.blocked));
}

void attachment_free(struct attachment *attachment)
{
	cpu_hotplug_end(&attachment->hotplug);
	link_list_clear(&attachment->links);
	link_list_clear(&attachment->task_links);
	program_images_free(&attachment->images);
	for (u32 i = attachment->set_count; i > 0; i--)
		program_set_unload(&attachment->sets[i - 1]);
	free(attachment->sets);
	free(attachment->placements);
	free(attachment->events);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/load/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "array.h"
#include "capture/feature/kernel_btf.h"
#include "capture/feature/tracefs.h"
#include "capture/load/plan.h"
#include "capture/load/skeleton.h"
#include "capture/source/source_needs.h"
#include "capture/source/source_question.h"
#include "clock.h"
#include "deferral.h"
#include "error.h"
#include "privilege/capability.h"
#include "privilege/limit.h"

/*
 * Perf events. The kernel skips the program of a perf event, without counting, while another BPF
 * program or an update of a map is active on that CPU. If each event is one sample, the skipped
 * runs are the event's own count minus the program's count of runs; for samples at a frequency the
 * number is unknown. Events are enabled after their program is attached, so that both counts begin
 * together.
 */

#define NS_PER_SECOND 1000000000ULL

static int open_perf_event(struct attachment *attachment, struct perf_event_attr *attr, u32 kind,
			   pid_t pid, int cpu, int program_fd)
{
	int result;

	if (array_make_room(attachment->events, attachment->event_count, attachment->event_room))
		return -ENOMEM;
	attachment->events[attachment->event_count] =
		(struct perf_event){.link = attachment->links.count, .kind = kind, .cpu = cpu};
	result = link_perf_event(&attachment->links, attr, pid, cpu, program_fd, 0);
	if (!result)
		attachment->event_count++;
	return result;
}

static struct perf_event *find_perf_event(struct attachment *attachment, u32 kind, u32 cpu)
{
	for (u32 i = 0; i < attachment->event_count; i++)
		if (attachment->events[i].kind == kind && attachment->events[i].cpu == (int)cpu)
			return &attachment->events[i];
	return NULL;
}

/* Replaces a perf event that ended when its CPU went offline; its count is kept. */
static int reopen_perf_event(struct attachment *attachment, struct perf_event *event,
			     struct perf_event_attr *attr, int program_fd)
{
	u64 count = 0;
	int result;

	link_read_final_count(&attachment->links, event->link, &count);
	result = link_reopen_perf_event(&attachment->links, event->link, attr, event->cpu,
					program_fd);
	if (!result)
		event->count_before += count;
	return result ?: link_enable_perf_event(&attachment->links, event->link);
}

static struct perf_event_attr make_perf_attr(const struct attachment *attachment,
					     const struct source *source)
{
	u64 frequency = source->frequency ? attachment->frequency ?: source->frequency : 0;

	return (struct perf_event_attr){
		.type = source->perf_type,
		.config = source->perf_config[0],
		.config1 = source->perf_config[1],
		.config2 = source->perf_config[2],
		.freq = frequency != 0,
		.sample_period = frequency ?: source->period,
		.exclude_user = source->no_user,
		.exclude_kernel = source->no_kernel,
		.precise_ip = source->precise,
		.disabled = 1,
		.enable_on_exec = attachment->command != 0,
		.inherit = attachment->command != 0,
	};
}

/* Opens the event of a source on one CPU, if that CPU is recorded. -ENODEV: the CPU is offline. */
static int attach_perf_event_to_cpu(struct attachment *attachment, const struct source *source,
				    u32 kind, int program_fd, u32 cpu)
{
	const struct capture_config *config = &attachment->plan->config;
	struct perf_event_attr attr = make_perf_attr(attachment, source);
	struct perf_event *event = find_perf_event(attachment, kind, cpu);

	if (config->by_cpu && !(config->cpu_mask[cpu / 64] >> (cpu % 64) & 1))
		return 0;
	if (event)
		return reopen_perf_event(attachment, event, &attr, program_fd);
	return open_perf_event(attachment, &attr, kind, -1, cpu, program_fd)
		       ?: link_enable_perf_event(&attachment->links, attachment->links.count - 2);
}

int attach_perf_events(struct attachment *attachment, const struct source *source, u32 kind,
		       int program_fd)
{
	struct perf_event_attr attr = make_perf_attr(attachment, source);
	u32 before = attachment->event_count;
	int result = -ENODEV;

	if (attachment->command)
		return open_perf_event(attachment, &attr, kind, attachment->command, -1,
				       program_fd);
	for (u32 cpu = 0; cpu < attachment->plan->config.cpus; cpu++) {
		result = attach_perf_event_to_cpu(attachment, source, kind, program_fd, cpu);
		if (result && result != -ENODEV) /* -ENODEV: the CPU is offline, and is left out */
			return result;
	}
	return attachment->event_count > before ? 0 : -ENODEV;
}

int attach_perf_set_frequency(struct attachment *attachment, u64 frequency)
{
	int result = 0;

	attachment->frequency = frequency;
	for (u32 i = 0; i < attachment->event_count; i++) {
		const struct perf_event *event = &attachment->events[i];
		const struct source *source = &attachment->sources->sources[event->kind];
		bool is_clock = source->perf_type == PERF_TYPE_SOFTWARE &&
				(source->perf_config[0] == PERF_COUNT_SW_CPU_CLOCK ||
				 source->perf_config[0] == PERF_COUNT_SW_TASK_CLOCK);

		/* Clocks take a period in ns instead of a frequency. */
		if (source->frequency)
			result = link_set_period(&attachment->links, event->link,
						 is_clock ? NS_PER_SECOND / frequency : frequency)
					 ?: result;
	}
	return result;
}

/* Stops the events and keeps their counts. Call before their links are closed. */
static void stop_perf_events_and_keep_counts(struct attachment *attachment)
{
	if (!attachment->links.count) /* the perf events are stopped already */
		return;
	for (u32 i = 0; i < attachment->event_count; i++) {
		struct perf_event *event = &attachment->events[i];

		if (link_read_final_count(&attachment->links, event->link, &event->count))
			event->count = 0;
		event->count += event->count_before;
	}
}

static u64 count_skipped_runs(const struct attachment *attachment, u32 kind)
{
	struct perf_runs *runs = calloc(libbpf_num_possible_cpus(), sizeof(*runs));
	int fd = bpf_map__fd(attachment->sets[0].object->maps.perf_runs);
	u64 ran = 0, count = 0;

	if (runs && !bpf_map_lookup_elem(fd, &kind, runs))
		for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
			ran += runs[cpu].runs;
			count += attachment->event_count ? 0 : runs[cpu].count;
		}
	free(runs);
	for (u32 i = 0; i < attachment->event_count; i++)
		if (attachment->events[i].kind == kind)
			count += attachment->events[i].count;
	return count > ran ? count - ran : 0;
}

u64 attach_count_skipped_perf_events(const struct attachment *attachment, u32 kind)
{
	const struct source *source = &attachment->sources->sources[kind];

	return source->type == SOURCE_PERF && !source->frequency && source->period == 1
		       ? count_skipped_runs(attachment, kind)
		       : 0;
}

/*
 * Tracepoints with values of the record's fields (bpf/event/field_value.h). Programs of a
 * tracepoint run in the order of their attaching, and are detached in the reverse order.
 */

static int event_program_fd(const struct attachment *attachment, u32 set, enum program program)
{
	return program_set_find_event_fd(&attachment->sets[set], program);
}

/* Attaches the two programs of a tracepoint with a value; the perf event only makes the kernel
 * write the record. */
int attach_tracepoint_with_value(struct attachment *attachment, const struct source *source,
				 u32 kind)
{
	struct placement at = attachment->placements[kind];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = source->tracepoint,
		.disabled = 1,
	};
	int event = event_program_fd(attachment, at.set, PROGRAM_FIELD_VALUE);
	int call = event_program_fd(attachment, at.call_set, PROGRAM_FIELD_CALL);
	int result = link_perf_event(&attachment->links, &attr, -1, 0, event, kind);

	return result ?: link_raw_tracepoint(&attachment->links, source->target, call, false, 0);
}

u64 attach_count_all_skipped_events(const struct attachment *attachment, u64 misses)
{
	struct field_runs *runs = calloc(libbpf_num_possible_cpus(), sizeof(*runs));
	int fd = bpf_map__fd(attachment->sets[0].object->maps.field_runs);
	bool in_order = attachment->placements;
	u64 skipped = 0, ahead = 0, call_misses = 0;

	for (u32 kind = 0; runs && kind < attachment->sources->count; kind++) {
		const struct source *source = &attachment->sources->sources[kind];

		if (source->type != SOURCE_TRACEPOINT || bpf_map_lookup_elem(fd, &kind, runs))
			continue;
		for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
			skipped += runs[cpu].skipped + (in_order ? runs[cpu].unsure : 0);
			ahead += (s64)runs[cpu].ahead > 0 ? runs[cpu].ahead : 0;
		}
	}
	free(runs);
	for (u32 i = 0; i < attachment->set_count; i++)
		if (attachment->sets[i].programs & PROGRAM_FIELD_CALL)
			call_misses += program_recursion_misses(
				event_program_fd(attachment, i, PROGRAM_FIELD_CALL));
	return skipped + misses - (call_misses < ahead ? call_misses : ahead);
}

/* The kernel does not run a program inside itself: if the tracepoint of a timer interrupted that of
 * an allocation and both had the same program, the timer's event would be lost. Tracepoints of one
 * category interrupt each other as well: the completion of a block request, the next request. */
#define TRACEPOINT_SETS_MAX 8
/* The verifier takes some 0.05 s for the programs of one set. */
#define TRACEPOINTS_WITH_OWN_SET_MAX 4

/* Bits in attr.config of perf events of the kprobe and uprobe PMUs. */
#define PERF_PROBE_RETURN 1
/* Number of the lowest bit of the semaphore's offset in attr.config. */
#define PERF_PROBE_SEMAPHORE 32

static u32 count_sources_of_type(const struct attachment *attachment, enum source_type type)
{
	u32 count = 0;

	for (u32 kind = 0; kind < attachment->sources->count; kind++)
		count += attachment->sources->sources[kind].type == type;
	return count;
}

static int choose_attach_methods(struct attachment *attachment, struct stackmap_error *error)
{
	struct kernel_attach_methods *ways = &attachment->kernel;
	u32 count = count_sources_of_type(attachment, SOURCE_KERNEL);

	attachment->tracepoint_cookies = count_sources_of_type(attachment, SOURCE_TRACEPOINT) &&
					 attach_has_tracepoint_cookies();
	attachment->user_multi =
		count_sources_of_type(attachment, SOURCE_USER) && attach_has_uprobe_multi();
	if (!count)
		return 0;
	*ways = attach_methods_for_kernel_functions(count);
	if (ways->multi || ways->entry || ways->probe)
		return 0;
	error_set(error, EOPNOTSUPP, "kernel functions (k:, kr:): %s", strerror(EOPNOTSUPP));
	return source_needs_explain(attachment->sources, EOPNOTSUPP, error);
}

static bool must_attach_by_kprobe(const struct attachment *attachment, const struct source *source)
{
	const struct kernel_attach_methods *ways = &attachment->kernel;

	return ways->probe && ways->few && kernel_btf_function_id(source->target) < 0;
}

static bool needs_own_program_set(const struct attachment *attachment, const struct source *source)
{
	switch (source->type) {
	case SOURCE_SAMPLE:
	case SOURCE_PERF:
		return true;
	case SOURCE_TRACEPOINT:
		return !attachment->tracepoint_cookies;
	case SOURCE_KERNEL:
		return attachment->kernel.entry && !must_attach_by_kprobe(attachment, source);
	default:
		return false;
	}
}

/* Returns the program that serves a source. `own`: the source has a set of its own. */
static u32 choose_program_for_source(const struct attachment *attachment,
				     const struct source *source, bool own)
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
		return attachment->kernel.multi && !must_attach_by_kprobe(attachment, source)
			       ? PROGRAM_KERNEL_MULTI
			       : PROGRAM_KERNEL_PROBE;
	case SOURCE_OFF_CPU:
		return PROGRAM_OFF_CPU;
	case SOURCE_WAKER:
		return PROGRAM_WAKER;
	case SOURCE_TIME:
		return PROGRAM_TIME;
	case SOURCE_ORIGIN:
		return PROGRAM_ORIGIN;
	case SOURCE_HOLDER: /* lib/capture/file/lock_holders.h */
		return 0;
	}
	return 0;
}

static struct program_set *put_source_into_program_set(struct attachment *attachment, u32 kind,
						       u32 set, bool own)
{
	u32 program =
		choose_program_for_source(attachment, &attachment->sources->sources[kind], own);

	attachment->placements[kind] = (struct placement){.set = set, .program = program};
	attachment->sets[set].programs |= program;
	return &attachment->sets[set];
}

/* Gives a source a set of programs of its own. A recording of a single source needs no second set:
 * its first set has the kind as a constant. */
static void give_source_own_program_set(struct attachment *attachment, const struct source *source,
					u32 kind)
{
	bool single = attachment->sources->count == 1;
	struct program_set *set = put_source_into_program_set(
		attachment, kind, single ? 0 : attachment->set_count++, true);

	set->cookie = false;
	set->kind = kind;
	set->sample = source->type == SOURCE_SAMPLE;
	set->function = source->target;
}

/* Assigns sets to the two programs of a tracepoint with a value. The counting program has a set of
 * its own, since the kernel would skip a shared program when one tracepoint interrupts another. */
static void give_field_value_source_sets(struct attachment *attachment, u32 kind)
{
	bool single = attachment->sources->count == 1;
	u32 set = single ? 0 : attachment->set_count++;

	put_source_into_program_set(attachment, kind, 0, false);
	attachment->placements[kind].call_set = set;
	attachment->sets[set].programs |= PROGRAM_FIELD_CALL;
	attachment->sets[set].kind = kind;
}

/* A tracepoint gets a set of its own if there are few tracepoints, else the set of its category.
 * Each of the first categories has a set; later categories share the common set. */
static void give_tracepoint_program_set(struct attachment *attachment, const struct source *source,
					u32 kind, u32 *categories)
{
	const struct source *sources = attachment->sources->sources;
	bool few = count_sources_of_type(attachment, SOURCE_TRACEPOINT) <=
		   TRACEPOINTS_WITH_OWN_SET_MAX;
	size_t category_bytes = strcspn(source->name, ":") + 1;

	for (u32 earlier = 0; !few && earlier < kind; earlier++)
		if (attachment->placements[earlier].program == PROGRAM_TRACEPOINT &&
		    !strncmp(sources[earlier].name, source->name, category_bytes)) {
			put_source_into_program_set(attachment, kind,
						    attachment->placements[earlier].set, false);
			return;
		}
	if (++*categories > 1 && *categories <= TRACEPOINT_SETS_MAX)
		put_source_into_program_set(attachment, kind, attachment->set_count++, false)
			->cookie = true;
	else
		put_source_into_program_set(attachment, kind, 0, false);
}

static int assign_program_sets_to_sources(struct attachment *attachment)
{
	u32 count = attachment->sources->count, categories = 0;

	attachment->sets = calloc(count + 1, sizeof(*attachment->sets));
	attachment->placements = calloc(count + 1, sizeof(*attachment->placements));
	if (!attachment->sets || !attachment->placements)
		return -ENOMEM;
	attachment->sets[0].programs = PROGRAM_TASKS;
	attachment->sets[0].cookie = count > 1;
	if (count == 1)
		attachment->sets[0].kind = COOKIE_OF(0, attachment->sources->sources[0].at_entry);
	attachment->set_count = 1;
	for (u32 kind = 0; kind < count; kind++) {
		const struct source *source = &attachment->sources->sources[kind];

		if (source->type == SOURCE_TRACEPOINT && question_reads_event(&source->question))
			give_field_value_source_sets(attachment, kind);
		else if (needs_own_program_set(attachment, source))
			give_source_own_program_set(attachment, source, kind);
		else if (source->type == SOURCE_TRACEPOINT)
			give_tracepoint_program_set(attachment, source, kind, &categories);
		else
			put_source_into_program_set(attachment, kind, 0, false);
	}
	return 0;
}

int attachment_attach_hooks(struct attachment *attachment, struct stackmap_error *error)
{
	struct task_hook hooks[TASK_HOOKS];

	program_set_list_task_hooks(&attachment->sets[0], hooks);
	for (u32 i = 0; i < TASK_HOOKS; i++) {
		int result = hooks[i].program < 0 ? 0
						  : link_raw_tracepoint(&attachment->task_links,
									hooks[i].tracepoint,
									hooks[i].program, false, 0);

		if (!result || (result == -ENOENT && hooks[i].is_optional))
			continue;
		error_set(error, -result, "tracepoint %s: %s", hooks[i].tracepoint,
			  strerror(-result));
		return source_needs_explain(attachment->sources, -result, error);
	}
	return 0;
}

static int note_if_kernel_refused_program(struct attachment *attachment, int result)
{
	attachment->refused = result && result != -ENOMEM && result != -EMFILE &&
			      (result != -EPERM || capability_allows_loading_programs());
	return result;
}

int attachment_prepare(struct attachment *attachment, int table_fd, struct engine *engine,
		       struct stackmap_error *error)
{
	int result = choose_attach_methods(attachment, error);

	if (result)
		return result;
	result = assign_program_sets_to_sources(attachment);
	if (result)
		return error_set(error, -result, "programs: %s", strerror(-result));
	result = program_sets_prepare(attachment->sets, attachment->set_count, attachment->plan,
				      table_fd, engine, &attachment->images, error);
	if (!result && attachment->plan->config.questions)
		result = attachment_store_questions(attachment, error);
	return note_if_kernel_refused_program(attachment, result);
}

int attachment_load(struct attachment *attachment, int table_fd, const struct meanwhile *meanwhile,
		    struct stackmap_error *error)
{
	int result = program_sets_load(attachment->sets, attachment->set_count, attachment->plan,
				       table_fd, &attachment->images, meanwhile, error);

	program_images_free(&attachment->images);
	return note_if_kernel_refused_program(attachment, result);
}

static int program_fd_of_source(const struct attachment *attachment, u32 kind)
{
	struct placement at = attachment->placements[kind];

	return program_set_find_event_fd(&attachment->sets[at.set], at.program);
}

/* Attaches system calls. One link serves the entries of all system calls, another one their exits;
 * each is made for the first source that needs it. */
static int attach_syscalls(struct attachment *attachment, const struct source *source, u32 kind)
{
	const char *name = source->on_return ? "sys_exit" : "sys_enter";

	for (u32 earlier = 0; earlier < kind; earlier++)
		if (attachment->sources->sources[earlier].type == SOURCE_SYSCALL &&
		    attachment->sources->sources[earlier].on_return == source->on_return)
			return 0;
	return link_raw_tracepoint(&attachment->links, name, program_fd_of_source(attachment, kind),
				   false, 0);
}

static int attach_probe_by_perf_event(struct attachment *attachment, const struct source *source,
				      u32 kind, const char *pmu)
{
	struct perf_event_attr attr = {
		.config = (source->on_return ? PERF_PROBE_RETURN : 0) |
			  source->semaphore << PERF_PROBE_SEMAPHORE,
		.config1 = (u64)source->target,
		.config2 = source->offset,
		.sample_period = 1,
	};
	int type = read_perf_type_of_pmu(pmu);

	if (type < 0)
		return type;
	if (source->semaphore >> (64 - PERF_PROBE_SEMAPHORE))
		return -ERANGE;
	attr.type = type;
	return link_perf_event(&attachment->links, &attr, -1, 0,
			       program_fd_of_source(attachment, kind),
			       COOKIE_OF(kind, source->at_entry));
}

static bool are_attached_by_same_link(const struct attachment *attachment, u32 kind, u32 other)
{
	const struct source *a = &attachment->sources->sources[kind];
	const struct source *b = &attachment->sources->sources[other];

	return attachment->placements[kind].program == attachment->placements[other].program &&
	       a->on_return == b->on_return &&
	       (a->type == SOURCE_KERNEL || !strcmp(a->target, b->target));
}

/* Attaches functions. One link serves the entries of all functions of the kernel or of one file,
 * another one their returns; each is made for the first source that needs it. */
static int attach_functions_by_one_link(struct attachment *attachment, const struct source *source,
					u32 kind)
{
	const struct source_list *list = attachment->sources;
	int fd = program_fd_of_source(attachment, kind), result = -ENOMEM;
	struct link_places places = {.path = source->target};
	const char **names;

	for (u32 other = 0; other < kind; other++)
		if (are_attached_by_same_link(attachment, kind, other))
			return 0;
	names = calloc(list->count, sizeof(*names));
	places.offsets = calloc(list->count, sizeof(*places.offsets));
	places.semaphores = calloc(list->count, sizeof(*places.semaphores));
	places.cookies = calloc(list->count, sizeof(*places.cookies));
	for (u32 other = kind;
	     names && places.offsets && places.semaphores && places.cookies && other < list->count;
	     other++) {
		const struct source *one = &list->sources[other];

		if (!are_attached_by_same_link(attachment, kind, other))
			continue;
		names[places.count] = one->target;
		places.offsets[places.count] = one->offset;
		places.semaphores[places.count] = one->semaphore;
		places.cookies[places.count++] = COOKIE_OF(other, one->at_entry);
	}
	if (places.count && source->type == SOURCE_KERNEL)
		result = link_kernel_functions(&attachment->links, names, places.cookies,
					       places.count, source->on_return, fd);
	else if (places.count)
		result = link_user_functions(&attachment->links, &places, source->on_return, fd);
	free(names);
	free(places.offsets);
	free(places.semaphores);
	free(places.cookies);
	return result;
}

static int attach_kernel_function(struct attachment *attachment, const struct source *source,
				  u32 kind)
{
	switch (attachment->placements[kind].program) {
	case PROGRAM_KERNEL_MULTI:
		return attach_functions_by_one_link(attachment, source, kind);
	case PROGRAM_KERNEL_PROBE:
		return attach_probe_by_perf_event(attachment, source, kind, "kprobe");
	default:
		return link_typed_program(&attachment->links,
					  program_fd_of_source(attachment, kind));
	}
}

/* Reads an iterator to its end, which runs its program for each task. */
static void run_task_iterator(int fd)
{
	char unused[16];

	while (fd > 0 && read(fd, unused, sizeof(unused)) > 0)
		;
}

/* Returns the descriptor of an iterator over all tasks; 0: its program is not loaded; or -errno. */
static int open_task_iterator(struct attachment *attachment, const struct bpf_program *program)
{
	int fd = program_set_find_fd(&attachment->sets[0], program);

	return fd < 0 ? 0 : link_task_iterator(&attachment->links, fd);
}

/* Opens the iterator that is read at the stop. It is opened at the start, since privileges may be
 * missing at the stop. */
static int open_stop_iterator(struct attachment *attachment, const struct bpf_program *program,
			      int *stop_fd)
{
	int result = open_task_iterator(attachment, program);

	*stop_fd = result > 0 ? result : 0;
	return result < 0 ? result : 0;
}

/* Records the tasks that are blocked at the start. One of the two programs that can do
 * this is loaded. */
static int run_start_iterator(struct attachment *attachment, const struct bpf_program *asking,
			      const struct bpf_program *plain)
{
	int fd = open_task_iterator(attachment, bpf_program__autoload(asking) ? asking : plain);

	run_task_iterator(fd);
	return fd < 0 ? fd : 0;
}

static int attach_off_cpu(struct attachment *attachment, u32 kind)
{
	struct capture_bpf *object = attachment->sets[0].object;
	int result =
		open_stop_iterator(attachment, object->progs.on_stop, &attachment->stop_fds[0]);

	object->bss->recording_begin = attachment->begun ?: clock_ns(CLOCK_MONOTONIC);
	return result
		       ?: link_typed_program(&attachment->links, program_fd_of_source(attachment, kind))
		       ?: run_start_iterator(attachment, object->progs.on_start,
 object->progs.on_start_plain);
}

/* Attaches the programs of all time sources, at the first such source. The time accounts of all
 * threads begin after that. The start iterator gives an account to each thread that exists; a
 * thread that has no account afterwards is new. Without the iterator a thread counts as new at its
 * first change of state, unless filters may have left the thread out. */
static int attach_time_programs(struct attachment *attachment, u32 kind)
{
	struct capture_bpf *object = attachment->sets[0].object;
	const struct program_set *set = &attachment->sets[0];
	const struct capture_config *config = &attachment->plan->config;
	int result;

	for (u32 earlier = 0; earlier < kind; earlier++)
		if (attachment->sources->sources[earlier].type == SOURCE_TIME)
			return 0;
	result = open_stop_iterator(attachment, object->progs.on_time_stop,
				    &attachment->stop_fds[1])
			 ?: link_typed_program(&attachment->links, program_fd_of_source(attachment, kind))
			 ?: link_typed_program(&attachment->links,
				       program_set_find_fd(set, object->progs.on_time_wakeup))
			 ?: link_typed_program(&attachment->links,
				       program_set_find_fd(set, object->progs.on_time_new))
			 ?: link_typed_program(&attachment->links,
				       program_set_find_fd(set, object->progs.on_time_exec));
	if (result)
		return result;
	__atomic_store_n(&object->bss->time_begin, clock_ns(CLOCK_MONOTONIC), __ATOMIC_SEQ_CST);
	result = run_start_iterator(attachment, object->progs.on_time_start,
				    object->progs.on_time_start_plain);
	__atomic_store_n(&object->bss->time_seeded,
			 attachment->plan->task_iterators || config->by_comm || config->cgroup,
			 __ATOMIC_SEQ_CST);
	return result;
}

/*
 * Ends the time accounts of threads: no account changes after this time. A BPF program that runs
 * meanwhile may have read the clock before the end, and may record a wait that the stop iterator
 * would record, too. membarrier() returns when all runs of such programs are over, as it waits for
 * a grace period of RCU (membarrier(2), MEMBARRIER_CMD_GLOBAL). Kernels with nohz_full refuse this
 * call.
 */
static void end_time_accounts(struct attachment *attachment)
{
	u64 *end = &attachment->sets[0].object->bss->time_end;

	if (!attachment->plan->times || *end)
		return;
	__atomic_store_n(end, clock_ns(CLOCK_MONOTONIC), __ATOMIC_SEQ_CST);
	syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/*
 * Tracepoints are attached in the reverse order of events: first the end of work, then its begin,
 * then its queueing. The end of each begun work, and the begin of each queued work, is then seen.
 * A kernel may lack io_uring and its tracepoint.
 */
static int attach_origin_programs(struct attachment *attachment)
{
	const struct program_set *set = &attachment->sets[0];
	const __typeof__(set->object->progs) *programs = &set->object->progs;
	const struct {
		const char *tracepoint;
		const struct bpf_program *program;
	} places[] = {
		{"workqueue_execute_end", programs->on_work_end},
		{"workqueue_execute_start", programs->on_work_begin},
		{"timer_expire_exit", programs->on_timer_end},
		{"timer_expire_entry", programs->on_timer_begin},
		{"hrtimer_expire_exit", programs->on_hrtimer_end},
		{"hrtimer_expire_entry", programs->on_hrtimer_begin},
		{"workqueue_queue_work", programs->on_queue_work},
		{"timer_start", programs->on_queue_timer},
		{"hrtimer_start", programs->on_queue_timer},
		{"io_uring_queue_async_work", programs->on_queue_request},
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !result; i++) {
		result = link_raw_tracepoint(&attachment->links, places[i].tracepoint,
					     program_set_find_fd(set, places[i].program), false, 0);
		if (result == -ENOENT && places[i].program == programs->on_queue_request)
			result = 0;
	}
	return result;
}

static int attach_source(struct attachment *attachment, u32 kind)
{
	const struct source *source = &attachment->sources->sources[kind];

	switch (source->type) {
	case SOURCE_SAMPLE:
	case SOURCE_PERF:
		return attach_perf_events(attachment, source, kind,
					  program_fd_of_source(attachment, kind));
	case SOURCE_TRACEPOINT:
		if (question_reads_event(&source->question))
			return attach_tracepoint_with_value(attachment, source, kind);
		return link_raw_tracepoint(&attachment->links, source->target,
					   program_fd_of_source(attachment, kind),
					   attachment->tracepoint_cookies, kind);
	case SOURCE_SYSCALL:
		return attach_syscalls(attachment, source, kind);
	case SOURCE_USER:
		if (attachment->user_multi)
			return attach_functions_by_one_link(attachment, source, kind);
		return attach_probe_by_perf_event(attachment, source, kind, "uprobe");
	case SOURCE_KERNEL:
		return attach_kernel_function(attachment, source, kind);
	case SOURCE_OFF_CPU:
		return attach_off_cpu(attachment, kind);
	case SOURCE_WAKER:
		return link_typed_program(&attachment->links,
					  program_fd_of_source(attachment, kind));
	case SOURCE_TIME:
		return attach_time_programs(attachment, kind);
	case SOURCE_ORIGIN:
		return attach_origin_programs(attachment);
	case SOURCE_HOLDER:
		return 0;
	}
	return -EINVAL;
}

/* True if events are bound to CPUs. attachment->plan is NULL for an instance that another process
 * has started. */
bool attachment_has_events_by_cpu(const struct attachment *attachment)
{
	return (attachment->event_count && !attachment->command) ||
	       (attachment->plan && attachment->plan->config.counters);
}

int attachment_open_cpu_events(struct attachment *attachment, u32 cpu)
{
	int result = attachment_open_cpu_counters(attachment, cpu);

	for (u32 kind = 0; !attachment->command && kind < attachment->sources->count && !result;
	     kind++) {
		const struct source *source = &attachment->sources->sources[kind];

		if (source->type == SOURCE_SAMPLE || source->type == SOURCE_PERF)
			result = attach_perf_event_to_cpu(attachment, source, kind,
							  program_fd_of_source(attachment, kind),
							  cpu);
	}
	return result;
}

/* Tells the programs whether all sources of -e alive:... are attached. An object that begins before
 * all of them are attached might end unseen, and is left out. */
static void set_alive_sources_attached(const struct attachment *attachment, bool is_open)
{
	if (attachment->plan->config.alive)
		__atomic_store_n(&attachment->sets[0].object->bss->alive_open, is_open,
				 __ATOMIC_SEQ_CST);
}

int attachment_attach_all_sources(struct attachment *attachment, struct stackmap_error *error)
{
	int counting = attachment_open_counters(attachment, error);

	if (counting)
		return counting;
	cpu_hotplug_begin(&attachment->hotplug);
	for (u32 kind = 0; kind < attachment->sources->count; kind++) {
		int result = attach_source(attachment, kind);
		const char *advice;

		if (!result)
			continue;
		attachment_detach_sources(attachment);
		advice = limit_advice(-result);
		error_set(error, -result, "-e %s: cannot attach: %s%s",
			  attachment->sources->sources[kind].name, strerror(-result), advice);
		return *advice ? result : source_needs_explain(attachment->sources, -result, error);
	}
	set_alive_sources_attached(attachment, true);
	counting = attachment_begin_counting(attachment, error);
	if (counting)
		attachment_detach_sources(attachment);
	return counting;
}

static u64 count_map_elements(int map)
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

void attachment_detach_sources(struct attachment *attachment)
{
	set_alive_sources_attached(attachment, false);
	end_time_accounts(attachment);
	/* When an iterator is read to its end, each task that is still blocked makes an event. */
	for (u32 i = 0; i < sizeof(attachment->stop_fds) / sizeof(*attachment->stop_fds); i++) {
		run_task_iterator(attachment->stop_fds[i]);
		attachment->stop_fds[i] = 0;
	}
	stop_perf_events_and_keep_counts(attachment);
	link_list_clear(&attachment->links);
	if (attachment->plan->spans && !attachment->unfinished_spans)
		attachment->unfinished_spans =
			count_unfinished_spans(bpf_map__fd(attachment->sets[0].object->maps.spans));
	/* Without iterators, tasks that are still blocked have no event at the end, and are counted
	 * here. An instance does not report them at all. */
	if (attachment->plan->off_cpu && !attachment->plan->config.has_files &&
	    !attachment->plan->task_iterators)
		attachment->missed_waits =
			count_map_elements(bpf_map__fd(attachment->sets[0].object->maps.blocked));
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

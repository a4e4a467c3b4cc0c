/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/session_face.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "capture/load/loaded.h"
#include "capture/load/proc_tasks.h"
#include "clock.h"
#include "name_match.h"
#include "order.h"
#include "process/privilege.h"
#include "symbol/file/mapped_file.h"
#include "symbol/file/whole_file.h"
#include "symbol/symbolizer/symbolizers.h"
#include "terminal/message.h"
#include "text_list.h"

static const char *const stop_names[] = {
#define X(id, name, meaning) [STOP_##id] = name,
	STOP_REASONS(X)
#undef X
};

static const struct {
	const char *name, *meaning;
} ways[] = {
	[USER_WAY_NONE] = {"none", "not taken"},
	[USER_WAY_FP] = {"fp", "by frame pointers alone"},
	[USER_WAY_DEFERRED] = {"deferred", "by unwind tables, in the kernel"},
	[USER_WAY_ASSISTED] = {"assisted", "by frame pointers and learned rules; a reader finishes "
					   "the rest"},
};

const char *name_of_user_stack_method(enum user_way way)
{
	return ways[way].name;
}

const char *describe_user_stack_method_chosen(enum user_way way)
{
	return ways[way].meaning;
}

void report_refused_kernel_features(struct capture *capture)
{
	const struct capture_refusals *refusals = capture_refusals(capture);
	const struct plan *plan = &capture_loaded(capture)->plan;

	if (refusals->user_stacks.message[0])
		message("user stacks are taken %s; a better way was tried: %s",
			describe_user_stack_method_chosen(
				instance_user_stack_method(capture_loaded(capture))),
			refusals->user_stacks.message);
	if (refusals->task_iterators.message[0] && (plan->off_cpu || plan->times))
		message("waits that begin before the recording, or do not end in it, have no "
			"event: %s",
			refusals->task_iterators.message);
}

void report_user_stack_method_counts(struct capture *capture)
{
	struct walk_counts counts = loaded_walk_counts(capture_loaded(capture));

	message("user_walked: %llu", (unsigned long long)counts.walked);
	message("user_table_frames: %llu", (unsigned long long)counts.table_frames);
	message("user_mapping_walks: %llu", (unsigned long long)counts.mapping_walks);
	message("script_loops: %llu", (unsigned long long)counts.script_loops);
	for (u32 stop = 0; stop < STOP_COUNT; stop++)
		if (STOP_IS_DEFERRAL(stop) && counts.deferred[stop])
			message("user_deferred_%s: %llu", stop_names[stop],
				(unsigned long long)counts.deferred[stop]);
}

int drop_privileges_of_session(const struct session *session, bool ends_command,
			       const char *later_file)
{
	const struct privilege_needs needs = {
		.reads_files = true,
		.ends_command = ends_command,
		.opens_events = loaded_has_events_by_cpu(capture_loaded(session_capture(session))),
		.later_file = later_file,
	};

	return privilege_drop_or_print_error(&needs);
}

void report_files_without_names(const struct session *session)
{
	struct symbolizers_trouble trouble;

	while (capture_next_slow_owner(session_capture(session), &trouble)) {
		if (trouble.owner == FILE_OWNER_KERNEL) {
			message("the kernel's symbols were not read in time: its frames have no "
				"names");
			continue;
		}
		message("%s %llu: %llu files gave no names (slow, damaged or too large), one of "
			"them %s",
			trouble.owner & FILE_OWNER_MOUNT ? "device" : "user",
			(unsigned long long)(trouble.owner & ~FILE_OWNER_MOUNT),
			(unsigned long long)trouble.files, trouble.path);
	}
}

int try_recording_of_whole_machine(enum user_way *way, struct stackmap_error *error)
{
	const struct session_options options = {.all = true, .windows = true, .name = "trial"};
	const struct privilege_needs needs = {.reads_files = true};
	struct session *session = NULL;
	int result;

	raise_open_file_limit();
	result = session_create(&options, NULL, &session, error)
			 ?: session_open(session, 0, NULL, error)
			 ?: session_start(session, error)
			 ?: drop_unneeded_privileges(&needs, error);
	if (!result) {
		*way = instance_user_stack_method(capture_loaded(session_capture(session)));
		*error = capture_refusals(session_capture(session))->user_stacks;
	}
	session_close(&session);
	return result;
}

/*
 * Prints the first of these reasons that applies: no task had a name of --comm; the cgroup has no
 * task; the tasks used less CPU time than the interval between two samples. If none applies, the
 * message says that the chosen tasks had no such events.
 */

#define NAMES_SHOWN 8
#define SOURCES_SHOWN 3
#define TEXT_BYTES 400

struct name_count {
	char comm[TASK_COMM_BYTES];
	u32 threads;
};

struct names {
	struct name_count *items;
	size_t count, room;
};

static int count_thread_name(void *arg, u32 tgid, u32 tid)
{
	struct names *names = arg;
	char comm[TASK_COMM_BYTES];
	size_t i = 0;

	if (!proc_task_comm(tgid, tid, comm))
		return 0;
	while (i < names->count && strcmp(names->items[i].comm, comm))
		i++;
	if (i == names->count) {
		if (array_make_room(names->items, names->count, names->room))
			return 1;
		names->items[names->count++] = (struct name_count){};
		memcpy(names->items[i].comm, comm, sizeof(comm));
	}
	names->items[i].threads++;
	return 0;
}

/* Sorts the names of threads by their number of threads, most first. */
static int compare_thread_counts(const void *left, const void *right)
{
	const struct name_count *a = left, *b = right;

	return order(b->threads, a->threads) ?: strcmp(a->comm, b->comm);
}

static void explain_no_matching_comm(const struct string_list *comms)
{
	char wanted[TEXT_BYTES] = "", shown[TEXT_BYTES] = "";
	struct name_match match = {};
	struct names names = {};

	proc_tasks_each(count_thread_name, &names);
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare_thread_counts);
	for (size_t i = 0; i < comms->count; i++) {
		word_list_add_word(wanted, TEXT_BYTES, comms->items[i]);
		if (!match.nearest[0])
			name_match_init(&match, comms->items[i]);
		for (size_t n = 0; n < names.count; n++)
			name_match_compare_name(&match, names.items[n].comm);
	}
	for (size_t n = 0; n < names.count && n < NAMES_SHOWN; n++)
		word_list_add_word(shown, TEXT_BYTES, names.items[n].comm);
	message("0 events: no task had the name --comm %s%s%s%s; now there are %s%s", wanted,
		match.nearest[0] ? ", did you mean " : "", match.nearest,
		match.nearest[0] ? "?" : "", shown, names.count > NAMES_SHOWN ? " and others" : "");
	free(names.items);
}

/* True if the cgroup has no tasks. The root, which always has tasks, has no such file. */
static bool is_empty_cgroup(const char *path)
{
	char file[PATH_MAX];
	u32 populated = 1;

	snprintf(file, sizeof(file), "%s/cgroup.events", path);
	whole_file_scan(file, "populated %u", &populated);
	return !populated;
}

void explain_recording_without_events(const struct session_options *options,
				      const struct session *session, u64 command_cpu_ns)
{
	const struct session_target *target = session_target(session);
	static const char *const tasks[] = {
		[TASKS_ALL] = "any task",
		[TASKS_OF_PIDS] = "the processes of -p",
		[TASKS_OF_COMMAND] = "the command",
	};
	char sources[TEXT_BYTES], filters[TEXT_BYTES];
	u64 rate = UINT64_MAX; /* lowest sampling frequency of the sources, Hz; 0: a source is not
				  sampled */
	u64 cpu_ns = target->tasks == TASKS_OF_PIDS	 ? session_target_cpu_ns(target)
		     : target->tasks == TASKS_OF_COMMAND ? command_cpu_ns
							 : UINT64_MAX;
	char filter[TEXT_BYTES];
	bool has_conditions = false;

	for (u32 i = 0; i < target->sources.count; i++)
		if (target->sources.sources[i].frequency < rate)
			rate = target->sources.sources[i].frequency;
	if (options->comms.count && !capture_has_seen_comm(session_capture(session))) {
		explain_no_matching_comm(&options->comms);
		return;
	}
	if (options->cgroup && is_empty_cgroup(options->cgroup)) {
		message("0 events: no task is in --cgroup %s", options->cgroup);
		return;
	}
	if (rate && !cpu_ns) {
		message("0 events: %s slept all the time", tasks[target->tasks]);
		return;
	}
	if (rate && cpu_ns < 2 * 1000 * NS_PER_MS / rate) {
		message("0 events: %s took %.3f ms of CPU time, and a sample is taken every %.1f "
			"ms of it",
			tasks[target->tasks], (double)cpu_ns / NS_PER_MS, 1000.0 / rate);
		return;
	}
	sources[0] = '\0';
	for (u32 i = 0; i < target->sources.count; i++) {
		has_conditions |= target->sources.sources[i].question.count > 0;
		if (i < SOURCES_SHOWN)
			word_list_add_word(sources, TEXT_BYTES, target->sources.sources[i].name);
	}
	if (target->sources.count > SOURCES_SHOWN)
		word_list_add_word(sources, TEXT_BYTES, "...");
	filters[0] = '\0';
	for (size_t i = 0; i < options->comms.count; i++) {
		snprintf(filter, sizeof(filter), "--comm %s", options->comms.items[i]);
		word_list_add_word(filters, TEXT_BYTES, filter);
	}
	if (options->cgroup) {
		snprintf(filter, sizeof(filter), "--cgroup %s", options->cgroup);
		word_list_add_word(filters, TEXT_BYTES, filter);
	}
	if (options->cpus) {
		snprintf(filter, sizeof(filter), "-C %s", options->cpus);
		word_list_add_word(filters, TEXT_BYTES, filter);
	}
	message("0 events: there was no %s%s in %s%s%s%s", sources,
		has_conditions ? " that met its conditions" : "", tasks[target->tasks],
		filters[0] ? " (" : "", filters, filters[0] ? ")" : "");
}

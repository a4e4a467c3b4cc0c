/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All options are checked before anything is loaded: options that exclude each other, numbers, CPUs
 * and processes, events, and a frequency that no event uses.
 */
#include "session/session_options.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/load/cpu_hotplug.h"
#include "capture/load/loaded.h"
#include "capture/load/proc_tasks.h"
#include "clock.h"
#include "error.h"
#include "session/leaks.h"
#include "session/trigger.h"
#include "trace/block/source_name.h"

/* Groups of options as bits, for the table of options that exclude each other. A bit is set if an
 * option of the group is given. */
enum given {
	GIVEN_EVENTS = 1 << 0, /* -e, -F */
	GIVEN_ALL = 1 << 1,
	GIVEN_PIDS = 1 << 2,
	GIVEN_FILTER = 1 << 3, /* --comm, --cgroup, -C */
	GIVEN_COMMAND = 1 << 4,
	GIVEN_RING = 1 << 5,
	GIVEN_FLIGHT = 1 << 6,
	GIVEN_MANNER = 1 << 7,	  /* any option about the taking and storing of stacks */
	GIVEN_NO_TABLES = 1 << 8, /* user stacks are not unwound by tables */
	GIVEN_AT_SYSCALL = 1 << 9,
	GIVEN_INSTANCE = 1 << 10,
	GIVEN_STDOUT = 1 << 11, /* the output is standard output */
	GIVEN_ROTATE = 1 << 12,
	GIVEN_KEEP = 1 << 13,
	GIVEN_FILE = 1 << 14,
	GIVEN_WINDOWS = 1 << 15,
	GIVEN_TIME = 1 << 16, /* --time */
	GIVEN_STOP = 1 << 17, /* --stop-when */
	GIVEN_SNAPSHOT = 1 << 18,
	GIVEN_AFTER = 1 << 19,
	GIVEN_AT = 1 << 20,
	GIVEN_RATE = 1 << 21,	/* -F */
	GIVEN_PERIOD = 1 << 22, /* -c */
	GIVEN_LEAKS = 1 << 23,
	GIVEN_START = 1 << 24, /* the programs keep running as an instance */
	GIVEN_AGGREGATE = 1 << 25,
	GIVEN_WAIT_ENDS = 1 << 26, /* --wakers, --locks */
};

/*
 * Options that exclude each other. A row applies if all options of `given` are given together, and
 * none of `lacks`. The first row that applies is the error.
 */
static const struct {
	u32 given, lacks;
	/* Subject and verb of the error message "--instance NAME: it records already; ... with
	 * 'stackmap start'"; used if `error` is NULL */
	const char *of_instance;
	/* The whole error message, or NULL. */
	const char *error;
} exclusions[] = {
	{GIVEN_INSTANCE | GIVEN_COMMAND, 0, "a command goes", NULL},
	{GIVEN_INSTANCE | GIVEN_EVENTS, 0, "-e, -F and -c go", NULL},
	{GIVEN_RATE | GIVEN_PERIOD, 0, NULL, "-F and -c: choose one, a rate or a period"},
	{GIVEN_INSTANCE | GIVEN_TIME, 0, "what it records goes", NULL},
	{GIVEN_INSTANCE | GIVEN_LEAKS, 0, NULL,
	 "--leaks: an instance does not have it; a file of 'stackmap record' has"},
	{GIVEN_INSTANCE | GIVEN_PIDS, 0, "a choice of tasks goes", NULL},
	{GIVEN_INSTANCE | GIVEN_ALL, 0, "a choice of tasks goes", NULL},
	{GIVEN_INSTANCE | GIVEN_FILTER, 0, "a choice of tasks goes", NULL},
	{GIVEN_INSTANCE | GIVEN_RING, 0, "an option of how to record goes", NULL},
	{GIVEN_INSTANCE | GIVEN_FLIGHT, 0, "an option of how to record goes", NULL},
	{GIVEN_INSTANCE | GIVEN_MANNER, 0, "an option of how to record goes", NULL},
	{GIVEN_INSTANCE | GIVEN_AT, 0, NULL, "--at: an instance records already"},
	{GIVEN_ALL | GIVEN_PIDS, 0, NULL,
	 "-a and -p: choose one, the whole machine or some processes"},
	{0, GIVEN_ALL | GIVEN_PIDS | GIVEN_FILTER | GIVEN_COMMAND | GIVEN_INSTANCE, NULL,
	 "nothing to record: name a COMMAND, -p PID, or -a for the whole machine; see 'stackmap "
	 "help record'"},
	{GIVEN_FLIGHT | GIVEN_RING, 0, NULL,
	 "--flight and --ring: the size of the flight buffer is that of the rings"},
	{GIVEN_AT_SYSCALL | GIVEN_NO_TABLES, 0, NULL,
	 "--user-at-syscall: it needs --user-unwind auto"},
	{GIVEN_WINDOWS | GIVEN_FLIGHT, GIVEN_FILE, NULL,
	 "--flight: the events go to a file; name one"},
	{GIVEN_ROTATE, GIVEN_FILE, NULL, "--rotate: the events go to files; name one"},
	{GIVEN_SNAPSHOT | GIVEN_START, 0, NULL,
	 "--snapshot-when: an instance has no process that writes files; 'stackmap record "
	 "--instance NAME --snapshot-when EVENT' writes one for each event"},
	{GIVEN_SNAPSHOT, GIVEN_FLIGHT | GIVEN_INSTANCE, NULL,
	 "--snapshot-when: it goes with --flight SIZE, of which a snapshot is written"},
	{GIVEN_AFTER, GIVEN_STOP | GIVEN_SNAPSHOT, NULL,
	 "--after: it goes with --stop-when or --snapshot-when"},
	{GIVEN_SNAPSHOT | GIVEN_STDOUT, 0, NULL,
	 "--snapshot-when: standard output is one file; name one with -o"},
	{GIVEN_KEEP, GIVEN_ROTATE | GIVEN_SNAPSHOT, NULL,
	 "--keep: it goes with --rotate or --snapshot-when"},
	{GIVEN_ROTATE | GIVEN_STDOUT, 0, NULL,
	 "--rotate: standard output is one file; name one with -o"},
	{GIVEN_ROTATE | GIVEN_TIME, 0, NULL,
	 "--time: the account of time is of one file, without --rotate"},
	{GIVEN_AGGREGATE | GIVEN_WAIT_ENDS, 0, NULL,
	 "--aggregate: --wakers and --locks find both ends of a wait by the time of single events; "
	 "-e offcpu-time,offcpu-waker has the sums of each end"},
	{GIVEN_ROTATE | GIVEN_FLIGHT, 0, NULL,
	 "--rotate: a flight recorder writes one file; SIGUSR2 has it write another"},
};

static bool is_user_unwind_option_equal(const struct session_options *options, const char *way)
{
	return options->user_unwind && !strcmp(options->user_unwind, way);
}

static u32 find_given_option_groups(const struct session_options *options)
{
	const struct session_options *o = options;
	bool has_tables = !o->no_user && !is_user_unwind_option_equal(o, "fp") &&
			  !is_user_unwind_option_equal(o, "none");
	u32 given = 0;

	given |= o->events.count || o->frequency || o->period || o->origins ? GIVEN_EVENTS : 0;
	given |= o->frequency ? GIVEN_RATE : 0;
	given |= o->period ? GIVEN_PERIOD : 0;
	given |= o->all ? GIVEN_ALL : 0;
	given |= o->pids.count ? GIVEN_PIDS : 0;
	given |= o->comms.count || o->cgroup || o->cpus ? GIVEN_FILTER : 0;
	given |= o->has_command ? GIVEN_COMMAND : 0;
	given |= o->ring ? GIVEN_RING : 0;
	given |= o->flight ? GIVEN_FLIGHT : 0;
	given |= o->bits || o->pool || o->no_dedup || o->trace_ids || o->count_unmet ||
				 o->aggregate || o->no_kernel || !has_tables || o->max_depth ||
				 o->user_at_syscall
			 ? GIVEN_MANNER
			 : 0;
	given |= has_tables ? 0 : GIVEN_NO_TABLES;
	given |= o->user_at_syscall ? GIVEN_AT_SYSCALL : 0;
	given |= o->instance ? GIVEN_INSTANCE : 0;
	given |= o->output && !strcmp(o->output, "-") ? GIVEN_STDOUT : 0;
	given |= o->rotate ? GIVEN_ROTATE : 0;
	given |= o->keep ? GIVEN_KEEP : 0;
	given |= o->output ? GIVEN_FILE : 0;
	given |= o->windows ? GIVEN_WINDOWS : 0;
	given |= o->time ? GIVEN_TIME : 0;
	given |= o->leaks || o->leaks_every ? GIVEN_LEAKS : 0;
	given |= o->stop_when.count ? GIVEN_STOP : 0;
	given |= o->snapshot_when.count ? GIVEN_SNAPSHOT : 0;
	given |= o->after ? GIVEN_AFTER : 0;
	given |= o->at ? GIVEN_AT : 0;
	given |= o->has_files ? GIVEN_START : 0;
	given |= o->aggregate ? GIVEN_AGGREGATE : 0;
	given |= o->wakers || o->locks ? GIVEN_WAIT_ENDS : 0;
	return given;
}

static int refuse_conflicting_options(const struct session_options *options,
				      struct stackmap_error *error)
{
	u32 given = find_given_option_groups(options);

	for (size_t i = 0; i < sizeof(exclusions) / sizeof(*exclusions); i++) {
		if ((given & exclusions[i].given) != exclusions[i].given ||
		    given & exclusions[i].lacks)
			continue;
		if (exclusions[i].error)
			return error_set(error, EINVAL, "%s", exclusions[i].error);
		return error_set(error, EINVAL,
				 "--instance %s: it records already; %s with 'stackmap start'",
				 options->instance, exclusions[i].of_instance);
	}
	return 0;
}

static int open_process_by_id(struct session_target *target, size_t i, struct stackmap_error *error)
{
	pid_t pid = target->pids.ranges[i].first, process;
	int code;

	target->pidfds[i] = syscall(SYS_pidfd_open, pid, 0);
	if (target->pidfds[i] >= 0)
		return 0;
	code = errno;
	process = proc_task_process_id(pid);
	if (process && process != pid)
		return error_set(
			error, ESRCH,
			"-p %d: a thread of process %d, which is recorded as a whole: -p %d", pid,
			process, process);
	if (!process || code == ESRCH)
		return error_set(error, ESRCH, "-p %d: no such process", pid);
	return error_set(error, ESRCH, "-p %d: %s", pid, strerror(code));
}

static u64 sum_cpu_ns_of_pids(const struct session_target *target)
{
	u64 total = 0;

	for (size_t i = 0; i < target->pids.count; i++) {
		struct timespec time;
		clockid_t clock;

		if (clock_getcpuclockid(target->pids.ranges[i].first, &clock) ||
		    clock_gettime(clock, &time))
			return UINT64_MAX;
		total += time.tv_sec * 1000 * NS_PER_MS + time.tv_nsec;
	}
	return total;
}

static bool are_ranges_single_numbers(const struct number_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->ranges[i].first || list->ranges[i].first != list->ranges[i].last)
			return false;
	return true;
}

static int parse_pids(const struct string_list *texts, struct session_target *target,
		      struct stackmap_error *error)
{
	int result = 0;

	for (size_t i = 0; i < texts->count; i++)
		if (number_list_parse_and_append(&target->pids, texts->items[i], INT_MAX) ||
		    !are_ranges_single_numbers(&target->pids))
			return error_set(error, EINVAL,
					 "-p %s: must be a process id, or several like 12,34",
					 texts->items[i]);
	target->pidfds = calloc(target->pids.count + 1, sizeof(*target->pidfds));
	if (!target->pidfds)
		return error_set(error, ENOMEM, "-p: %s", strerror(ENOMEM));
	for (size_t i = 0; i < target->pids.count && !result; i++)
		result = open_process_by_id(target, i, error);
	target->cpu_ns_before = sum_cpu_ns_of_pids(target);
	return result;
}

u64 session_target_cpu_ns(const struct session_target *target)
{
	u64 now = sum_cpu_ns_of_pids(target);

	return now == UINT64_MAX || now < target->cpu_ns_before ? UINT64_MAX
								: now - target->cpu_ns_before;
}

/* Adds the events of triggers. An event that is recorded anyway is only marked as a trigger. */
static int add_sources_of_triggers(struct source_list *sources, const struct string_list *words,
				   const char *option, enum trigger trigger,
				   struct stackmap_error *error)
{
	int result = 0;

	sources->option = option;
	sources->triggers = 1U << trigger;
	for (size_t i = 0; i < words->count && !result; i++)
		result = source_list_add(sources, words->items[i], 0, error);
	sources->option = NULL;
	sources->triggers = 0;
	return result;
}

/* Checks that -c has set the period of at least one event. */
static int check_period(u64 period, const struct source_list *sources, struct stackmap_error *error)
{
	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].period == period)
			return 0;
	return error_set(error, EINVAL,
			 "-c %llu: no event takes this period; perf events without a period of "
			 "their own do, as page-faults and cycles",
			 (unsigned long long)period);
}

/*
 * Objects that are alive (alive:) are written at the end of a file, so there must be only one file.
 * The begin of a span must be in the same file as its end.
 */
static int check_sources_that_need_one_file(const struct session_options *options,
					    const struct source_list *sources,
					    struct stackmap_error *error)
{
	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].question.span_role == ALIVE_BEGIN &&
		    (options->flight || options->rotate || options->has_files || options->windows))
			return error_set(error, EINVAL,
					 "%s: a file of 'stackmap record' has it, without --flight "
					 "and --rotate",
					 options->leaks || options->leaks_every
						 ? "--leaks"
						 : sources->sources[kind].name);
	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].question.stacks &&
		    (options->rotate || options->has_files || options->windows))
			return error_set(error, EINVAL,
					 "%s: stack=begin and stack=both are for a file of "
					 "'stackmap record', "
					 "without --rotate",
					 sources->sources[kind].name);
	return 0;
}

/* Chooses the event sources: CPU samples, unless other events are given. */
static int choose_sources(const struct session_options *options, struct source_list *sources,
			  struct stackmap_error *error)
{
	static const char locks[] = "lock:contention_begin/value=lock_addr/,"
				    "lock:contention_end/value=lock_addr/,"
				    "syscalls:sys_enter_futex/value=uaddr/";
	bool wakers = options->wakers || options->locks, off_cpu = options->off_cpu || wakers;
	bool has_end =
		!options->has_files && !options->windows && !options->rotate && !options->flight;
	int result = 0;

	sources->period = options->period;
	if (!options->events.count &&
	    ((!off_cpu && !options->time && !options->leaks && !options->leaks_every) ||
	     options->frequency || options->period))
		result = source_list_add_sample(sources,
						options->frequency ?: source_rate_default(), error);
	if (!result && off_cpu)
		result = source_list_add(sources, "offcpu-time", 0, error);
	if (!result && wakers)
		result = source_list_add(sources, "offcpu-waker", 0, error);
	if (!result && wakers && has_end)
		result = source_list_add(sources, "offcpu-holder", 0, error);
	if (!result && options->locks)
		result = source_list_add(sources, locks, 0, error);
	if (!result && options->time)
		result = source_list_add(sources, "time:*", 0, error);
	if (!result && options->origins)
		result = source_list_add(sources, TRACE_ORIGIN, 0, error);
	if (!result && (options->leaks || options->leaks_every))
		result = leaks_add_sources(options, sources, error);
	for (size_t i = 0; i < options->events.count && !result; i++)
		result = source_list_add(sources, options->events.items[i], options->frequency,
					 error);
	sources->period = 0;
	result = result
			 ?: add_sources_of_triggers(sources, &options->stop_when, "--stop-when", TRIGGER_STOP,
					 error)
			 ?: add_sources_of_triggers(sources, &options->snapshot_when, "--snapshot-when",
					 TRIGGER_SNAPSHOT, error);
	result = result ?: check_sources_that_need_one_file(options, sources, error);
	if (result || options->lenient)
		return result;
	if (options->period)
		return check_period(options->period, sources, error);
	if (!options->frequency)
		return 0;
	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].frequency)
			return 0;
	return error_set(error, EINVAL,
			 "-F: none of these events is sampled at a rate; add -e cpu-clock to "
			 "sample the CPUs too");
}

int session_target_choose(const struct session_options *options, struct session_target *target,
			  struct stackmap_error *error)
{
	struct stackmap_error wrong;
	bool chooses;
	int result = refuse_conflicting_options(options, error);

	if (result || options->instance)
		return result;
	/* A command beside a choice of tasks sets only the duration. CPUs are no choice of tasks.
	 */
	chooses = options->all || options->comms.count || options->cgroup;
	target->tasks = options->pids.count		   ? TASKS_OF_PIDS
			: options->has_command && !chooses ? TASKS_OF_COMMAND
							   : TASKS_ALL;
	target->capture = (struct capture_options){
		.sources = &target->sources,
		.bits = options->bits,
		.pool_bytes = options->pool,
		.ring_bytes = options->ring,
		.flight_bytes = options->flight,
		.no_dedup = options->no_dedup,
		.trace_ids = options->trace_ids,
		.count_unmet = options->count_unmet,
		.aggregate = options->aggregate,
		.no_kernel_stacks = options->no_kernel,
		.no_user_stacks = options->no_user || is_user_unwind_option_equal(options, "none"),
		.user_unwind = is_user_unwind_option_equal(options, "fp") ? USER_UNWIND_FP
									  : USER_UNWIND_AUTO,
		.max_user_depth = options->max_depth,
		.user_at_syscall = options->user_at_syscall,
		.by_task = target->tasks != TASKS_ALL,
		.comms = options->comms,
		.cgroup = options->cgroup,
		.cpu_mask = options->cpus ? target->cpu_mask : NULL,
	};
	if (options->cpus)
		result = online_cpus_parse_list(options->cpus, target->cpu_mask, &wrong);
	if (result)
		return error_set(error, -result, "-C %s", wrong.message);
	return parse_pids(&options->pids, target, error)
		       ?: choose_sources(options, &target->sources, error);
}

void session_target_clear(struct session_target *target)
{
	for (size_t i = 0; target->pidfds && i < target->pids.count; i++)
		if (target->pidfds[i] > 0)
			close(target->pidfds[i]);
	free(target->pidfds);
	target->pidfds = NULL;
	number_list_clear(&target->pids);
	source_list_clear(&target->sources);
}

int session_target_follow(const struct session_target *target, struct capture *capture,
			  struct stackmap_error *error)
{
	int result = 0;

	for (size_t i = 0; i < target->pids.count && !result; i++)
		result = loaded_follow_process(capture_loaded(capture),
					       target->pids.ranges[i].first, error);
	return result;
}

bool session_target_ended(const struct session_target *target)
{
	for (size_t i = 0; i < target->pids.count; i++) {
		struct pollfd process = {.fd = target->pidfds[i], .events = POLLIN};

		if (poll(&process, 1, 0) == 0)
			return false;
	}
	return target->pids.count > 0;
}

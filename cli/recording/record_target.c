/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Everything is checked before anything starts: numbers that are none, CPUs and processes that are
 * not there, a rate that no event takes. */
#include "record_target.h"

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
#include "terminal/message.h"

static int wrong_usage(const char *text)
{
	message("%s", text);
	return EXIT_USAGE;
}

static int check_options(const struct record_values *values, bool has_command)
{
	if (values->all && values->pids.count)
		return wrong_usage("-a and -p: choose one, the whole machine or some processes");
	if (!values->all && !values->pids.count && !has_command && !values->comms.count &&
	    !values->cgroup && !values->cpus)
		return wrong_usage("nothing to record: name a COMMAND, -p PID, or -a for the whole "
				   "machine; see 'stackmap help record'");
	if (values->flight && values->ring)
		return wrong_usage(
			"--flight and --ring: the size of the flight buffer is that of the rings");
	return EXIT_DONE;
}

/* A command that is beside a choice of tasks sets only the duration. CPUs are no choice of tasks.
 */
static enum task_choice choose_tasks(const struct record_values *values, bool has_command)
{
	if (values->pids.count)
		return TASKS_OF_PIDS;
	if (has_command && !values->all && !values->comms.count && !values->cgroup)
		return TASKS_OF_COMMAND;
	return TASKS_ALL;
}

static int choose_user_unwind(const struct record_values *values, struct record_target *target)
{
	const char *way = values->user_unwind;
	bool fp = !strcmp(way, "fp"), none = !strcmp(way, "none");

	target->user_stacks = !none && !values->no_user;
	target->user_unwind = fp ? USER_UNWIND_FP : USER_UNWIND_AUTO;
	if (values->user_at_syscall && (fp || !target->user_stacks))
		return wrong_usage("--user-at-syscall: it needs --user-unwind auto");
	return EXIT_DONE;
}

/* Unless something else was asked for. */
static bool wants_samples(const struct record_values *values)
{
	bool off_cpu = values->off_cpu || values->wakers;

	return !values->events.count && (!off_cpu || values->frequency != RECORD_FREQUENCY_UNSET);
}

static int choose_sources(const struct record_values *values, struct source_list *sources)
{
	bool unset = values->frequency == RECORD_FREQUENCY_UNSET;
	struct stackmap_error error;
	int result = 0;

	if (wants_samples(values))
		result = source_list_add_sample(
			sources, unset ? SAMPLE_FREQUENCY_DEFAULT : values->frequency, &error);
	if (!result && (values->off_cpu || values->wakers))
		result = source_list_add(sources, "offcpu-time", 0, &error);
	if (!result && values->wakers)
		result = source_list_add(sources, "offcpu-waker", 0, &error);
	for (size_t i = 0; i < values->events.count && !result; i++)
		result = source_list_add(sources, values->events.items[i],
					 unset ? 0 : values->frequency, &error);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

/* Tracepoints and functions come when they come. */
static int check_frequency(const struct record_values *values, const struct source_list *sources)
{
	if (values->frequency == RECORD_FREQUENCY_UNSET)
		return EXIT_DONE;
	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].frequency)
			return EXIT_DONE;
	return wrong_usage("-F: none of these events is sampled at a rate; add -e cpu-clock to "
			   "sample the CPUs too");
}

static int choose_cpus(const char *text, u64 *mask)
{
	struct stackmap_error error;

	if (!text || !online_cpus_choose(text, mask, &error))
		return EXIT_DONE;
	message("-C %s", error.message);
	return EXIT_USAGE;
}

static int open_process(struct record_target *target, size_t i)
{
	pid_t pid = target->pids.ranges[i].first, process;
	int code;

	target->pidfds[i] = syscall(SYS_pidfd_open, pid, 0);
	if (target->pidfds[i] >= 0)
		return EXIT_DONE;
	code = errno;
	process = proc_task_process(pid);
	if (process && process != pid)
		message("-p %d: a thread of process %d, which is recorded as a whole: -p %d", pid,
			process, process);
	else if (!process || code == ESRCH)
		message("-p %d: no such process", pid);
	else
		message("-p %d: %s", pid, strerror(code));
	return EXIT_FAILED;
}

static bool are_pids(const struct number_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->ranges[i].first || list->ranges[i].first != list->ranges[i].last)
			return false;
	return true;
}

static u64 total_cpu_ns(const struct record_target *target)
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

static int choose_pids(const struct string_list *texts, struct record_target *target)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < texts->count; i++)
		if (number_list_add(&target->pids, texts->items[i], INT_MAX) ||
		    !are_pids(&target->pids)) {
			message("-p %s: must be a process id, or several like 12,34",
				texts->items[i]);
			return EXIT_USAGE;
		}
	target->pidfds = calloc(target->pids.count + 1, sizeof(*target->pidfds));
	for (size_t i = 0; target->pidfds && i < target->pids.count; i++)
		status = status ?: open_process(target, i);
	target->cpu_ns_before = total_cpu_ns(target);
	return target->pidfds ? status : EXIT_FAILED;
}

u64 record_target_cpu_ns(const struct record_target *target)
{
	u64 now = total_cpu_ns(target);

	return now == UINT64_MAX || now < target->cpu_ns_before ? UINT64_MAX
								: now - target->cpu_ns_before;
}

int record_target_choose(const struct record_values *values, bool has_command,
			 struct record_target *target)
{
	target->tasks = choose_tasks(values, has_command);
	return check_options(values, has_command)
		       ?: choose_cpus(values->cpus, target->cpu_mask)
		       ?: choose_pids(&values->pids, target)
		       ?: choose_user_unwind(values, target)
		       ?: choose_sources(values, &target->sources)
		       ?: check_frequency(values, &target->sources);
}

struct capture_options record_target_options(const struct record_values *values,
					     const struct record_target *target)
{
	return (struct capture_options){
		.sources = &target->sources,
		.bits = values->bits,
		.pool_bytes = values->pool,
		.ring_bytes = values->ring,
		.flight_bytes = values->flight,
		.no_dedup = values->no_dedup,
		.no_kernel_stacks = values->no_kernel,
		.no_user_stacks = !target->user_stacks,
		.user_unwind = target->user_unwind,
		.max_user_depth = values->max_depth,
		.user_at_syscall = values->user_at_syscall,
		.by_task = target->tasks != TASKS_ALL,
		.comms = values->comms,
		.cgroup = values->cgroup,
		.cpu_mask = values->cpus ? target->cpu_mask : NULL,
	};
}

int record_target_follow(const struct record_target *target, struct capture *capture,
			 struct stackmap_error *error)
{
	int result = 0;

	for (size_t i = 0; i < target->pids.count && !result; i++)
		result =
			loaded_follow(capture_loaded(capture), target->pids.ranges[i].first, error);
	return result;
}

void record_target_clear(struct record_target *target)
{
	for (size_t i = 0; target->pidfds && i < target->pids.count; i++)
		if (target->pidfds[i] > 0)
			close(target->pidfds[i]);
	free(target->pidfds);
	target->pidfds = NULL;
	number_list_clear(&target->pids);
	source_list_clear(&target->sources);
}

bool record_target_ended(const struct record_target *target)
{
	for (size_t i = 0; i < target->pids.count; i++) {
		struct pollfd process = {.fd = target->pidfds[i], .events = POLLIN};

		if (poll(&process, 1, 0) == 0)
			return false;
	}
	return target->pids.count > 0;
}

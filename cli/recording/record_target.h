/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording is of: its events, CPUs and processes, as the options of `record` name them. */
#ifndef CLI_RECORD_TARGET_H
#define CLI_RECORD_TARGET_H

#include "capture/capture.h"
#include "capture/source/source.h"
#include "config.h"
#include "option/option.h"

struct record_values {
	const char *output, *cgroup, *cpus, *user_unwind, *rotate, *instance;
	struct string_list events, pids, comms;
	u64 frequency, bits, pool, ring, flight, max_depth, keep;
	bool off_cpu, wakers, all, no_dedup, no_kernel, no_user, user_at_syscall, quiet, verbose;
};

#define RECORD_FREQUENCY_UNSET UINT64_MAX

/* clang-format off */
#define TARGET_ROW(values, place, ...)                                                           \
	{                                                                                        \
		.target = offsetof(values, place), __VA_ARGS__                                   \
	}

/* Rows of a command whose struct `values` has a struct record_values: `path` leads there, as
 * "record.", or is empty. `hz`: what is taken without -e and -F, as text. */
#define TARGET_EVENT_ROWS(values, path, hz)                                                      \
	TARGET_ROW(values, path frequency, .name = "frequency", .letter = 'F',                   \
	    .type = OPTION_U64, .argument = "HZ",                                                \
	    .group = "Events", .min = 1, .max = UINT32_MAX,                                      \
	    .help = "CPU samples a second (default " hz " when there is no -e)"),                \
	TARGET_ROW(values, path events, .name = "event", .letter = 'e',                          \
	    .type = OPTION_STRINGS, .argument = "EVENT",                                         \
	    .group = "Events",                                                                   \
	    .help = "what to record; see 'stackmap list'; may be repeated"),                     \
	TARGET_ROW(values, path off_cpu, .name = "off-cpu", .type = OPTION_FLAG,                 \
	    .group = "Events",                                                                   \
	    .help = "how long tasks are blocked, and where (-e offcpu-time)"),                   \
	TARGET_ROW(values, path wakers, .name = "wakers", .type = OPTION_FLAG,                   \
	    .group = "Events",                                                                   \
	    .help = "--off-cpu, and who ends it (-e offcpu-waker)"),                             \
	TARGET_ROW(values, path no_kernel, .name = "no-kernel", .type = OPTION_FLAG,             \
	    .group = "Events",                                                                   \
	    .help = "do not take kernel stacks"),                                                \
	TARGET_ROW(values, path no_user, .name = "no-user", .type = OPTION_FLAG,                 \
	    .group = "Events",                                                                   \
	    .help = "do not take user stacks"),                                                  \
	TARGET_ROW(values, path user_unwind, .name = "user-unwind", .type = OPTION_WORD,         \
	    .argument = "WAY",                                                                   \
	    .group = "Events",                                                                   \
                                                                                                 \
	    .help = "user stacks by unwind tables (auto, the default), frame pointers (fp), or none", \
	    .words = "auto, fp, none"),                                                         \
	TARGET_ROW(values, path max_depth, .name = "max-depth", .type = OPTION_U64,              \
	    .argument = "N", .group = "Events",                                                  \
	    .min = 1, .max = STACK_WALK_DEPTH_MAX,                                               \
	    .help = "frames of a user stack that are followed (default 16384)"),                                     \
	TARGET_ROW(values, path user_at_syscall, .name = "user-at-syscall",                      \
	    .type = OPTION_FLAG, .group = "Events",                                              \
                                                                                                 \
	    .help = "take the user stack at the entry of each system call, for all events in it")

#define TARGET_TASK_ROWS(values, path)                                                           \
	TARGET_ROW(values, path pids, .name = "pid", .letter = 'p', .type = OPTION_STRINGS,      \
	    .argument = "PID",                                                                   \
	    .group = "Tasks",                                                                    \
	    .help = "this process, its threads and children; several like 12,34"),               \
	TARGET_ROW(values, path comms, .name = "comm", .type = OPTION_STRINGS,                   \
	    .argument = "NAME", .group = "Tasks",                                                \
	    .help = "only tasks of this name (a glob); may be repeated"),                        \
	TARGET_ROW(values, path cgroup, .name = "cgroup", .type = OPTION_STRING,                 \
	    .argument = "DIR", .group = "Tasks",                                                 \
	    .help = "only tasks in or below this cgroup2 directory"),                            \
	TARGET_ROW(values, path cpus, .name = "cpu", .letter = 'C', .type = OPTION_STRING,       \
	    .argument = "CPUS",                                                                  \
	    .group = "Tasks", .help = "only on these CPUs, like 0-3,8")

#define TARGET_RING_ROW(values, path)                                                            \
	TARGET_ROW(values, path ring, .name = "ring", .letter = 'm', .type = OPTION_SIZE,        \
	    .argument = "SIZE",                                                                  \
	    .group = "Recording", .min = 1 << 12, .max = 1ULL << 28,                             \
	    .help = "ring of each CPU (default 4M, less above 64 CPUs)")

#define TARGET_SIZE_ROWS(values, path)                                                           \
	TARGET_RING_ROW(values, path),                                                           \
	TARGET_ROW(values, path bits, .name = "bits", .letter = 'b', .type = OPTION_U64,         \
	    .argument = "BITS",                                                                  \
	    .group = "Recording", .min = TABLE_BITS_MIN, .max = TABLE_BITS_MAX,                  \
                                                                                                 \
	    .help = "the stack map holds 2^BITS stacks (default 14; of an instance 17)"),        \
	TARGET_ROW(values, path pool, .name = "pool", .type = OPTION_SIZE,                       \
	    .argument = "SIZE", .group = "Recording",                                            \
	    .min = 8 * TABLE_POOL_WORDS_MIN, .max = 8ULL * TABLE_POOL_WORDS_MAX,                 \
	    .help = "memory for the stack map's frames (default 256 bytes a stack)"),            \
	TARGET_ROW(values, path no_dedup, .name = "no-dedup", .type = OPTION_FLAG,               \
	    .group = "Recording",                                                                \
	    .help = "record every stack in full, without the stack map")
/* clang-format on */

/* The tasks that are recorded, before --comm, --cgroup and -C filter their events. */
enum task_choice {
	TASKS_ALL,	  /* of the machine */
	TASKS_OF_PIDS,	  /* the processes of -p, and what they start */
	TASKS_OF_COMMAND, /* the command and what it starts */
};

struct record_target {
	struct source_list sources;
	enum task_choice tasks;
	bool user_stacks;
	enum user_unwind user_unwind;
	u64 cpu_mask[CONFIG_CPUS_MAX / 64];
	struct number_list pids; /* each a range of its own */
	int *pidfds;		 /* of `pids` */
	u64 cpu_ns_before;	 /* CPU time that `pids` had taken when they were chosen */
};

/* Exit status; what is wrong was said. `has_command`: the command line names one.
 * record_target_clear() in any case. */
int record_target_choose(const struct record_values *values, bool has_command,
			 struct record_target *target);
void record_target_clear(struct record_target *target);

/* Whether all processes of -p have ended; false without -p. */
bool record_target_ended(const struct record_target *target);

/* CPU time that the processes of -p have taken since; UINT64_MAX: not known of one that has ended.
 */
u64 record_target_cpu_ns(const struct record_target *target);

/* The options of a capture of this target. They point into `values` and `target`. The command is
 * not among them. */
struct capture_options record_target_options(const struct record_values *values,
					     const struct record_target *target);

/* Makes the capture follow the processes of -p. */
int record_target_follow(const struct record_target *target, struct capture *capture,
			 struct stackmap_error *error);

#endif

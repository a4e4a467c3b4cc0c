/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The option rows, messages and steps that all recording commands share (session/session.h). */
#ifndef CLI_SESSION_FACE_H
#define CLI_SESSION_FACE_H

#include "capture/capture.h"
#include "capture/instance/status.h"
#include "capture/source/source.h"
#include "option/option.h"
#include "session/session.h"
#include "session/session_options.h"

/* The method by which user stacks are unwound, as one word and as a phrase. */
const char *name_of_user_stack_method(enum user_way way);
const char *describe_user_stack_method_chosen(enum user_way way);

/* Reports each feature that the kernel refused, why, and what is used instead. */
void report_refused_kernel_features(struct capture *capture);

/* Reports how many user stacks were unwound at the event, and how many were deferred for which
 * reason, since the beginning of the recording or of the instance. */
void report_user_stack_method_counts(struct capture *capture);

/*
 * Drops the privileges that the session does not need from now on. `ends_command`: the recorded
 * command is ended with the recording. `later_file`: a file that is made later; NULL: no file.
 * Returns the exit status.
 */
int drop_privileges_of_session(const struct session *session, bool ends_command,
			       const char *later_file);

/*
 * Reports the owners of files without names, which a recording only counts. Each owner is reported
 * once, with one of the files.
 */
void report_files_without_names(const struct session *session);

/*
 * Tries a recording of CPU samples in memory, and ends it immediately. On success, returns 0 and
 * sets *way to the method by which its user stacks are unwound. If the kernel refused a better
 * method, *error has the reason, else it is empty. On failure, returns -errno and the error that
 * `record` would print. The call drops the privileges of the process, so a second call fails.
 */
int try_recording_of_whole_machine(enum user_way *way, struct stackmap_error *error);

/* Option rows for the commands that record. */

/* clang-format off */
#define TARGET_ROW(values, place, ...)                                                           \
	{                                                                                        \
		.target = offsetof(values, place), __VA_ARGS__                                   \
	}

/*
 * Option rows of a command whose struct `values` contains a struct session_options; `path` is the
 * path of member names to it, as "record.". `hz`: the sampling frequency if neither -e nor -F is
 * given, as text.
 */
#define TARGET_EVENT_ROWS(values, path, hz)                                                      \
	TARGET_ROW(values, path frequency, .name = "frequency", .letter = 'F',                   \
	    .type = OPTION_U64, .argument = "HZ",                                                \
	    .group = "Events", .min = 1, .max = UINT32_MAX, .words = "max",                  \
	    .number_of_word = source_rate_max,                                                   \
	    .help = "CPU samples a second (default " hz " when there is no -e), or max"),        \
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

#define PERIOD_ROW(values, path)                                                                 \
	TARGET_ROW(values, path period, .name = "count", .letter = 'c', .type = OPTION_U64,      \
	    .argument = "PERIOD", .group = "Events", .min = 1, .max = INT64_MAX,                 \
	    .help = "an event for each PERIOD occurrences of perf events, as page-faults")

#define AT_ROW(values, path)                                                                     \
	TARGET_ROW(values, path at, .name = "at", .type = OPTION_STRING, .argument = "TIME",     \
	    .group = "Recording", .help = "begin at this time, as 12:00:00, on many hosts at once")

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

/*
 * Explains in one line why a recording has no events. `command_cpu_ns`: CPU time that the command
 * has used; UINT64_MAX: not known.
 */
void explain_recording_without_events(const struct session_options *options,
				      const struct session *session, u64 command_cpu_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands that read a recording have in common: finding it, choosing events from it, and
 * saying what it lost. */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "option.h"
#include "report/event_filter.h"
#include "trace/reader.h"

#define RECORDING_DEFAULT "stackmap.data"

struct recording_values {
	const char *instance, *comm, *cgroup, *event, *time;
	u64 pid, tid, cpu;
};

#define RECORDING_DEFAULTS                                                                         \
	{                                                                                          \
		.pid = FILTER_ANY, .tid = FILTER_ANY, .cpu = FILTER_ANY                            \
	}

/* The rows of a command whose struct `values` has a struct recording_values as `member`. */
/* clang-format off */
#define RECORDING_ROWS(values, member)								\
	{"instance", 0, OPTION_STRING, "NAME", offsetof(values, member.instance), "Events",	\
		"what this instance holds now, instead of FILE"},				\
	{"comm", 0, OPTION_STRING, "NAME", offsetof(values, member.comm), "Events",		\
		"only tasks of this name (a glob)"},						\
	{"cgroup", 0, OPTION_STRING, "DIR", offsetof(values, member.cgroup), "Events",		\
		"only tasks in or below this cgroup"},						\
	{"event", 'e', OPTION_STRING, "EVENT", offsetof(values, member.event), "Events",	\
		"only this event (a glob)"},							\
	{"pid", 'p', OPTION_U64, "PID", offsetof(values, member.pid), "Events",			\
		"only this process, all its threads", 0, INT32_MAX},				\
	{"tid", 0, OPTION_U64, "TID", offsetof(values, member.tid), "Events",			\
		"only this thread", 0, INT32_MAX},						\
	{"cpu", 'C', OPTION_U64, "CPU", offsetof(values, member.cpu), "Events",			\
		"only this CPU", 0, UINT16_MAX},						\
	{"time", 0, OPTION_STRING, "FROM,TO", offsetof(values, member.time), "Events",		\
		"only this time, in seconds as 'script' shows it"}
/* clang-format on */

/* Which recording, and which of its events. */
struct recording_choice {
	const char *name; /* of the file, or the instance */
	bool is_instance;
	const char *output; /* a file that is made of it, or NULL */
	struct event_filter filter;
};

/* 0, or -EINVAL and a message: wrong usage. */
int recording_choose(const struct recording_values *values, char *const *operands,
		     struct recording_choice *choice);

/* Opens it, and checks that it has what the filter asks for. NULL and a message on failure. */
struct trace_reader *recording_open(const struct recording_choice *choice);

/* Closes, and says where a damaged file ended. EXIT_DONE, or EXIT_FAILED if it did or `err` is not
 * 0 (`error` says why). */
int recording_close(struct trace_reader **reader, int err, const struct stackmap_error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts that commands which read a recording have in common: opening it, choosing events, and
 * reporting losses.
 */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "merge/recording_list.h"
#include "merge/recording_merge.h"
#include "option/option.h"
#include "report/event/event_filter.h"
#include "trace/read/reader.h"
#include "view/from.h"
#include "view/names.h"

/* Running instances, for the commands that read recordings. */

/*
 * Takes a snapshot of the instance. Drops privileges, except those for making `later_file`, which
 * may be NULL. Returns NULL after a message on failure.
 */
struct trace_reader *copy_instance_as_recording(const char *name, const char *later_file);

/*
 * A function that handles one window of an instance's events. A result other than 0 ends the
 * reading; a negative result is an error.
 */
typedef int (*live_show)(void *arg, struct trace_reader *reader, struct stackmap_error *error);

/*
 * Passes all events of a drain-mode instance to `show` as they come, including those that the
 * instance already holds, until a signal or the end of the instance. Returns the exit status;
 * errors were printed.
 */
int show_live_events_until_end(const char *name, live_show show, void *arg);

/* Many recordings that a command reads as one. */

/* Initializes an empty list of recordings. */
void recordings_init(struct recording_list *list);

/*
 * After the merge, reports which data the result does not have because a recording is a summary,
 * and which recordings are damaged. Returns the number of damaged recordings.
 */
u32 report_damaged_recordings(const struct recording_list *list);

/*
 * Opens each recording of `paths`: files and folders, with commas between them. If `paths` as a
 * whole is the name of a file, this file is opened. 0, or EXIT_FAILED after a message: the list is
 * empty then.
 */
int recordings_open_all(const char *paths, struct recording_list *list);

/*
 * Merges all recordings of a folder in memory. The result counts as damaged if one of them is
 * damaged. NULL after a message on failure.
 */
struct trace_reader *recordings_open_folder(const char *path);

#define RECORDING_DEFAULT "stackmap.data"

struct recording_values {
	const char *instance, *time;
	const char *value; /* chosen value of events; the option row VALUE_ROW() sets it */
	struct string_list comms, cgroups, events, traces, spans, attributes;
	struct number_list pids, tids, cpus;
	struct from_values from;
};

/* The option rows of a command whose struct `values` has the lists of ids at `path`, as "member.".
 */
/* clang-format off */
#define TRACE_ROWS(values, path)								\
	{"trace", 0, OPTION_STRINGS, "ID", offsetof(values, path traces), "Events",		\
		"only of this trace (record --trace-ids), or one that begins so; may be repeated"}, \
	{"span", 0, OPTION_STRINGS, "ID", offsetof(values, path spans), "Events",		\
		"only of this span, likewise; may be repeated"}

/* The option rows of a command whose struct `values` has a struct recording_values as `member`. */
#define RECORDING_ROWS(values, member)								\
	{"instance", 0, OPTION_STRING, "NAME", offsetof(values, member.instance), "Events",	\
		"what this instance holds now, instead of FILE"},				\
	{"comm", 0, OPTION_STRINGS, "NAME", offsetof(values, member.comms), "Events",		\
		"only tasks of this name (a glob); may be repeated"},				\
	{"cgroup", 0, OPTION_STRINGS, "DIR", offsetof(values, member.cgroups), "Events",	\
		"only tasks in or below this cgroup; may be repeated"},				\
	{"event", 'e', OPTION_STRINGS, "EVENT", offsetof(values, member.events), "Events",	\
		"only this event (a glob); may be repeated"},					\
	TRACE_ROWS(values, member.),							\
	{"attribute", 0, OPTION_STRINGS, "ATTRIBUTE", offsetof(values, member.attributes), "Events", \
		"only events whose process or thread has it: service.name=shop (a glob); may be repeated"}, \
	{"pid", 'p', OPTION_NUMBERS, "PID", offsetof(values, member.pids), "Events",		\
		"only this process, all its threads; several like 12,34", 0, INT32_MAX},	\
	{"tid", 0, OPTION_NUMBERS, "TID", offsetof(values, member.tids), "Events",		\
		"only this thread; several like 12,34", 0, INT32_MAX},				\
	{"cpu", 'C', OPTION_NUMBERS, "CPUS", offsetof(values, member.cpus), "Events",		\
		"only on these CPUs, like 0-3,8", 0, UINT16_MAX},				\
	{"time", 0, OPTION_STRING, "FROM,TO", offsetof(values, member.time), "Events",		\
		"only this time, in seconds as 'script' shows it"},				\
	FROM_ROWS(values, member.from),								\
	FROM_CAP_ROW(values, member.from)

/*
 * The option row of a command that shows one value of an event; `member` is where the option's
 * value is stored.
 */
#define VALUE_ROW(values, member)								\
	{"value", 0, OPTION_STRING, "NAME", offsetof(values, member), "Events",			\
		"which value weighs, of events that have two: its name or unit, 1, 2"}
/* clang-format on */

/* The chosen recording and the filter of its events. Its texts belong to the values. */
struct recording_choice {
	const char *name; /* name of the file, of the folder of files, or of the instance */
	bool is_instance;
	/* choice of the events of a store; NULL: the recording is not from a store */
	struct from_choice *from;
	const char *output; /* name of a file that is made of the recording, or NULL */
	const char *value;  /* chosen value's name, for trace_reader_choose_value(), or NULL */
	struct event_filter filter;
	struct event_filter_use use;
	/* the choice that `from` points to, if the recording is from a store */
	struct from_choice store;
};

/*
 * Fills *choice from the values and the operand. 0, or -EINVAL after a message: wrong usage. The
 * choice must not be moved afterwards.
 */
int choose_recording_by_options(const struct recording_values *values, char *const *operands,
				struct recording_choice *choice);

/*
 * Chooses the second of two compared recordings. With a store, the second one results from
 * copy_store_options_with_second_value() for the operand; without an operand it is the first
 * recording itself.
 */
int recording_choose_second(const struct recording_values *values, char *const *operands,
			    struct recording_choice *choice);

/* Sets *naming for the frames of the recording. The frames of a store have their names already, so
 * an option that looks names up (--sysroot, --vmlinux, --kallsyms, --debuginfod, --lines) is an
 * error with a store: EXIT_USAGE after a message. */
int recording_names_open(const struct names_values *values, const struct recording_choice *choice,
			 struct frame_naming *naming);

/*
 * Opens the recording, and checks that it has the sources of the filter. NULL after a message on
 * failure.
 */
struct trace_reader *recording_open(const struct recording_choice *choice);

/*
 * Closes the recording, and reports its damage, or that the filter chose no event. Returns
 * EXIT_DONE, or EXIT_FAILED if the recording was damaged or `err` is not 0 (then `error` has the
 * reason).
 */
int recording_close(struct trace_reader **reader, const struct recording_choice *choice, int err,
		    const struct stackmap_error *error);

#endif

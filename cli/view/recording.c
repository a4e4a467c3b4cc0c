/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A damaged recording is shown up to the damage. A note on standard error comes last, and the
 * command fails, so that scripts notice the incomplete result. If the operand is a folder, all its
 * recordings are merged and read as one.
 */
#include "recording.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "command_line.h"
#include "error.h"
#include "interrupt.h"
#include "ledger_text.h"
#include "name_match.h"
#include "option/option.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "product_version.h"
#include "session/session.h"
#include "terminal/message.h"

/*
 * Reading a running instance. A snapshot does not change the instance. Following an instance
 * consumes its events: shown events are removed from the instance, and the ledger is printed at the
 * end. Events are shown in windows, because a stack may come after its event, and an event of one
 * CPU may be read before an earlier event of another CPU. A window is long enough to sort the
 * events and short enough to look immediate.
 */

#define WINDOW_MS 200
/* milliseconds between two visits of the rings: the longest delay that looks immediate */
#define VISIT_MS 20

struct trace_reader *copy_instance_as_recording(const char *name, const char *later_file)
{
	const struct session_options options = {
		.instance = name, .use = SESSION_COPY, .windows = true};
	const struct privilege_needs needs = {.reads_files = true, .later_file = later_file};
	struct session *session = NULL;
	struct trace_reader *reader = NULL;
	struct stackmap_error error;
	int result;

	raise_open_file_limit();
	result = session_create(&options, NULL, &session, &error)
			 ?: session_open(session, 0, NULL, &error)
			 ?: drop_unneeded_privileges(&needs, &error)
			 ?: session_take_window_or_snapshot(session, &reader, NULL, &error);
	if (result)
		print_error_message(&error);
	else
		report_self_stop_of_instance(session_capture(session), name);
	session_close(&session);
	return reader;
}

struct following {
	live_show show;
	void *arg;
	struct session *session;
	int signals;
	bool ended;
	const char *name; /* name of the instance */
	u64 stop_told;	  /* time of the instance's stop that was reported last, for
			     report_new_self_stop() */
};

/* Collects events until they can be sorted, or until the end. */
static int collect_live_events_for_window(struct following *following, struct stackmap_error *error)
{
	u64 end = UINT64_MAX;
	int ms = 0;

	while (ms >= 0 && !following->ended && clock_ms() < end) {
		following->ended =
			signal_asks_to_end(signals_wait(following->signals,
							session_wake_fd(following->session), ms)) ||
			session_is_over(following->session);
		if (following->ended)
			interrupt_request_end(); /* the last window waits a short time for symbols
						  */
		ms = session_visit(following->session, error);
		if (end == UINT64_MAX && capture_events(session_capture(following->session)))
			end = clock_ms() + WINDOW_MS;
		else if (end == UINT64_MAX) /* all events before the stop were shown */
			report_new_self_stop(session_capture(following->session), following->name,
					     &following->stop_told);
		ms = ms < VISIT_MS ? ms : VISIT_MS;
	}
	return ms < 0 ? ms : 0;
}

static int show_events_until_end(struct following *following, struct stackmap_error *error)
{
	struct trace_reader *reader;
	int result = following->ended ? session_stop(following->session, error) : 0;

	result =
		result ?: session_take_window_or_snapshot(following->session, &reader, NULL, error);
	if (result)
		return result;
	signals_unblock_for_finish(); /* Here the reader of standard output may have gone away. */
	result = following->show(following->arg, reader, error);
	trace_reader_close(&reader);
	if (fflush(stdout) || interrupted())
		following->ended = true; /* main() prints the reason */
	signals_block_until_read();
	return result;
}

int show_live_events_until_end(const char *name, live_show show, void *arg)
{
	const struct session_options options = {
		.instance = name, .use = SESSION_TAKE, .windows = true};
	const struct privilege_needs needs = {.reads_files = true};
	struct following following = {.show = show, .arg = arg, .signals = -1, .name = name};
	struct stackmap_error error;
	int result;

	raise_open_file_limit();
	result = session_create(&options, NULL, &following.session, &error)
			 ?: session_open(following.session, 0, NULL, &error)
			 ?: session_start(following.session, &error);
	if (!result) {
		following.signals = signals_install_and_open_fd();
		following.ended = !signals_block_until_read();
		if (following.signals < 0)
			result = error_set(&error, -following.signals, "signals: %s",
					   strerror(-following.signals));
	}
	result = result ?: drop_unneeded_privileges(&needs, &error);
	while (!result && !following.ended)
		result = collect_live_events_for_window(&following, &error)
				 ?: show_events_until_end(&following, &error);
	if (!result)
		ledger_print(session_ledger(following.session), "stackmap: ledger: ", stderr);
	if (following.signals >= 0)
		close(following.signals);
	session_close(&following.session);
	return result ? print_error_and_choose_exit_status(result, &error) : EXIT_DONE;
}

/*
 * The damage of each file is reported when it is found. At the end, the caller reports the damage
 * of the merged recording, as for a single file.
 */

static void report_damaged_file(void *arg, const struct stackmap_error *why)
{
	(void)arg;
	print_error_message(why);
}

void recordings_init(struct recording_list *list)
{
	*list = (struct recording_list){.note = report_damaged_file};
}

/*
 * Reports what the merged recording does not have. If one recording has only sums of events (a
 * summary), the merged recording is a summary, too.
 */
static void report_left_out_data(const struct recording_list *list)
{
	const char *summary = NULL;
	bool has_further = false, has_contexts = false, has_times = false;

	for (u32 i = 0; i < list->count; i++) {
		const struct trace_info *info = trace_reader_info(list->readers[i]);
		const struct trace_context *contexts;
		const struct thread_account *times;

		if (info->is_summary)
			summary = trace_reader_name(list->readers[i]);
		has_further |= info->has_further;
		has_contexts |= trace_reader_contexts(list->readers[i], &contexts) > 0;
		has_times |= trace_reader_accounts(list->readers[i], &times) > 0;
	}
	if (!summary || (!has_further && !has_contexts && !has_times))
		return;
	message("%s: is a summary, and so is the result: it lacks the%s%s%s%s%s of the other "
		"recordings",
		summary, has_further ? " second values (values=A,B)" : "",
		has_further && (has_contexts || has_times) ? "," : "",
		has_contexts ? " trace ids" : "", has_contexts && has_times ? "," : "",
		has_times ? " threads' time" : "");
}

u32 report_damaged_recordings(const struct recording_list *list)
{
	u32 damaged = 0;

	report_left_out_data(list);
	for (u32 i = 0; i < list->count; i++) {
		const struct stackmap_error *damage = trace_reader_damage(list->readers[i]);

		if (!trace_reader_ledger(list->readers[i]))
			message("%s: has no ledger, so the result has none",
				trace_reader_name(list->readers[i]));
		if (!damage)
			continue;
		print_error_message(damage);
		damaged++;
	}
	return damaged;
}

struct trace_reader *recordings_open_folder(const char *path)
{
	char *command = command_line_read();
	const struct recording_merge_info info = {.command = command ?: "stackmap",
						  .version = STACKMAP_VERSION};
	struct recording_list list;
	struct trace_reader *reader = NULL;
	struct stackmap_error error;
	u32 damaged;

	raise_open_file_limit();
	recordings_init(&list);
	if (recording_list_add_folder(&list, path, &error) ||
	    recording_merge_in_memory(list.readers, list.count, path, &info, &reader, &error)) {
		print_error_message(&error);
	} else {
		damaged = report_damaged_recordings(&list);
		if (damaged || list.missing) {
			struct stackmap_error why;

			error_set(&why, EBADMSG,
				  "%s: %u of its %u recordings are damaged or cannot be read",
				  trace_reader_name(reader), damaged + list.missing,
				  list.count + list.missing);
			trace_reader_set_damage(reader, &why);
		}
	}
	recording_list_clear(&list);
	free(command);
	return reader;
}

int recordings_open_all(const char *paths, struct recording_list *list)
{
	char *copy = strdup(paths), *rest = copy, *path;
	struct stackmap_error error;
	int err = 0;

	recordings_init(list);
	if (!copy) {
		message("%s: %s", paths, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	privilege_keep_reading_of_files();
	raise_open_file_limit();
	if (access(paths, F_OK) == 0) {
		path = rest;
		rest = NULL;
	} else {
		path = strsep(&rest, ",");
	}
	for (; path && !err; path = strsep(&rest, ","))
		err = recording_list_is_folder(path) ? recording_list_add_folder(list, path, &error)
						     : recording_list_add_file(list, path, &error);
	free(copy);
	if (!err)
		return EXIT_DONE;
	recording_list_clear(list);
	return print_error_message(&error);
}

#define NS_DIGITS 9
#define COMMS_SHOWN 10

/*
 * Parses "123.4567" to ns. Digits that are not given count as `missing`: 0 for a start, 9 for an
 * end.
 */
static int parse_time(const char **text, char missing, u64 *time)
{
	const char *at = *text;
	u64 value = 0;
	int digits = 0;
	bool fraction = false;

	for (; isdigit((unsigned char)*at) || (*at == '.' && !fraction); at++) {
		if (*at == '.') {
			fraction = true;
			continue;
		}
		if (value > (UINT64_MAX - 9) / 10 || (fraction && ++digits > NS_DIGITS))
			return -ERANGE;
		value = 10 * value + (u64)(*at - '0');
	}
	for (; digits < NS_DIGITS; digits++) {
		if (__builtin_mul_overflow(value, 10, &value))
			return -ERANGE;
		value += fraction ? (u64)(missing - '0') : 0;
	}
	*text = at;
	*time = value;
	return 0;
}

static int parse_time_range(const char *text, struct event_filter *filter)
{
	int err = parse_time(&text, '0', &filter->from);

	if (err || *text++ != ',')
		return -EINVAL;
	if (!*text)
		return 0;
	err = parse_time(&text, '9', &filter->to);
	return err || *text || filter->to < filter->from ? -EINVAL : 0;
}

static int check_cgroups(const struct string_list *cgroups)
{
	for (size_t i = 0; i < cgroups->count; i++) {
		if (*cgroups->items[i] == '/' || *cgroups->items[i] == '[')
			continue;
		message("--cgroup %s: must be a path as 'report --sort cgroup' shows it, or a "
			"directory below /sys/fs/cgroup",
			cgroups->items[i]);
		return -EINVAL;
	}
	return 0;
}

/* Refuses filters that a store does not support. */
static int check_store_filters(const struct recording_values *values, const char *operand)
{
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{"pid", values->pids.count > 0},   {"tid", values->tids.count > 0},
		{"cpu", values->cpus.count > 0},   {"time", values->time},
		{"instance", values->instance},	   {"trace", values->traces.count > 0},
		{"span", values->spans.count > 0}, {"attribute", values->attributes.count > 0},
		{"value", values->value},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given) {
			message("--%s: not with --from, a store %s", options[i].name,
				i < 3	 ? "has no processes, threads and CPUs"
				: i == 3 ? "has times of day: --since, --until"
				: i == 4 ? "is no instance"
				: i < 7	 ? "has no trace ids"
				: i == 7 ? "has no attributes of processes"
					 : "has one value of an event");
			return -EINVAL;
		}
	if (operand)
		message("--from %s and %s: choose one", values->from.url, operand);
	return operand ? -EINVAL : 0;
}

/* Moves filters into the question, because the store applies them itself. */
static int set_store_question(const struct recording_values *values, const struct from_values *from,
			      struct recording_choice *choice)
{
	struct string_list *wanted = choice->store.question.wanted;

	*choice = (struct recording_choice){.name = from->url};
	if (parse_store_options(from, &choice->store) || check_cgroups(&values->cgroups))
		return -EINVAL;
	wanted[STORE_FIELD_CGROUP] = values->cgroups;
	wanted[STORE_FIELD_COMM] = values->comms;
	wanted[STORE_FIELD_EVENT] = values->events;
	choice->from = &choice->store;
	return 0;
}

int recording_choose_second(const struct recording_values *values, char *const *operands,
			    struct recording_choice *choice)
{
	struct from_values second;

	if (!values->from.url || !operands[0])
		return choose_recording_by_options(values, operands, choice);
	if (check_store_filters(values, NULL) ||
	    copy_store_options_with_second_value(&values->from, operands, &second))
		return -EINVAL;
	return set_store_question(values, &second, choice);
}

int choose_recording_by_options(const struct recording_values *values, char *const *operands,
				struct recording_choice *choice)
{
	struct stackmap_error error;

	if (values->from.url)
		return check_store_filters(values, operands[0])
			       ?: set_store_question(values, &values->from, choice);
	if (parse_store_options(&values->from, &choice->store))
		return -EINVAL;
	choice->from = NULL;
	choice->output = NULL;
	choice->value = values->value;
	choice->use = (struct event_filter_use){};
	choice->is_instance = values->instance;
	choice->name = values->instance ?: operands[0] ?: RECORDING_DEFAULT;
	if (values->instance && operands[0]) {
		message("--instance %s and %s: choose one", values->instance, operands[0]);
		return -EINVAL;
	}
	choice->filter = (struct event_filter){
		.comms = values->comms,
		.cgroups = values->cgroups,
		.events = values->events,
		.traces = values->traces,
		.spans = values->spans,
		.attributes = values->attributes,
		.pids = values->pids,
		.tids = values->tids,
		.cpus = values->cpus,
		.use = &choice->use,
	};
	if (check_cgroups(&values->cgroups))
		return -EINVAL;
	if (event_filter_check_syntax(&choice->filter, &error)) {
		print_error_message(&error);
		return -EINVAL;
	}
	if (!values->time || !parse_time_range(values->time, &choice->filter))
		return 0;
	message("--time %s: must be FROM,TO in seconds, such as 12.5,13", values->time);
	return -EINVAL;
}

struct trace_reader *recording_open(const struct recording_choice *choice)
{
	struct trace_reader *reader = NULL;
	struct stackmap_error error;
	int err;

	if (choice->from)
		return open_recording_from_store(choice->from);
	if (choice->is_instance) {
		reader = copy_instance_as_recording(choice->name, choice->output);
	} else {
		privilege_keep_reading_of_files();
		if (recording_list_is_folder(choice->name))
			reader = recordings_open_folder(choice->name);
		else if (trace_reader_open(choice->name, &reader, &error))
			print_error_message(&error);
	}
	if (!reader)
		return NULL;
	err = event_filter_check(&choice->filter, reader, &error);
	if (!err && choice->value)
		err = trace_reader_choose_value(reader, choice->value, &error);
	if (err) {
		print_error_message(&error);
		trace_reader_close(&reader);
	}
	return err ? NULL : reader;
}

/* Lists the names of some tasks, as "sh, cat and others". */
static void list_some_task_names(const struct trace_reader *reader, char *text, size_t bytes)
{
	const struct trace_task *tasks;
	u32 task_count = trace_reader_tasks(reader, &tasks), count = 0;
	const char *comms[COMMS_SHOWN];
	size_t used = 0;

	text[0] = '\0';
	for (u32 i = 0; i < task_count && used < bytes; i++) {
		u32 listed = 0;

		while (listed < count && strcmp(comms[listed], tasks[i].comm) != 0)
			listed++;
		if (listed < count)
			continue;
		if (count == COMMS_SHOWN) {
			snprintf(text + used, bytes - used, " and others");
			return;
		}
		used += snprintf(text + used, bytes - used, "%s%s", count ? ", " : "",
				 tasks[i].comm);
		comms[count++] = tasks[i].comm;
	}
}

/* If no task has the name `comm`, prints a message and returns true. */
static bool report_unknown_comm(const char *name, const char *comm,
				const struct trace_reader *reader)
{
	char comms[256];
	struct name_match match;
	const struct trace_task *tasks;
	u32 count;

	name_match_init(&match, comm);
	count = trace_reader_tasks(reader, &tasks);
	for (u32 i = 0; i < count; i++)
		name_match_compare_name(&match, tasks[i].comm);
	list_some_task_names(reader, comms, sizeof(comms));
	if (match.found || !comms[0])
		return false;
	if (match.nearest[0])
		message("%s: --comm %s: no task of this name, did you mean %s? There are %s", name,
			comm, match.nearest, comms);
	else
		message("%s: --comm %s: no task of this name; there are %s", name, comm, comms);
	return true;
}

/* Explains why a recording has no events, unless its ledger shows losses. */
static void explain_no_events(const struct recording_choice *choice,
			      const struct trace_reader *reader)
{
	const struct trace_ledger *ledger = trace_reader_ledger(reader);
	const struct trace_source *sources;

	if (!ledger || ledger->recorded || ledger->counted ||
	    !trace_reader_sources(reader, &sources))
		return;
	if (ledger->produced)
		message("%s: all of its %llu events were lost; the ledger of 'stackmap report' "
			"says to what",
			choice->name, (unsigned long long)ledger->produced);
	else
		message("%s: no events: nothing that '%s' records happened", choice->name,
			trace_reader_info(reader)->command);
}

int recording_close(struct trace_reader **reader, const struct recording_choice *choice, int err,
		    const struct stackmap_error *error)
{
	const struct stackmap_error *damage = trace_reader_damage(*reader);
	bool is_empty = !err && choice->use.met && !choice->use.passed;

	if (err || damage || is_empty)
		fflush(stdout);
	if (err)
		print_error_message(error);
	if (is_empty) {
		const struct string_list *comms = &choice->filter.comms;
		bool reported = false;

		/*
		 * An empty result is not a failure, as with perf, so a message explains the empty
		 * result.
		 */
		for (size_t i = 0; i < comms->count; i++)
			reported |= report_unknown_comm(choice->name, comms->items[i], *reader);
		if (!reported)
			message("%s: the options choose none of its events", choice->name);
	} else if (!err && !damage && !choice->from)
		explain_no_events(choice, *reader);
	if (damage)
		print_error_message(damage);
	event_filter_end_use(&choice->filter);
	trace_reader_close(reader);
	return err || damage || (choice->from && choice->from->is_partial) ? EXIT_FAILED
									   : EXIT_DONE;
}

int recording_names_open(const struct names_values *values, const struct recording_choice *choice,
			 struct frame_naming *naming)
{
	if (!choice->from)
		return open_names_of_frames(values, naming);
	return set_naming_and_refuse_lookup_options(values, naming);
}

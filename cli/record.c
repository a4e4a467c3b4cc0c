/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap record`: runs a command and a recording session (session/session.h) until one of them
 * ends, and prints what each file contains. With --instance the events come from a running
 * instance, which continues after the command.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/drain/pace.h"
#include "capture/instance/metadata.h"
#include "clock.h"
#include "command.h"
#include "interrupt.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "process/workload.h"
#include "question.h"
#include "recording/session_face.h"
#include "session/trigger.h"
#include "table.h"
#include "terminal/message.h"
#include "terminal/terminal.h"
#include "view/ledger_text.h"
#include "view/recording.h"

#define WAIT_MS 1000
#define PROGRESS_MS 500

struct record_values {
	struct session_options session;
	bool quiet, verbose;
};

struct record {
	const struct record_values *values;
	struct session_options options;
	struct session *session;
	struct workload workload;
	int signals;
	u32 snapshots;
	u64 next_progress; /* time of the next progress line, by clock_ms() */
	bool asked;	   /* true: a signal has asked the command to end */
	u64 stop_told;	   /* time of the instance's stop that was reported last, for
			      report_new_self_stop() */
};

static void print_file_summary(void *arg, const char *path, const struct trace_ledger *ledger,
			       u64 bytes)
{
	const struct record *record = arg;

	if (record->values->quiet)
		return;
	message("%llu events, %.1f KiB in %s",
		(unsigned long long)(ledger->recorded + ledger->counted), bytes / 1024.0, path);
	ledger_print(ledger, "stackmap: ledger: ", stderr);
	report_files_without_names(record->session);
}

static void print_session_warning(void *arg, const struct stackmap_error *error)
{
	(void)arg;
	print_error_message(error);
}

/* Removes the oldest snapshot if there are more than --keep allows. This process has written it. */
static void remove_oldest_snapshot(const struct record *record)
{
	u64 keep = record->options.keep;
	char *path;

	if (!keep || record->snapshots <= keep ||
	    asprintf(&path, "%s.%llu", record->options.output,
		     (unsigned long long)(record->snapshots - keep)) < 0)
		return;
	if (unlink(path) && errno != ENOENT)
		message("%s: %s", path, strerror(errno));
	free(path);
}

/* Writes a snapshot of a flight recording to FILE.1, FILE.2..., for SIGUSR2 and --snapshot-when. */
static void write_numbered_snapshot(struct record *record)
{
	struct stackmap_error error;
	char *path;
	int result;

	if (!record->options.flight && !record->options.snapshot_when.count)
		return;
	if (asprintf(&path, "%s.%u", record->options.output, ++record->snapshots) < 0)
		return;
	result = session_snapshot(record->session, path, &error);
	if (result)
		print_error_and_choose_exit_status(result, &error);
	else
		remove_oldest_snapshot(record);
	free(path);
}

/*
 * Reports that an instance has stopped itself. The instance may be resumed, so its recording
 * continues.
 */
static void report_stop_by_trigger(struct record *record)
{
	if (!record->values->quiet && record->options.instance)
		report_new_self_stop(session_capture(record->session), record->options.instance,
				     &record->stop_told);
}

/* Acts on triggers that are due. True: the recording must end. */
static bool handle_due_triggers(struct record *record)
{
	const struct trigger_watch *triggers = session_triggers(record->session);

	if (trigger_is_due(triggers, TRIGGER_STOP)) {
		const char *name = record->options.instance;

		if (record->values->quiet)
			return true;
		if (!name)
			message("an event of --stop-when has happened, the recording ends");
		else
			message(session_kind(record->session) == SESSION_SNAPSHOT
					? "an event of --stop-when has happened, the file is "
					  "written; %s goes on"
					: "an event of --stop-when has happened, the file ends; %s "
					  "goes on",
				name);
		return true;
	}
	if (trigger_is_due(triggers, TRIGGER_SNAPSHOT))
		write_numbered_snapshot(record);
	return false;
}

/*
 * Records events until the command, the processes or the instance end, a signal asks for the end,
 * or writing fails.
 */
static void record_events(struct record *record)
{
	struct stackmap_error error;
	int ms = PACE_MS_MIN;

	while (ms >= 0) {
		int signal = signals_wait(record->signals, session_wake_fd(record->session), ms);
		u64 now, bytes;

		if (signal == SIGUSR2)
			write_numbered_snapshot(record);
		if (signal_asks_to_end(signal)) {
			record->asked = true;
			interrupt_request_end();
			return;
		}
		if (record->workload.pid ? workload_ended(&record->workload)
					 : session_is_over(record->session))
			return;
		/* An error is not lost here: session_end() returns the error again. */
		ms = session_visit(record->session, &error);
		now = clock_ms();
		bytes = session_file_bytes(record->session);
		if (bytes && !record->values->quiet && can_show_progress_on_terminal(stderr) &&
		    now >= record->next_progress) {
			record->next_progress = now + PROGRESS_MS;
			fprintf(stderr, "\r%llu events, %.1f KiB ",
				(unsigned long long)session_file_events(record->session),
				bytes / 1024.0);
		}
		if (handle_due_triggers(record))
			return;
		report_stop_by_trigger(record);
	}
}

/* Sends a signal to the command if the user asks for the end: SIGTERM, or SIGKILL if `insists`. */
static void signal_workload(struct record *record, bool insists)
{
	workload_signal(&record->workload, insists ? SIGKILL : SIGTERM);
	record->asked = true;
}

/* Waits for the end of the command, even if the recording has failed. */
static int wait_for_workload_end(struct record *record, int status)
{
	struct workload *workload = &record->workload;

	if (!workload->started)
		return status;
	signals_block_until_read();
	if (record->asked || interrupted())
		signal_workload(record, record->asked && interrupted());
	while (!workload_ended(workload))
		if (signal_asks_to_end(signals_wait(record->signals, -1, WAIT_MS)))
			signal_workload(record, record->asked);
	return status ?: workload_exit_status(workload);
}

static int finish_recording(struct record *record)
{
	struct stackmap_error error;
	int result, status;

	signals_unblock_for_finish();
	result = session_stop(record->session, &error) ?: session_end(record->session, &error);
	status = result ? print_error_and_choose_exit_status(result, &error) : EXIT_DONE;
	if (session_has_failed(record->session))
		status = EXIT_FAILED;
	if (record->values->verbose)
		report_user_stack_method_counts(session_capture(record->session));
	if (!status && !session_ledger(record->session)->produced && !record->values->quiet) {
		if (!record->options.instance)
			explain_recording_without_events(
				&record->options, record->session,
				record->workload.ended ? record->workload.cpu_ns : UINT64_MAX);
		else if (session_kind(record->session) == SESSION_READER)
			message("0 events: nothing that '%s' records happened",
				capture_metadata(session_capture(record->session))->command);
	}
	return status;
}

/*
 * Starts the recording and the command. A signal removes the file only as long as it has a
 * temporary name.
 */
static int start_recording(struct record *record, char **arguments)
{
	struct stackmap_error error;
	int result = session_start(record->session, &error);

	if (result)
		return print_error_and_choose_exit_status(result, &error);
	if (!record->values->quiet)
		report_refused_kernel_features(session_capture(record->session));
	report_stop_by_trigger(record);
	if (!session_is_snapshot_without_trigger(record->session) && !signals_block_until_read())
		return EXIT_FAILED;
	result = record->workload.pid ? workload_start(&record->workload) : 0;
	if (result) {
		message("%s: %s", arguments[0], strerror(-result));
		return EXIT_FAILED;
	}
	result = session_publish(record->session, &error);
	return result ? print_error_and_choose_exit_status(result, &error)
		      : drop_privileges_of_session(
				record->session, record->workload.pid,
				session_path_of_file_opened_later(record->session));
}

static int run_recording(struct record *record, char **arguments)
{
	const struct session_listener listener = {record, print_file_summary,
						  print_session_warning};
	struct stackmap_error error;
	int status, result = session_create(&record->options, &listener, &record->session, &error);

	if (result)
		return print_error_and_choose_exit_status(result, &error);
	record->signals = signals_install_and_open_fd();
	if (record->signals < 0) {
		message("signals: %s", strerror(-record->signals));
		return EXIT_FAILED;
	}
	if (record->options.has_command)
		result = workload_prepare(&record->workload, arguments,
					  !strcmp(record->options.output, "-"));
	if (result) {
		size_t digits = strspn(arguments[0], "0123456789");
		bool is_number = digits && !arguments[0][digits];

		message("%s: %s%s%s", arguments[0], strerror(-result),
			is_number ? "; a process goes with -p " : "",
			is_number ? arguments[0] : "");
		return EXIT_FAILED;
	}
	raise_open_file_limit();
	result = session_open(record->session, record->workload.pid, record->workload.path, &error);
	if (result)
		return print_error_and_choose_exit_status(result, &error);
	status = start_recording(record, arguments);
	if (status)
		return status;
	if (!session_is_snapshot_without_trigger(record->session))
		record_events(record);
	return finish_recording(record);
}

static int record_run(const void *arg, int count, char **operands)
{
	const struct record_values *values = arg;
	struct record record = {.values = values, .options = values->session, .signals = -1};
	int status;

	record.options.has_command = count > 0;
	record.options.command = count > 0 ? operands[0] : NULL;
	record.options.use = SESSION_TAKE_OR_COPY;
	status = run_recording(&record, operands);
	session_close(&record.session);
	status = wait_for_workload_end(&record, status);
	workload_clear(&record.workload);
	if (record.signals >= 0)
		close(record.signals);
	signals_exit_as_interrupted();
	return status;
}

#define ROW(member_, ...) TARGET_ROW(struct record_values, session.member_, __VA_ARGS__)

/* clang-format off */
static const struct option_row rows[] = {
	TARGET_EVENT_ROWS(struct record_values, session., "999"),
	PERIOD_ROW(struct record_values, session.),
	ROW(time, .name = "time", .type = OPTION_FLAG, .group = "Events",
	    .help = "where each thread's time goes, and each of its waits (-e 'time:*')"),
	ROW(locks, .name = "locks", .type = OPTION_FLAG, .group = "Events",
	    .help = "--wakers, and for which lock of the kernel or of a process a thread waits"),
	ROW(origins, .name = "origins", .type = OPTION_FLAG, .group = "Events",
	    .help = "beside an event of queued work: the task that queued it, with its stacks (-e queued-by)"),
	ROW(trace_ids, .name = "trace-ids", .type = OPTION_FLAG, .group = "Events",
	    .help = "the trace and span that a thread works for, where it publishes them for OpenTelemetry"),
	ROW(count_unmet, .name = "count-unmet", .type = OPTION_FLAG, .group = "Events",
	    .help = "count the events that do not meet the conditions (if=) of their source"),
	ROW(aggregate, .name = "aggregate", .type = OPTION_FLAG, .group = "Events",
	    .help = "keep counts, sums and histograms of values by stack, and no single events"),
	ROW(leaks, .name = "leaks", .type = OPTION_FLAG, .group = "Events",
	    .help = "memory that is not freed when the recording ends, by the stack of its allocation"),
	ROW(leaks_every, .name = "leaks-every", .type = OPTION_SIZE, .argument = "SIZE",
	    .group = "Events", .min = 1, .max = ALIVE_EVERY_MAX,
	    .help = "the same as an estimate: one allocation is taken for SIZE bytes, on average"),
	ROW(all, .name = "all", .letter = 'a', .type = OPTION_FLAG, .group = "Tasks",
	    .help = "the whole machine, not only COMMAND"),
	TARGET_TASK_ROWS(struct record_values, session.),
	ROW(instance, .name = "instance", .type = OPTION_STRING, .argument = "NAME",
	    .group = "Recording",
	    .help = "the events of an instance, until Ctrl-C or its end; what a flight one holds now"),
	ROW(output, .name = "output", .letter = 'o', .type = OPTION_STRING, .argument = "FILE",
	    .group = "Recording",
	    .help = "write FILE (default stackmap.data); one that exists becomes FILE.old"),
	ROW(flight, .name = "flight", .type = OPTION_SIZE, .argument = "SIZE",
	    .group = "Recording", .min = 1 << 12, .max = 1ULL << 36,
	    .help = "keep the last SIZE bytes; write them at the end, and to FILE.N on SIGUSR2"),
	ROW(stop_when, .name = "stop-when", .type = OPTION_STRINGS, .argument = "EVENT",
	    .group = "Recording", .help = "end with this event, as -e takes it; may be repeated"),
	ROW(snapshot_when, .name = "snapshot-when", .type = OPTION_STRINGS, .argument = "EVENT",
	    .group = "Recording", .help = "with --flight or a flight instance: at this event, write FILE.N"),
	ROW(after, .name = "after", .type = OPTION_STRING, .argument = "TIME",
	    .group = "Recording",
	    .help = "500ms, 5s, 10min after the event of --stop-when or --snapshot-when"),
	AT_ROW(struct record_values, session.),
	ROW(rotate, .name = "rotate", .type = OPTION_STRING, .argument = "WINDOW",
	    .group = "Recording",
	    .help = "a file for each 60s, 10min, 2h or 100M: FILE.0001, FILE.0002..."),
	ROW(keep, .name = "keep", .type = OPTION_U64, .argument = "N", .group = "Recording",
	    .min = 1, .max = UINT32_MAX, .help = "with --rotate, --snapshot-when: remove the oldest beyond N files"),
	TARGET_SIZE_ROWS(struct record_values, session.),
	TARGET_ROW(struct record_values, quiet, .name = "quiet", .letter = 'q', .type = OPTION_FLAG, .group = "Recording",
	    .help = "print nothing but errors"),
	TARGET_ROW(struct record_values, verbose, .name = "verbose", .letter = 'v', .type = OPTION_FLAG, .group = "Recording",
	    .help = "print how many user stacks were unwound at the event, and why others were not"),
	{0},
};
/* clang-format on */

const struct command record_command = {
	.name = "record",
	.operands = "[--] [COMMAND [ARGUMENT]...]",
	.operands_max = UINT32_MAX,
	.stops_at_operand = true,
	.summary = "record events with their kernel and user stacks",
	.rows = rows,
	.values_bytes = sizeof(struct record_values),
	.defaults = &(const struct record_values){.session = {.output = RECORDING_DEFAULT}},
	.run = record_run,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap record`: what to record becomes sources and filters, the command is run, rings are
 * drained into the file (or overwritten, in flight mode, and written at the end), and the ledger is
 * printed.
 *
 * Nothing waits for the rings: the programs wake nobody, since a wakeup costs more than an event.
 * The reader comes round by the clock, sooner the fuller the rings were.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/drain/pace.h"
#include "capture/load/loaded.h"
#include "command.h"
#include "interrupt.h"
#include "process/file_limit.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "process/workload.h"
#include "recording/no_events.h"
#include "recording/record_instance.h"
#include "recording/record_target.h"
#include "recording/recorder.h"
#include "recording/user_way.h"
#include "table.h"
#include "terminal/message.h"
#include "view/recording.h"

#define WAIT_MS 1000

struct record {
	const struct record_values *values;
	struct record_target target;
	struct workload workload;
	struct recorder recorder;
	struct capture *capture;
	int signals;
	u32 snapshots;
	bool asked; /* to end */
};

static int prepare_workload(struct record *record, int count, char **arguments)
{
	int result;

	if (!count)
		return EXIT_DONE;
	result = workload_prepare(&record->workload, arguments,
				  !strcmp(record->values->output, "-"));
	if (!result)
		return EXIT_DONE;
	message("%s: %s", arguments[0], strerror(-result));
	return EXIT_FAILED;
}

static int follow(struct record *record, struct stackmap_error *error)
{
	if (record->target.tasks == TASKS_OF_COMMAND)
		return loaded_follow_command(capture_loaded(record->capture), record->workload.pid,
					     error);
	return record_target_follow(&record->target, record->capture, error);
}

static int create_capture(struct record *record)
{
	struct capture_options options = record_target_options(record->values, &record->target);
	struct stackmap_error error;
	int result;

	if (record->target.tasks == TASKS_OF_COMMAND)
		options.command = record->workload.pid;
	if (record->target.tasks != TASKS_OF_PIDS)
		options.command_path = record->workload.path;
	result = capture_create(&options, &record->capture, &error) ?: follow(record, &error);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

/* SIGUSR2: FILE.1, FILE.2... */
static int write_numbered_flight(struct record *record)
{
	char *path;
	int status;

	if (!record->values->flight)
		return EXIT_DONE;
	if (asprintf(&path, "%s.%u", record->values->output, ++record->snapshots) < 0)
		return EXIT_FAILED;
	if (capture_freeze(record->capture)) {
		message("%s: %s", path, strerror(ENOMEM));
		status = EXIT_FAILED;
	} else {
		status = recorder_snapshot(&record->recorder, path);
		capture_thaw(record->capture);
	}
	free(path);
	return status;
}

/* One visit to the rings: in how many ms the next is due, or -errno. */
static int visit(struct record *record)
{
	int result;

	loaded_follow_cpus(capture_loaded(record->capture));
	if (!record->values->flight)
		return recorder_round(&record->recorder);
	result = capture_finish_user_stacks(record->capture);
	return result ?: PACE_MS_MAX;
}

/* Until the command or the processes end, or somebody ends us, or nothing can be written any more.
 */
static void record_events(struct record *record)
{
	int ms = PACE_MS_MIN;

	while (ms >= 0) {
		int signal = signals_wait(record->signals, ms);

		if (signal == SIGUSR2)
			write_numbered_flight(record);
		if (signal_asks_to_end(signal)) {
			record->asked = true;
			interrupt_end();
			return;
		}
		if (record->workload.pid ? workload_ended(&record->workload)
					 : record_target_ended(&record->target))
			return;
		ms = visit(record);
	}
}

/* Whoever asks us to end means the command, too; whoever asks once more does not want to wait for
 * it. A recording that failed is no reason to end it. */
static void ask_workload(struct record *record, bool insists)
{
	workload_signal(&record->workload, insists ? SIGKILL : SIGTERM);
	record->asked = true;
}

static int end_workload(struct record *record, int status)
{
	struct workload *workload = &record->workload;

	if (!workload->started)
		return status;
	signals_hold();
	if (record->asked || interrupted())
		ask_workload(record, record->asked && interrupted());
	while (!workload_ended(workload))
		if (signal_asks_to_end(signals_wait(record->signals, WAIT_MS)))
			ask_workload(record, record->asked);
	return status ?: workload_exit_status(workload);
}

static int write_last(struct record *record)
{
	struct recorder *recorder = &record->recorder;

	if (record->values->flight)
		return recorder_snapshot(recorder, record->values->output);
	if (recorder->writer)
		capture_drain(record->capture, NULL);
	return recorder_close(recorder);
}

static int finish(struct record *record)
{
	signals_release();
	capture_detach(record->capture);
	if (record->recorder.writer)
		capture_drain(record->capture, NULL);
	capture_unwind_blocked(record->capture);
	return write_last(record);
}

/* Flight: the file is opened at the end only; that it cannot be is better said now. */
static int check_output(const char *path, struct stackmap_error *error)
{
	static const struct trace_info none = {
		.hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};
	struct trace_writer *writer;
	int result = trace_writer_create(path, &none, &writer, error);

	if (!result)
		trace_writer_discard(&writer);
	return result;
}

static bool makes_files_later(const struct record *record)
{
	return record->values->flight || rotation_is_on(&record->recorder.rotation);
}

static int drop_privileges(const struct record *record)
{
	const struct privilege_needs needs = {
		.reads_files = true,
		.ends_command = record->workload.pid,
		.opens_events = loaded_is_by_cpu(capture_loaded(record->capture)),
		.later_file = makes_files_later(record) ? record->values->output : NULL,
	};

	return privilege_drop(&needs);
}

static int open_output(struct record *record)
{
	struct stackmap_error error;
	int result;

	if (!record->values->flight)
		return recorder_open(&record->recorder);
	result = check_output(record->values->output, &error);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

static int attach(struct record *record)
{
	struct stackmap_error error;
	int result = capture_attach(record->capture, &error);

	if (!result && !record->values->quiet)
		user_way_tell(record->capture);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

static int start_workload(struct record *record, char **arguments)
{
	int result = record->workload.pid ? workload_start(&record->workload) : 0;

	if (!result)
		return EXIT_DONE;
	message("%s: %s", arguments[0], strerror(-result));
	return EXIT_FAILED;
}

static int start(struct record *record, char **arguments)
{
	int status = open_output(record);

	status = status ?: attach(record);
	status = status ?: signals_hold() ? EXIT_DONE : EXIT_FAILED;
	if (status)
		return status;
	status = start_workload(record, arguments);
	if (!status && record->recorder.writer)
		status = recorder_publish(&record->recorder);
	return status ?: drop_privileges(record);
}

static int take_signals(struct record *record)
{
	record->signals = signals_take();
	if (record->signals >= 0)
		return EXIT_DONE;
	message("signals: %s", strerror(-record->signals));
	return EXIT_FAILED;
}

static int choose(struct record *record, bool has_command)
{
	const struct record_values *values = record->values;
	int status = record_target_choose(values, has_command, &record->target);

	status = status
			 ?: rotation_choose(values->rotate, values->keep, values->output,
					    &record->recorder.rotation);
	if (status || !values->flight || !rotation_is_on(&record->recorder.rotation))
		return status;
	message("--rotate: a flight recorder writes one file; SIGUSR2 has it write another");
	return EXIT_USAGE;
}

static void prepare_recorder(struct record *record)
{
	struct recorder *recorder = &record->recorder;

	recorder->capture = record->capture;
	recorder->output = record->values->output;
	recorder->frequency = record->target.sources.sources[0].frequency;
	recorder->quiet = record->values->quiet;
}

static int run(struct record *record, int count, char **arguments)
{
	int status = choose(record, count > 0);

	status = status ?: take_signals(record);
	status = status ?: prepare_workload(record, count, arguments);
	file_limit_raise();
	status = status ?: create_capture(record);
	if (status)
		return status;
	prepare_recorder(record);
	status = start(record, arguments);
	if (status)
		return status;
	record_events(record);
	status = finish(record);
	if (record->values->verbose)
		user_way_tell_counts(record->capture);
	if (!status && !record->recorder.produced && !record->values->quiet)
		no_events_explain(record->values, &record->target, record->capture,
				  record->workload.ended ? record->workload.cpu_ns : UINT64_MAX);
	return status;
}

static int record_run(const void *values, int count, char **operands)
{
	struct record record = {.values = values, .signals = -1};
	int status;

	if (record.values->instance)
		return record_instance(values, count);

	recorder_init(&record.recorder);
	status = run(&record, count, operands);
	recorder_clear(&record.recorder);
	capture_free(&record.capture);
	status = end_workload(&record, status);
	workload_clear(&record.workload);
	record_target_clear(&record.target);
	if (record.signals >= 0)
		close(record.signals);
	signals_end_interrupted();
	return status;
}

#define ROW(member_, ...) TARGET_ROW(struct record_values, member_, __VA_ARGS__)

/* clang-format off */
static const struct option_row rows[] = {
	TARGET_EVENT_ROWS(struct record_values, , "999"),
	ROW(all, .name = "all", .letter = 'a', .type = OPTION_FLAG, .group = "Tasks",
	    .help = "the whole machine, not only COMMAND"),
	TARGET_TASK_ROWS(struct record_values, ),
	ROW(instance, .name = "instance", .type = OPTION_STRING, .argument = "NAME",
	    .group = "Recording",
	    .help = "the events of an instance, until Ctrl-C or its end; what a flight one holds now"),
	ROW(output, .name = "output", .letter = 'o', .type = OPTION_STRING, .argument = "FILE",
	    .group = "Recording",
	    .help = "write FILE (default stackmap.data); one that exists becomes FILE.old"),
	ROW(flight, .name = "flight", .type = OPTION_SIZE, .argument = "SIZE",
	    .group = "Recording", .min = 1 << 12, .max = 1ULL << 36,
	    .help = "keep the last SIZE bytes; write them at the end, and to FILE.N on SIGUSR2"),
	ROW(rotate, .name = "rotate", .type = OPTION_STRING, .argument = "WINDOW",
	    .group = "Recording",
	    .help = "a file for each 60s, 10min, 2h or 100M: FILE.0001, FILE.0002..."),
	ROW(keep, .name = "keep", .type = OPTION_U64, .argument = "N", .group = "Recording",
	    .min = 1, .max = UINT32_MAX, .help = "with --rotate: remove the oldest beyond N files"),
	TARGET_SIZE_ROWS(struct record_values, ),
	ROW(quiet, .name = "quiet", .letter = 'q', .type = OPTION_FLAG, .group = "Recording",
	    .help = "print nothing but errors"),
	ROW(verbose, .name = "verbose", .letter = 'v', .type = OPTION_FLAG, .group = "Recording",
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
	.defaults = &(const struct record_values){.output = RECORDING_DEFAULT,
						  .user_unwind = "auto",
						  .frequency = RECORD_FREQUENCY_UNSET},
	.run = record_run,
};

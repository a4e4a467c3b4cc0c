/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance that was started before: of a drain one this process becomes the reader, until a
 * signal or its end; of a flight recorder it writes what it holds now. The instance goes on.
 */
#include "record_instance.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/bpffs/folder.h"
#include "capture/capture.h"
#include "capture/drain/pace.h"
#include "capture/instance/metadata.h"
#include "capture/instance/reset.h"
#include "interrupt.h"
#include "process/file_limit.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "recorder.h"
#include "terminal/message.h"
#include "user_way.h"

struct reading {
	const struct record_values *values;
	struct folder *folder;
	struct capture *capture;
	struct recorder recorder;
	int signals;
};

int record_instance_check(const struct record_values *values, int operands)
{
	const char *wrong = NULL;

	if (operands)
		wrong = "a command";
	else if (values->events.count || values->frequency != RECORD_FREQUENCY_UNSET)
		wrong = "-e and -F";
	else if (values->pids.count || values->all || values->comms.count || values->cgroup ||
		 values->cpus)
		wrong = "a choice of tasks";
	else if (values->flight || values->ring || values->bits || values->pool ||
		 values->no_dedup || values->no_kernel || values->no_user || values->max_depth ||
		 values->user_at_syscall || strcmp(values->user_unwind, "auto"))
		wrong = "an option of how to record";
	if (!wrong)
		return EXIT_DONE;
	message("--instance %s: it records already; %s goes with 'stackmap start'",
		values->instance, wrong);
	return EXIT_USAGE;
}

static int drop_privileges(const struct reading *reading)
{
	const struct privilege_needs needs = {
		.reads_files = true,
		.later_file = reading->values->output,
	};

	return privilege_drop(&needs);
}

static void prepare_recorder(struct reading *reading)
{
	struct recorder *recorder = &reading->recorder;

	recorder->capture = reading->capture;
	recorder->output = reading->values->output;
	recorder->instance = reading->values->instance;
	recorder->frequency = capture_metadata(reading->capture)->sources.sources[0].frequency;
	recorder->quiet = reading->values->quiet;
}

/* Nobody resets it meanwhile, nor takes another. */
static int write_snapshot(struct reading *reading)
{
	int status = drop_privileges(reading);

	if (status)
		return status;
	if (rotation_is_on(&reading->recorder.rotation)) {
		message("--rotate: %s is a flight recorder, of which one file is written",
			reading->values->instance);
		return EXIT_USAGE;
	}
	if (capture_freeze(reading->capture)) {
		message("%s: %s", reading->values->instance, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	signals_release();
	status = recorder_snapshot(&reading->recorder, reading->values->output);
	capture_thaw(reading->capture);
	return status;
}

static void read_events(struct reading *reading)
{
	int ms = PACE_MS_MIN;

	while (ms >= 0 && folder_is_there(reading->folder)) {
		if (signal_asks_to_end(signals_wait(reading->signals, ms))) {
			interrupt_end();
			return;
		}
		ms = recorder_round(&reading->recorder);
	}
}

static int write_events(struct reading *reading)
{
	int status = recorder_open(&reading->recorder);

	/* From when the file has its name it is not taken away any more. */
	status = status ?: signals_hold() ? EXIT_DONE : EXIT_FAILED;
	status = status ?: recorder_publish(&reading->recorder);
	status = status ?: drop_privileges(reading);
	if (status)
		return status;
	read_events(reading);
	signals_release();
	status = recorder_end(&reading->recorder);
	if (!status && !reading->recorder.produced && !reading->values->quiet)
		message("0 events: nothing that '%s' records happened",
			capture_metadata(reading->capture)->command);
	return status;
}

/* The mode is known when it is open: its own lock is another than that of a reader. */
static int open_instance(struct reading *reading, struct stackmap_error *error)
{
	int result = folder_open(reading->values->instance, &reading->folder, error)
			     ?: folder_lock_wait(reading->folder, error)
			     ?: capture_open(reading->folder, &reading->capture, error);

	if (result || loaded_is_flight(capture_loaded(reading->capture)))
		return result;
	capture_free(&reading->capture);
	folder_close(&reading->folder);
	return folder_open(reading->values->instance, &reading->folder, error)
		       ?: capture_open_reader(reading->folder, &reading->capture, error);
}

static int record(struct reading *reading)
{
	struct stackmap_error error;
	int result, status;

	reading->signals = signals_take();
	if (reading->signals < 0) {
		message("signals: %s", strerror(-reading->signals));
		return EXIT_FAILED;
	}
	file_limit_raise();
	result = open_instance(reading, &error);
	if (result)
		return message_failure(result, &error);
	prepare_recorder(reading);
	status = loaded_is_flight(capture_loaded(reading->capture)) ? write_snapshot(reading)
								    : write_events(reading);
	if (reading->values->verbose)
		user_way_tell_counts(reading->capture);
	return status;
}

int record_instance(const struct record_values *values, int operands)
{
	struct reading reading = {.values = values, .signals = -1};
	int status = record_instance_check(values, operands);

	recorder_init(&reading.recorder);
	status = status
			 ?: rotation_choose(values->rotate, values->keep, values->output,
					    &reading.recorder.rotation);
	status = status ?: record(&reading);
	recorder_clear(&reading.recorder);
	capture_free(&reading.capture);
	folder_close(&reading.folder);
	if (reading.signals >= 0)
		close(reading.signals);
	signals_end_interrupted();
	return status;
}

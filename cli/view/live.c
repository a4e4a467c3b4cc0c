/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot does not change the instance. Following consumes the events: shown events are removed
 * from the instance, and the ledger is printed at the end. Events are shown in windows, because a
 * stack may come after its event, and events of one CPU before earlier events of another CPU. A
 * window is long enough to sort the events and short enough to look immediate.
 */
#include "live.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/bpffs/folder.h"
#include "capture/capture.h"
#include "capture/instance/metadata.h"
#include "capture/instance/reset.h"
#include "capture/live_recording.h"
#include "capture/live_window.h"
#include "capture/recording_info.h"
#include "clock.h"
#include "error.h"
#include "interrupt.h"
#include "ledger_text.h"
#include "option/option.h"
#include "process/file_limit.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "terminal/message.h"
#include "trace/ledger_sum.h"

#define WINDOW_MS 200
#define ROUND_MS 20 /* longest delay that looks immediate */

struct following {
	const struct live_viewer *viewer;
	struct folder *folder;
	struct capture *capture;
	struct recording_info info;
	struct live_window window;
	struct trace_ledger ledger; /* sum of all windows */
	int signals;
	bool ended;
};

/* The ledger of the instance since its start. */
static void init_info(struct recording_info *info, struct capture *capture)
{
	const struct metadata *metadata = capture_metadata(capture);

	recording_info_init(info, capture, metadata->sources.sources[0].frequency,
			    metadata->command);
}

/* The lock excludes resets and other snapshots. */
static int open_locked(struct folder *folder, struct capture **capture,
		       struct stackmap_error *error)
{
	return folder_lock_wait(folder, error) ?: capture_open(folder, capture, error);
}

static struct trace_reader *snapshot(struct capture *capture, const char *name,
				     const char *later_file)
{
	const struct privilege_needs needs = {.reads_files = true, .later_file = later_file};
	struct recording_info info;
	struct stackmap_error error;
	struct trace_reader *reader;

	if (privilege_drop(&needs))
		return NULL;
	init_info(&info, capture);
	if (!live_recording_open(capture, &info.info, name, &reader, &error))
		return reader;
	message_error(&error);
	return NULL;
}

struct trace_reader *live_open(const char *name, const char *later_file)
{
	struct trace_reader *reader = NULL;
	struct stackmap_error error;
	struct folder *folder = NULL;
	struct capture *capture = NULL;
	int result;

	file_limit_raise();
	result = folder_open(name, &folder, &error) ?: open_locked(folder, &capture, &error);
	if (result)
		message_error(&error);
	else
		reader = snapshot(capture, name, later_file);
	capture_free(&capture);
	folder_close(&folder);
	return reader;
}

/* Waits for events and for the time to sort them, or for the end. */
static int fill_window(struct following *following)
{
	u64 events = 0, end = UINT64_MAX;
	int ms = 0, result = 0;

	while (!result && !following->ended && clock_ms() < end) {
		following->ended = signal_asks_to_end(signals_wait(following->signals, ms)) ||
				   !folder_is_there(following->folder);
		if (following->ended)
			interrupt_end(); /* the last window waits a short time for names */
		result = live_window_drain(&following->window, &ms, &events);
		if (events && end == UINT64_MAX)
			end = clock_ms() + WINDOW_MS;
		ms = ms < ROUND_MS ? ms : ROUND_MS;
	}
	return result;
}

static int show_window(struct following *following, struct stackmap_error *error)
{
	struct trace_reader *reader;
	int result = live_window_close(&following->window, &reader, error);

	if (result)
		return result;
	ledger_add(&following->ledger, trace_reader_ledger(reader));
	signals_release(); /* the reader of standard output may have gone */
	result = following->viewer->show(following->viewer->arg, reader, error);
	trace_reader_close(&reader);
	if (fflush(stdout) || interrupted())
		following->ended = true; /* main() prints the reason */
	signals_hold();
	return result;
}

static int follow_window(struct following *following, struct stackmap_error *error)
{
	int result = live_window_open(&following->window, following->capture, &following->info.info,
				      folder_name(following->folder), error);

	if (result)
		return result;
	result = fill_window(following);
	if (!result)
		return show_window(following, error);
	live_window_discard(&following->window);
	return error_set(error, -result, "%s: %s", folder_name(following->folder),
			 strerror(-result));
}

/* The mode is known only after opening; an instance to drain is opened differently. */
static int check_mode(struct folder *folder, struct stackmap_error *error)
{
	struct capture *capture;
	const char *name = folder_name(folder);
	int result = capture_open(folder, &capture, error);

	if (result)
		return result;
	if (loaded_is_flight(capture_loaded(capture)))
		result = error_set(error, EINVAL,
				   "--follow: %s is a flight recorder, whose events nobody takes; "
				   "'stackmap script --instance %s' shows what it holds now",
				   name, name);
	capture_free(&capture);
	return result;
}

static int begin(struct following *following, const char *name, struct stackmap_error *error)
{
	int result;

	file_limit_raise();
	result = folder_open(name, &following->folder, error)
			 ?: check_mode(following->folder, error)
			 ?: capture_open_reader(following->folder, &following->capture, error);
	if (result)
		return result;
	init_info(&following->info, following->capture);
	following->signals = signals_take();
	following->ended = !signals_hold();
	if (following->signals >= 0)
		return 0;
	return error_set(error, -following->signals, "signals: %s", strerror(-following->signals));
}

static int follow(struct following *following, struct stackmap_error *error)
{
	int result = 0;

	while (!result && !following->ended)
		result = follow_window(following, error);
	if (!result)
		ledger_print(&following->ledger, "stackmap: ledger: ", stderr);
	return result;
}

static void end(struct following *following)
{
	if (following->signals >= 0)
		close(following->signals);
	capture_free(&following->capture);
	folder_close(&following->folder);
}

int live_follow(const char *name, const struct live_viewer *viewer)
{
	const struct privilege_needs needs = {.reads_files = true};
	struct following following = {.viewer = viewer, .signals = -1};
	struct stackmap_error error;
	int result = begin(&following, name, &error), status = EXIT_DONE;

	if (!result)
		status = privilege_drop(&needs);
	if (!result && !status)
		result = follow(&following, &error);
	if (result)
		status = message_failure(result, &error);
	end(&following);
	return status;
}

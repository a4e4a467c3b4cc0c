/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A window that is due waits for the names of what it has seen. Events go on into it meanwhile, and
 * the loop above goes on looking at signals and at the command. Files of other users may never give
 * their names: they are waited for a tenth of the window's length, so that they delay windows by no
 * more than that, whatever these users do. Root's files and our own are waited for as long as the
 * window was, a second at least: on a busy machine their names take their time. Names that come
 * later are there for the next window. The last window, which ends with the command, waits as long,
 * but a second at least.
 *
 * A file that cannot be written any more ends the recording, but not a rotation: its window ends,
 * and what comes waits in the rings until the next file can be opened.
 */
#include "recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/drain/pace.h"
#include "capture/instance/reset.h"
#include "capture/recording_info.h"
#include "clock.h"
#include "command_line.h"
#include "error.h"
#include "recording/nameless.h"
#include "terminal/message.h"
#include "terminal/terminal.h"
#include "view/ledger_text.h"

#define FLUSH_MS 2000
#define PROGRESS_MS 500
#define TRY_MS 1000
#define NAMES_MS 10
#define PATIENCE_SHARE 10     /* of a window's length */
#define PATIENCE_MS 10000     /* at most */
#define PATIENCE_MS_LAST 1000 /* of the last window, at least; for root's files always */

void recorder_init(struct recorder *recorder)
{
	*recorder = (struct recorder){.command_line = command_line_read()};
}

void recorder_clear(struct recorder *recorder)
{
	trace_writer_discard(&recorder->writer);
	free(recorder->command_line);
	free(recorder->path);
}

/* Opens a file and writes what comes before the events. */
static int open_file(struct recorder *recorder, const char *path, struct stackmap_error *error)
{
	struct recording_info info;
	int result;

	recording_info_init(&info, recorder->capture, recorder->frequency,
			    recorder->command_line ?: "");
	result = trace_writer_create(path, &info.info, &recorder->writer, error);
	return result ?: capture_begin(recorder->capture, recorder->writer, error);
}

static void print_summary(const struct recorder *recorder, const char *path,
			  const struct trace_ledger *ledger, u64 bytes)
{
	if (recorder->quiet)
		return;
	message("%llu events, %.1f KiB in %s", (unsigned long long)ledger->recorded, bytes / 1024.0,
		path);
	ledger_print(ledger, "stackmap: ledger: ", stderr);
}

/* Names, ledger, end of the file. */
static int close_file(struct recorder *recorder, const char *path)
{
	struct stackmap_error error;
	struct trace_ledger ledger = {};
	int named, written;
	u64 bytes;

	named = capture_finish(recorder->capture, &ledger, &error);
	bytes = trace_writer_bytes(recorder->writer);
	written = trace_writer_close(&recorder->writer);
	print_summary(recorder, path, &ledger, bytes);
	recorder->produced += ledger.produced;
	if (!recorder->quiet)
		nameless_tell(recorder->capture);
	if (written) {
		message("%s: %s; what was written before is whole", path, strerror(-written));
		return EXIT_FAILED;
	}
	return named ? message_failure(named, &error) : EXIT_DONE;
}

int recorder_snapshot(struct recorder *recorder, const char *path)
{
	struct stackmap_error error;
	int result =
		open_file(recorder, path, &error) ?: trace_writer_publish(recorder->writer, &error);

	if (result) {
		trace_writer_discard(&recorder->writer);
		return message_failure(result, &error);
	}
	capture_snapshot(recorder->capture);
	return close_file(recorder, path);
}

static char *next_path(struct recorder *recorder)
{
	return rotation_is_on(&recorder->rotation) ? rotation_next(&recorder->rotation, clock_ms())
						   : strdup(recorder->output);
}

static int open_next(struct recorder *recorder, struct stackmap_error *error)
{
	int result;

	free(recorder->path);
	recorder->path = next_path(recorder);
	if (!recorder->path)
		return error_set(error, ENOMEM, "%s: %s", recorder->output, strerror(ENOMEM));
	result = open_file(recorder, recorder->path, error);
	if (result || !rotation_is_on(&recorder->rotation))
		return result;
	return reset_prepare(capture_loaded(recorder->capture), error);
}

int recorder_open(struct recorder *recorder)
{
	struct stackmap_error error;
	int result = open_next(recorder, &error);

	return result ? message_failure(result, &error) : EXIT_DONE;
}

int recorder_publish(struct recorder *recorder)
{
	struct stackmap_error error;
	int result = trace_writer_publish(recorder->writer, &error);

	return result ? message_failure(result, &error) : EXIT_DONE;
}

static u64 within(u64 value, u64 least, u64 most)
{
	return value < least ? least : value > most ? most : value;
}

/* How long the window that is open has lasted, in ms. */
static u64 window_ms(const struct recorder *recorder, u64 now)
{
	const struct rotation *rotation = &recorder->rotation;

	return now - rotation->end_ms + rotation->period_ms;
}

/* A window is due at this time: how long it waits for names. */
static void begin_naming(struct recorder *recorder, u64 now)
{
	u64 length = window_ms(recorder, now);

	recorder->naming_until = now + within(length / PATIENCE_SHARE, 0, PATIENCE_MS);
	recorder->naming_own_until = now + within(length, PATIENCE_MS_LAST, PATIENCE_MS);
}

/* Waits for the names of a rotation's last window. An error is reported again by capture_finish().
 */
static void name_last_window(struct recorder *recorder)
{
	u64 now = clock_ms(), least = now + PATIENCE_MS_LAST;

	if (!recorder->writer || !rotation_is_on(&recorder->rotation))
		return;
	if (!recorder->naming_until)
		begin_naming(recorder, now);
	capture_name_ahead(recorder->capture,
			   within(recorder->naming_until, least, UINT64_MAX) - now,
			   within(recorder->naming_own_until, least, UINT64_MAX) - now, 0);
}

static int end_file(struct recorder *recorder)
{
	int status = recorder->writer ? close_file(recorder, recorder->path) : EXIT_FAILED;

	recorder->status = recorder->status ?: status;
	return recorder->status;
}

int recorder_close(struct recorder *recorder)
{
	name_last_window(recorder);
	return end_file(recorder);
}

int recorder_end(struct recorder *recorder)
{
	name_last_window(recorder);
	if (recorder->writer)
		capture_end_window(recorder->capture);
	return end_file(recorder);
}

/* The file that is open takes what was recorded until now; the map is emptied unless somebody else
 * is doing that. */
static void end_window(struct recorder *recorder)
{
	struct stackmap_error error;

	recorder->naming_until = 0;
	if (recorder->instance)
		reset_by_reader(capture_loaded(recorder->capture), recorder->instance, &error);
	else
		reset_followed(capture_loaded(recorder->capture), 0, &error);
	capture_end_window(recorder->capture);
	end_file(recorder);
}

/* What is in the way is said once, not at each try. */
static void begin_window(struct recorder *recorder)
{
	struct stackmap_error error;
	int result = open_next(recorder, &error) ?: trace_writer_publish(recorder->writer, &error);

	if (result && !recorder->next_try)
		recorder->status = recorder->status ?: message_failure(result, &error);
	recorder->next_try = result ? clock_ms() + TRY_MS : 0;
	if (!result)
		return;
	trace_writer_discard(&recorder->writer);
	recorder->rotation.number--;
}

static void show_progress(struct recorder *recorder)
{
	u64 now = clock_ms();

	if (recorder->quiet || !terminal_progress(stderr) || now < recorder->next_progress)
		return;
	recorder->next_progress = now + PROGRESS_MS;
	fprintf(stderr, "\r%llu events, %.1f KiB ",
		(unsigned long long)trace_writer_recorded(recorder->writer),
		trace_writer_bytes(recorder->writer) / 1024.0);
}

static int drain(struct recorder *recorder, int *next_ms)
{
	int result = capture_drain(recorder->capture, next_ms);

	if (clock_ms() < recorder->next_flush)
		return result;
	recorder->next_flush = clock_ms() + FLUSH_MS;
	return first_error(result, trace_writer_flush(recorder->writer));
}

/* True while a window that is due waits for names. */
static bool awaits_names(struct recorder *recorder)
{
	u64 now = clock_ms();

	if (!recorder->naming_until)
		begin_naming(recorder, now);
	return capture_ask_ahead(recorder->capture,
				 symbolizers_awaited(now, recorder->naming_until,
						     recorder->naming_own_until)) > 0;
}

int recorder_round(struct recorder *recorder)
{
	bool rotates = rotation_is_on(&recorder->rotation);
	int result, ms;

	if (!recorder->writer && clock_ms() >= recorder->next_try)
		begin_window(recorder);
	if (!recorder->writer)
		return PACE_MS_MAX;
	result = drain(recorder, &ms);
	if (result && !rotates)
		return result;
	show_progress(recorder);
	if (!rotates)
		return capture_learn_names(recorder->capture) ?: ms;
	if (result || rotation_is_due(&recorder->rotation, clock_ms(),
				      trace_writer_bytes(recorder->writer))) {
		if (!result && awaits_names(recorder))
			return ms < NAMES_MS ? ms : NAMES_MS;
		end_window(recorder);
		begin_window(recorder);
	}
	return ms;
}

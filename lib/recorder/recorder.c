/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A capture of another program: stackmap/capture.h. It has no thread of its own: the program says
 * when the rings are visited, and for how long. What is followed live comes in windows, each a
 * recording in memory, so that there is one way from rings to events and one to read them.
 */
#include "stackmap/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/libbpf.h>

#include "capture/capture.h"
#include "capture/instance/reset.h"
#include "capture/live_window.h"
#include "capture/recording_info.h"
#include "clock.h"
#include "command_line.h"
#include "error.h"
#include "recorder/capture_opts.h"
#include "recording/public_ledger.h"
#include "recording/public_recording.h"
#include "trace/ledger_sum.h"

#define FLUSH_MS 2000
#define RESET_MS 60000
#define WINDOW_EVENTS_MAX 100000

enum stage { OPENED, RUNNING, STOPPED, ENDED };

struct stackmap_capture {
	struct capture_target target;
	struct capture *capture;
	char *command_line;
	char *path; /* NULL: live */
	struct trace_writer *writer;
	struct live_window window;
	bool has_window;
	enum stage stage;
	u64 next_flush, next_reset; /* ms */
	struct trace_ledger ledger; /* of the file, or of all windows by now */
	struct public_ledger public_ledger;
};

static int fail(int result, const char *what, struct stackmap_error *error)
{
	return error_set(error, -result, "%s: %s", what, strerror(-result));
}

static int follow(struct capture *capture, const int32_t *pids, struct stackmap_error *error)
{
	int result = 0;

	for (; pids && *pids && !result; pids++)
		result = loaded_follow(capture_loaded(capture), *pids, error);
	return result;
}

static void init_info(struct stackmap_capture *capture, struct recording_info *info)
{
	recording_info_init(info, capture->capture, capture->target.sources.sources[0].frequency,
			    capture->command_line ?: "");
}

static int open_file(struct stackmap_capture *capture, struct stackmap_error *error)
{
	struct recording_info info;
	int result;

	init_info(capture, &info);
	result = trace_writer_create(capture->path, &info.info, &capture->writer, error);
	return result ?: capture_begin(capture->capture, capture->writer, error);
}

static int open_window(struct stackmap_capture *capture, struct stackmap_error *error)
{
	struct recording_info info;
	int result;

	init_info(capture, &info);
	result = live_window_open(&capture->window, capture->capture, &info.info, "live", error);
	capture->has_window = !result;
	return result;
}

static int open_output(struct stackmap_capture *capture, struct stackmap_error *error)
{
	int result;

	if (capture->path)
		return open_file(capture, error);
	result = reset_prepare(capture_loaded(capture->capture), error);
	return result ?: open_window(capture, error);
}

static int build(struct stackmap_capture *capture, const struct stackmap_capture_opts *opts,
		 struct stackmap_error *error)
{
	int result = capture_target_choose(opts, &capture->target, error);

	if (result)
		return result;
	capture->command_line = command_line_read();
	capture->path = opts->path ? strdup(opts->path) : NULL;
	if (opts->path && !capture->path)
		return fail(-ENOMEM, opts->path, error);
	result = capture_create(&capture->target.options, &capture->capture, error);
	result = result ?: follow(capture->capture, opts->pids, error);
	return result ?: open_output(capture, error);
}

/* What libbpf says is kept for the error, and where it goes otherwise is the program's to choose.
 */
static int build_quietly(struct stackmap_capture *capture, const struct stackmap_capture_opts *opts,
			 struct stackmap_error *error)
{
	libbpf_print_fn_t printed = libbpf_set_print(NULL);
	int result = build(capture, opts, error);

	libbpf_set_print(printed);
	return result;
}

static int no_capture(struct stackmap_error *error)
{
	return error_set(error, EINVAL, "no capture, or no place for the result, is given (NULL)");
}

int stackmap_capture_open(const struct stackmap_capture_opts *given, struct stackmap_capture **out,
			  struct stackmap_error *error)
{
	struct stackmap_capture_opts opts;
	struct stackmap_capture *capture;
	int result = out ? capture_opts_read(given, &opts, error) : no_capture(error);

	if (result)
		return result;
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return fail(-ENOMEM, "capture", error);
	result = build_quietly(capture, &opts, error);
	if (result)
		stackmap_capture_close(&capture);
	else
		*out = capture;
	return result;
}

static int attach_quietly(struct stackmap_capture *capture, struct stackmap_error *error)
{
	libbpf_print_fn_t printed = libbpf_set_print(NULL);
	int result = capture_attach(capture->capture, error);

	libbpf_set_print(printed);
	return result;
}

int stackmap_capture_start(struct stackmap_capture *capture, struct stackmap_error *error)
{
	int result;

	if (!capture)
		return no_capture(error);
	if (capture->stage != OPENED)
		return error_set(error, EINVAL, "capture: it was started before");
	result = attach_quietly(capture, error);
	if (!result && capture->writer)
		result = trace_writer_publish(capture->writer, error);
	if (result)
		return result;
	capture->stage = RUNNING;
	capture->next_flush = clock_ms() + FLUSH_MS;
	capture->next_reset = clock_ms() + RESET_MS;
	return 0;
}

/* False: a signal was caught. */
static bool nap(u64 ms)
{
	const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS};

	return !nanosleep(&pause, NULL);
}

/* Visits the rings until then; once in any case. */
static int visit_until(struct stackmap_capture *capture, u64 end)
{
	for (;;) {
		u64 now, left;
		int result, ms;

		loaded_follow_cpus(capture_loaded(capture->capture));
		result = capture_drain(capture->capture, &ms);
		if (result ||
		    (!capture->path && capture_events(capture->capture) >= WINDOW_EVENTS_MAX))
			return result;
		now = clock_ms();
		left = now < end ? end - now : 0;
		if (!left || !nap((u64)ms < left ? (u64)ms : left))
			return 0;
	}
}

static int flush(struct stackmap_capture *capture)
{
	if (clock_ms() < capture->next_flush)
		return 0;
	capture->next_flush = clock_ms() + FLUSH_MS;
	return trace_writer_flush(capture->writer);
}

int stackmap_capture_poll(struct stackmap_capture *capture, unsigned int timeout_ms,
			  struct stackmap_error *error)
{
	int result;

	if (!capture)
		return no_capture(error);
	if (capture->stage != RUNNING || !capture->path)
		return error_set(error, EINVAL, "capture: it does not record to a file");
	result = visit_until(capture, clock_ms() + timeout_ms);
	result = result ?: flush(capture);
	return result ? fail(result, capture->path, error) : 0;
}

/* The stack map would be full of the past some day. If it cannot be emptied now, it can later. */
static void reset_map(struct stackmap_capture *capture)
{
	if (capture->stage != RUNNING || clock_ms() < capture->next_reset)
		return;
	reset_followed(capture_loaded(capture->capture), 0, NULL);
	capture->next_reset = clock_ms() + RESET_MS;
}

static int take_window(struct stackmap_capture *capture, struct stackmap_recording **out,
		       struct stackmap_error *error)
{
	struct trace_reader *reader;
	int result;

	reset_map(capture);
	capture->has_window = false;
	result = live_window_close(&capture->window, &reader, error);
	if (result)
		return result;
	ledger_add(&capture->ledger, trace_reader_ledger(reader));
	return public_recording_create(reader, out, error);
}

/* The next begins where this one has ended, before anybody looks at it. If it cannot, the next call
 * says why. */
static int exchange_window(struct stackmap_capture *capture, struct stackmap_recording **out,
			   struct stackmap_error *error)
{
	int result = take_window(capture, out, error);

	if (result)
		return result;
	if (capture->stage == STOPPED)
		capture->stage = ENDED;
	else
		open_window(capture, NULL);
	return 0;
}

int stackmap_capture_next(struct stackmap_capture *capture, unsigned int timeout_ms,
			  struct stackmap_recording **out, struct stackmap_error *error)
{
	u64 end = clock_ms();
	int result;

	if (!capture || !out)
		return no_capture(error);
	end += capture->stage == RUNNING ? timeout_ms : 0;
	if (capture->stage == OPENED || capture->path)
		return error_set(error, EINVAL, "capture: it is not followed live");
	if (capture->stage == ENDED)
		return error_set(error, ENODATA, "capture: it was stopped, and this was all");
	result = capture->has_window ? 0 : open_window(capture, error);
	if (result)
		return result;
	result = visit_until(capture, end);
	return result ? fail(result, "live", error) : exchange_window(capture, out, error);
}

static int finish_file(struct stackmap_capture *capture, struct stackmap_error *error)
{
	int result, written;

	capture_drain(capture->capture, NULL);
	result = capture_finish(capture->capture, &capture->ledger, error);
	written = trace_writer_close(&capture->writer);
	capture->stage = ENDED;
	return written ? fail(written, capture->path, error) : result;
}

/* Errors of a drain are the writer's, which says them once more when it is closed. */
int stackmap_capture_stop(struct stackmap_capture *capture, struct stackmap_error *error)
{
	int result = 0;

	if (!capture)
		return no_capture(error);
	if (capture->stage != RUNNING)
		return error_set(error, EINVAL, "capture: it does not record");
	capture->stage = STOPPED;
	if (!capture->path && !capture->has_window)
		result = open_window(capture, error);
	capture_detach(capture->capture);
	if (result)
		return result;
	capture_drain(capture->capture, NULL);
	capture_unwind_blocked(capture->capture);
	return capture->path ? finish_file(capture, error) : 0;
}

const struct stackmap_ledger *stackmap_capture_ledger(struct stackmap_capture *capture)
{
	if (!capture || (capture->path && capture->stage != ENDED))
		return NULL;
	public_ledger_set(&capture->public_ledger, &capture->ledger);
	return &capture->public_ledger.ledger;
}

static void discard_output(struct stackmap_capture *capture)
{
	if (capture->writer)
		trace_writer_flush(capture->writer);
	trace_writer_discard(&capture->writer);
	live_window_discard(&capture->window);
}

void stackmap_capture_close(struct stackmap_capture **capture)
{
	struct stackmap_capture *old = capture ? *capture : NULL;

	if (!old)
		return;
	discard_output(old);
	capture_free(&old->capture);
	capture_target_clear(&old->target);
	free(old->command_line);
	free(old->path);
	free(old);
	*capture = NULL;
}

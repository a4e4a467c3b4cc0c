/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot does not change the instance. Following consumes the events: shown events are removed
 * from the instance, and the ledger is printed at the end. Events are shown in windows, because a
 * stack may come after its event, and events of one CPU before earlier events of another CPU. A
 * window is long enough to sort the events and short enough to look immediate.
 */
#include "live.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "interrupt.h"
#include "ledger_text.h"
#include "option/option.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "self_stop_text.h"
#include "session/session.h"
#include "terminal/message.h"

#define WINDOW_MS 200
#define VISIT_MS 20 /* longest delay that looks immediate */

struct trace_reader *live_open(const char *name, const char *later_file)
{
	const struct session_options options = {
		.instance = name, .use = SESSION_COPY, .windows = true};
	const struct privilege_needs needs = {.reads_files = true, .later_file = later_file};
	struct session *session = NULL;
	struct trace_reader *reader = NULL;
	struct stackmap_error error;
	int result;

	file_limit_raise();
	result = session_create(&options, NULL, &session, &error)
			 ?: session_open(session, 0, NULL, &error)
			 ?: privilege_give_up(&needs, &error)
			 ?: session_take(session, &reader, NULL, &error);
	if (result)
		message_error(&error);
	else
		self_stop_tell(session_capture(session), name);
	session_close(&session);
	return reader;
}

struct following {
	const struct live_viewer *viewer;
	struct session *session;
	int signals;
	bool ended;
	const char *name; /* of the instance */
	u64 stop_told;	  /* self_stop_tell_once() */
};

/* Waits for events and for the time to sort them, or for the end. */
static int fill_window(struct following *following, struct stackmap_error *error)
{
	u64 end = UINT64_MAX;
	int ms = 0;

	while (ms >= 0 && !following->ended && clock_ms() < end) {
		following->ended =
			signal_asks_to_end(signals_wait(following->signals,
							session_wake_fd(following->session), ms)) ||
			session_is_over(following->session);
		if (following->ended)
			interrupt_end(); /* the last window waits a short time for names */
		ms = session_visit(following->session, error);
		if (end == UINT64_MAX && capture_events(session_capture(following->session)))
			end = clock_ms() + WINDOW_MS;
		else if (end == UINT64_MAX) /* all events before the stop were shown */
			self_stop_tell_once(session_capture(following->session), following->name,
					    &following->stop_told);
		ms = ms < VISIT_MS ? ms : VISIT_MS;
	}
	return ms < 0 ? ms : 0;
}

static int show_window(struct following *following, struct stackmap_error *error)
{
	struct trace_reader *reader;
	int result = following->ended ? session_stop(following->session, error) : 0;

	result = result ?: session_take(following->session, &reader, NULL, error);
	if (result)
		return result;
	signals_release(); /* the reader of standard output may have gone */
	result = following->viewer->show(following->viewer->arg, reader, error);
	trace_reader_close(&reader);
	if (fflush(stdout) || interrupted())
		following->ended = true; /* main() prints the reason */
	signals_hold();
	return result;
}

static int follow(struct following *following, struct stackmap_error *error)
{
	int result = 0;

	while (!result && !following->ended)
		result = fill_window(following, error) ?: show_window(following, error);
	if (!result)
		ledger_print(session_ledger(following->session), "stackmap: ledger: ", stderr);
	return result;
}

static int begin(struct following *following, const struct session_options *options,
		 struct stackmap_error *error)
{
	int result;

	file_limit_raise();
	result = session_create(options, NULL, &following->session, error)
			 ?: session_open(following->session, 0, NULL, error)
			 ?: session_start(following->session, error);
	if (result)
		return result;
	following->signals = signals_take();
	following->ended = !signals_hold();
	if (following->signals >= 0)
		return 0;
	return error_set(error, -following->signals, "signals: %s", strerror(-following->signals));
}

int live_follow(const char *name, const struct live_viewer *viewer)
{
	const struct session_options options = {
		.instance = name, .use = SESSION_TAKE, .windows = true};
	const struct privilege_needs needs = {.reads_files = true};
	struct following following = {.viewer = viewer, .signals = -1, .name = name};
	struct stackmap_error error;
	int result = begin(&following, &options, &error)
			     ?: privilege_give_up(&needs, &error)
			     ?: follow(&following, &error);

	if (following.signals >= 0)
		close(following.signals);
	session_close(&following.session);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

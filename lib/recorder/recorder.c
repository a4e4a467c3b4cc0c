/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that uses the library (stackmap/capture.h) records by a session (session/session.h)
 * without a thread of its own: the program decides when the rings are visited, and for how long. A
 * program that follows events live gets them in windows.
 */
#include "stackmap/capture.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "clock.h"
#include "error.h"
#include "recorder/capture_opts.h"
#include "recording/public_recording.h"
#include "session/session.h"

struct stackmap_capture {
	struct capture_request request;
	struct session *session;
	struct public_ledger ledger;
	struct stackmap_error failure; /* the first failure to write a file of a rotation
					  (path.0001, path.0002...) */
};

static int set_null_error(struct stackmap_error *error)
{
	return error_set(error, EINVAL, "no capture, or no place for the result, is given (NULL)");
}

static void keep_first_error_of_failed_session(void *arg, const struct stackmap_error *error)
{
	struct stackmap_capture *capture = arg;

	if (session_has_failed(capture->session) && !capture->failure.message[0])
		capture->failure = *error;
}

/*
 * Opens the session. Meanwhile libbpf's messages become the error; afterwards the program's print
 * function is restored.
 */
static int open_session_quietly(struct stackmap_capture *capture,
				const struct stackmap_capture_opts *opts,
				struct stackmap_error *error)
{
	const struct session_listener listener = {.arg = capture,
						  .warned = keep_first_error_of_failed_session};
	libbpf_print_fn_t printed = libbpf_set_print(NULL);
	int result = capture_request_make(opts, &capture->request, error)
			     ?: session_create(&capture->request.options, &listener,
					       &capture->session, error)
			     ?: session_open(capture->session, 0, NULL, error);

	libbpf_set_print(printed);
	return result;
}

int stackmap_capture_open(const struct stackmap_capture_opts *given, struct stackmap_capture **out,
			  struct stackmap_error *error)
{
	struct stackmap_capture_opts opts;
	struct stackmap_capture *capture;
	int result = out ? capture_opts_read(given, &opts, error) : set_null_error(error);

	if (result)
		return result;
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return error_set(error, ENOMEM, "capture: %s", strerror(ENOMEM));
	result = open_session_quietly(capture, &opts, error);
	if (result)
		stackmap_capture_close(&capture);
	else
		*out = capture;
	return result;
}

int stackmap_capture_start(struct stackmap_capture *capture, struct stackmap_error *error)
{
	libbpf_print_fn_t printed;
	int result;

	if (!capture)
		return set_null_error(error);
	if (session_state(capture->session) != SESSION_OPEN)
		return error_set(error, EINVAL, "capture: it was started before");
	printed = libbpf_set_print(NULL);
	result = session_start(capture->session, error);
	libbpf_set_print(printed);
	return result ?: session_publish(capture->session, error);
}

/* Visits the rings at least once, and again until the time `end`, until a window is full, or until
 * a signal is caught. */
static int visit_rings_until(struct stackmap_capture *capture, u64 end,
			     struct stackmap_error *error)
{
	for (;;) {
		int ms = session_visit(capture->session, error);
		u64 now = clock_ms(), left = now < end ? end - now : 0;
		struct pollfd wake = {.fd = session_wake_fd(capture->session), .events = POLLIN};

		if (ms <= 0 || !left)
			return ms < 0 ? ms : 0;
		if (poll(&wake, 1, (u64)ms < left ? ms : (int)left) < 0)
			return 0;
	}
}

int stackmap_capture_poll(struct stackmap_capture *capture, unsigned int timeout_ms,
			  struct stackmap_error *error)
{
	if (!capture)
		return set_null_error(error);
	if (session_state(capture->session) != SESSION_RUNNING || !capture->request.path)
		return error_set(error, EINVAL, "capture: it does not record to a file");
	return visit_rings_until(capture, clock_ms() + timeout_ms, error);
}

int stackmap_capture_snapshot(struct stackmap_capture *capture, const char *path,
			      struct stackmap_error *error)
{
	return capture && path ? session_snapshot(capture->session, path, error)
			       : set_null_error(error);
}

int stackmap_capture_is_over(const struct stackmap_capture *capture)
{
	return capture && session_is_over(capture->session);
}

int stackmap_capture_next(struct stackmap_capture *capture, unsigned int timeout_ms,
			  struct stackmap_recording **out, struct stackmap_error *error)
{
	struct trace_reader *reader;
	enum session_state state;
	int result;

	if (!capture || !out)
		return set_null_error(error);
	state = session_state(capture->session);
	if (state < SESSION_RUNNING || capture->request.path)
		return error_set(error, EINVAL, "capture: it is not followed live");
	if (state == SESSION_ENDED)
		return error_set(error, ENODATA, "capture: it was stopped, and this was all");
	result = visit_rings_until(capture,
				   clock_ms() + (state == SESSION_RUNNING ? timeout_ms : 0), error)
			 ?: session_take_window_or_snapshot(capture->session, &reader, NULL, error);
	return result ?: public_recording_create(reader, out, error);
}

int stackmap_capture_stop(struct stackmap_capture *capture, struct stackmap_error *error)
{
	int result;

	if (!capture)
		return set_null_error(error);
	if (session_state(capture->session) != SESSION_RUNNING)
		return error_set(error, EINVAL, "capture: it does not record");
	result = session_stop(capture->session, error);
	if (!result && capture->request.path)
		result = session_end(capture->session, error);
	return result || !session_has_failed(capture->session)
		       ? result
		       : error_set(error, EIO, "%s", capture->failure.message);
}

const struct stackmap_ledger *stackmap_capture_ledger(struct stackmap_capture *capture)
{
	if (!capture || (capture->request.path && session_state(capture->session) != SESSION_ENDED))
		return NULL;
	public_ledger_set(&capture->ledger, session_ledger(capture->session));
	return &capture->ledger.ledger;
}

void stackmap_capture_close(struct stackmap_capture **capture)
{
	struct stackmap_capture *old = capture ? *capture : NULL;

	if (!old)
		return;
	session_close(&old->session);
	capture_request_clear(&old->request);
	free(old);
	*capture = NULL;
}

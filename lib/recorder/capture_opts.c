/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The struct of options grows at its end. A program that was built with an older header passes a
 * shorter struct: the missing members are taken as 0. With a newer header the struct may have
 * members that this library does not know. They are accepted if they are 0, because the program
 * then asks for nothing that is unknown.
 */
#include "recorder/capture_opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "session/session.h"

/* The largest `size` of the options that is accepted: with a larger one, the program has not set
 * the member. */
#define SIZE_MAX_KNOWN 4096

static bool are_all_zero(const char *bytes, size_t count)
{
	while (count)
		if (bytes[--count])
			return false;
	return true;
}

int capture_opts_read(const struct stackmap_capture_opts *given, struct stackmap_capture_opts *opts,
		      struct stackmap_error *error)
{
	size_t size = given ? given->size : 0, known = sizeof(*opts);

	if (!given)
		return error_set(error, EINVAL, "stackmap_capture_opts: none are given (NULL)");
	if (size < sizeof(given->size) || size > SIZE_MAX_KNOWN)
		return error_set(error, EINVAL, "stackmap_capture_opts: size is not set");
	if (size > known && !are_all_zero((const char *)given + known, size - known))
		return error_set(error, E2BIG,
				 "stackmap_capture_opts: an option of a later version of stackmap");
	*opts = (struct stackmap_capture_opts){};
	memcpy(opts, given, size < known ? size : known);
	return 0;
}

/* Returns the process ids as text: "12,34". NULL if memory is short. */
static char *format_pids(const int32_t *pids)
{
	char *text = NULL, *longer;

	for (; *pids; pids++) {
		int result = asprintf(&longer, "%s%s%d", text ?: "", text ? "," : "", *pids);

		free(text);
		if (result < 0)
			return NULL;
		text = longer;
	}
	return text;
}

int capture_request_make(const struct stackmap_capture_opts *opts, struct capture_request *request,
			 struct stackmap_error *error)
{
	bool has_pids = opts->pids && *opts->pids;
	struct session_options *options = &request->options;

	if (opts->events && !*opts->events)
		return error_set(error, EINVAL, "stackmap_capture_opts: no events");
	request->path = opts->path ? strdup(opts->path) : NULL;
	request->instance = opts->instance ? strdup(opts->instance) : NULL;
	request->pids = has_pids ? format_pids(opts->pids) : NULL;
	if ((opts->path && !request->path) || (opts->instance && !request->instance) ||
	    (has_pids && !request->pids))
		return error_set(error, ENOMEM, "stackmap_capture_opts: %s", strerror(ENOMEM));
	request->comm = opts->comm;
	*options = (struct session_options){
		.events.items = (const char **)opts->events,
		.frequency = opts->frequency,
		.no_kernel = opts->no_kernel_stacks,
		.no_user = opts->no_user_stacks,
		.max_depth = opts->max_depth,
		.all = !has_pids && !opts->instance,
		.pids = {.items = (const char **)&request->pids, .count = has_pids},
		.comms = {.items = &request->comm, .count = opts->comm != NULL},
		.cgroup = opts->cgroup,
		.cpus = opts->cpus,
		.ring = opts->ring_bytes,
		.flight = opts->flight_bytes,
		.bits = opts->bits,
		.instance = request->instance,
		.use = opts->path ? SESSION_TAKE_OR_COPY : SESSION_TAKE_OR_VIEW,
		.output = request->path,
		.rotate = opts->rotate,
		.keep = opts->keep,
		.lenient = true,
		.windows = !opts->path,
		.window_events = SESSION_WINDOW_EVENTS_MAX,
		.name = "live",
	};
	while (opts->events && opts->events[options->events.count])
		options->events.count++;
	return 0;
}

void capture_request_clear(struct capture_request *request)
{
	free(request->path);
	free(request->instance);
	free(request->pids);
	*request = (struct capture_request){};
}

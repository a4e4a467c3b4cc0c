/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of a program (stackmap/capture.h), as options of a session. */
#ifndef LIB_RECORDER_CAPTURE_OPTS_H
#define LIB_RECORDER_CAPTURE_OPTS_H

#include "session/session_options.h"
#include "stackmap/capture.h"

/* All zero: the defaults. */
struct capture_request {
	struct session_options options; /* points into the rest, and at what the program gave */
	char *path, *instance, *pids;
	const char *comm;
};

/* The options of whatever version of the header, as this one has them. -EINVAL: no size; -E2BIG. */
int capture_opts_read(const struct stackmap_capture_opts *given, struct stackmap_capture_opts *opts,
		      struct stackmap_error *error);

/* capture_request_clear() in any case. The request is not moved. */
int capture_request_make(const struct stackmap_capture_opts *opts, struct capture_request *request,
			 struct stackmap_error *error);
void capture_request_clear(struct capture_request *request);

#endif

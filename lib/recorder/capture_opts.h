/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of a program that uses the library (stackmap/capture.h), converted to options of a
 * session.
 */
#ifndef LIB_RECORDER_CAPTURE_OPTS_H
#define LIB_RECORDER_CAPTURE_OPTS_H

#include "session/session_options.h"
#include "stackmap/capture.h"

/* The options of a session, made from those of a program. If all is zero, the defaults are
 * meant. */
struct capture_request {
	/*
	 * options of the session, whose pointers point into the other members and into the
	 * program's own options
	 */
	struct session_options options;
	char *path, *instance, *pids;
	const char *comm;
};

/*
 * Converts the options from any version of the header to this version. -EINVAL: the size is not
 * set; -E2BIG: the program asks for more than this version knows.
 */
int capture_opts_read(const struct stackmap_capture_opts *given, struct stackmap_capture_opts *opts,
		      struct stackmap_error *error);

/*
 * Converts the options to a request. The caller calls capture_request_clear() in any case. The
 * request must not be moved.
 */
int capture_request_make(const struct stackmap_capture_opts *opts, struct capture_request *request,
			 struct stackmap_error *error);
void capture_request_clear(struct capture_request *request);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Explains why a recording ends without events. */
#ifndef CLI_NO_EVENTS_H
#define CLI_NO_EVENTS_H

#include "session/session.h"

/* Prints one line. `command_cpu_ns`: CPU time that the command has taken; UINT64_MAX: not known. */
void no_events_explain(const struct session_options *options, const struct session *session,
		       u64 command_cpu_ns);

#endif

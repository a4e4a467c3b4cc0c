/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that sends windows, as recordings in memory, to a receiver of profiles. There is no
 * spool, since nothing may be sent twice: a window is sent once, or lost.
 */
#ifndef CLI_AGENT_PUSHER_H
#define CLI_AGENT_PUSHER_H

#include "agent/agent_child.h"
#include "push/push.h"

struct agent_pusher_state {
	u32 taken; /* windows that were tried */
	u64 sent;
};

struct agent_pusher {
	u32 handed;
	u64 dropped; /* windows for which there was no room */
	bool is_behind;
};

struct agent_pusher_options {
	const char *url;
	const struct push_access *access;
	const struct export_identity *identity;
};

/* Before threads and signals. Exit status; what is wrong was said. */
int agent_pusher_start(struct agent_child *child, const struct agent_pusher_options *options);

/* Hands a recording over, and closes `fd`. If it is behind by several, the window is lost, which is
 * said. */
void agent_pusher_take(struct agent_pusher *pusher, const struct agent_child *child, int fd);

#endif

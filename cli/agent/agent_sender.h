/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The process that sends what is in the spool. */
#ifndef CLI_AGENT_SENDER_H
#define CLI_AGENT_SENDER_H

#include "agent/agent_child.h"
#include "store/write/sender.h"

struct agent_sender_options {
	const struct store_url *url;
	const struct clickhouse_options *server;
	const char *host;
	const char *spool;
	u64 spool_bytes;
};

/* Before threads and signals. Exit status; what is wrong was said. */
int agent_sender_start(struct agent_child *child, const struct agent_sender_options *options);

/* There is something new in the spool. */
void agent_sender_wake(const struct agent_child *child);

#endif

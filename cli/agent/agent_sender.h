/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that sends what is in the spool. It is beside the one that records: a server that
 * hangs delays no window, and what talks to the network has no privileges.
 */
#ifndef CLI_AGENT_SENDER_H
#define CLI_AGENT_SENDER_H

#include <sys/types.h>

#include "store/write/sender.h"

struct agent_sender {
	pid_t pid; /* 0: none */
	int wake;
	struct sender_state *state; /* in memory of both */
};

struct agent_sender_options {
	const struct store_url *url;
	const struct clickhouse_options *server;
	const char *host;
	const char *spool;
	u64 spool_bytes;
};

/* Before threads and signals. Exit status; what is wrong was said. */
int agent_sender_start(struct agent_sender *sender, const struct agent_sender_options *options);

/* There is something new in the spool. */
void agent_sender_wake(const struct agent_sender *sender);

/* False: it has ended, which it should not have. */
bool agent_sender_runs(struct agent_sender *sender);

/* Lets it send what there is, for some seconds. What it says of itself stays. */
void agent_sender_end(struct agent_sender *sender);
void agent_sender_clear(struct agent_sender *sender);

#endif

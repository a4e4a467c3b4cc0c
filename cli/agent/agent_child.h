/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process beside the recorder, which sends: a server that hangs delays no window, and the process
 * that talks to the network has no privileges. Two kinds exist: the sender sends batches of the
 * spool to a store, the pusher sends windows to a receiver of profiles.
 *
 * The recorder holds one end of a pipe or of a pair of sockets. The end is closed when the recorder
 * has ended or was killed.
 */
#ifndef CLI_AGENT_CHILD_H
#define CLI_AGENT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "push/push.h"
#include "scalar.h"
#include "store/write/sender.h"

struct agent_child_kind;
/* All 0: no process was started. */
struct agent_child {
	const struct agent_child_kind *kind;
	pid_t pid;   /* 0 = not running */
	int end;     /* of the recorder */
	void *state; /* in memory that both processes share */
};

/* False: the process has ended unexpectedly. */
bool agent_child_runs(struct agent_child *child);

/* Lets the process send the rest for kind->last_ms, and ends it. `state` stays. */
void agent_child_end(struct agent_child *child);
void agent_child_clear(struct agent_child *child);

struct agent_sender_options {
	const struct store_url *url;
	const struct clickhouse_options *server;
	const char *host;
	const char *spool;
	u64 spool_bytes;
};

/* Starts the process that sends the batches of the spool. Call before threads are made and signals
 * are handled. Exit status; errors were printed. */
int agent_sender_start(struct agent_child *child, const struct agent_sender_options *options);

/* Tells the sender that the spool has a new batch. */
void agent_sender_wake(const struct agent_child *child);

struct agent_pusher_state {
	u32 taken; /* windows that the pusher has tried to send */
	u64 sent;
};

struct agent_pusher {
	u32 handed;
	u64 dropped; /* windows that were lost because the pusher was behind */
	bool is_behind;
};

struct agent_pusher_options {
	const char *url;
	const struct push_access *access;
	const struct export_identity *identity;
};

/* Starts the process that sends windows, as recordings in memory, to a receiver of profiles. A
 * window is sent once or lost: without a spool, no window is sent twice. As agent_sender_start().
 */
int agent_pusher_start(struct agent_child *child, const struct agent_pusher_options *options);

/* Hands a recording over to the pusher, and closes `fd`. If the pusher is several windows behind,
 * the window is lost; a message says so once, until a window is handed over again. */
void agent_pusher_take(struct agent_pusher *pusher, const struct agent_child *child, int fd);

#endif

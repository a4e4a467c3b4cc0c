/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child process of the recorder, which sends: a server that hangs does not delay the recording of
 * windows, and the process that talks to the network has no privileges. There are two kinds: the
 * sender sends batches of the spool to a store, the pusher sends windows to a receiver of profiles.
 *
 * The recorder holds one end of a pipe or of a pair of sockets. This end is closed when the
 * recorder has ended or was killed.
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
/* A child process of the agent. A struct that is all 0 means that no process was started. */
struct agent_child {
	const struct agent_child_kind *kind;
	pid_t pid;   /* process id of the child; 0: the child is not running */
	int end;     /* the recorder's end of the pipe or socket pair */
	void *state; /* state of the sender or pusher, in memory that both processes share */
};

/* Returns true while the child runs; false if it has ended unexpectedly. */
bool agent_child_runs(struct agent_child *child);

/* Lets the process send the rest for kind->last_ms, then ends it. `state` stays readable. */
void agent_child_end(struct agent_child *child);
void agent_child_clear(struct agent_child *child);

struct agent_sender_options {
	const struct store_url *url;
	const struct clickhouse_options *server;
	const char *host;
	const char *spool;
	u64 spool_bytes;
};

/*
 * Starts the process that sends the batches of the spool. Call it before threads are made and
 * signals are handled. Returns the exit status; errors were printed.
 */
int agent_sender_start(struct agent_child *child, const struct agent_sender_options *options);

/* Tells the sender that the spool has a new batch. */
void agent_sender_wake(const struct agent_child *child);

struct agent_pusher_state {
	u32 taken; /* number of windows that the pusher has tried to send */
	u64 sent;
};

struct agent_pusher {
	u32 handed;
	u64 dropped; /* number of windows that were lost because the pusher was too slow */
	bool is_behind;
};

struct agent_pusher_options {
	const char *url;
	const struct push_access *access;
	const struct export_identity *identity;
};

/*
 * Starts the process that sends windows, as recordings in memory, to a receiver of profiles. The
 * process has no spool: a window whose sending fails is lost, and no window is sent twice. All else
 * is as with agent_sender_start().
 */
int agent_pusher_start(struct agent_child *child, const struct agent_pusher_options *options);

/*
 * Passes a recording to the pusher, and closes `fd`. If several windows still wait for the pusher,
 * the window is lost. A message says so once, until a window is passed again.
 */
void agent_pusher_pass_window(struct agent_pusher *pusher, const struct agent_child *child, int fd);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process beside the one that records, which sends: a server that hangs delays no window, and
 * what talks to the network has no privileges. The recorder holds one end of a pipe or of a pair of
 * sockets. That it is closed means the recorder has ended, or was killed.
 */
#ifndef CLI_AGENT_CHILD_H
#define CLI_AGENT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "scalar.h"

struct agent_child_kind {
	const char *what; /* in messages: "sender" */
	const char *comm;
	size_t state_bytes;
	u32 last_ms; /* for what is sent at the end; then it is killed */
	/* The first end is the child's. 0, -errno. */
	int (*connect)(int ends[2]);
	/* In the child: returns its exit status. */
	int (*run)(const void *options, int end, void *state);
};

/* All 0: none was started. */
struct agent_child {
	const struct agent_child_kind *kind;
	pid_t pid; /* 0: none */
	int end;
	void *state; /* in memory of both */
};

/* Before threads and signals. Exit status; what is wrong was said. */
int agent_child_start(struct agent_child *child, const struct agent_child_kind *kind,
		      const void *options);

/* False: it has ended, which it should not have. */
bool agent_child_runs(struct agent_child *child);

/* Lets it send what there is, for some seconds. What it says of itself stays. */
void agent_child_end(struct agent_child *child);
void agent_child_clear(struct agent_child *child);

#endif

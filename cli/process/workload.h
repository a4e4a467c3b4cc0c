/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command that `record` runs: forked first and held before its execve, so that recording begins
 * with its first instruction and misses none. */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "scalar.h"

struct workload {
	pid_t pid;   /* 0: no process */
	char *path;  /* the file that it will execute */
	int process; /* pidfd, so that signals cannot reach a recycled pid */
	int go;	     /* held until this is closed */
	int failed;  /* the child writes its errno here if execve fails */
	int status;  /* wait() status, after its end */
	u64 cpu_ns;  /* CPU time of the process and its children, after its end */
	bool started;
	bool ended;
};

/* Forks. -ENOENT, -EACCES: the command cannot be run, and no process was forked. `output_taken`:
 * the command's standard output is redirected to standard error. */
int workload_prepare(struct workload *workload, char **arguments, bool output_taken);

/* Releases the child to execve: 0 or its -errno; -EINTR: a signal came before the result. */
int workload_start(struct workload *workload);

/* True if the command has ended; does not wait. */
bool workload_ended(struct workload *workload);

/* Sends a signal to a running command. */
void workload_signal(const struct workload *workload, int signal);

/* Ends a command that was never started, and waits for it; does not touch a running one. */
void workload_clear(struct workload *workload);

/* The exit status of a command that has ended, like a shell's: 128 + N after signal N. */
int workload_exit_status(const struct workload *workload);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command that `record` runs: forked first and held before its execve, so that recording begins
 * with its first instruction and misses none. */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "scalar.h"

struct workload {
	pid_t pid;   /* 0: none */
	char *path;  /* the file that it will execute */
	int process; /* a descriptor of it: signals meet nobody else */
	int go;	     /* held until this is closed */
	int failed;  /* the child writes its errno here if execve fails */
	int status;  /* of wait(), once it ended */
	u64 cpu_ns;  /* that it and its children took, once it ended */
	bool started;
	bool ended;
};

/* Forks. -ENOENT, -EACCES: there is no such command to run; nothing was forked. `output_taken`: it
 * writes to standard error what it has for standard output. */
int workload_prepare(struct workload *workload, char **arguments, bool output_taken);

/* Lets it go on to execve: 0 or its -errno; -EINTR: the end was asked for before that was known. */
int workload_start(struct workload *workload);

/* Whether it has ended by now; does not wait. */
bool workload_ended(struct workload *workload);

/* To one that runs. */
void workload_signal(const struct workload *workload, int signal);

/* Ends one that was never started, and waits for it; one that runs is left alone. */
void workload_clear(struct workload *workload);

/* As a shell gives it: 128 + N after signal N. Of one that has ended. */
int workload_exit_status(const struct workload *workload);

#endif

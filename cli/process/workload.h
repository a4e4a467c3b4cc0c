/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command that `record` runs. It is forked first and waits before its execve, so that recording
 * begins with its first instruction.
 */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "scalar.h"

struct workload {
	pid_t pid;   /* process id of the command; 0: no process */
	char *path;  /* path of the program file that the command will execute */
	int process; /* pidfd of the command, so that signals cannot reach a recycled pid */
	int go;	     /* pipe from which the child reads a byte before execve; the child exits if the
			pipe is closed first */
	int failed;  /* the child writes its errno here if execve fails */
	int status;  /* wait() status of the command, set when it has ended */
	u64 cpu_ns;  /* CPU time of the process and its children, set when it has ended */
	bool started;
	bool ended;
};

/* Forks the process of the command. -ENOENT, -EACCES: the command cannot be run, and no process was
 * forked. `output_taken`: the command's standard output is redirected to standard error. */
int workload_prepare(struct workload *workload, char **arguments, bool output_taken);

/*
 * Lets the child execute the command. Returns 0 or the -errno of execve; -EINTR: a signal came
 * before the result.
 */
int workload_start(struct workload *workload);

/* True if the command has ended. The function does not wait. */
bool workload_ended(struct workload *workload);

/* Sends a signal to a running command. */
void workload_signal(const struct workload *workload, int signal);

/* Ends a command that was never started, and waits for its end. A running command is left alone. */
void workload_clear(struct workload *workload);

/* The exit status of a command that has ended, in the form of a shell: 128 + N after signal N. */
int workload_exit_status(const struct workload *workload);

#endif

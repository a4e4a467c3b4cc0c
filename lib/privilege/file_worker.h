/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child process that opens and reads files and memory that other users control. Such a read may
 * never return: a file system that does not answer (FUSE, a dead server) blocks the reader in the
 * kernel, where even SIGKILL has no effect. The worker therefore shares only one socket with its
 * parent, and the parent never waits until the worker has ended.
 */
#ifndef LIB_PRIVILEGE_FILE_WORKER_H
#define LIB_PRIVILEGE_FILE_WORKER_H

#include <sys/types.h>

struct file_worker {
	pid_t pid;  /* process id of the worker; 0: the worker is not running */
	int socket; /* this process's end of the socket to the worker: SOCK_SEQPACKET, O_NONBLOCK */
};

/*
 * A function that runs in the worker until the socket is closed. The worker's end of the socket is
 * in blocking mode.
 */
typedef void (*file_worker_service)(int socket);

/* Starts a worker, which has the same capabilities as this process. 0 or -errno. */
int file_worker_start(file_worker_service service, struct file_worker *out);

/*
 * Closes the socket, waits at most `wait_ms` for the worker to exit, and then kills it. A worker in
 * a blocked system call disappears when that call returns.
 */
void file_worker_end(struct file_worker *worker, int wait_ms);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child process that opens and reads files and memory that other users control. Such a read may
 * never end: a file system that does not answer (FUSE, a dead server) keeps the reader in the
 * kernel, where even SIGKILL has no effect. The worker therefore shares only one socket with its
 * parent, and the parent never waits for its end.
 */
#ifndef LIB_PRIVILEGE_FILE_WORKER_H
#define LIB_PRIVILEGE_FILE_WORKER_H

#include <sys/types.h>

struct file_worker {
	pid_t pid;  /* 0 = not running */
	int socket; /* SOCK_SEQPACKET, O_NONBLOCK */
};

/* Runs in the worker until the socket is closed; the worker's end of the socket blocks. */
typedef void (*file_worker_service)(int socket);

/* Starts a worker, which keeps the capabilities of this process. 0 or -errno. */
int file_worker_start(file_worker_service service, struct file_worker *out);

/* Closes the socket, gives the worker `wait_ms` to exit, and kills it then. A worker in a blocked
 * system call disappears when that call returns. */
void file_worker_end(struct file_worker *worker, int wait_ms);

#endif

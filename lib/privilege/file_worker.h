/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child process that opens and reads files and memory that others control. Such a read may never
 * end: a file system that does not answer (FUSE, a server that is gone) keeps the reader in the
 * kernel, deaf even to SIGKILL. So the worker holds nothing of its parent's but one socket, and
 * nobody waits for it.
 */
#ifndef LIB_PRIVILEGE_FILE_WORKER_H
#define LIB_PRIVILEGE_FILE_WORKER_H

#include <sys/types.h>

struct file_worker {
	pid_t pid;  /* 0: none */
	int socket; /* SOCK_SEQPACKET; sending and receiving never wait on this side */
};

/* Serves until the socket is closed; on that side sending and receiving wait. */
typedef void (*file_worker_service)(int socket);

/* The child has our capabilities, and no memory that others see. -errno. */
int file_worker_start(file_worker_service service, struct file_worker *out);

/* It has `wait_ms` to end by itself, as its socket is closed; then it is killed, and gone as soon
 * as the kernel lets it go. */
void file_worker_end(struct file_worker *worker, int wait_ms);

#endif

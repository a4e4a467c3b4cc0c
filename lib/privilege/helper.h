/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child process that does what may never end: to open and read what others control. A file system
 * that does not answer (FUSE, a server that is gone) keeps whoever asks it, deaf to SIGKILL even,
 * so that must be a process which holds nothing of its parent's but one socket, and which nobody
 * waits for.
 */
#ifndef LIB_PRIVILEGE_HELPER_H
#define LIB_PRIVILEGE_HELPER_H

#include <sys/types.h>

struct helper {
	pid_t pid;  /* 0: none */
	int socket; /* SOCK_SEQPACKET; sending and receiving never wait on this side */
};

/* Serves until the socket is closed; on that side sending and receiving wait. */
typedef void (*helper_service)(int socket);

/* The child has our capabilities, and no memory that others see. -errno. */
int helper_start(helper_service service, struct helper *out);

/* It has `wait_ms` to end by itself, as its socket is closed; then it is killed, and gone as soon
 * as the kernel lets it go. */
void helper_end(struct helper *helper, int wait_ms);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends and receives bytes and open files over a stream socket between two processes. Each call
 * transfers all bytes or returns an error. */
#ifndef LIB_PRIVILEGE_MESSAGE_H
#define LIB_PRIVILEGE_MESSAGE_H

#include <stddef.h>

#include "scalar.h"

#define MESSAGE_FILES_MAX 5
#define MESSAGE_NO_DEADLINE 0

/*
 * Sends all bytes. `deadline`: CLOCK_MONOTONIC, ns; or MESSAGE_NO_DEADLINE. Returns 0; -EPIPE: the
 * other side has closed its end; -ETIMEDOUT; or, only with a deadline, -EINTR (lib/interrupt.h).
 */
int message_send(int socket, const void *data, size_t bytes, u64 deadline);
int message_receive(int socket, void *data, size_t bytes, u64 deadline);

/* Sends all bytes like message_send(), and `count` open files with the first byte. */
int message_send_files(int socket, const void *data, size_t bytes, const int *fds, u32 count,
		       u64 deadline);

/*
 * Receives all bytes, and up to MESSAGE_FILES_MAX files, which the caller closes; an element of
 * `fds` without a file is -1. (A file that was sent to message_receive() is closed, not returned.)
 */
int message_receive_files(int socket, void *data, size_t bytes, int *fds, u64 deadline);
void message_close_files(const int *fds);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes and open files over a stream socket between two processes, each call all of them or an
 * error. */
#ifndef LIB_PRIVILEGE_MESSAGE_H
#define LIB_PRIVILEGE_MESSAGE_H

#include <stddef.h>

#include "scalar.h"

#define MESSAGE_FILES_MAX 5
#define MESSAGE_NO_DEADLINE 0

/* `deadline`: CLOCK_MONOTONIC ns, or none. 0, -EPIPE: the other side is gone, -ETIMEDOUT; with a
 * deadline -EINTR (lib/interrupt.h). */
int message_send(int socket, const void *data, size_t bytes, u64 deadline);
int message_receive(int socket, void *data, size_t bytes, u64 deadline);

/* The same with `count` open files, which travel with the first byte. */
int message_send_files(int socket, const void *data, size_t bytes, const int *fds, u32 count,
		       u64 deadline);

/* fds[MESSAGE_FILES_MAX], the caller closes them; -1: not sent. Without this call files that were
 * sent are never opened here. */
int message_receive_files(int socket, void *data, size_t bytes, int *fds, u64 deadline);
void message_close_files(const int *fds);

#endif

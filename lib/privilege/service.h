/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The child's side of a sandbox: requests of a fixed size with files, and numbers behind them. */
#ifndef LIB_PRIVILEGE_SERVICE_H
#define LIB_PRIVILEGE_SERVICE_H

#include <stddef.h>

#include "scalar.h"

struct service {
	size_t request_bytes;
	size_t count_at; /* where in a request the u32 is that says how many u64 follow it */
	/* Answers it. `files` (MESSAGE_FILES_MAX, -1: not sent) are closed behind it. Non-zero ends
	 * the service. */
	int (*reply)(int socket, const void *request, const int *files, const u64 *numbers);
};

/* Until the other side closes the socket. */
void service_run(int socket, const struct service *service);

/* An answer, and the text that goes with it. */
int service_answer(int socket, const void *answer, size_t answer_bytes, const char *text,
		   size_t text_bytes);

#endif

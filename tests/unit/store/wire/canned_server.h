/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A server of HTTP in a thread: it gives answers that were prepared, one for each request, and
 * keeps the requests. */
#ifndef TESTS_CANNED_SERVER_H
#define TESTS_CANNED_SERVER_H

#include <pthread.h>
#include <stdbool.h>

#include "trace/bytes/byte_buffer.h"

#define CANNED_REQUESTS_MAX 16

struct canned_answer {
	const char *text; /* head and body, as they are sent; NULL: none, and the connection ends */
	bool keeps;	  /* the connection, for the next request */
	bool waits;	  /* until canned_server_stop(), instead of an answer */
	const char *endless; /* sent behind the text again and again, until the client has gone */
};

struct canned_server {
	int listening;
	unsigned int port;
	const struct canned_answer *answers;
	unsigned int answer_count;
	pthread_t thread;
	int over[2]; /* a pipe that ends when the server is to */
	struct byte_buffer requests[CANNED_REQUESTS_MAX];
	unsigned int request_count;
};

void canned_server_start(struct canned_server *server, const struct canned_answer *answers,
			 unsigned int count);
/* All its requests are there then. */
void canned_server_stop(struct canned_server *server);
void canned_server_clear(struct canned_server *server);

#endif

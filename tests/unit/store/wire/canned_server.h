/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An HTTP server in a thread, which gives prepared answers, one for each request, and stores the
 * requests. */
#ifndef TESTS_CANNED_SERVER_H
#define TESTS_CANNED_SERVER_H

#include <pthread.h>
#include <stdbool.h>

#include "trace/bytes/byte_buffer.h"

#define CANNED_REQUESTS_MAX 16

struct canned_answer {
	const char *text; /* head and body as sent; NULL: the connection ends without an answer */
	bool keeps;	  /* the connection stays open for the next request */
	bool waits;	  /* gives no answer until canned_server_stop() */
	/* bytes that are sent repeatedly after the text until the client closes the connection */
	const char *endless;
};

struct canned_server {
	int listening;
	unsigned int port;
	const struct canned_answer *answers;
	unsigned int answer_count;
	pthread_t thread;
	int over[2]; /* a pipe whose end stops the server */
	struct byte_buffer requests[CANNED_REQUESTS_MAX];
	unsigned int request_count;
};

void canned_server_start(struct canned_server *server, const struct canned_answer *answers,
			 unsigned int count);
/* Stops the server; all requests are stored then. */
void canned_server_stop(struct canned_server *server);
void canned_server_clear(struct canned_server *server);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "canned_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* False: the server has to end. */
static bool wait_for(struct canned_server *server, int what)
{
	struct pollfd both[] = {{.fd = what, .events = POLLIN},
				{.fd = server->over[0], .events = POLLIN}};

	poll(both, 2, -1);
	return !both[1].revents;
}

static size_t body_length(const char *head)
{
	const char *line = strcasestr(head, "content-length:");

	return line ? strtoul(line + strlen("content-length:"), NULL, 10) : 0;
}

/* The request must have a NUL behind its bytes. */
static bool is_http_request_complete(struct byte_buffer *request)
{
	const char *end;

	*byte_buffer_reserve(request, 1) = 0;
	end = strstr((const char *)request->data, "\r\n\r\n");
	return end && request->used >= (size_t)(end + 4 - (const char *)request->data) +
					       body_length((const char *)request->data);
}

static bool read_request(struct canned_server *server, int client, struct byte_buffer *request)
{
	while (!request->used || !is_http_request_complete(request)) {
		ssize_t got;

		if (!wait_for(server, client))
			return false;
		got = read(client, byte_buffer_reserve(request, 65536), 65536);
		if (got <= 0)
			return false;
		request->used += (size_t)got;
	}
	return true;
}

static bool send_text(int client, const char *text)
{
	return send(client, text, strlen(text), MSG_NOSIGNAL) >= 0;
}

static void serve(struct canned_server *server, int client)
{
	while (server->request_count < server->answer_count) {
		const struct canned_answer *answer = &server->answers[server->request_count];

		if (!read_request(server, client, &server->requests[server->request_count]))
			return;
		server->request_count++;
		if (answer->waits)
			wait_for(server, server->over[0]);
		if (answer->text && !send_text(client, answer->text))
			return;
		while (answer->endless)
			if (!send_text(client, answer->endless))
				return;
		if (!answer->keeps)
			return;
	}
}

static void *run(void *arg)
{
	struct canned_server *server = arg;

	while (server->request_count < server->answer_count &&
	       wait_for(server, server->listening)) {
		int client = accept(server->listening, NULL, NULL);

		if (client < 0)
			break;
		serve(server, client);
		close(client);
	}
	return NULL;
}

void canned_server_start(struct canned_server *server, const struct canned_answer *answers,
			 unsigned int count)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(here);

	*server = (struct canned_server){.answers = answers, .answer_count = count};
	server->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server->listening, (struct sockaddr *)&here, sizeof(here)) ||
	    listen(server->listening, 16) ||
	    getsockname(server->listening, (struct sockaddr *)&here, &bytes) ||
	    pipe(server->over) || pthread_create(&server->thread, NULL, run, server))
		abort();
	server->port = ntohs(here.sin_port);
}

void canned_server_stop(struct canned_server *server)
{
	close(server->over[1]);
	pthread_join(server->thread, NULL);
	close(server->over[0]);
	close(server->listening);
}

void canned_server_clear(struct canned_server *server)
{
	for (unsigned int i = 0; i < CANNED_REQUESTS_MAX; i++)
		byte_buffer_free(&server->requests[i]);
}

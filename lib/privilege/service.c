/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A service bounds what it keeps; what a request takes is freed with it. */
#include "privilege/service.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "privilege/message.h"

static int serve_numbers(int socket, const struct service *service, const void *request,
			 const int *files)
{
	u32 count = *(const u32 *)((const char *)request + service->count_at);
	u64 *numbers = calloc(count + 1UL, sizeof(*numbers));
	int result = numbers ? 0 : -ENOMEM;

	result = result
			 ?: message_receive(socket, numbers, count * sizeof(*numbers),
					    MESSAGE_NO_DEADLINE);
	result = result ?: service->reply(socket, request, files, numbers);
	free(numbers);
	return result;
}

void service_run(int socket, const struct service *service)
{
	void *request = malloc(service->request_bytes);
	int result = request ? 0 : -ENOMEM;

	while (!result) {
		int files[MESSAGE_FILES_MAX];

		result = message_receive_files(socket, request, service->request_bytes, files,
					       MESSAGE_NO_DEADLINE);
		result = result ?: serve_numbers(socket, service, request, files);
		message_close_files(files);
		malloc_trim(0);
	}
	free(request);
}

int service_answer(int socket, const void *answer, size_t answer_bytes, const char *text,
		   size_t text_bytes)
{
	return message_send(socket, answer, answer_bytes, MESSAGE_NO_DEADLINE)
		       ?: message_send(socket, text, text_bytes, MESSAGE_NO_DEADLINE);
}

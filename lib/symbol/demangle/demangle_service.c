/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "demangle_service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "privilege/message.h"

static int receive_name(int socket, char *name)
{
	u32 bytes;
	int result = message_receive(socket, &bytes, sizeof(bytes), MESSAGE_NO_DEADLINE);

	if (!result && bytes > DEMANGLE_NAME_BYTES_MAX)
		result = -EINVAL;
	result = result ?: message_receive(socket, name, bytes, MESSAGE_NO_DEADLINE);
	if (!result)
		name[bytes] = 0;
	return result;
}

static int reply(int socket, const char *name)
{
	struct demangle_message answer;
	char *plain = demangle(name);
	size_t length = plain ? strlen(plain) : 0;

	answer.bytes = length <= sizeof(answer.name) ? length : 0;
	if (answer.bytes)
		memcpy(answer.name, plain, answer.bytes);
	free(plain);
	return message_send(socket, &answer, sizeof(answer.bytes) + answer.bytes,
			    MESSAGE_NO_DEADLINE);
}

void demangle_serve(int socket)
{
	char *name = malloc(DEMANGLE_NAME_BYTES_MAX + 1);
	int result = name ? 0 : -ENOMEM;

	while (!result)
		result = receive_name(socket, name) ?: reply(socket, name);
	free(name);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OTLP over HTTP with protobuf, at a collector's path for profiles, which names the version of the
 * format. The answer to an accepted request may report that some of its profiles were rejected.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "export/gzip_stream.h"
#include "export/otlp.pb-c.h"
#include "push_kind.h"

static int compress_body(const char *plain, size_t plain_length, char **packed, size_t *length)
{
	struct gzip_stream *gzip = NULL;
	char *made = NULL;
	FILE *to = open_memstream(&made, length);
	int err = to ? gzip_stream_create(to, &gzip) : -ENOMEM;

	if (!err)
		gzip_stream_write(gzip, plain, plain_length);
	gzip_stream_close(&gzip);
	if (to && fclose(to))
		err = -ENOMEM;
	if (err)
		free(made);
	else
		*packed = made;
	return err;
}

static int make_request(const struct push_profile *profile, struct push_message *message,
			struct stackmap_error *error)
{
	size_t length;
	char *plain;
	int err = push_export_to_memory(profile, &otlp_format, &plain, &length, error);

	if (err)
		return err;
	err = compress_body(plain, length, &message->body, &message->length);
	free(plain);
	if (err)
		return error_set(error, -err, "otlp: %s", strerror(-err));
	message->headers[0] = "Content-Type: application/x-protobuf";
	message->headers[1] = "Content-Encoding: gzip";
	return 0;
}

/* Reports rejected profiles. An empty answer decodes as a message without members, which is a
 * success. */
static int check_otlp_answer(const struct http_answer *answer, struct stackmap_error *error)
{
	Otlp__Response *response =
		otlp__response__unpack(NULL, answer->body.used, answer->body.data);
	const Otlp__PartialSuccess *partial = response ? response->partial_success : NULL;
	int err = 0;

	if (!response)
		err = error_set(error, EBADMSG, "the answer is not one of OTLP");
	else if (partial && partial->rejected_profiles)
		err = error_set(error, EINVAL, "%lld profiles were rejected: %s",
				(long long)partial->rejected_profiles, partial->error_message);
	otlp__response__free_unpacked(response, NULL);
	return err;
}

const struct push_kind otlp_push = {
	.name = "otlp",
	.port = 4318,
	.tls_port = 4318,
	.path = "/v1development/profiles",
	.make = make_request,
	.check_answer = check_otlp_answer,
};

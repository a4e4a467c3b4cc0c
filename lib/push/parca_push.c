/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * WriteRaw of Parca, by the JSON of its HTTP gateway: a series is a set of labels, one of which is
 * the name of the profile, and pprof profiles in base64.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "format/json_text.h"
#include "push_kind.h"

#define NAME "stackmap"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static json_t *encode_base64(const char *bytes, size_t length)
{
	size_t digit_count = (length + 2) / 3 * 4;
	char *text = malloc(digit_count + 1);
	json_t *string;

	if (!text)
		return NULL;
	/* Three bytes are four base64 digits; "=" replaces the digits of missing bytes. */
	for (size_t i = 0; i < length; i += 3) {
		size_t left = length - i < 3 ? length - i : 3;
		u32 bits = (u32)(u8)bytes[i] << 16;

		if (left > 1)
			bits |= (u32)(u8)bytes[i + 1] << 8;
		if (left > 2)
			bits |= (u8)bytes[i + 2];
		for (u32 digit = 0; digit < 4; digit++)
			text[i / 3 * 4 + digit] =
				digit <= left ? digits[bits >> (18 - 6 * digit) & 63] : '=';
	}
	string = json_stringn_nocheck(text, digit_count);
	free(text);
	return string;
}

static int add_label(void *arg, const char *key, const char *value)
{
	char *plain = push_label_key(key);
	json_t *label =
		plain ? json_pack("{s:s, s:o?}", "name", plain, "value", json_text(value)) : NULL;

	free(plain);
	return json_array_append_new(arg, label) ? -ENOMEM : 0;
}

/* Returns the body of the request as JSON: one series with the labels and the profile. NULL: no
 * memory. */
static json_t *make_series_object(const struct push_profile *profile, const char *bytes,
				  size_t length)
{
	json_t *labels = json_array();
	json_t *raw;

	if (!labels || add_label(labels, "__name__", NAME) ||
	    push_each_label(profile, add_label, labels)) {
		json_decref(labels);
		return NULL;
	}
	raw = encode_base64(bytes, length);
	return json_pack("{s:[{s:{s:o}, s:[{s:o}]}]}", "series", "labels", "labels", labels,
			 "samples", "raw_profile", raw);
}

static int make_request(const struct push_profile *profile, struct push_message *message,
			struct stackmap_error *error)
{
	size_t length;
	json_t *series;
	char *bytes;
	int err = push_export_to_memory(profile, &pprof_format, &bytes, &length, error);

	if (err)
		return err;
	series = make_series_object(profile, bytes, length);
	free(bytes);
	message->body = series ? json_dumps(series, JSON_COMPACT) : NULL;
	json_decref(series);
	if (!message->body)
		return error_set(error, ENOMEM, "parca: %s", strerror(ENOMEM));
	message->length = strlen(message->body);
	message->headers[0] = "Content-Type: application/json";
	return 0;
}

const struct push_kind parca_push = {
	.name = "parca",
	.port = 7070,
	.tls_port = 443,
	.path = "/profiles/writeraw",
	.make = make_request,
};

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The list of kinds, and the steps that all kinds share: find the times of the events, let the kind
 * make its request, send the request, and check the answer.
 */
#include "push.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "export/otlp.pb-c.h"
#include "push_kind.h"
#include "server_url.h"

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define IN_PATH DIGITS LETTERS "/-._~"

const struct push_kind *const push_kinds[] = {&otlp_push, &pyroscope_push, &parca_push, NULL};

static int set_url_error(struct stackmap_error *error, const char *why)
{
	return error_set(
		error, EINVAL,
		"%s; a receiver is KIND+http[s]://HOST[:PORT][/PATH], and KIND one of " PUSH_KINDS,
		why);
}

static int parse_url(const char *text, struct push_url *url, struct stackmap_error *error)
{
	const char *wrong = server_url_refusal_reason(text);
	const struct server_scheme *scheme;

	if (wrong)
		return set_url_error(error, wrong);
	for (const struct push_kind *const *kind = push_kinds; *kind && !url->kind; kind++) {
		size_t length = strlen((*kind)->name);

		if (strncmp(text, (*kind)->name, length) || text[length] != '+')
			continue;
		text += length + 1;
		url->kind = *kind;
	}
	if (!url->kind)
		return set_url_error(error, "the URL begins with no kind of receiver");
	scheme = server_url_parse_scheme(&text);
	if (!scheme)
		return set_url_error(error, "neither http:// nor https:// behind the kind");
	wrong = server_url_parse_host_and_make_base(
		scheme, scheme->tls ? url->kind->tls_port : url->kind->port, &text, &url->base);
	if (wrong)
		return set_url_error(error, wrong);
	if (!url->base)
		return -ENOMEM;
	if (*text && (*text != '/' || text[strspn(text, IN_PATH)]))
		return set_url_error(error, "the path has odd characters");
	/* The path "/" is taken as no path: the default path of the kind is used. */
	url->path = strdup(*text && text[1] ? text : url->kind->path);
	return url->path ? 0 : -ENOMEM;
}

int push_url_parse(const char *text, struct push_url *url, struct stackmap_error *error)
{
	struct push_url parsed = {};
	int err = parse_url(text, &parsed, error);

	if (err == -ENOMEM)
		error_set(error, ENOMEM, "the URL of the receiver: %s", strerror(ENOMEM));
	if (err)
		push_url_clear(&parsed);
	else
		*url = parsed;
	return err;
}

void push_url_clear(struct push_url *url)
{
	free(url->base);
	free(url->path);
	*url = (struct push_url){};
}

#define TIMEOUT_MS 60000
#define ANSWER_MAX (64U << 10)
#define MESSAGE_MAX 200 /* the most bytes of a receiver's error text that are shown */

struct push {
	struct push_url url;
	struct http *http;
};

int push_open(const char *url, const struct push_access *access, struct push **out,
	      struct stackmap_error *error)
{
	struct http_options options = {.user = access->user,
				       .password = access->password,
				       .bearer = access->bearer,
				       .ca_file = access->ca_file,
				       .allows_cleartext = access->allows_cleartext,
				       .timeout_ms = access->timeout_ms ?: TIMEOUT_MS};
	struct push *push = calloc(1, sizeof(*push));
	int err = push ? push_url_parse(url, &push->url, error)
		       : error_set(error, ENOMEM, "%s", strerror(ENOMEM));

	if (!err && access->password && !access->user)
		err = error_set(error, EINVAL, "a password without a user");
	if (!err && access->bearer && access->user)
		err = error_set(error, EINVAL, "a user and a token: one of both");
	if (!err) {
		options.base = push->url.base;
		err = http_open(&options, &push->http, error);
	}
	if (err)
		push_close(&push);
	else
		*out = push;
	return err;
}

void push_close(struct push **push)
{
	if (!*push)
		return;
	http_close(&(*push)->http);
	push_url_clear(&(*push)->url);
	free(*push);
	*push = NULL;
}

/* Sets the times of the first and the last event that pass the filter; both stay 0 if none
 * passes. */
static int set_first_and_last_event_time(void *arg, const struct trace_event *event)
{
	struct push_profile *profile = arg;

	if (!event_filter_passes(&profile->options->filter, profile->reader, event))
		return 0;
	profile->from = profile->from ?: event->time;
	profile->until = event->time;
	return 0;
}

/* Reads the first line of a receiver's error text: of plain text, or of the message of a
 * google.rpc.Status. A receiver may send any bytes. */
static void read_error_text_of_http_answer(const struct http_answer *answer, char text[MESSAGE_MAX])
{
	const struct byte_buffer *body = &answer->body;
	Otlp__Status *status = otlp__status__unpack(NULL, body->used, body->data);
	const char *said = status && status->message[0] ? status->message : (char *)body->data;
	size_t length = status && status->message[0] ? strlen(said) : body->used;

	if (length > MESSAGE_MAX - 1)
		length = MESSAGE_MAX - 1;
	if (length)
		memcpy(text, said, length);
	text[length] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	otlp__status__free_unpacked(status, NULL);
}

static const struct {
	u32 status;
	int code;
	const char *advice;
} meanings[] = {
	{401, EACCES, " (--user and --password-file, or --bearer-file, say who you are)"},
	{403, EACCES, " (--user and --password-file, or --bearer-file, say who you are)"},
	{404, EINVAL, " (nothing receives profiles at this path: another one can be in the URL)"},
	{413, EINVAL, " (it is too large: --time and --event choose a part)"},
	{429, EBUSY, " (it cannot take more now)"},
	{503, EBUSY, " (it cannot take more now)"},
};

static int check_http_answer(const struct push *push, const struct http_answer *answer,
			     struct stackmap_error *error)
{
	struct stackmap_error why;
	int err;

	if (answer->status / 100 != 2) {
		int code = answer->status / 100 == 4 ? EINVAL : EIO;
		const char *advice = code == EIO ? " (it may have been stored or not)" : "";
		char said[MESSAGE_MAX];

		for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
			if (meanings[i].status != answer->status)
				continue;
			code = meanings[i].code;
			advice = meanings[i].advice;
		}
		read_error_text_of_http_answer(answer, said);
		return error_set(error, code, "%s: HTTP %u%s%s%s", push->url.base, answer->status,
				 said[0] ? ": " : "", said, advice);
	}
	err = push->url.kind->check_answer ? push->url.kind->check_answer(answer, &why) : 0;
	if (!err)
		return 0;
	return error_set(error, -err, "%s: %s", push->url.base, why.message);
}

static int send_request(struct push *push, const struct push_message *message,
			struct stackmap_error *error)
{
	struct http_request request = {.headers = message->headers,
				       .body = message->body,
				       .length = message->length,
				       .most_bytes = ANSWER_MAX};
	struct http_answer answer = {};
	char *target;
	int err;

	if (asprintf(&target, "%s%s", push->url.path, message->query ?: "") < 0)
		return error_set_errno(error, ENOMEM, push->url.base);
	request.target = target;
	err = http_send(push->http, &request, &answer, error);
	err = err ?: check_http_answer(push, &answer, error);
	byte_buffer_free(&answer.body);
	free(target);
	return err;
}

int push_recording(struct push *push, struct trace_reader *reader,
		   const struct export_options *options, struct stackmap_error *error)
{
	const struct trace_info *info = trace_reader_info(reader);
	struct push_profile profile = {.reader = reader, .options = options};
	struct push_message message = {};
	int err = trace_reader_events(reader, set_first_and_last_event_time, &profile, error);

	if (err || !profile.from)
		return err;
	profile.from += info->start_realtime - info->start_monotonic;
	profile.until += info->start_realtime - info->start_monotonic;
	err = push->url.kind->make(&profile, &message, error);
	err = err ?: send_request(push, &message, error);
	free(message.type);
	free(message.body);
	free(message.query);
	return err;
}

int push_export_to_memory(const struct push_profile *profile, const struct export_format *format,
			  char **bytes, size_t *length, struct stackmap_error *error)
{
	struct export_options options = *profile->options;
	char *made = NULL;
	FILE *to = open_memstream(&made, length);
	int err, closed;

	if (!to)
		return error_set_errno(error, ENOMEM, format->name);
	options.no_colons = true;
	err = format->write(profile->reader, &options, to, error);
	closed = fclose(to);
	if (!err && closed)
		err = error_set_errno(error, ENOMEM, format->name);
	if (err)
		free(made);
	else
		*bytes = made;
	return err;
}

int push_each_label(const struct push_profile *profile,
		    int (*each)(void *arg, const char *key, const char *value), void *arg)
{
	const struct export_identity *identity = &profile->options->identity;
	const char *host = identity->host ?: trace_reader_info(profile->reader)->hostname;
	int err = each(arg, "host", host);

	if (!err && identity->service)
		err = each(arg, "service", identity->service);
	if (!err && identity->version)
		err = each(arg, "version", identity->version);
	for (size_t i = 0; i < identity->labels.count && !err; i++) {
		const char *label = identity->labels.items[i];
		size_t length = strcspn(label, "=");
		char *key = strndup(label, length);

		err = key ? each(arg, key, label[length] ? &label[length + 1] : "") : -ENOMEM;
		free(key);
	}
	return err;
}

char *push_label_key(const char *key)
{
	char *copy;

	if (asprintf(&copy, "%s%s", isdigit((u8)key[0]) ? "_" : "", key) < 0)
		return NULL;
	for (char *c = copy; *c; c++)
		if (!isalnum((u8)*c) || (u8)*c >= 0x80)
			*c = '_';
	return copy;
}

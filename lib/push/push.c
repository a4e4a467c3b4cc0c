/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way is one for all kinds: when its events were, the kind's message, one request, and what its
 * answer means. */
#include "push.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "export/otlp.pb-c.h"
#include "push_kind.h"
#include "push_url.h"

#define TIMEOUT_MS 60000
#define ANSWER_MAX (64U << 10)
#define COMPLAINT_MAX 200 /* shown of what a receiver says */

struct push {
	struct push_url url;
	struct http *http;
};

static int check_access(const struct push_access *access, struct stackmap_error *error)
{
	if (access->password && !access->user)
		return error_set(error, EINVAL, "a password without a user");
	if (access->bearer && access->user)
		return error_set(error, EINVAL, "a user and a token: one of both");
	return 0;
}

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

	if (!err)
		err = check_access(access, error);
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

static void clear_message(struct push_message *message)
{
	free(message->type);
	free(message->body);
	free(message->query);
}

struct times {
	const struct push_profile *profile;
	u64 first, last;
};

static int note_time(void *arg, const struct trace_event *event)
{
	struct times *times = arg;

	if (!event_filter_passes(&times->profile->options->filter, times->profile->reader, event))
		return 0;
	times->first = times->first ?: event->time;
	times->last = event->time;
	return 0;
}

/* `until` 0: there are none. */
static int find_times(struct push_profile *profile, struct stackmap_error *error)
{
	const struct trace_info *info = trace_reader_info(profile->reader);
	struct times times = {.profile = profile};
	int err = trace_reader_events(profile->reader, note_time, &times, error);

	if (err || !times.first)
		return err;
	profile->from = info->start_realtime + times.first - info->start_monotonic;
	profile->until = info->start_realtime + times.last - info->start_monotonic;
	return 0;
}

/* What the receiver says, for a message: a line of text, or the message in OTLP's kind of it. It
 * may be any bytes. */
static void read_complaint(const struct http_answer *answer, char text[COMPLAINT_MAX])
{
	const struct byte_buffer *body = &answer->body;
	Otlp__Status *status = otlp__status__unpack(NULL, body->used, body->data);
	const char *said = status && status->message[0] ? status->message : (char *)body->data;
	size_t length = status && status->message[0] ? strlen(said) : body->used;

	if (length > COMPLAINT_MAX - 1)
		length = COMPLAINT_MAX - 1;
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

static int judge_status(const struct push *push, const struct http_answer *answer,
			struct stackmap_error *error)
{
	int code = answer->status / 100 == 4 ? EINVAL : EIO;
	const char *advice = code == EIO ? " (it may have been stored or not)" : "";
	char said[COMPLAINT_MAX];

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].status != answer->status)
			continue;
		code = meanings[i].code;
		advice = meanings[i].advice;
	}
	read_complaint(answer, said);
	return error_set(error, code, "%s: HTTP %u%s%s%s", push->url.base, answer->status,
			 said[0] ? ": " : "", said, advice);
}

static int judge(const struct push *push, const struct http_answer *answer,
		 struct stackmap_error *error)
{
	struct stackmap_error why;
	int err;

	if (answer->status / 100 != 2)
		return judge_status(push, answer, error);
	err = push->url.kind->judge ? push->url.kind->judge(answer, &why) : 0;
	if (!err)
		return 0;
	return error_set(error, -err, "%s: %s", push->url.base, why.message);
}

static int send_message(struct push *push, const struct push_message *message,
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
		return error_set(error, ENOMEM, "%s: %s", push->url.base, strerror(ENOMEM));
	request.target = target;
	err = http_send(push->http, &request, &answer, error);
	err = err ?: judge(push, &answer, error);
	byte_buffer_free(&answer.body);
	free(target);
	return err;
}

int push_recording(struct push *push, struct trace_reader *reader,
		   const struct export_options *options, struct stackmap_error *error)
{
	struct push_profile profile = {.reader = reader, .options = options};
	struct push_message message = {};
	int err = find_times(&profile, error);

	if (err || !profile.until)
		return err;
	err = push->url.kind->make(&profile, &message, error);
	err = err ?: send_message(push, &message, error);
	clear_message(&message);
	return err;
}

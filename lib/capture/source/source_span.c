/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source_span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define PREFIX "span:"

bool source_span_is(const char *text)
{
	return !strncmp(text, PREFIX, strlen(PREFIX));
}

/* The two dots between the words; those of a path like u:../bin/x:f stand beside a slash or colon.
 */
static char *find_dots(char *text)
{
	for (char *dots = strstr(text, ".."); dots; dots = strstr(dots + 1, ".."))
		if (dots > text && !strchr("/:.", dots[-1]) && dots[2] && !strchr("/.", dots[2]))
			return dots;
	return NULL;
}

static int parse_words(struct source_span *span, char *spec, const struct question_words *asks,
		       const char *subject, struct stackmap_error *error)
{
	char *dots = find_dots(spec);
	int err;

	if (!dots)
		return error_set(
			error, EINVAL,
			"%s: expected span:BEGIN..END, two events with two dots between them",
			subject);
	*dots = '\0';
	err = source_word_parse(spec, subject, &span->begin, error)
		      ?: source_word_parse(dots + 2, subject, &span->end, error);
	if (err)
		return err;
	if (span->begin.query.asks.name || span->begin.query.asks.count ||
	    span->begin.query.period || span->end.query.period)
		return error_set(
			error, EINVAL,
			"%s: the events of a span have neither values, conditions nor periods "
			"of their own",
			subject);
	span->begin.query.asks = (struct question_words){.by = asks->by, .role = SPAN_BEGIN};
	span->end.query.asks = *asks;
	span->end.query.asks.role = SPAN_END;
	return 0;
}

int source_span_parse(const char *text, const char *subject, struct source_span *span,
		      struct stackmap_error *error)
{
	struct source_span parsed = {.text = strdup(text)};
	struct question_words asks = {};
	char *question;
	int err = 0;

	if (!parsed.text)
		return error_set(error, ENOMEM, "%s: out of memory", subject);
	question = question_cut(parsed.text);
	if (question)
		err = question_parse(question, subject, &asks, error);
	if (!err && asks.name)
		err = error_set(error, EINVAL, "%s: the value of a span is its time", subject);
	err = err ?: parse_words(&parsed, parsed.text + strlen(PREFIX), &asks, subject, error);
	if (err)
		source_span_clear(&parsed);
	else
		*span = parsed;
	return err;
}

void source_span_clear(struct source_span *span)
{
	source_word_clear(&span->begin);
	source_word_clear(&span->end);
	free(span->text);
	span->text = NULL;
}

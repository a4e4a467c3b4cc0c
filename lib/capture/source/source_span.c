/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source_span.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define PREFIX "span:"
#define ALIVE_PREFIX "alive:"

bool source_span_is_span_word(const char *text)
{
	return !strncmp(text, PREFIX, strlen(PREFIX)) ||
	       !strncmp(text, ALIVE_PREFIX, strlen(ALIVE_PREFIX));
}

/* Finds the two dots between BEGIN and END; dots of a path like u:../bin/x:f are beside a slash or
 * colon.
 */
static char *find_dots_between_span_events(char *text)
{
	for (char *dots = strstr(text, ".."); dots; dots = strstr(dots + 1, ".."))
		if (dots > text && !strchr("/:.", dots[-1]) && dots[2] && !strchr("/.", dots[2]))
			return dots;
	return NULL;
}

/* Makes the word for the entry of a function from the word for its return: u: for ur:, uprobe: for
 * uretprobe:. NULL: another word, or no memory. */
static char *make_entry_word(const char *text)
{
	static const char *const returns[][2] = {{"ur:", "u:"}, {"uretprobe:", "uprobe:"}};
	char *call;

	for (size_t i = 0; i < sizeof(returns) / sizeof(*returns); i++)
		if (!strncmp(text, returns[i][0], strlen(returns[i][0])))
			return asprintf(&call, "%s%s", returns[i][1],
					text + strlen(returns[i][0])) < 0
				       ? NULL
				       : call;
	return NULL;
}

/* Lets the source of the function's entry do what needs arguments: read the value if it is an
 * argument, check the conditions, and read the address at which the key will be. */
static int set_question_at_function_entry(struct source_span *span,
					  const struct question_words *asks, const char *subject,
					  struct stackmap_error *error)
{
	bool has_value = asks->name && strcmp(asks->name, "ret") != 0;
	bool has_place = asks->by[0] == '*';
	int err;

	if (!has_value && !has_place && !asks->count)
		return 0;
	span->call_text = make_entry_word(span->begin.query.text);
	if (!span->call_text)
		return has_place ? error_set(error, EINVAL,
					     "%s: by=%s: only the return of a function of a "
					     "program has *arg1 to *arg6",
					     subject, asks->by)
				 : 0;
	err = source_word_parse(span->call_text, subject, &span->call, error);
	if (err)
		return err;
	span->has_call = true;
	span->unit = asks->unit ?: asks->name;
	span->call.query.asks = *asks;
	span->call.query.asks.role = ALIVE_CALL;
	span->call.query.asks.by = has_place ? asks->by + 1 : NULL;
	span->begin.query.asks.count = 0;
	span->begin.query.asks.has_call = true;
	if (has_place)
		span->begin.query.asks.by = "ret";
	if (has_value) {
		span->begin.query.asks.name = span->begin.query.asks.factor = NULL;
	} else {
		span->call.query.asks.name = span->call.query.asks.factor = NULL;
		span->call.query.asks.every = 0;
	}
	return 0;
}

static int set_questions_of_alive_span(struct source_span *span, const struct question_words *asks,
				       const char *subject, struct stackmap_error *error)
{
	if (asks->every && !asks->name)
		return error_set(error, EINVAL,
				 "%s: every= is by the value: value=NUMBER,every=%llu", subject,
				 (unsigned long long)asks->every);
	if (asks->has_stack)
		return error_set(
			error, EINVAL,
			"%s: only span: has stack=, the stacks of what is alive are those of "
			"its begin",
			subject);
	if (!asks->by || asks->by_end[0] == '*')
		return error_set(error, EINVAL,
				 "%s: expected by=NUMBER:NUMBER, of what begins and of what ends",
				 subject);
	span->begin.query.asks = *asks;
	span->begin.query.asks.role = ALIVE_BEGIN;
	span->end.query.asks = (struct question_words){.by_end = asks->by_end, .role = ALIVE_END};
	return set_question_at_function_entry(span, asks, subject, error);
}

static int parse_begin_and_end_words(struct source_span *span, char *spec,
				     const struct question_words *asks, const char *subject,
				     struct stackmap_error *error)
{
	char *dots = find_dots_between_span_events(spec);
	int err;

	if (!dots)
		return error_set(error, EINVAL,
				 "%s: expected %sBEGIN..END, two events with two dots between them",
				 subject, span->is_alive ? ALIVE_PREFIX : PREFIX);
	*dots = '\0';
	err = source_word_parse(spec, subject, &span->begin, error)
		      ?: source_word_parse(dots + 2, subject, &span->end, error);
	if (err)
		return err;
	if (span->begin.query.asks.name || span->begin.query.asks.counter ||
	    span->begin.query.asks.count || span->begin.query.period || span->end.query.period)
		return error_set(
			error, EINVAL,
			"%s: the events of a span have neither values, conditions nor periods "
			"of their own",
			subject);
	if (span->is_alive)
		return set_questions_of_alive_span(span, asks, subject, error);
	if (asks->by && (asks->by[0] == '*' || asks->by_end[0] == '*'))
		return error_set(error, EINVAL, "%s: only alive: has by=*%s", subject,
				 asks->by + (asks->by[0] == '*'));
	if (asks->every)
		return error_set(error, EINVAL, "%s: only alive: has every=", subject);
	span->begin.query.asks =
		(struct question_words){.by = asks->by, .stacks = asks->stacks, .role = SPAN_BEGIN};
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
	question = question_cut_from_word(parsed.text);
	if (question)
		err = question_parse(question, subject, &asks, error);
	parsed.is_alive = !strncmp(text, ALIVE_PREFIX, strlen(ALIVE_PREFIX));
	if (!err && asks.counter)
		err = error_set(error, EINVAL,
				"%s: a counter is the value of single events, not of span: and "
				"alive:",
				subject);
	if (!err && asks.further.name && parsed.is_alive)
		err = error_set(error, EINVAL, "%s: what is alive has one value: value=NUMBER",
				subject);
	if (!err && asks.name && !parsed.is_alive)
		err = error_set(error, EINVAL, "%s: the value of a span is its time", subject);
	err = err
		      ?: parse_begin_and_end_words(&parsed,
						   parsed.text + (parsed.is_alive
									  ? strlen(ALIVE_PREFIX)
									  : strlen(PREFIX)),
						   &asks, subject, error);
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
	source_word_clear(&span->call);
	free(span->call_text);
	free(span->text);
	span->call_text = span->text = NULL;
}

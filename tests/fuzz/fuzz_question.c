/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libFuzzer target of the options of -e sources: all parsed names lie inside of the text and can be
 * resolved. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/source/source.h"
#include "capture/source/source_counter.h"
#include "capture/source/source_question.h"
#include "capture/source/source_span.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

/* Words are parsed and not looked up. */
const struct source_ops source_user_ops, source_usdt_ops, source_kernel_ops, source_pmu_ops;

int source_counter_find(const char *text, const char *subject, struct source_counter *out,
			const char **unit, struct stackmap_error *error)
{
	(void)subject;
	(void)error;
	*out = (struct source_counter){.is_given = true};
	*unit = "counts";
	return text[0] == 'x' ? -ENOENT : 0;
}

static int find(void *arg, const char *name, struct source_number *out,
		struct stackmap_error *error)
{
	(void)arg;
	(void)error;
	out->number = (struct event_number){
		.bytes = 1 + strlen(name) % 8, .is_signed = strlen(name) & 1, .offset = 8};
	return name[0] == 'x' ? -ENOENT : 0;
}

static void check(const char *text, const char *start, const char *end)
{
	if (text && (text < start || text > end))
		abort();
}

static void check_parsed(const struct question_words *words, const char *text, const char *end)
{
	struct source source = {.name = (char *)"it"};
	struct stackmap_error error;

	if (words->every > ALIVE_EVERY_MAX || words->count > QUESTION_CONDITIONS_MAX ||
	    (words->stacks && !words->has_stack))
		abort();
	check(words->name, text, end);
	check(words->factor, text, end);
	check(words->counter, text, end);
	if (words->counter && (words->name || !words->counter[0]))
		abort();
	check(words->unit, text, end);
	check(words->further.name, text, end);
	check(words->further.factor, text, end);
	check(words->further.unit, text, end);
	if (words->further.name && !words->name)
		abort();
	for (u32 i = 0; i < words->count; i++) {
		check(words->conditions[i].name, text, end);
		check(words->conditions[i].pattern, text, end);
	}
	check(words->by, text, end);
	check(words->by_end, text, end);
	if (question_resolve(words, "-e it", find, NULL, &source, &error))
		return;
	for (u32 i = 0; i < source.question.count; i++)
		if (source.question.conditions[i].subject > CONDITION_CGROUP ||
		    !source.question.conditions[i].accepts ||
		    (source.question.conditions[i].subject == CONDITION_COMM) !=
			    !!source.patterns[i])
			abort();
}

static void parse_span(const char *word)
{
	struct stackmap_error error;
	struct source_span span;

	if (!source_span_is_span_word(word) || source_span_parse(word, "-e it", &span, &error))
		return;
	if (span.is_alive ? span.end.query.asks.role != ALIVE_END
			  : span.end.query.asks.role != SPAN_END || span.has_call)
		abort();
	if (span.begin.query.asks.stacks &&
	    (span.is_alive || span.end.query.asks.stacks != span.begin.query.asks.stacks))
		abort();
	source_span_clear(&span);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	char *word = malloc(bytes + 1), *question;
	struct question_words words;
	struct stackmap_error error;

	if (!word)
		return 0;
	memcpy(word, data, bytes);
	word[bytes] = '\0';
	parse_span(word);
	question = question_cut_from_word(word);
	if (question && !question_parse(question, "-e it", &words, &error))
		check_parsed(&words, question, word + bytes);
	free(word);
	return 0;
}

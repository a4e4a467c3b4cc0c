/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The list of event sources, made from words. A word with one of the function prefixes (u:, ur:,
 * k:, kr:) is looked up among the functions of a file or of the kernel; any other word is compared
 * with the names of all perf events, tracepoints and system calls, so a glob may match several of
 * them.
 */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "ring.h"
#include "source_ops.h"
#include "source_span.h"
#include "source_word.h"
#include "trace/event.h"

static void source_clear(struct source *source)
{
	free(source->name);
	free(source->target);
	free(source->unit);
	free(source->further_unit);
	free(source->value_name);
	free(source->further_name);
	for (u32 i = 0; i < QUESTION_CONDITIONS_MAX; i++)
		free(source->patterns[i]);
}

void source_list_clear(struct source_list *list)
{
	for (u32 i = 0; i < list->count; i++)
		source_clear(&list->sources[i]);
	free(list->sources);
	*list = (struct source_list){0};
}

static int source_copy(struct source *to, const struct source *from)
{
	struct source copy = *from;
	bool has_memory;

	copy.name = strdup(from->name);
	copy.target = from->target ? strdup(from->target) : NULL;
	copy.unit = from->unit ? strdup(from->unit) : NULL;
	copy.further_unit = from->further_unit ? strdup(from->further_unit) : NULL;
	copy.value_name = from->value_name ? strdup(from->value_name) : NULL;
	copy.further_name = from->further_name ? strdup(from->further_name) : NULL;
	has_memory = copy.name && !from->target == !copy.target && !from->unit == !copy.unit &&
		     !from->further_unit == !copy.further_unit &&
		     !from->value_name == !copy.value_name &&
		     !from->further_name == !copy.further_name;
	for (u32 i = 0; i < QUESTION_CONDITIONS_MAX; i++) {
		copy.patterns[i] = from->patterns[i] ? strdup(from->patterns[i]) : NULL;
		has_memory &= !from->patterns[i] == !copy.patterns[i];
	}
	if (!has_memory) {
		source_clear(&copy);
		return -ENOMEM;
	}
	*to = copy;
	return 0;
}

static bool are_texts_equal_or_both_null(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool are_questions_equal(const struct source *a, const struct source *b)
{
	for (u32 i = 0; i < QUESTION_CONDITIONS_MAX; i++)
		if (!are_texts_equal_or_both_null(a->patterns[i], b->patterns[i]))
			return false;
	return are_texts_equal_or_both_null(a->unit, b->unit) &&
	       !memcmp(&a->question, &b->question, sizeof(a->question));
}

/* Finds an equal source in the list; NULL: the list has none. */
static struct source *find_same_source(struct source_list *list, const struct source *source)
{
	for (u32 i = 0; i < list->count; i++) {
		struct source *other = &list->sources[i];

		if (other->type == source->type && other->on_return == source->on_return &&
		    other->offset == source->offset && other->period == source->period &&
		    other->frequency == source->frequency && !strcmp(other->name, source->name))
			return other;
	}
	return NULL;
}

/* True if the list has a source of the same system call or kernel function, whose program makes one
 * event only. */
static bool has_source_with_probe_point(const struct source_list *list, const struct source *source)
{
	for (u32 i = 0; i < list->count; i++) {
		const struct source *other = &list->sources[i];

		if (other->type != source->type || other->on_return != source->on_return)
			continue;
		if (source->type == SOURCE_SYSCALL && other->syscall == source->syscall)
			return true;
		if (source->type == SOURCE_KERNEL && !strcmp(other->target, source->target))
			return true;
	}
	return false;
}

/* The number of a counter, from 1 on: the number of an equal counter in the list, or a new one. */
static u8 assign_counter_number(const struct source_list *list,
				const struct source_counter *counter)
{
	u8 most = 0;

	for (u32 i = 0; i < list->count; i++) {
		const struct source_counter *other = &list->sources[i].counter;
		u8 number = list->sources[i].question.counter;

		if (number && other->is_given == counter->is_given &&
		    other->no_user == counter->no_user && other->no_kernel == counter->no_kernel &&
		    other->perf_type == counter->perf_type &&
		    !memcmp(other->perf_config, counter->perf_config, sizeof(other->perf_config)))
			return number;
		most = number > most ? number : most;
	}
	return most + 1;
}

/* Appends a copy of a source, unless the list has the source already: an event must not be counted
 * twice. -EEXIST: the list has the source with other conditions or values, and names must be
 * unique. -EBUSY: the list has the same system call or kernel function under another name. -ENOSPC:
 * more than COUNTERS_MAX counters. */
static int append_source(struct source_list *list, const struct source *found)
{
	struct source *same = find_same_source(list, found), numbered = *found, *source = &numbered;
	int err;

	if (source->counter.is_given)
		source->question.counter = assign_counter_number(list, &source->counter);
	if (source->question.counter > COUNTERS_MAX)
		return -ENOSPC;
	if (same && !are_questions_equal(same, source))
		return -EEXIST;
	if (same) {
		same->triggers |= list->triggers;
		return 0;
	}
	if (has_source_with_probe_point(list, source))
		return -EBUSY;
	if (list->count == KIND_SOURCES)
		return -E2BIG;
	if (array_make_room(list->sources, list->count, list->room))
		return -ENOMEM;
	err = source_copy(&list->sources[list->count], source);
	if (!err)
		list->sources[list->count++].triggers = list->triggers;
	return err;
}

static int append_found_source(void *arg, const struct source *source)
{
	return append_source(arg, source);
}

static const struct source_ops *const named_ops[] = {
	&source_perf_ops,    &source_tracepoint_ops, &source_syscall_ops,
	&source_off_cpu_ops, &source_pmu_ops,
};

#define NAMED_COUNT (sizeof(named_ops) / sizeof(named_ops[0]))

static const char *describe_kind_of_source_word(const struct source_word *word)
{
	if (word->ops == &source_usdt_ops)
		return "USDT probe";
	if (word->ops && word->ops != &source_pmu_ops)
		return "function";
	if (!strncmp(word->query.text, "syscalls:", strlen("syscalls:")))
		return "system call";
	return strchr(word->query.text, ':') ? "tracepoint" : "event";
}

static int set_not_found_error(const struct source_word *word, struct stackmap_error *error)
{
	const struct source_query *query = &word->query;
	const char *hint = query->hint ? query->hint : "";
	const char *noun = describe_kind_of_source_word(word);
	const char *way = strncmp(query->subject, "-e ", 3) ? "" : "; see 'stackmap list'";

	if (query->match.is_glob)
		return error_set(error, ENOENT, "%s: no %s matches%s%s", query->subject, noun, hint,
				 way);
	if (!query->match.nearest[0])
		return error_set(error, ENOENT, "%s: no such %s%s%s", query->subject, noun, hint,
				 way);
	return error_set(error, ENOENT, "%s: no such %s; did you mean %s%s?%s", query->subject,
			 noun, query->prefix, query->match.nearest, hint);
}

static int find_sources_of_word(struct source_word *word, source_visit visit, void *arg,
				struct stackmap_error *error)
{
	const struct name_match *match = &word->query.match;
	int err = 0;

	if (word->ops)
		err = word->ops->find(&word->query, visit, arg, error);
	/* A name that is no glob belongs to one group only, so the search ends at the first match.
	 */
	for (size_t i = 0;
	     !word->ops && i < NAMED_COUNT && !err && (match->is_glob || !match->found); i++)
		err = named_ops[i]->find(&word->query, visit, arg, error);
	if (!err && !match->found)
		err = set_not_found_error(word, error);
	return err;
}

/* Sets the text for an error of append_source(). For other errors find_sources_of_word() has set
 * the text. */
static int set_append_error(int err, const char *subject, struct stackmap_error *error)
{
	if (err == -E2BIG)
		error_set(error, E2BIG, "%s: more than %d event sources", subject, KIND_SOURCES);
	else if (err == -EEXIST)
		error_set(error, EEXIST,
			  "%s: an event of this name is recorded already, with another value or "
			  "condition, or none",
			  subject);
	else if (err == -EBUSY)
		error_set(
			error, EBUSY,
			"%s: the same system call or function of the kernel is an event or the end "
			"of a span already",
			subject);
	else if (err == -ENOSPC)
		error_set(error, ENOSPC, "%s: more than %d different counters", subject,
			  COUNTERS_MAX);
	else if (err == -ENOMEM)
		error_set(error, ENOMEM, "%s: out of memory", subject);
	return err;
}

/* --- Spans. --- */

struct span_search {
	struct source_list *list;
	const char *begin; /* name of the span's first event, as the user wrote it */
	u32 span;
	enum span_role role;
	bool is_repeated; /* the list already has a span with the same first event */
	const char *subject;
	struct stackmap_error *error;
	bool is_reported; /* `error` was set already */
};

static bool can_source_begin_or_end_span(const struct source *source)
{
	return source->type == SOURCE_TRACEPOINT || source->type == SOURCE_SYSCALL ||
	       source->type == SOURCE_USER || source->type == SOURCE_KERNEL;
}

/* Gives a span that the list has already the same number. -EEXIST: the list has a span with the
 * same first event and another second event; the first event could be timed for one of them only.
 */
static int give_span_same_number_as_known(struct span_search *search, struct source *end)
{
	const struct source *same = find_same_source(search->list, end);

	if (search->role == SPAN_END)
		return search->is_repeated && !same ? -EEXIST : 0;
	if (!same || !same->question.span)
		return 0;
	search->is_repeated = true;
	search->span = same->question.span;
	end->question.span = search->span;
	return 0;
}

static int append_begin_or_end_of_span(void *arg, const struct source *source)
{
	struct span_search *search = arg;
	struct source end = *source;
	int err;

	if (!can_source_begin_or_end_span(source)) {
		search->is_reported = true;
		return error_set(
			search->error, EINVAL,
			"%s: a span is between tracepoints, system calls and functions; %s is "
			"none of them",
			search->subject, source->name);
	}
	if (search->role == SPAN_BEGIN)
		err = asprintf(&end.name, "span:%s..", source->name);
	else
		err = asprintf(&end.name, "span:%s..%s", search->begin, source->name);
	if (err < 0)
		return -ENOMEM;
	end.question.span = search->span;
	if (search->role == SPAN_END || end.question.stacks == SPAN_STACKS_BOTH)
		end.unit = (char *)"ns";
	err = give_span_same_number_as_known(search, &end) ?: append_source(search->list, &end);
	free(end.name);
	return err;
}

static int add_begin_and_end_of_span(struct source_list *list, struct source_span *span, u32 number,
				     struct stackmap_error *error)
{
	struct span_search search = {
		.list = list,
		.begin = span->begin.query.text,
		.span = number,
		.role = SPAN_BEGIN,
		.subject = span->begin.query.subject,
		.error = error,
	};
	int err = find_sources_of_word(&span->begin, append_begin_or_end_of_span, &search, error);

	search.role = SPAN_END;
	err = err ?: find_sources_of_word(&span->end, append_begin_or_end_of_span, &search, error);
	return search.is_reported ? err : set_append_error(err, search.subject, error);
}

/* --- Sources of the form alive: objects that have begun and not ended (abi/question.h). --- */

struct alive_search {
	struct source_list *list;
	const struct source_span *span;
	enum span_role role;
	bool is_refused; /* a source of a type that the form alive: cannot have was found */
};

static int append_alive_source(void *arg, const struct source *source)
{
	struct alive_search *search = arg;
	struct source named = *source;
	int err;

	if (!can_source_begin_or_end_span(source) || source->type == SOURCE_TRACEPOINT) {
		search->is_refused = true;
		return -EINVAL;
	}
	if (search->role == ALIVE_BEGIN && source->question.every)
		err = asprintf(&named.name, "alive:%s" TRACE_EVERY_KEY "%llu/", source->name,
			       (unsigned long long)source->question.every);
	else
		err = asprintf(&named.name, search->role == ALIVE_END ? "alive:..%s" : "alive:%s",
			       source->name);
	if (err < 0)
		return -ENOMEM;
	if (search->role == ALIVE_BEGIN && search->span->has_call && !named.unit)
		named.unit = (char *)search->span->unit;
	if (search->role != ALIVE_BEGIN)
		named.unit = NULL;
	err = append_source(search->list, &named);
	free(named.name);
	return err;
}

static int add_alive_sources(struct source_list *list, struct source_span *span,
			     struct stackmap_error *error)
{
	struct alive_search search = {.list = list, .span = span, .role = ALIVE_END};
	int err = list->triggers ? error_set(error, EINVAL,
					     "%s: what is alive is known when recording ends",
					     span->begin.query.subject)
				 : 0;

	if (err)
		return err;
	err = find_sources_of_word(&span->end, append_alive_source, &search, error);
	search.role = ALIVE_CALL;
	if (span->has_call)
		err = err ?: find_sources_of_word(&span->call, append_alive_source, &search, error);
	search.role = ALIVE_BEGIN;
	err = err ?: find_sources_of_word(&span->begin, append_alive_source, &search, error);
	if (search.is_refused)
		return error_set(error, EINVAL,
				 "%s: what is alive is between system calls and functions",
				 span->begin.query.subject);
	return set_append_error(err, span->begin.query.subject, error);
}

static int add_span_sources(struct source_list *list, const char *text, const char *subject,
			    struct stackmap_error *error)
{
	u32 number = list->count + 1; /* no other span of the list has this number */
	struct source_span span;
	int err = source_span_parse(text, subject, &span, error);

	if (err)
		return err;
	err = span.is_alive ? add_alive_sources(list, &span, error)
			    : add_begin_and_end_of_span(list, &span, number, error);
	source_span_clear(&span);
	return err;
}

static int add_sources_of_one_word(struct source_list *list, const char *text, u64 frequency,
				   struct stackmap_error *error)
{
	struct source_word word;
	char *subject;
	int err;

	if (asprintf(&subject, "%s %s", list->option ?: "-e", text) < 0)
		return error_set(error, ENOMEM, "-e: out of memory");
	if (source_span_is_span_word(text)) {
		err = add_span_sources(list, text, subject, error);
		free(subject);
		return err;
	}
	err = source_word_parse(text, subject, &word, error);
	if (!err) {
		if (!list->period)
			word.query.frequency = word.query.frequency ?: frequency;
		word.query.period_default = list->period;
		err = find_sources_of_word(&word, append_found_source, list, error);
		err = set_append_error(err, word.query.subject, error);
		source_word_clear(&word);
	}
	free(subject);
	return err;
}

/* Cuts the next word at a comma. A comma inside of the options between slashes, or between the
 * terms of a PMU's event, belongs to the word. */
static char *cut_next_source_word(char **rest)
{
	char *word = *rest, *comma;
	const char *counter, *terms;

	if (!word)
		return NULL;
	terms = question_find_end_of_pmu_terms(word, &counter);
	comma = (char *)pmu_event_end(word) ?: word;
	while ((comma = strchr(comma, ',')))
		if (terms && comma > counter && comma < terms)
			comma = (char *)terms;
		else if (begins_with_question_key(comma + 1) ||
			 is_comma_in_question_list(word, comma))
			comma++;
		else
			break;
	*rest = comma ? comma + 1 : NULL;
	if (comma)
		*comma = '\0';
	return word;
}

int source_list_add(struct source_list *list, const char *text, u64 frequency,
		    struct stackmap_error *error)
{
	char *copy = strdup(text), *rest = copy, *word;
	u32 count = list->count;
	int err = copy ? 0 : error_set(error, ENOMEM, "-e: out of memory");

	while (!err && (word = cut_next_source_word(&rest)))
		err = add_sources_of_one_word(list, word, frequency, error);
	while (err && list->count > count)
		source_clear(&list->sources[--list->count]);
	free(copy);
	return err;
}

struct catalogue {
	const char *group;
	int (*each)(void *arg, const char *group, const char *name);
	void *arg;
};

static int pass_source_name_to_caller(void *arg, const struct source *source)
{
	struct catalogue *catalogue = arg;

	return catalogue->each(catalogue->arg, catalogue->group, source->name);
}

static int list_sources_of_kind(struct source_word *word, const struct source_ops *ops,
				struct catalogue *catalogue, struct stackmap_error *error)
{
	catalogue->group = ops->group;
	return ops->find(&word->query, pass_source_name_to_caller, catalogue, error);
}

int source_catalogue_each(const char *pattern,
			  int (*each)(void *arg, const char *group, const char *name), void *arg,
			  struct stackmap_error *error)
{
	const char *text = pattern ? pattern : "*";
	struct catalogue catalogue = {.each = each, .arg = arg};
	struct source_word word;
	int err = source_word_parse(text, text, &word, error);

	if (err)
		return err;
	if (word.ops)
		err = list_sources_of_kind(&word, word.ops, &catalogue, error);
	for (size_t i = 0; !word.ops && !err && i < NAMED_COUNT; i++)
		err = list_sources_of_kind(&word, named_ops[i], &catalogue, error);
	if (!err && !word.query.match.found)
		err = set_not_found_error(&word, error);
	source_word_clear(&word);
	return err;
}

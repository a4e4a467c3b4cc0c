/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The grammar of a word:
 *
 *   u:PATH:FUNC  u:PATH:FUNC+OFFSET  u:PATH:OFFSET   (also ur:)   OFFSET: decimal or 0xHEX
 *   usdt:PATH:PROVIDER:NAME
 *   k:FUNC                                           (also kr:)
 *   NAME  NAME/PERIOD  NAME:MODES  NAME:MODES/PERIOD   MODES: u, k, ppp of perf
 *   PMU/TERM,TERM.../MODES  rHEX:MODES               (pmu_event.h)
 *   CATEGORY:NAME
 *
 * After each of them /value=NUMBER,if=CONDITIONS/ chooses the value of the events and which events
 * are recorded (source_question.h).
 *
 * Words of bpftrace are accepted, too: uprobe: is u:, tracepoint: is dropped, profile:hz:N is
 * cpu-clock at N Hz, software:NAME:N and hardware:NAME:N are NAME/N.
 *
 * PATH ends at the last colon, since symbol names have no colon and paths may have some.
 */
#include "source_word.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "number_list.h"

static int parse_offset(struct source_query *query, const char *text, struct stackmap_error *error)
{
	int err = number_parse(text, false, &query->offset);

	if (err)
		return error_set(error, -err, "%s: bad offset %s", query->subject, text);
	return 0;
}

/* Functions have no period, and options between slashes are cut off already, so a slash that is
 * left is an error. */
static int refuse_slash_in_function_name(const struct source_query *query, const char *function,
					 struct stackmap_error *error)
{
	const char *slash = strchr(function, '/');

	if (slash && begins_with_question_key(slash + 1))
		return error_set(error, EINVAL, "%s: a slash is missing at the end",
				 query->subject);
	if (slash)
		return error_set(error, EINVAL,
				 "%s: functions have no period: each call is an event",
				 query->subject);
	return 0;
}

static int parse_user_function(struct source_word *word, char *spec, struct stackmap_error *error)
{
	struct source_query *query = &word->query;
	char *function = strrchr(spec, ':'), *plus;

	if (!function || function == spec || !function[1])
		return error_set(error, EINVAL, "%s: expected u:PATH:FUNC", query->subject);
	if (refuse_slash_in_function_name(query, function, error))
		return -EINVAL;
	word->prefix = strndup(query->text, function + 1 - word->parts);
	if (!word->prefix)
		return error_set(error, ENOMEM, "%s: out of memory", query->subject);
	query->prefix = word->prefix;
	*function++ = '\0';
	query->file = spec;
	name_match_init(&query->match, function);
	query->has_no_symbol = isdigit((unsigned char)function[0]);
	if (query->has_no_symbol)
		return parse_offset(query, function, error);
	plus = strchr(function, '+');
	if (!plus)
		return 0;
	*plus = '\0';
	return parse_offset(query, plus + 1, error);
}

/* Parses PATH:PROVIDER:NAME. PROVIDER and NAME have no colon. usdt:PATH:NAME is the probe of any
 * provider. */
static int parse_usdt_probe(struct source_word *word, char *spec, struct stackmap_error *error)
{
	struct source_query *query = &word->query;
	char *name = strrchr(spec, ':'), *provider = name;

	while (provider && provider > spec && *--provider != ':')
		;
	if (!name || !name[1] || name == spec || provider + 1 == name)
		return error_set(error, EINVAL, "%s: expected usdt:PATH:PROVIDER:NAME",
				 query->subject);
	if (refuse_slash_in_function_name(query, name, error))
		return -EINVAL;
	if (provider == spec || strchr(provider, '/'))
		provider = name;
	word->prefix = strndup(query->text, provider + 1 - word->parts);
	if (!word->prefix)
		return error_set(error, ENOMEM, "%s: out of memory", query->subject);
	query->prefix = word->prefix;
	*provider = '\0';
	query->file = spec;
	query->has_any_provider = provider == name;
	name_match_init(&query->match, provider + 1);
	return 0;
}

static int parse_kernel_function(struct source_word *word, char *spec, struct stackmap_error *error)
{
	if (!spec[0] || strchr(spec, '+'))
		return error_set(error, EINVAL, "%s: expected k:FUNC", word->query.subject);
	if (refuse_slash_in_function_name(&word->query, spec, error))
		return -EINVAL;
	word->query.prefix = word->query.on_return ? "kr:" : "k:";
	name_match_init(&word->query.match, spec);
	return 0;
}

static int parse_period(struct source_query *query, const char *text, struct stackmap_error *error)
{
	int err = number_parse(text, false, &query->period);

	if (!err && query->period && !(query->period >> 63))
		return 0;
	return error_set(error, err == -EINVAL ? EINVAL : ERANGE,
			 "%s: the period is a number from 1 to 2^63 - 1", query->subject);
}

#define MODES_MAX 5 /* length of the longest modes, "ukppp" */

/* Parses a PMU's event: the modes follow the second slash, with or without a colon. */
static int parse_pmu_event(struct source_word *word, char *spec, struct stackmap_error *error)
{
	struct source_query *query = &word->query;
	const char *modes = pmu_event_end(spec) ?: spec + strcspn(spec, ":");

	modes += *modes == ':';
	if (strspn(modes, "ukp") != strlen(modes) || strlen(modes) > MODES_MAX)
		return error_set(error, EINVAL, "%s: %s are no modes; modes are u, k and p",
				 query->subject, modes);
	word->ops = &source_pmu_ops;
	name_match_init(&query->match, spec);
	query->pmu_event = query->match.is_glob ? NULL : spec;
	query->modes = modes;
	return 0;
}

/* Cuts the modes of perf from the end of a name, as ":u" of cycles:u. Tracepoints of such names do
 * not exist. */
static const char *cut_perf_modes_from_name(char *spec)
{
	char *colon = strchr(spec, ':');
	size_t length = colon ? strspn(colon + 1, "ukp") : 0;

	if (!length || length > MODES_MAX || colon[1 + length])
		return NULL;
	*colon = '\0';
	return colon + 1;
}

static int parse_event_name(struct source_word *word, char *spec, struct stackmap_error *error)
{
	struct source_query *query = &word->query;
	char *slash = strchr(spec, '/');
	int err = 0;

	if (!spec[0])
		return error_set(error, EINVAL, "%s: an event name is missing", query->subject);
	if (pmu_event_end(spec) || pmu_event_is_raw(spec))
		return parse_pmu_event(word, spec, error);
	if (slash)
		*slash = '\0';
	query->modes = cut_perf_modes_from_name(spec);
	if (slash && (strchr(spec, ':') || begins_with_question_key(slash + 1)))
		return error_set(
			error, EINVAL,
			"%s: expected CATEGORY:NAME/value=FIELD/ or CATEGORY:NAME/if=CONDITIONS/",
			query->subject);
	if (slash)
		err = parse_period(query, slash + 1, error);
	if (!err)
		name_match_init(&query->match, spec);
	return err;
}

/* Parses profile:hz:N of bpftrace, which is cpu-clock at N Hz. */
static int parse_bpftrace_profile(struct source_word *word, char *spec,
				  struct stackmap_error *error)
{
	struct source_query *query = &word->query;

	if (strncmp(spec, "hz:", 3) || number_parse(spec + 3, false, &query->frequency) ||
	    !query->frequency)
		return error_set(error, EINVAL, "%s: expected profile:hz:HZ", query->subject);
	name_match_init(&query->match, "cpu-clock");
	return 0;
}

/* Parses software:NAME:PERIOD and hardware:NAME:PERIOD of bpftrace, which are NAME/PERIOD. */
static int parse_bpftrace_counter(struct source_word *word, char *spec,
				  struct stackmap_error *error)
{
	char *colon = strchr(spec, ':');

	if (colon)
		*colon = '/';
	return parse_event_name(word, spec, error);
}

static const struct word_form {
	const char *prefix;
	const struct source_ops *ops;
	bool on_return;
	int (*parse)(struct source_word *word, char *spec, struct stackmap_error *error);
} forms[] = {
	{"u:", &source_user_ops, false, parse_user_function},
	{"ur:", &source_user_ops, true, parse_user_function},
	{"usdt:", &source_usdt_ops, false, parse_usdt_probe},
	{"k:", &source_kernel_ops, false, parse_kernel_function},
	{"kr:", &source_kernel_ops, true, parse_kernel_function},
	/* the prefixes of bpftrace for the same sources */
	{"uprobe:", &source_user_ops, false, parse_user_function},
	{"uretprobe:", &source_user_ops, true, parse_user_function},
	{"kprobe:", &source_kernel_ops, false, parse_kernel_function},
	{"kretprobe:", &source_kernel_ops, true, parse_kernel_function},
	{"fentry:", &source_kernel_ops, false, parse_kernel_function},
	{"fexit:", &source_kernel_ops, true, parse_kernel_function},
	{"tracepoint:", NULL, false, parse_event_name},
	{"profile:", NULL, false, parse_bpftrace_profile},
	{"software:", NULL, false, parse_bpftrace_counter},
	{"hardware:", NULL, false, parse_bpftrace_counter},
	{"", NULL, false, parse_event_name},
};

/* Prefixes of bpftrace that have no source here, and what to use in their place. */
static const struct {
	const char *prefix, *instead;
} elsewhere[] = {
	{"interval:", "nothing happens in a task at an interval; -F HZ samples the CPUs"},
};

int source_word_parse(const char *text, const char *subject, struct source_word *word,
		      struct stackmap_error *error)
{
	const struct word_form *form = forms;
	struct source_word parsed = {.parts = strdup(text)};
	char *question;
	int err = 0;

	if (!parsed.parts)
		return error_set(error, ENOMEM, "%s: out of memory", subject);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere) && !err; i++)
		if (!strncmp(text, elsewhere[i].prefix, strlen(elsewhere[i].prefix)))
			err = error_set(error, EINVAL, "%s: %s", subject, elsewhere[i].instead);
	while (strncmp(text, form->prefix, strlen(form->prefix)))
		form++;
	parsed.ops = form->ops;
	parsed.query.text = text;
	parsed.query.subject = subject;
	parsed.query.prefix = "";
	parsed.query.on_return = form->on_return;
	question = question_cut_from_word(parsed.parts);
	if (question)
		err = err ?: question_parse(question, subject, &parsed.query.asks, error);
	if (!err && parsed.query.asks.by)
		err = error_set(error, EINVAL, "%s: only a span has by=: span:BEGIN..END/by=KEY/",
				subject);
	if (!err && parsed.query.asks.every)
		err = error_set(error, EINVAL, "%s: only alive: has every=", subject);
	if (!err && parsed.query.asks.has_stack)
		err = error_set(error, EINVAL,
				"%s: only a span has stack=: span:BEGIN..END/stack=begin/",
				subject);
	err = err ?: form->parse(&parsed, parsed.parts + strlen(form->prefix), error);
	if (err)
		source_word_clear(&parsed);
	else
		*word = parsed;
	return err;
}

void source_word_clear(struct source_word *word)
{
	free(word->parts);
	free(word->prefix);
	word->parts = NULL;
	word->prefix = NULL;
}

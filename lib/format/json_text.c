/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON through jansson. Its *_new functions take over the values that they are given, even on
 * failure, and accept NULL as a failure: a whole object is built first and checked once.
 */
#include "json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/printable.h"
#include "report/event/stack_end.h"
#include "report/profile/profile.h"

static const char *const lost_names[LOST_COUNT] = {
#define X(id, name, meaning) [LOST_##id] = name,
	LEDGER_LOST(X)
#undef X
};

json_t *json_text(const char *text)
{
	json_t *string = json_string(text);
	char *valid;
	u32 bytes;

	if (string)
		return string;
	valid = strdup(text);
	for (char *c = valid; c && *c; c += bytes)
		if (classify_next_character(c, &bytes) == NO_CHARACTER)
			*c = '?';
	string = valid ? json_string(valid) : NULL;
	free(valid);
	return string;
}

/* Escapes DEL; jansson escapes all other bytes outside of printable ASCII. */
static int write_json_with_del_escaped(const char *text, size_t bytes, void *to)
{
	for (size_t i = 0; i < bytes; i++)
		if (text[i] == 0x7f)
			fputs("\\u007f", to);
		else
			putc_unlocked(text[i], to);
	return 0;
}

/* Escapes the characters of HTML markup, too. JSON has these characters only within strings. */
static int write_json_with_markup_escaped(const char *text, size_t bytes, void *to)
{
	for (size_t i = 0; i < bytes; i++)
		if (memchr("<>&", text[i], 3))
			fprintf(to, "\\u%04x", text[i]);
		else
			write_json_with_del_escaped(&text[i], 1, to);
	return 0;
}

static int write_json_and_free(json_t *value, json_dump_callback_t put_bytes, size_t flags,
			       FILE *to)
{
	int failed = !value || json_dump_callback(value, put_bytes, to,
						  flags | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);

	json_decref(value);
	return failed ? -ENOMEM : 0;
}

int json_put_for_page(json_t *value, FILE *to)
{
	return write_json_and_free(value, write_json_with_markup_escaped, JSON_COMPACT, to);
}

int json_put_text(const char *text, FILE *to)
{
	return write_json_and_free(json_text(text), write_json_with_del_escaped, 0, to);
}

static json_t *json_or_null_after_failure(json_t *value, int failures)
{
	if (!failures)
		return value;
	json_decref(value);
	return NULL;
}

static int set_count_member(json_t *object, const char *name, u64 count)
{
	return json_object_set_new(object, name, json_integer((json_int_t)count));
}

static json_t *json_user_stacks(const struct trace_ledger *ledger)
{
	json_t *stops = json_object(), *reasons = json_object();
	int failures = 0;
	u64 complete = 0;

	for (int i = 0; i < STOP_COUNT; i++) {
		const struct stack_end *end = stack_end_of_stop(i);

		if (stack_end_is_cut(end))
			failures |= set_count_member(stops, end->name, ledger->user_stops[i]);
		else if (i != STOP_NONE)
			complete += ledger->user_stops[i];
	}
	for (int i = 0; i < REASON_COUNT; i++)
		failures |= set_count_member(reasons, stack_end_of_reason(i)->name,
					     ledger->user_reasons[i]);
	return json_pack("{s:I, s:I, s:o, s:o}", "complete", (json_int_t)complete, "unknown_end",
			 (json_int_t)ledger->user_stops[STOP_NONE], "stops",
			 json_or_null_after_failure(stops, failures), "reasons",
			 json_or_null_after_failure(reasons, failures));
}

json_t *json_event_counts_of_ledger(const struct trace_ledger *ledger)
{
	json_t *object = json_object(), *lost = json_object();
	int failures = set_count_member(object, "produced", ledger->produced);

	failures |= set_count_member(object, "recorded", ledger->recorded);
	failures |= set_count_member(object, "counted_only", ledger->counted);
	for (int i = 0; i < LOST_COUNT; i++)
		failures |= set_count_member(lost, lost_names[i], ledger->lost[i]);
	failures |= json_object_set_new(object, "lost", lost);
	return json_or_null_after_failure(object, failures);
}

json_t *json_ledger(const struct trace_ledger *ledger)
{
	json_t *object;

	if (!ledger)
		return json_null();
	object = json_event_counts_of_ledger(ledger);
	return json_or_null_after_failure(
		object, json_object_set_new(object, "user_stacks", json_user_stacks(ledger)));
}

json_t *json_names_of_stack_path(const struct profile *profile, const struct profile_path *path)
{
	json_t *array = json_array();
	int failures = 0;

	for (u32 i = 0; i < path->depth; i++)
		failures |= json_array_append_new(
			array, json_text(frame_names_label(profile->names, path->labels[i])));
	return json_or_null_after_failure(array, failures);
}

int json_set_names_of_stack_path(json_t *object, const char *key, const struct profile *profile,
				 const struct profile_path *path)
{
	char cut[32];

	if (json_object_set_new(object, key, json_names_of_stack_path(profile, path)))
		return -1;
	if (!stack_end_is_cut(path->end))
		return 0;
	snprintf(cut, sizeof(cut), "%s_cut", key);
	return json_object_set_new(object, cut, json_string(path->end->name));
}

int json_set_standard_error(json_t *object, const char *event, u64 estimates)
{
	u64 every = read_sampling_period_of_source(event);

	if (!every)
		return 0;
	return set_count_member(object, "standard_error",
				estimate_error_of_sampled_sum(every, estimates));
}

static json_t *json_row(const struct trace_source *sources, const struct profile *profile,
			const struct profile_row *row)
{
	json_t *object = json_object();
	int failures = set_count_member(object, "count", row->count);

	failures |= set_count_member(object, "value", row->value);
	failures |= json_set_standard_error(object, sources[row->kind].name, row->estimates);
	failures |= json_object_set_new(object, "event", json_text(sources[row->kind].name));
	failures |= json_object_set_new(object, "comm", json_text(row->comm));
	if (profile->split & EVENTS_BY_CGROUP)
		failures |= json_object_set_new(
			object, "cgroup",
			json_text(frame_names_label(profile->names, row->cgroup)));
	failures |= json_set_names_of_stack_path(object, "kernel", profile, row->kernel);
	failures |= json_set_names_of_stack_path(object, "user", profile, row->user);
	return json_or_null_after_failure(object, failures);
}

json_t *json_stacks(const struct trace_reader *reader, const struct profile *profile, u64 limit)
{
	const struct trace_source *sources;
	json_t *array = json_array();
	int failures = 0;

	trace_reader_sources(reader, &sources);
	for (u32 i = 0; i < profile->row_count && i < limit; i++)
		failures |=
			json_array_append_new(array, json_row(sources, profile, profile->rows[i]));
	return json_or_null_after_failure(array, failures);
}

int json_put(json_t *value, FILE *to)
{
	int err = write_json_and_free(value, write_json_with_del_escaped, JSON_INDENT(2), to);

	if (!err)
		fputc('\n', to);
	return err;
}

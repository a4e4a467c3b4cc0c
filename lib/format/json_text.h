/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of JSON output that several commands share. Functions that return json_t return NULL
 * without memory. The output is ASCII, so that every reader gets the same text and no terminal
 * interprets it: other characters and DEL are escaped.
 */
#ifndef LIB_FORMAT_JSON_TEXT_H
#define LIB_FORMAT_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "report/profile/profile.h"
#include "trace/event.h"

/* Makes a JSON string of a text from an untrusted file: bytes that are not UTF-8 become `?`. */
json_t *json_text(const char *text);

/* Writes the JSON string of json_text() directly, for output that is too large to be built in
 * memory first. -ENOMEM. */
int json_put_text(const char *text, FILE *to);

/* Makes the object {"produced", "recorded", "counted_only", "lost": {cause: n}} of a ledger. */
json_t *json_event_counts_of_ledger(const struct trace_ledger *ledger);

/*
 * The object of json_event_counts_of_ledger(), with {"user_stacks": {"complete", "stops": {reason:
 * n}, "reasons": {reason: n}}}. `ledger` NULL: the JSON value null, for a recording without a
 * ledger.
 */
json_t *json_ledger(const struct trace_ledger *ledger);

/* Makes the array of the function names of a path, innermost first, without markers. */
json_t *json_names_of_stack_path(const struct profile *profile, const struct profile_path *path);

/* Sets the member `key` to the array of the path's names. If outer frames are missing, the member
 * `key`_cut gives the reason. Not 0 without memory. */
int json_set_names_of_stack_path(json_t *object, const char *key, const struct profile *profile,
				 const struct profile_path *path);

/* Sets the member "standard_error" if the event's values are estimates (report/profile/profile.h).
 * 0 or -1. */
int json_set_standard_error(json_t *object, const char *event, u64 estimates);

/*
 * The array [{"count", "value", "event", "comm", "kernel": [names], "user": [names]}] of the first
 * `limit` rows, hottest first; with "cgroup" if the profile is split by cgroups. If outer frames of
 * a stack are missing, "kernel_cut" or "user_cut" gives the reason.
 */
json_t *json_stacks(const struct trace_reader *reader, const struct profile *profile, u64 limit);

/* Writes the JSON `value` and frees it; NULL gives -ENOMEM. The caller checks the stream `to` for
 * errors. */
int json_put(json_t *value, FILE *to);

/* Writes the JSON `value` in one line and frees it, for JSON inside of HTML: the characters of
 * markup are escaped, too. */
int json_put_for_page(json_t *value, FILE *to);

#endif

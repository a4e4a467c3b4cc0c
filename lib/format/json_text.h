/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of JSON output that several commands share. A function that returns json_t returns NULL
 * without memory. What is written is ASCII, so that it is the same text for every reader and does
 * nothing to a terminal: other characters and DEL are escaped. */
#ifndef LIB_FORMAT_JSON_TEXT_H
#define LIB_FORMAT_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "report/profile/profile.h"
#include "trace/event.h"

/* A string from a foreign file: bytes that are not UTF-8 become `?`. */
json_t *json_text(const char *text);

/* The same, written at once, for output that is too large to be put together first. -ENOMEM. */
int json_put_text(const char *text, FILE *to);

/* {"produced", "recorded", "lost": {cause: n}}. */
json_t *json_account(const struct trace_ledger *ledger);

/* The same, of a recording, and {"user_stacks": {"complete", "stops": {reason: n},
 * "reasons": {reason: n}}}; null for NULL: the recording has no ledger. */
json_t *json_ledger(const struct trace_ledger *ledger);

/* [names], innermost first; a marker is none of them. */
json_t *json_path(const struct profile *profile, const struct profile_path *path);

/* [{"count", "value", "event", "comm", "kernel": [names], "user": [names]}], hottest first, `limit`
 * of them; with "cgroup" if the profile is split by it. A stack that misses its outer end also has
 * "kernel_cut" or "user_cut": why. */
json_t *json_stacks(const struct trace_reader *reader, const struct profile *profile, u64 limit);

/* Takes over `value`; NULL gives -ENOMEM. Errors of `to` are left to the caller. */
int json_put(json_t *value, FILE *to);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger as text. */
#ifndef CLI_LEDGER_TEXT_H
#define CLI_LEDGER_TEXT_H

#include <stdio.h>

#include "capture/capture.h"
#include "capture/instance/self_stop.h"
#include "trace/event.h"

/* Each line starts with `prefix`. */
void ledger_print(const struct trace_ledger *ledger, const char *prefix, FILE *to);

/* Formats one line, cut to `bytes`: "12 events = 9 recorded + 3 lost: 2 ring_full, 1 nested". */
void ledger_line(const struct trace_ledger *ledger, char *text, size_t bytes);

/* The stop of an instance by an event (capture/instance/self_stop.h), as text. */

/* Reports the event by which an instance has stopped itself, if one has. */
void self_stop_tell(struct capture *capture, const char *instance);

/* The same for a process that looks again and again: each stop is reported once. *told: 0 before
 * the first look. */
void self_stop_tell_once(struct capture *capture, const char *instance, u64 *told);

/* "2026-11-29 12:00:00.123456", local time; cut to `bytes`. Returns `text`. */
const char *self_stop_time(const struct self_stop *stop, char *text, size_t bytes);

#endif

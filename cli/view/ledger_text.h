/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger, which accounts for all events of a recording, as text. */
#ifndef CLI_LEDGER_TEXT_H
#define CLI_LEDGER_TEXT_H

#include <stdio.h>

#include "capture/capture.h"
#include "capture/instance/self_stop.h"
#include "trace/event.h"

/* Prints the ledger. Each line starts with `prefix`. */
void ledger_print(const struct trace_ledger *ledger, const char *prefix, FILE *to);

/*
 * Formats the ledger as one line, cut to `bytes`: "12 events = 9 recorded + 3 lost: 2 ring_full, 1
 * nested".
 */
void ledger_format_line(const struct trace_ledger *ledger, char *text, size_t bytes);

/* Texts about an instance that an event has stopped (capture/instance/self_stop.h). */

/* If an event has stopped the instance, reports this event. */
void report_self_stop_of_instance(struct capture *capture, const char *instance);

/*
 * Reports the event that has stopped an instance, for a process that calls the function repeatedly:
 * each stop is reported once. *told is 0 before the first call.
 */
void report_new_self_stop(struct capture *capture, const char *instance, u64 *told);

/*
 * Formats the time of the stop, as "2026-11-29 12:00:00.123456", local time; cut to `bytes`.
 * Returns `text`.
 */
const char *format_time_of_self_stop(const struct self_stop *stop, char *text, size_t bytes);

#endif

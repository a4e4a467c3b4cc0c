/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger as text. */
#ifndef CLI_LEDGER_TEXT_H
#define CLI_LEDGER_TEXT_H

#include <stdio.h>

#include "trace/event.h"

/* Each line starts with `prefix`. */
void ledger_print(const struct trace_ledger *ledger, const char *prefix, FILE *to);

/* Formats one line, cut to `bytes`: "12 events = 9 recorded + 3 lost: 2 ring_full, 1 nested". */
void ledger_line(const struct trace_ledger *ledger, char *text, size_t bytes);

#endif

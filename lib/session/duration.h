/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Durations and points in time, as words of options. */
#ifndef LIB_SESSION_DURATION_H
#define LIB_SESSION_DURATION_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"

/* Parses a duration: "500ms", "60s", "10min", "2h"; not 0. False: the word has another form. */
bool duration_parse_ms(const char *word, u64 *ms);

/*
 * Parses a point in time (option --at) to ns since 1970:
 *
 *   12:00  12:00:30               the next moment when the clock shows this time
 *   2026-11-28T12:00  ...T12:00:30   this moment
 *
 * Times are in the machine's time zone, or in UTC with Z at the end. `now`: seconds since 1970.
 * -EINVAL: the word has another form; -ERANGE: the time has passed, or is later than 2554.
 */
int instant_parse(const char *word, u64 now, u64 *instant, struct stackmap_error *error);

/* Waits until this point in time, also if the clock is set meanwhile. -EINTR (lib/interrupt.h). */
int instant_await(u64 instant);

#endif

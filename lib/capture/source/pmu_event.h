/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses events of a PMU, a counting unit of the hardware or of the kernel, that are written by the
 * PMU's own terms as in perf:
 *
 *   PMU/TERM,TERM.../      TERM: FIELD=NUMBER, FIELD, NAME, config=NUMBER, config1=, config2=,
 *                          period=NUMBER, freq=NUMBER
 *   rHEX                   the event with this number in the PMU of the CPU
 *
 * The kernel describes each PMU in a folder: `type` is its number, format/FIELD says which bits of
 * which word hold a field, and events/NAME has the terms of an event (Linux,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events).
 */
#ifndef LIB_CAPTURE_PMU_EVENT_H
#define LIB_CAPTURE_PMU_EVENT_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"

#define PMU_FOLDERS "/sys/bus/event_source/devices"
#define PMU_WORDS 3 /* the words config, config1 and config2 of perf_event_attr */

struct pmu_event {
	u32 type;
	u64 config[PMU_WORDS];
	u64 period, frequency; /* period or frequency from the terms; 0: the terms do not have it */
};

/* If `word` begins with a PMU's event, returns the end of the event: the text after the second
 * slash, or the end of `word`. NULL: the word does not begin with a PMU's event, and a period or an
 * option follows its first slash. */
const char *pmu_event_end(const char *word);

/* True if the word is a raw event: r and hexadecimal digits, up to the end or a colon. */
bool pmu_event_is_raw(const char *word);

/*
 * Parses "PMU/TERMS" or "rHEX". `folders`: PMU_FOLDERS, or a copy of it. Errors begin with
 * `subject`. -EINVAL: bad terms; -ENOENT: no such PMU, field or event; -ERANGE: the number has more
 * bits than its field; -EOPNOTSUPP: the PMU counts without samples, or the field lies in a word
 * that is not known.
 */
int pmu_event_parse(const char *folders, const char *word, const char *subject,
		    struct pmu_event *out, struct stackmap_error *error);

/* Calls each() with "PMU/NAME/" for all named events of all PMUs that take samples. Stops at the
 * first non-zero return and returns it. */
int pmu_event_each(const char *folders, int (*each)(void *arg, const char *word), void *arg);

#endif

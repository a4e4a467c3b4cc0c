/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that are a sample by value (abi/question.h), such as those of `record --leaks-every`. The
 * sum of the sample's values estimates the sum of all events' values.
 *
 * A thing of value v below `every` is taken with the probability p = v / every, and counts as
 * `every`. The variance of the thing's part of the sum is v * every - v^2, which is less than
 * p * every^2. The number of events that count as `every`, times every^2, is therefore an estimate
 * of an upper bound of the sum's variance. A thing of a larger value is always taken and adds no
 * variance.
 */
#ifndef LIB_REPORT_SAMPLED_H
#define LIB_REPORT_SAMPLED_H

#include "trace/event.h"

/* The number `every` in a source's name; 0: the source's events are not a sample. */
u64 sampled_every(const char *name);

/* The number of events of `event` whose value is an estimate: all if the event stands for several.
 */
static inline u64 sampled_estimates(u64 every, const struct trace_event *event)
{
	u64 events = event_stands_for(event);

	return every && (events > 1 || event->value == every) ? events : 0;
}

/* The standard error of a sum of `estimates` estimates, rounded up. */
u64 sampled_error(u64 every, u64 estimates);

#endif

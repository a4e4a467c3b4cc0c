/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that are a sample by their value (abi/question.h), as those of `record --leaks-every`. The
 * sum of their values is an estimate of that of all events.
 *
 * A thing of value v below `every` is taken with the probability v / every and counts as `every`.
 * The variance of its part of the sum is v * every - v^2, which is less than every^2 times this
 * probability: the number of events that count as `every`, times every^2, estimates an upper bound
 * of the sum's variance. A thing of a larger value is always taken.
 */
#ifndef LIB_REPORT_SAMPLED_H
#define LIB_REPORT_SAMPLED_H

#include "trace/event.h"

/* The number of a source by its name; 0: its events are no sample. */
u64 sampled_every(const char *name);

/* The number of events whose value is an estimate; of an event that stands for several, all. */
static inline u64 sampled_estimates(u64 every, const struct trace_event *event)
{
	u64 events = event_stands_for(event);

	return every && (events > 1 || event->value == every) ? events : 0;
}

/* The standard error of a sum with so many estimates, rounded up. */
u64 sampled_error(u64 every, u64 estimates);

#endif

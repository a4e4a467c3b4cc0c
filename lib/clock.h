/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a clock as one number, in ns or ms. */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <time.h>

#include "scalar.h"

#define NS_PER_MS 1000000ULL

static inline u64 clock_ns(clockid_t clock)
{
	struct timespec now = {};

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Returns CLOCK_MONOTONIC in ms, for durations and deadlines. */
static inline u64 clock_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

#endif

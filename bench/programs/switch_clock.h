/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sums of a thread in the map of switch_clock.bpf.c. */
#ifndef BENCH_SWITCH_CLOCK_H
#define BENCH_SWITCH_CLOCK_H

#include "scalar.h"

/* Sums over the thread's turns on a CPU, ns. A turn whose beginning was not seen is in none of
 * them. */
struct switch_clock {
	u64 by_kernel; /* by the clock of the run queue, as it stood at the switches */
	u64 by_read;   /* by CLOCK_MONOTONIC, as read at the tracepoints */
	u64 turns;
	/* begin of the turn that goes on, by each of both clocks; began_read 0: no turn goes on */
	u64 began_kernel, began_read;
};

#endif

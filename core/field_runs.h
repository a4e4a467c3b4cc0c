/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts how often the first of two programs at one tracepoint was skipped, on one CPU. The kernel
 * skips the first program now and then, and never the second, which follows it. Each run of the
 * first adds one to `ahead`, each run of the second takes one out: a run of the second that finds
 * no run to take counts a skip. Interrupts may have pairs of their own between the two, so the
 * number of skips is exact, but not which event was skipped.
 *
 * The first program is attached before the second one. Only the last of its runs before the
 * second's first run counts. If the programs are not detached in order, skips behind the first
 * one's last run may be of a program that was gone: they are `unsure`.
 *
 * If the second program is already running on the CPU, the kernel does not run it again; the
 * partner of that run stays in `ahead` for good, and the kernel counts the miss: see
 * lib/capture/load/attach.h.
 */
#ifndef CORE_FIELD_RUNS_H
#define CORE_FIELD_RUNS_H

#include <stdbool.h>

#include "config.h"
#include "env.h"

CORE_PART void field_runs_first(struct field_runs *runs)
{
	atomic_add_relaxed(&runs->ahead, 1);
	if (runs->unsure)
		atomic_add_relaxed(&runs->skipped, atomic_exchange_acq_rel(&runs->unsure, 0));
}

/* Takes a run of the first program out of `ahead`; false: the first program was skipped. */
CORE_PART bool field_runs_take(struct field_runs *runs)
{
	if (!runs->is_followed) {
		runs->is_followed = 1;
		return atomic_exchange_acq_rel(&runs->ahead, 0);
	}
	if ((s64)atomic_fetch_add_acq_rel(&runs->ahead, -1) > 0)
		return true;
	atomic_add_relaxed(&runs->ahead, 1);
	return false;
}

CORE_PART void field_runs_second(struct field_runs *runs)
{
	if (!field_runs_take(runs))
		atomic_add_relaxed(&runs->unsure, 1);
}

#endif

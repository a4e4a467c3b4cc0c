/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two programs at one tracepoint, on one CPU: the first one is skipped now and then, the second,
 * which follows it, is not. Each run of the first puts one into `ahead`, each of the second takes
 * one out: where there is none, the first was skipped. Interrupts may have pairs of their own
 * between the two: it is always known how many were skipped, if not which.
 *
 * The first is attached before the second, so what it ran until the second's first run counts for
 * nothing but that run. Where nobody detaches them in order, skips behind the first one's last run
 * may be of a program that was gone: they are `unsure`.
 *
 * Runs of the second that the kernel did not make, as it was running there already, leave their
 * partner in `ahead` for good, and are in the kernel's own count: see
 * lib/capture/load/attach_field_value.h.
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

/* Whether the first has run. */
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

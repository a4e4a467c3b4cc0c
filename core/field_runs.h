/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts, on one CPU, how often the kernel skipped the first of two programs at one tracepoint. The
 * kernel skips the first program now and then, and never the second program, which runs directly
 * after it. Each run of the first program adds one to `ahead`, and each run of the second program
 * takes one away. If `ahead` is 0 at a run of the second program, the first program was skipped. An
 * interrupt between the two runs may run both programs, too. The number of skips is exact, but not
 * which event was skipped.
 *
 * The first program is attached before the second one, so it may run several times before the
 * second program's first run. Only the last of these runs counts. If the programs are not detached
 * in order, skips after the first program's last run may come from a program that was already
 * detached: these skips are `unsure`.
 *
 * If the second program is already running on the CPU, the kernel does not run it again. The
 * matching run of the first program then stays in `ahead`, and the kernel counts the miss: see
 * lib/capture/load/attach.h.
 */
#ifndef CORE_FIELD_RUNS_H
#define CORE_FIELD_RUNS_H

#include <stdbool.h>

#include "config.h"
#include "env.h"

CORE_PART void field_runs_count_first_program(struct field_runs *runs)
{
	atomic_add_relaxed(&runs->ahead, 1);
	if (runs->unsure)
		atomic_add_relaxed(&runs->skipped, atomic_exchange_acq_rel(&runs->unsure, 0));
}

/* Takes one run of the first program away from `ahead`. False: the first program was skipped. */
CORE_PART bool field_runs_take_run_of_first(struct field_runs *runs)
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

/* The first program was skipped before this run of the second one: `unsure` grows by one. */
CORE_PART void field_runs_count_skip(struct field_runs *runs)
{
	atomic_add_relaxed(&runs->unsure, 1);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The noise: the change of each row that two runs of an unchanged program have, too. */
#ifndef LIB_REPORT_COMPARISON_NOISE_H
#define LIB_REPORT_COMPARISON_NOISE_H

#include "comparison.h"

/*
 * Sets the noise of each row, in the unit of comparison_rank_change(). In 95 of 100 comparisons of
 * a program that has not changed, each row's change is within its noise. Lost events may belong to
 * any row, so they widen the noise. The noise stays NAN for all rows if a side has less than two
 * units. The comparison must have been created of the same lists and units. -ENOMEM.
 */
int comparison_find_noise(const struct compared_list lists[COMPARISON_SIDES],
			  const struct compared_units units[COMPARISON_SIDES],
			  struct comparison *comparison);

#endif

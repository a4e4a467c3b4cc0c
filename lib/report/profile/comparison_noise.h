/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of each row's change that two runs of one program have as well. */
#ifndef LIB_REPORT_COMPARISON_NOISE_H
#define LIB_REPORT_COMPARISON_NOISE_H

#include "comparison.h"

/*
 * Sets the noise of each row, in the unit of comparison_rank_change(). In 95 of 100 comparisons of
 * a program that has not changed, each row's change is within its noise. Lost events may have been
 * of any row, and widen it. It stays NAN for all rows if a side has less than two units. The lists
 * and units are those that the comparison was created of. -ENOMEM.
 */
int comparison_find_noise(const struct compared_list lists[COMPARISON_SIDES],
			  const struct compared_units units[COMPARISON_SIDES],
			  struct comparison *comparison);

#endif

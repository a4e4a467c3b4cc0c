/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The result of `stackmap diff`, as input of the printers. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "names.h"
#include "recording.h"
#include "report.h"
#include "report/profile/comparison.h"

#define UNIT_SECOND "second" /* value of --per: the seconds that a recording lasted */
#define DIFF_CELL_ROOM 16

struct diff_values {
	struct recording_values recording;
	struct names_values names;
	const char *sort, *by, *per, *min_percent;
	u64 top;
	bool stacks, children, json, csv, no_pager;
};

struct diff {
	const struct diff_values *values;
	struct report_fields fields;
	struct recording_choice choice[COMPARISON_SIDES];
	struct report side[COMPARISON_SIDES];
	double units[COMPARISON_SIDES];		      /* divisors of the amounts: 1 without --per */
	struct report_table *table[COMPARISON_SIDES]; /* NULL with --stacks */
	struct compared_list list[COMPARISON_SIDES];
	struct comparison *comparison;
	const char *source; /* of events, the last that was met */
	bool many_sources;
	double least;
	u64 limit;
};

static inline bool diff_has_event_key(const struct diff *diff)
{
	return diff->fields.keys & 1U << TABLE_EVENT;
}

/* A number is formatted into `room`. */
const char *diff_cell_text(const struct diff *diff, enum comparison_side side,
			   const struct table_row *row, enum table_key key,
			   char room[DIFF_CELL_ROOM]);

/* 0 or -errno; main() checks standard output later. */
int diff_print(const struct diff *diff);

#endif

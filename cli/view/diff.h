/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recordings that `stackmap diff` compares, and its result as input of the printers. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "names.h"
#include "recording.h"
#include "report.h"
#include "report/profile/comparison.h"

#define UNIT_SECOND "second" /* value of --per: the seconds that a recording lasted */
#define DIFF_CELL_ROOM 16
#define DIFF_RECORDINGS_MAX 64 /* most recordings of a side */
/* number of time slices of a side's only recording; even, since neighbours are pairs */
#define DIFF_SLICES 48

struct diff_values {
	struct recording_values recording;
	struct names_values names;
	const char *sort, *by, *per, *min_percent;
	u64 top;
	bool stacks, children, noise, json, csv, no_pager;
};

/* One recording of a side. */
struct diff_part {
	struct recording_choice choice;
	struct report report;
	struct time_slices slices; /* time slices of the side's only recording; count 0: the side
				      has several recordings */
	/* table of the recording's functions or keys; NULL with --stacks */
	struct report_table *table;
	u32 first_unit; /* number of the unit (struct compared_units) of the recording's first slice
			 */
	double *scales; /* by kind: factor of the source's amounts, events produced / events in the
			   file */
};

/* The recording (number of the diff_part) and the row in it that a compared item is made from. */
struct diff_place {
	u32 part, row;
};

struct diff_side {
	const char *name;
	struct diff_part *parts[DIFF_RECORDINGS_MAX];
	u32 part_count;
	u32 missing; /* number of recordings of a folder that could not be read */
	/* number of events produced, and of events lost: count_lost_events_of_ledger(); both for
	 * the time that the files cover */
	u64 produced, lost;
	struct diff_place *places; /* place of each item of the side's compared_list; index: number
				      of the item */
};

/* A source of events, which is known by its name: each recording has its own numbers of sources. */
struct diff_source {
	const char *name;
	enum profile_weight by;
	u64 counts[COMPARISON_SIDES], totals[COMPARISON_SIDES];
	double amounts[COMPARISON_SIDES]; /* `totals`, scaled up by the lost events */
	u64 lost[COMPARISON_SIDES]; /* lost events of the source: sum of compared_lost_of_source()
				       over the side's recordings */
};

struct diff {
	const struct diff_values *values;
	struct report_fields fields;
	struct diff_side side[COMPARISON_SIDES];
	struct diff_source *sources;
	u32 source_count, source_room;
	struct compared_list list[COMPARISON_SIDES];
	struct compared_units units[COMPARISON_SIDES];
	struct comparison *comparison;
	bool many_sources; /* true: several sources have events */
	double least;
	u64 limit;
};

static inline bool diff_has_event_key(const struct diff *diff)
{
	return diff->fields.keys & 1U << TABLE_EVENT;
}

static inline const struct diff_place *diff_place_of(const struct diff *diff,
						     const struct comparison_row *row)
{
	return &diff->side[row->side].places[row->index];
}

static inline const struct diff_part *diff_part_of(const struct diff *diff,
						   const struct comparison_row *row)
{
	return diff->side[row->side].parts[diff_place_of(diff, row)->part];
}

/* Chooses the recordings of both sides by the operands. 0, or -EINVAL and a message. */
int diff_choose(const struct diff_values *values, int count, char **operands, struct diff *diff);

/* Opens the recordings of both sides. EXIT_DONE, or EXIT_FAILED and a message. */
int diff_open(struct diff *diff);

/* Closes what is open and reports damage. EXIT_DONE, or EXIT_FAILED: a recording is damaged or
 * missing, or `err` is not 0 (`error` has the reason). */
int diff_close(struct diff *diff, int err, const struct stackmap_error *error);

/* Returns the text of a key of the row. A number is formatted into `room`. */
const char *diff_cell_text(const struct diff_part *part, const struct table_row *row,
			   enum table_key key, char room[DIFF_CELL_ROOM]);

/* Prints the comparison as text, CSV or JSON. 0 or -errno; main() checks standard output later. */
int diff_print(const struct diff *diff);

#endif

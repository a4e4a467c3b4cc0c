/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recordings of the two sides of a comparison: an operand is a recording, a folder of them, or
 * a list of both with commas. Each recording is read by itself, since the scatter between them is
 * the noise of the comparison; a folder with very many is merged into one.
 */
#include "diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "terminal/message.h"

static struct diff_part *add_recording_to_side(struct diff_side *side)
{
	struct diff_part *part = calloc(1, sizeof(*part));

	if (!part)
		message("diff: %s", strerror(ENOMEM));
	else
		side->parts[side->part_count++] = part;
	return part;
}

static int choose_sides_from_store(const struct diff_values *values, int count, char **operands,
				   struct diff *diff)
{
	const struct recording_values *recording = &values->recording;
	struct diff_part *before = add_recording_to_side(&diff->side[BEFORE]);
	struct diff_part *after = add_recording_to_side(&diff->side[AFTER]);

	if (!before || !after)
		return -EINVAL;
	if (count != 1) {
		message("diff --from: one operand is needed, the second value of --version, --host "
			"or --since");
		return -EINVAL;
	}
	if (!values->stacks && report_fields_check_store(&diff->fields))
		return -EINVAL;
	if (choose_recording_by_options(recording, operands + count, &before->choice) ||
	    recording_choose_second(recording, operands, &after->choice))
		return -EINVAL;
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		struct store_question *question = &diff->side[side].parts[0]->choice.store.question;

		question->no_inlined = values->names.no_inline;
		question->by_cgroup = diff->fields.keys & 1U << TABLE_CGROUP;
		diff->side[side].name = diff->side[side].parts[0]->choice.name;
	}
	return 0;
}

/* The second side may be an instance in its current state. */
int diff_choose(const struct diff_values *values, int count, char **operands, struct diff *diff)
{
	if (values->recording.from.url)
		return choose_sides_from_store(values, count, operands, diff);
	if (count + (values->recording.instance != NULL) != COMPARISON_SIDES) {
		message("diff: two recordings are needed, BEFORE and AFTER, see 'stackmap help "
			"diff'");
		return -EINVAL;
	}
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		struct recording_values recording = values->recording;
		struct diff_part *part = add_recording_to_side(&diff->side[side]);

		if (side == BEFORE)
			recording.instance = NULL;
		if (!part ||
		    choose_recording_by_options(&recording, operands + side, &part->choice))
			return -EINVAL;
		diff->side[side].name = part->choice.name;
	}
	return 0;
}

/* The first recording of a side has the choice (file names, filter) of the whole side. */
static int move_recordings_of_list_to_side(struct diff_side *side, struct recording_list *list)
{
	struct diff_part *first = side->parts[0];
	struct stackmap_error error;

	for (u32 i = 0; i < list->count; i++) {
		struct diff_part *part = i ? add_recording_to_side(side) : first;

		if (!part)
			return EXIT_FAILED;
		part->choice.filter = first->choice.filter;
		part->choice.filter.use = &part->choice.use;
		part->choice.name = trace_reader_name(list->readers[i]);
		part->report.reader = list->readers[i];
		list->readers[i] = NULL;
		if (event_filter_check(&part->choice.filter, part->report.reader, &error))
			return print_error_message(&error);
		if (first->choice.value &&
		    trace_reader_choose_value(part->report.reader, first->choice.value, &error))
			return print_error_message(&error);
	}
	return EXIT_DONE;
}

static int open_side(struct diff_side *side)
{
	struct diff_part *first = side->parts[0];
	struct recording_list list;
	int status;

	if (!first->choice.from && !first->choice.is_instance) {
		status = recordings_open_all(side->name, &list);
		if (status)
			return status;
		if (list.count <= DIFF_RECORDINGS_MAX) {
			side->missing = list.missing;
			status = move_recordings_of_list_to_side(side, &list);
			recording_list_clear(&list);
			return status;
		}
		recording_list_clear(&list);
		if (!recording_list_is_folder(side->name)) {
			message("diff: %s: at most %u recordings, 'stackmap merge' makes fewer of "
				"them",
				side->name, DIFF_RECORDINGS_MAX);
			return EXIT_FAILED;
		}
	}
	first->report.reader = recording_open(&first->choice);
	return first->report.reader ? EXIT_DONE : EXIT_FAILED;
}

int diff_open(struct diff *diff)
{
	return open_side(&diff->side[BEFORE]) ?: open_side(&diff->side[AFTER]);
}

int diff_close(struct diff *diff, int err, const struct stackmap_error *error)
{
	int status = EXIT_DONE;

	for (u32 i = BEFORE; i < COMPARISON_SIDES; i++) {
		struct diff_side *side = &diff->side[i];
		bool passed = false;

		/*
		 * One of several recordings may have no event that the filter chooses, so
		 * recording_close() must not report that.
		 */
		for (u32 p = 0; p < side->part_count; p++)
			passed |= side->parts[p]->choice.use.passed;
		for (u32 p = 0; p < side->part_count; p++)
			side->parts[p]->choice.use.passed |= passed;
		for (u32 p = 0; p < side->part_count; p++) {
			struct diff_part *part = side->parts[p];

			if (part->report.reader) {
				status = recording_close(&part->report.reader, &part->choice, err,
							 error)
						 ?: status;
				err = 0;
			}
			free(part->scales);
			free(part);
		}
		if (side->missing)
			status = EXIT_FAILED;
	}
	return status;
}

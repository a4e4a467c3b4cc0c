/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flamegraph/source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

void source_lines_init(struct source_lines *lines)
{
	*lines = (struct source_lines){
		.files = TEXT_SET, .shown_files = TEXT_SET, .lines = INTERN(struct source_line)};
}

void source_lines_clear(struct source_lines *lines)
{
	text_set_clear(&lines->files);
	text_set_clear(&lines->shown_files);
	intern_clear(&lines->lines);
	free(lines->shown);
	lines->shown = NULL;
}

int source_lines_add(struct source_lines *lines, const struct tree_frame *frame, const char *file,
		     u32 number, u64 count)
{
	const char *text = text_set_intern(&lines->files, file);
	struct intern_key key = {
		{intern_word_of_address(frame), intern_word_of_address(text), number}};
	struct source_line *line = text ? intern_find_or_add_entry(&lines->lines, &key) : NULL;

	if (!line)
		return -ENOMEM;
	line->frame = frame;
	line->file = text;
	line->line = number;
	line->count += count;
	return 0;
}

static int compare_by_frame_and_count(const void *left, const void *right)
{
	const struct source_line *a = left, *b = right;

	return order(a->frame->number, b->frame->number) ?: order(!a->file, !b->file)
		       ?: order(b->count, a->count) ?: (a->file ? strcmp(a->file, b->file) : 0)
		       ?: order(a->line, b->line);
}

static int compare_by_events_of_frame(const void *left, const void *right)
{
	const struct source_line *a = left, *b = right;

	return order(b->whole, a->whole) ?: compare_by_frame_and_count(left, right);
}

/* Keeps the first lines of each frame, and adds one line for the sum of the frame's other lines.
 * The lines are sorted by frame. */
static u32 sum_rare_lines_of_each_frame(struct source_line *lines, u32 count)
{
	u32 kept = 0, of_frame = 0;

	for (u32 i = 0; i < count; i++) {
		const struct source_line line = lines[i];

		of_frame = i && lines[kept - 1].frame == line.frame ? of_frame + 1 : 0;
		if (of_frame > LINES_OF_FRAME_MAX) {
			lines[kept - 1].count += line.count;
			lines[kept - 1].line++;
			continue;
		}
		lines[kept] = line;
		if (of_frame == LINES_OF_FRAME_MAX) {
			lines[kept].file = NULL;
			lines[kept].line = 1;
		}
		kept++;
	}
	return kept;
}

/* Keeps either all lines of a frame or no lines, so that the lines of a shown frame add up to the
 * frame. */
static u32 drop_frames_beyond_line_limit(struct source_line *lines, u32 count)
{
	u32 kept = LINES_MAX;
	u64 whole = 0;

	if (count <= LINES_MAX)
		return count;
	for (u32 i = 0, first = 0; i < count; i++) {
		whole += lines[i].count;
		if (i + 1 < count && lines[i + 1].frame == lines[i].frame)
			continue;
		for (; first <= i; first++)
			lines[first].whole = whole;
		whole = 0;
	}
	qsort(lines, count, sizeof(*lines), compare_by_events_of_frame);
	while (kept && lines[kept].frame == lines[kept - 1].frame)
		kept--;
	qsort(lines, kept, sizeof(*lines), compare_by_frame_and_count);
	return kept;
}

int source_lines_choose(struct source_lines *lines)
{
	u32 count = lines->lines.count;
	struct source_line *shown = calloc(count + 1UL, sizeof(*shown));

	lines->shown = shown;
	if (!shown)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		shown[i] = *(const struct source_line *)lines->lines.entries[i];
	qsort(shown, count, sizeof(*shown), compare_by_frame_and_count);
	lines->shown_count =
		drop_frames_beyond_line_limit(shown, sum_rare_lines_of_each_frame(shown, count));
	for (u32 i = 0; i < lines->shown_count; i++)
		if (shown[i].file && !text_set_intern(&lines->shown_files, shown[i].file))
			return -ENOMEM;
	return 0;
}

/* --- the addresses of events --- */

struct address {
	struct intern_key key; /* the key of an address: its frame; 1 if it is a return address */
	u64 events;
};

struct address_counts {
	const struct trace_stack *stacks;
	u32 stack_count;
	/* by stack: number of events whose leaf does not belong to this part (kernel or user), and
	 * of events whose leaf does */
	u64 (*events)[2];
	struct intern addresses;
};

int address_counts_create(struct trace_reader *reader, struct address_counts **out)
{
	struct address_counts *counts = calloc(1, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	counts->addresses = INTERN(struct address);
	counts->stack_count = trace_reader_stacks(reader, &counts->stacks);
	counts->events = calloc(counts->stack_count + 1UL, sizeof(*counts->events));
	*out = counts;
	if (counts->events)
		return 0;
	address_counts_free(out);
	return -ENOMEM;
}

void address_counts_free(struct address_counts **counts)
{
	if (!*counts)
		return;
	intern_clear(&(*counts)->addresses);
	free((*counts)->events);
	free(*counts);
	*counts = NULL;
}

static int count_address(struct address_counts *counts, u64 frame, bool return_address, u64 events)
{
	struct address *address = intern_find_or_add_entry(
		&counts->addresses, &(struct intern_key){{frame, return_address}});

	if (!address)
		return -ENOMEM;
	address->events += events;
	return 0;
}

int address_counts_add(struct address_counts *counts, const struct trace_event *event, u64 events)
{
	bool in_kernel = FRAME_IS_KERNEL(event->leaf);

	if (event->user != TRACE_NO_STACK)
		counts->events[event->user][event->leaf && !in_kernel] += events;
	if (event->kernel != TRACE_NO_STACK)
		counts->events[event->kernel][event->leaf && in_kernel] += events;
	return event->leaf ? count_address(counts, event->leaf, false, events) : 0;
}

int address_counts_each(struct address_counts *counts,
			int (*each)(void *arg, u64 frame, bool return_address, u64 events),
			void *arg)
{
	int result = 0;

	for (u32 i = 0; i < counts->stack_count && !result; i++) {
		const struct trace_stack *stack = &counts->stacks[i];
		const u64 *events = counts->events[i];

		/* The first frame of a stack is a return address only if the event's leaf belongs
		 * to this part (kernel or user). */
		for (u32 below = 0; below < 2 && stack->depth && !result; below++)
			if (events[below])
				result = count_address(counts, stack->frames[0], below,
						       events[below]);
		for (u32 j = 1; events[0] + events[1] && j < stack->depth && !result; j++)
			result = count_address(counts, stack->frames[j], true,
					       events[0] + events[1]);
	}
	for (u32 i = 0; i < counts->addresses.count && !result; i++) {
		const struct address *address = counts->addresses.entries[i];

		result = each(arg, address->key.word[0], address->key.word[1], address->events);
	}
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines that a page has: few of each frame, and whole frames only. */
#include "flamegraph/source_lines.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static struct source_lines lines;
static struct tree_frame frames[LINES_MAX];

static int begin(void **state)
{
	(void)state;
	source_lines_init(&lines);
	for (u32 i = 0; i < LINES_MAX; i++)
		frames[i].number = i;
	return 0;
}

static int clear(void **state)
{
	(void)state;
	source_lines_clear(&lines);
	return 0;
}

static void add(u32 frame, const char *file, u32 line, u64 count)
{
	assert_int_equal(source_lines_add(&lines, &frames[frame], file, line, count), 0);
}

static void expect(u32 index, u32 frame, const char *file, u32 line, u64 count)
{
	const struct source_line *shown = &lines.shown[index];

	assert_int_equal(shown->frame->number, frame);
	assert_int_equal(shown->line, line);
	assert_int_equal(shown->count, count);
	if (file)
		assert_string_equal(shown->file, file);
	else
		assert_null(shown->file);
}

TEST(lines_with_most_events_come_first_and_others_are_one, begin, clear)
{
	for (u32 line = 1; line <= LINES_OF_FRAME_MAX + 3; line++)
		add(1, "a.c", line, line);
	add(0, "b.c", 7, 1);
	add(0, "a.c", 7, 2);
	add(0, "b.c", 7, 2);
	assert_int_equal(source_lines_choose(&lines), 0);
	assert_int_equal(lines.shown_count, 2 + LINES_OF_FRAME_MAX + 1);
	expect(0, 0, "b.c", 7, 3);
	expect(1, 0, "a.c", 7, 2);
	for (u32 i = 0; i < LINES_OF_FRAME_MAX; i++)
		expect(2 + i, 1, "a.c", LINES_OF_FRAME_MAX + 3 - i, LINES_OF_FRAME_MAX + 3 - i);
	expect(2 + LINES_OF_FRAME_MAX, 1, NULL, 3, 1 + 2 + 3);
}

/* Three lines of each frame do not fit. The frames with fewest events are left out, and the file
 * that only they have, too. */
TEST(frames_are_left_out_as_a_whole, begin, clear)
{
	u32 fit = LINES_MAX / 3;

	for (u32 i = 0; i < LINES_MAX; i++)
		for (u32 line = 1; line <= 3; line++)
			add(i, i < LINES_MAX - fit ? "cold.c" : "hot.c", line, 1 + i);
	assert_int_equal(source_lines_choose(&lines), 0);
	assert_int_equal(lines.shown_count, 3 * fit);
	for (u32 i = 0; i < 3 * fit; i++)
		expect(i, LINES_MAX - fit + i / 3, "hot.c", 1 + i % 3, 1 + LINES_MAX - fit + i / 3);
	assert_int_equal(lines.shown_files.count, 1);
}

TEST(no_lines_are_no_lines, begin, clear)
{
	assert_int_equal(source_lines_choose(&lines), 0);
	assert_int_equal(lines.shown_count, 0);
}

TEST_GROUP(NULL, NULL)

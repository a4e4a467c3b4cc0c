/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_stack_end REPORT_PAGE DATA_PAGE: every end has a name, ends of complete stacks are no cuts,
 * and the man pages list all: the first page the markers, the second one the names in their order.
 */
#include "report/event/stack_end.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static const struct stack_end *end_of(u32 flags)
{
	const struct trace_stack stack = {.flags = flags, .depth = 1};

	return stack_end_of(&stack, REASON_CHANGED);
}

TEST(whole_stacks_are_not_cut)
{
	assert_false(stack_end_is_cut(end_of(0)));
	assert_false(stack_end_is_cut(end_of(STACK_USER | STOP_ROOT << STACK_STOP_SHIFT)));
	assert_ptr_equal(end_of(STACK_USER), stack_end_of_stop(STOP_ROOT));
}

TEST(cut_stacks_have_the_stop_as_marker)
{
	assert_string_equal(end_of(STACK_TRUNCATED)->marker, "[truncated]");
	assert_true(stack_end_is_cut(end_of(STACK_TRUNCATED)));
	for (u32 stop = STOP_DEPTH; stop < STOP_COUNT; stop++) {
		const struct stack_end *end = end_of(STACK_USER | stop << STACK_STOP_SHIFT);

		assert_ptr_equal(end, stack_end_of_stop(stop));
		assert_true(stack_end_is_cut(end));
		assert_int_equal(end->marker[0], '[');
		assert_memory_equal(end->marker + 1, end->name, strlen(end->name));
		assert_string_equal(end->marker + 1 + strlen(end->name), "]");
	}
}

/* An event in user mode has no kernel stack, which is no loss. */
TEST(missing_stacks)
{
	static const bool is_cut[REASON_COUNT] = {
		[REASON_UNREADABLE] = true,
		[REASON_NO_ROOM] = true,
		[REASON_GONE] = true,
		[REASON_CHANGED] = true,
		[REASON_NO_STATE] = true,
		[REASON_ANSWER_LOST] = true,
		[REASON_ANSWER_OVERWRITTEN] = true,
		[REASON_UNANSWERED] = true,
		[REASON_BEFORE] = true,
	};

	for (u32 reason = 0; reason < REASON_COUNT; reason++) {
		const struct stack_end *end = stack_end_of(NULL, reason);

		assert_ptr_equal(end, stack_end_of_reason(reason));
		assert_int_equal(stack_end_is_cut(end), is_cut[reason]);
		assert_true(end->meaning[0]);
	}
	assert_string_equal(stack_end_of_reason(REASON_UNANSWERED)->name, "unanswered");
}

static const char *report_page, *data_page;

/* Returns the whole page as one line. */
static const char *text_of(const char *page)
{
	static char text[1 << 16];
	FILE *stream = fopen(page, "re");
	size_t bytes;

	assert_non_null(stream);
	bytes = fread(text, 1, sizeof(text) - 1, stream);
	fclose(stream);
	text[bytes] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return text;
}

static void check_marker(const char *text, const struct stack_end *end)
{
	if (stack_end_is_cut(end) && !strstr(text, end->marker))
		fail_msg("the page does not have %s", end->marker);
}

TEST(page_has_all_markers)
{
	const char *text = text_of(report_page);

	check_marker(text, end_of(STACK_TRUNCATED));
	for (u32 stop = 0; stop < STOP_COUNT; stop++)
		check_marker(text, stack_end_of_stop(stop));
	for (u32 reason = 0; reason < REASON_COUNT; reason++)
		check_marker(text, stack_end_of_reason(reason));
}

#define X(id, name, meaning) ", " name
static const char stop_list[] = STOP_REASONS(X), reason_list[] = STACK_REASONS(X);
#undef X

TEST(page_has_the_names_in_their_order)
{
	const char *text = text_of(data_page);

	assert_non_null(strstr(text, stop_list + 2));
	assert_non_null(strstr(text, reason_list + 2));
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	report_page = argv[1];
	data_page = argv[2];
	return unit_tests_run();
}

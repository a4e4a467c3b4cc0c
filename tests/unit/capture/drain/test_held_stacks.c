/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Raw stacks are kept in the order in which they came, and only the used part of each. */
#include <stdlib.h>
#include <string.h>

#include "capture/drain/held_stacks.h"
#include "unit_test.h"

#define STACK_BYTES 300
#define FRAMES 3
#define IN_FILE(offset) FRAME_USER(7, offset)
#define IN_GENERATED(offset) FRAME_USER(9, offset)
#define HELD_MAX (64U << 10)

/* A raw stack of exactly its size: the sanitizer sees a read behind it. */
static struct raw_stack *raw_of(u32 cookie)
{
	static volatile u32 used = STACK_BYTES; /* not known to the compiler, as in the product */
	struct raw_stack *raw = calloc(1, RAW_STACK_SIZE(used));

	assert_non_null(raw);
	raw->tid = 10;
	raw->cookie = cookie;
	raw->stack_bytes = STACK_BYTES;
	memset(raw->stack, (int)cookie, STACK_BYTES);
	return raw;
}

static void add(struct held_stacks *held, u32 cookie)
{
	static const struct unwound_stack first = {
		.depth = FRAMES,
		.flags = STACK_USER,
		.frame = {IN_FILE(1), IN_GENERATED(2), IN_FILE(3)},
	};
	struct raw_stack *raw = raw_of(cookie);

	assert_true(held_stacks_add(held, raw, &first, 100 + cookie));
	free(raw);
}

static void check(const struct held_stack *stack, u32 cookie)
{
	assert_non_null(stack);
	assert_int_equal(stack->number, 100 + cookie);
	assert_int_equal(stack->raw.cookie, cookie);
	assert_int_equal(stack->raw.stack[STACK_BYTES - 1], cookie);
}

TEST(order)
{
	struct held_stacks held = {.most = HELD_MAX};
	struct held_stack *stack, *next;

	assert_null(held_stacks_take_all(&held));
	for (u32 cookie = 1; cookie <= 3; cookie++)
		add(&held, cookie);
	assert_true(held_stacks_has(&held, 10, 2));
	assert_false(held_stacks_has(&held, 10, 4));
	assert_false(held_stacks_has(&held, 11, 2));

	/* The second one still waits, and a new one comes. */
	stack = held_stacks_take_all(&held);
	assert_null(held.first);
	for (u32 cookie = 1; cookie <= 3; cookie++, stack = next) {
		check(stack, cookie);
		next = stack->next;
		if (cookie == 2)
			held_stacks_append(&held, stack);
		else
			free(stack);
	}
	assert_null(stack);
	add(&held, 5);
	check(held.first, 2);
	check(held.first->next, 5);
	assert_null(held.first->next->next);
	held_stacks_clear(&held);
	assert_null(held.first);
	assert_int_equal(held.most, HELD_MAX);
}

TEST(limit)
{
	struct held_stacks held = {.most = HELD_MAX};
	u32 count = 0;

	while (!held_stacks_exceed_limit(&held))
		add(&held, ++count);
	assert_in_range(count, 2, HELD_MAX / RAW_STACK_SIZE(STACK_BYTES) + 1);
	held_stacks_clear(&held);
	assert_false(held_stacks_exceed_limit(&held));
}

static bool is_generated(void *argument, u64 frame)
{
	(void)argument;
	return FRAME_MAPPING(frame) == FRAME_MAPPING(IN_GENERATED(0));
}

/* Settles a later walk with these frames (0: no frame) and end, and compares the result with
 * `expected`. */
static void check_choice_of_two_unwindings(const u64 later[FRAMES + 1], u32 stop,
					   const u64 expected[FRAMES + 1])
{
	struct held_stacks held = {.most = HELD_MAX};
	struct unwound_stack *result = calloc(1, sizeof(*result));
	u32 depth = 0;

	assert_non_null(result);
	add(&held, 1);
	result->flags = stack_flags_of_stop(stop);
	while (result->depth <= FRAMES && later[result->depth]) {
		result->frame[result->depth] = later[result->depth];
		result->depth++;
	}
	held_stack_choose_better_unwinding(held.first, is_generated, NULL, result);
	for (; depth <= FRAMES && expected[depth]; depth++)
		assert_int_equal(result->frame[depth], expected[depth]);
	assert_int_equal(result->depth, depth);
	free(result);
	held_stacks_clear(&held);
}

TEST(later_walk)
{
	const u64 first[FRAMES + 1] = {IN_FILE(1), IN_GENERATED(2), IN_FILE(3)};
	const u64 longer[FRAMES + 1] = {IN_FILE(1), IN_GENERATED(2), IN_FILE(3), IN_FILE(4)};
	const u64 other[FRAMES + 1] = {IN_FILE(1), IN_FILE(20), IN_FILE(30), IN_FILE(40)};
	const u64 other_code[FRAMES + 1] = {IN_FILE(1), IN_GENERATED(2), IN_FILE(30), IN_FILE(40)};
	const u64 shorter[FRAMES + 1] = {IN_FILE(1), IN_GENERATED(2)};
	const u64 none[FRAMES + 1] = {0};

	check_choice_of_two_unwindings(longer, STOP_ROOT, longer);
	check_choice_of_two_unwindings(other, STOP_ROOT, other); /* rules of a file have come */
	check_choice_of_two_unwindings(other_code, STOP_ROOT, first);
	check_choice_of_two_unwindings(shorter, STOP_STACK_UNREADABLE, first);
	check_choice_of_two_unwindings(shorter, STOP_ROOT,
				       shorter); /* the first walk had guessed */
	check_choice_of_two_unwindings(none, STOP_STACK_UNREADABLE, first);
}

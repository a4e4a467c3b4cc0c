/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The writer's promises against a plain array of all of them. */
#include "trace/write/promise_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "recording.h"

#define INDEXES 20000U

struct model {
	bool given, answered;
	u32 waiting, gone_out;
	struct trace_answer answer;
};

static struct model model[INDEXES];

static bool is_kept(const struct model *promise)
{
	return promise->given && !(promise->answered && !promise->waiting);
}

static void check(const struct promise_set *set)
{
	u32 kept = 0;

	for (u32 i = 0; i < INDEXES; i++) {
		const struct promise *found = promise_set_find(set, i);

		assert_int_equal(promise_set_was_given(set, i), model[i].given);
		assert_int_equal(found != NULL, is_kept(&model[i]));
		if (!found)
			continue;
		assert_int_equal(found->waiting, model[i].waiting);
		assert_int_equal(found->answered, model[i].answered);
		kept++;
	}
	assert_int_equal(set->count, kept);
}

static void give(struct promise_set *set, u32 index)
{
	if (model[index].given)
		return;
	assert_int_equal(promise_set_add(set, index), 0);
	model[index].given = true;
}

static void answer(struct promise_set *set, u32 index)
{
	struct trace_answer with = {.stack = index / 2, .leaf = index % 3};
	bool needed;

	if (!model[index].given || model[index].answered)
		return;
	needed = promise_set_answer(set, index, &with);
	assert_int_equal(needed, model[index].gone_out > 0);
	model[index].answered = true;
	model[index].answer = with;
}

static void wait_for(struct promise_set *set, u32 index)
{
	struct promise *promise = promise_set_find(set, index);

	if (!promise || promise->answered)
		return;
	promise->waiting++;
	model[index].waiting++;
}

static void settle(struct promise_set *set, u32 index)
{
	struct trace_event event = {.kernel = TRACE_NO_STACK, .user = index};
	bool answered = model[index].answered;

	if (!model[index].waiting)
		return;
	promise_set_settle(set, &event, 1);
	model[index].waiting--;
	model[index].gone_out += !answered;
	assert_int_equal(event.user, answered ? index / 2 : index);
	assert_int_equal(event.leaf, answered ? index % 3 : 0);
}

static void test_random_steps(void **state)
{
	void (*const steps[])(struct promise_set *, u32) = {give, answer, wait_for, settle};
	struct random random = {.state = 5};
	struct promise_set set = {0};
	u32 index = 0;

	(void)state;
	memset(model, 0, sizeof(model));
	for (u32 i = 0; i < 1000000; i++) {
		if (i % 10 == 0)
			index = (u32)random_below(&random, INDEXES);
		steps[random_below(&random, 4)](&set, index);
		if (i % 100000 == 0)
			check(&set);
	}
	check(&set);
	promise_set_free(&set);
	assert_null(set.slots);
}

static void test_leaf_of_the_event_stays(void **state)
{
	struct trace_event event = {.user = 3, .leaf = FRAME_NARROW_TOP | 9};
	struct trace_answer with = {.stack = 1, .leaf = FRAME_USER(1, 2)};
	struct promise_set set = {0};

	(void)state;
	assert_int_equal(promise_set_add(&set, 3), 0);
	promise_set_find(&set, 3)->waiting++;
	assert_false(promise_set_answer(&set, 3, &with));
	promise_set_settle(&set, &event, 1);
	assert_int_equal(event.user, 1);
	assert_int_equal(event.leaf, FRAME_NARROW_TOP | 9);
	assert_int_equal(set.count, 0);
	promise_set_free(&set);
}

static void test_empty_set(void **state)
{
	struct promise_set set = {0};

	(void)state;
	assert_null(promise_set_find(&set, 0));
	assert_null(promise_set_find(&set, TRACE_NO_STACK));
	assert_false(promise_set_was_given(&set, TRACE_NO_STACK));
	promise_set_settle(&set, NULL, 0);
	promise_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_steps),
		cmocka_unit_test(test_leaf_of_the_event_stays),
		cmocka_unit_test(test_empty_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

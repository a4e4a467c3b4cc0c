/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The writer's placeholders against a plain array of all of them. */
#include "trace/write/placeholders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "recording.h"

#define INDEXES 20000U

struct model {
	bool given, resolved;
	u32 waiting, gone_out;
	struct trace_resolution resolution;
};

static struct model model[INDEXES];

static bool is_kept(const struct model *placeholder)
{
	return placeholder->given && !(placeholder->resolved && !placeholder->waiting);
}

static void check(const struct placeholders *set)
{
	u32 kept = 0;

	for (u32 i = 0; i < INDEXES; i++) {
		const struct placeholder *found = placeholders_find(set, i);

		assert_int_equal(placeholders_was_given(set, i), model[i].given);
		assert_int_equal(found != NULL, is_kept(&model[i]));
		if (!found)
			continue;
		assert_int_equal(found->waiting, model[i].waiting);
		assert_int_equal(found->resolved, model[i].resolved);
		kept++;
	}
	assert_int_equal(set->count, kept);
}

static void give(struct placeholders *set, u32 index)
{
	if (model[index].given)
		return;
	assert_int_equal(placeholders_add(set, index), 0);
	model[index].given = true;
}

static void resolve(struct placeholders *set, u32 index)
{
	struct trace_resolution with = {.stack = index / 2, .leaf = index % 3};
	bool needed;

	if (!model[index].given || model[index].resolved)
		return;
	needed = placeholders_resolve(set, index, &with);
	assert_int_equal(needed, model[index].gone_out > 0);
	model[index].resolved = true;
	model[index].resolution = with;
}

static void wait_for(struct placeholders *set, u32 index)
{
	struct placeholder *placeholder = placeholders_find(set, index);

	if (!placeholder || placeholder->resolved)
		return;
	placeholder->waiting++;
	model[index].waiting++;
}

static void settle(struct placeholders *set, u32 index)
{
	struct trace_event event = {.kernel = TRACE_NO_STACK, .user = index};
	bool resolved = model[index].resolved;

	if (!model[index].waiting)
		return;
	placeholders_settle(set, &event, 1);
	model[index].waiting--;
	model[index].gone_out += !resolved;
	assert_int_equal(event.user, resolved ? index / 2 : index);
	assert_int_equal(event.leaf, resolved ? index % 3 : 0);
}

static void test_random_steps(void **state)
{
	void (*const steps[])(struct placeholders *, u32) = {give, resolve, wait_for, settle};
	struct random random = {.state = 5};
	struct placeholders set = {0};
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
	placeholders_free(&set);
	assert_null(set.slots);
}

static void test_leaf_of_the_event_stays(void **state)
{
	struct trace_event event = {.user = 3, .leaf = FRAME_NARROW_TOP | 9};
	struct trace_resolution with = {.stack = 1, .leaf = FRAME_USER(1, 2)};
	struct placeholders set = {0};

	(void)state;
	assert_int_equal(placeholders_add(&set, 3), 0);
	placeholders_find(&set, 3)->waiting++;
	assert_false(placeholders_resolve(&set, 3, &with));
	placeholders_settle(&set, &event, 1);
	assert_int_equal(event.user, 1);
	assert_int_equal(event.leaf, FRAME_NARROW_TOP | 9);
	assert_int_equal(set.count, 0);
	placeholders_free(&set);
}

static void test_empty_set(void **state)
{
	struct placeholders set = {0};

	(void)state;
	assert_null(placeholders_find(&set, 0));
	assert_null(placeholders_find(&set, TRACE_NO_STACK));
	assert_false(placeholders_was_given(&set, TRACE_NO_STACK));
	placeholders_settle(&set, NULL, 0);
	placeholders_free(&set);
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

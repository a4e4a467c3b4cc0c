/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares the writer's placeholders with a plain array. */
#include "trace/write/placeholders.h"

#include <string.h>

#include "recording.h"
#include "unit_test.h"

#define MODELS 2000U

struct model {
	bool given, resolved;
	u32 name, index;
	u32 waiting, gone_out;
	struct trace_resolution resolution;
};

static struct model models[MODELS];
static u32 given, given_most, indexes;

static void check(const struct placeholders *placeholders)
{
	for (u32 i = 0; i < MODELS; i++) {
		const struct model *model = &models[i];
		const struct placeholder *open =
			placeholders_find_unresolved(placeholders, model->name);

		if (!model->given)
			continue;
		assert_int_equal(open != NULL, !model->resolved);
		if (!open)
			continue;
		assert_int_equal(open->index, model->index);
		assert_int_equal(open->waiting, model->waiting);
	}
	assert_int_equal(placeholders->count, given_most);
}

static void forget_when_done(struct model *model)
{
	if (!model->resolved || model->waiting)
		return;
	*model = (struct model){0};
	given--;
}

static void add_placeholder_of_model(struct placeholders *placeholders, struct model *model)
{
	if (model->given)
		return;
	model->given = true;
	model->index = indexes++;
	assert_int_equal(placeholders_add(placeholders, model->index, &model->name), 0);
	given++;
	given_most = given > given_most ? given : given_most;
}

static void resolve(struct placeholders *placeholders, struct model *model)
{
	struct trace_resolution with = {.stack = model->index / 2, .leaf = model->index % 3};
	bool needed;

	if (!model->given || model->resolved)
		return;
	needed = placeholders_resolve(placeholders, model->name, &with);
	assert_int_equal(needed, model->gone_out > 0);
	model->resolved = true;
	model->resolution = with;
	forget_when_done(model);
}

static void wait_for(struct placeholders *placeholders, struct model *model)
{
	if (!model->given || model->resolved)
		return;
	placeholders_find_unresolved(placeholders, model->name)->waiting++;
	model->waiting++;
}

static void flush_waiting_event(struct placeholders *placeholders, struct model *model)
{
	struct trace_event event = {.kernel = TRACE_NO_STACK, .user = model->name};

	if (!model->waiting)
		return;
	placeholders_flush(placeholders, &event, 1);
	assert_int_equal(event.user, model->resolved ? model->resolution.stack : model->index);
	assert_int_equal(event.leaf, model->resolution.leaf);
	model->waiting--;
	model->gone_out += !model->resolved;
	forget_when_done(model);
}

TEST(random_steps)
{
	void (*const steps[])(struct placeholders *, struct model *) = {
		add_placeholder_of_model, resolve, wait_for, flush_waiting_event};
	struct random random = {.state = 5};
	struct placeholders placeholders = {0};
	u32 model = 0;

	for (u32 i = 0; i < 1000000; i++) {
		if (i % 10 == 0)
			model = (u32)random_below(&random, MODELS);
		steps[random_below(&random, 4)](&placeholders, &models[model]);
		if (i % 10000 == 0)
			check(&placeholders);
	}
	check(&placeholders);
	assert_true(indexes > 10 * given_most);
	placeholders_free(&placeholders);
	assert_null(placeholders.items);
}

TEST(a_held_event_keeps_the_name)
{
	struct trace_resolution with = {.stack = 7}, other = {.stack = 8};
	struct placeholders placeholders = {0};
	struct trace_event event = {0}, open = {0};
	u32 name;

	assert_int_equal(placeholders_add(&placeholders, 3, &event.user), 0);
	placeholders_count_waiting_event(&placeholders, event.user);
	assert_false(placeholders_resolve(&placeholders, event.user, &with));
	assert_int_equal(placeholders_add(&placeholders, 4, &name), 0);
	assert_int_not_equal(name, event.user);
	assert_false(placeholders_resolve(&placeholders, name, &other));
	placeholders_resolve_waiting_event(&placeholders, &event);
	assert_int_equal(event.user, 7);
	assert_int_equal(placeholders_add(&placeholders, 5, &open.user), 0);
	name = open.user;
	placeholders_count_waiting_event(&placeholders, name);
	placeholders_resolve_waiting_event(&placeholders, &open);
	assert_int_equal(open.user, name);
	assert_non_null(placeholders_find_unresolved(&placeholders, name));
	placeholders_free(&placeholders);
}

TEST(leaf_of_the_event_stays)
{
	struct trace_event event = {.leaf = FRAME_NARROW_TOP | 9};
	struct trace_resolution with = {.stack = 1, .leaf = FRAME_USER(1, 2)};
	struct placeholders placeholders = {0};

	assert_int_equal(placeholders_add(&placeholders, 3, &event.user), 0);
	placeholders_find_unresolved(&placeholders, event.user)->waiting++;
	assert_false(placeholders_resolve(&placeholders, event.user, &with));
	placeholders_flush(&placeholders, &event, 1);
	assert_int_equal(event.user, 1);
	assert_int_equal(event.leaf, FRAME_NARROW_TOP | 9);
	placeholders_free(&placeholders);
}

TEST(other_values_are_no_placeholder)
{
	struct trace_event events[] = {{.user = 0}, {.user = TRACE_NO_STACK}};
	struct placeholders placeholders = {0};
	u32 name;

	for (u32 i = 0; i < 2; i++) {
		assert_null(placeholders_find_unresolved(&placeholders, 0));
		assert_null(placeholders_find_unresolved(&placeholders, TRACE_PLACEHOLDER | i));
		assert_null(placeholders_find_unresolved(&placeholders, TRACE_NO_STACK));
		placeholders_flush(&placeholders, events, 2);
		assert_int_equal(events[0].user, 0);
		assert_int_equal(events[1].user, TRACE_NO_STACK);
		assert_int_equal(placeholders_add(&placeholders, i, &name), 0);
	}
	placeholders_free(&placeholders);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The cost of a stack id on top of stack_trace_save(), beside that of
 * tracing_map and of stackdepot for the same stack. No value makes the case
 * fail. Where an emulator counts instructions as cycles, the values are
 * instructions.
 */

#include <kunit/test.h>
#include <linux/irqflags.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>
#include <linux/timex.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "tracing_map.h"

#define DEPTH_MAX 40
#define CALLS 1000

struct subject {
	struct trace_array *tr;
	struct tracing_map *map;
	unsigned int depth;
	unsigned long frames[DEPTH_MAX];
};

static void save(struct subject *subject)
{
	unsigned long frames[DEPTH_MAX];

	stack_trace_save(frames, subject->depth, 0);
	barrier_data(frames);
}

static void find_id(struct subject *subject)
{
	trace_stackmap_get_id(subject->tr, 0, subject->frames, subject->depth);
}

static void find_element(struct subject *subject)
{
	tracing_map_insert(subject->map, subject->frames);
}

static void find_handle(struct subject *subject)
{
	stack_depot_save_flags(subject->frames, subject->depth, 0, 0);
}

/* Cycles for a call. The first, which inserts, is not among them. */
static u64 cost(void (*call)(struct subject *subject), struct subject *subject)
{
	unsigned long flags;
	cycles_t begin, end;

	local_irq_save(flags);
	call(subject);
	begin = get_cycles();
	for (int i = 0; i < CALLS; i++)
		call(subject);
	end = get_cycles();
	local_irq_restore(flags);
	return (end - begin) / CALLS;
}

static struct tracing_map *map_of_depth(struct kunit *test, unsigned int depth)
{
	struct tracing_map *map =
		tracing_map_create(10, depth * sizeof(long), NULL, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(map));
	KUNIT_EXPECT_GE(test,
			tracing_map_add_key_field(map, 0, tracing_map_cmp_none),
			0);
	KUNIT_EXPECT_GE(test, tracing_map_add_sum_field(map), 0);
	KUNIT_ASSERT_EQ(test, tracing_map_init(map), 0);
	return map;
}

static void fill(struct subject *subject)
{
	for (unsigned int i = 0; i < subject->depth; i++)
		subject->frames[i] = 0xffffffff81000000UL + 0x1234 * i;
}

static void cost_of_depth(struct kunit *test, struct trace_array *tr,
			  unsigned int depth)
{
	struct subject subject = { .tr = tr,
				   .depth = depth,
				   .map = map_of_depth(test, depth) };

	fill(&subject);
	kunit_info(test, "cost of %u frames: stack id %llu, tracing_map %llu",
		   depth, cost(find_id, &subject),
		   cost(find_element, &subject));
	if (IS_ENABLED(CONFIG_STACKDEPOT)) {
		KUNIT_ASSERT_EQ(test, stack_depot_init(), 0);
		stack_depot_save(subject.frames, depth, GFP_KERNEL);
		kunit_info(test, "cost of %u frames: stackdepot %llu", depth,
			   cost(find_handle, &subject));
	}
	tracing_map_destroy(subject.map);
}

static void cost_of_a_hit(struct kunit *test)
{
	struct trace_array *tr = trace_array_get_by_name("stackmap_cost", NULL);
	struct subject subject = { .depth = DEPTH_MAX };

	KUNIT_ASSERT_NOT_NULL(test, tr);
	scoped_guard(mutex, &trace_types_lock)
		KUNIT_EXPECT_EQ(test, trace_stackmap_enable(tr), 0);
	subject.depth = stack_trace_save(subject.frames, DEPTH_MAX, 0);
	kunit_info(test, "cost of taking a stack of %u frames: %llu",
		   subject.depth, cost(save, &subject));
	cost_of_depth(test, tr, 10);
	cost_of_depth(test, tr, 20);
	cost_of_depth(test, tr, DEPTH_MAX);
	scoped_guard(mutex, &trace_types_lock) trace_stackmap_disable(tr);
	trace_array_put(tr);
	trace_array_destroy(tr);
}

static struct kunit_case cost_cases[] = { KUNIT_CASE(cost_of_a_hit), {} };

static struct kunit_suite cost_suite = {
	.name = "stackmap_cost",
	.test_cases = cost_cases,
};

kunit_test_suite(cost_suite);

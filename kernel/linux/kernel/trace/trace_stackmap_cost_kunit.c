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
#include "trace_stackmap_internal.h"
#include "tracing_map.h"

#define DEPTH_MAX 40
#define CALLS 1000
#define NEW_STACKS 10000

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
	stack_depot_save_flags(subject->frames, subject->depth, GFP_NOWAIT,
			       STACK_DEPOT_FLAG_CAN_ALLOC);
}

/*
 * Cycles for a call. Each call has another stack if @step is not 0. Else the
 * first call, which inserts, is not among them.
 */
static u64 cost(void (*call)(struct subject *subject), struct subject *subject,
		unsigned long step)
{
	unsigned long flags;
	cycles_t begin, end;

	local_irq_save(flags);
	call(subject);
	begin = get_cycles();
	for (int i = 0; i < CALLS; i++) {
		subject->frames[0] += step;
		call(subject);
	}
	end = get_cycles();
	local_irq_restore(flags);
	return (end - begin) / CALLS;
}

static struct tracing_map *map_of_depth(struct kunit *test, unsigned int depth)
{
	struct tracing_map *map =
		tracing_map_create(12, depth * sizeof(long), NULL, NULL);

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
			  unsigned int depth, const char *what,
			  unsigned long step)
{
	struct subject subject = { .tr = tr,
				   .depth = depth,
				   .map = map_of_depth(test, depth) };
	u64 id, element, handle;

	fill(&subject);
	id = cost(find_id, &subject, step);
	fill(&subject);
	element = cost(find_element, &subject, step);
	fill(&subject);
	handle = cost(find_handle, &subject, step);
	kunit_info(test,
		   "cost of %s of %u frames: stack id %llu, tracing_map %llu, stackdepot %llu",
		   what, depth, id, element, handle);
	tracing_map_destroy(subject.map);
}

/*
 * A tracer is called in any context, so it must not allocate, nor wait for a
 * lock.
 */
static void store_without_allocation(struct kunit *test, struct trace_array *tr)
{
	struct trace_stackmap *map = trace_stackmap_get(tr);
	struct subject subject = { .depth = 20 };
	struct stackid_stat before, after;
	unsigned int handles = 0;
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, map);
	fill(&subject);
	subject.frames[1] = 0xffffffff81654321UL;
	stackid_table_stat(map->table, &map->geometry, &before);
	for (int i = 0; i < NEW_STACKS; i++) {
		subject.frames[0] += 16;
		local_irq_save(flags);
		trace_stackmap_get_id(tr, 0, subject.frames, subject.depth);
		handles += !!stack_depot_save_flags(subject.frames,
						    subject.depth, 0, 0);
		local_irq_restore(flags);
	}
	stackid_table_stat(map->table, &map->geometry, &after);
	kunit_info(test,
		   "stored without allocation, of %u new stacks: stack ids %llu, stackdepot %u",
		   NEW_STACKS, after.entries - before.entries, handles);
	kunit_info(test,
		   "bytes of a stack of %u frames: stack ids %llu, stackdepot %zu",
		   subject.depth,
		   (after.pool_used - before.pool_used) * sizeof(u64) /
			   max(after.entries - before.entries, 1),
		   ALIGN(offsetof(struct stack_record, entries[20]),
			 1 << DEPOT_STACK_ALIGN));
	trace_stackmap_put(map);
}

/* The stack has more frames than stackdepot keeps */
static void store_a_deep_stack(struct kunit *test, struct trace_array *tr)
{
	const unsigned int depth = 300;
	unsigned long *frames;
	depot_stack_handle_t handle;
	bool same_id, same_handle;
	s64 id;

	frames = kunit_kcalloc(test, depth, sizeof(*frames), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, frames);
	for (unsigned int i = 0; i < depth; i++)
		frames[i] = 0xffffffff81000000UL + 16 * i;
	handle = stack_depot_save(frames, depth, GFP_KERNEL);
	same_handle = stack_depot_save_flags(frames, depth, 0, 0) == handle;
	scoped_guard(preempt) {
		id = trace_stackmap_get_id(tr, 0, frames, depth);
		same_id = trace_stackmap_get_id(tr, 0, frames, depth) == id;
	}
	kunit_info(test,
		   "numbers of a stack of %u frames, stored twice: stack ids %u, stackdepot %u",
		   depth, same_id ? 1 : 2, same_handle ? 1 : 2);
}

static void cost_of_a_stack_id(struct kunit *test)
{
	struct trace_array *tr = trace_array_get_by_name("stackmap_cost", NULL);
	struct subject subject = { .depth = DEPTH_MAX };

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_ASSERT_EQ(test, stack_depot_init(), 0);
	scoped_guard(mutex, &trace_types_lock)
		KUNIT_EXPECT_EQ(test, trace_stackmap_enable(tr), 0);
	subject.depth = stack_trace_save(subject.frames, DEPTH_MAX, 0);
	kunit_info(test, "cost of taking a stack of %u frames: %llu",
		   subject.depth, cost(save, &subject, 0));
	cost_of_depth(test, tr, 10, "a hit", 0);
	cost_of_depth(test, tr, 20, "a hit", 0);
	cost_of_depth(test, tr, DEPTH_MAX, "a hit", 0);
	cost_of_depth(test, tr, 10, "a new stack", 16);
	cost_of_depth(test, tr, 20, "a new stack", 16);
	cost_of_depth(test, tr, DEPTH_MAX, "a new stack", 16);
	store_a_deep_stack(test, tr);
	store_without_allocation(test, tr);
	scoped_guard(mutex, &trace_types_lock)
		trace_stackmap_disable(tr);
	trace_array_put(tr);
	trace_array_destroy(tr);
}

static struct kunit_case cost_cases[] = {
	KUNIT_CASE(cost_of_a_stack_id),
	{}
};

static struct kunit_suite cost_suite = {
	.name = "stackmap_cost",
	.test_cases = cost_cases,
};

kunit_test_suite(cost_suite);

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * KUnit tests of the stack map as the kernel builds it, and of its generations under writers on
 * all CPUs.
 */

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/trace.h>
#include <linux/vmalloc.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_internal.h"

#define BITS TABLE_BITS_MIN
#define KERNEL_FRAME(n) (0xffffffff81000000UL + 16 * (n))

struct fixture {
	struct table_geometry geometry;
	void *table;
	struct stack *stack;
};

static int fixture_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	KUNIT_ASSERT_EQ(test, table_geometry_set(&fixture->geometry, BITS, nr_cpu_ids, 0), 0);
	fixture->stack = kunit_kzalloc(test, sizeof(*fixture->stack), GFP_KERNEL);
	fixture->table = vzalloc(fixture->geometry.bytes);
	KUNIT_ASSERT_NOT_NULL(test, fixture->table);
	stack_table_init(fixture->table, &fixture->geometry, 1, 42);
	test->priv = fixture;
	return 0;
}

static void fixture_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	vfree(fixture->table);
}

static u64 frame_of(const struct table_view *element, u32 i)
{
	return stack_frame(element->word, IDENTITY_FLAGS(element->identity), i);
}

/* A stack that no other `number` has. */
static s64 id_of(struct fixture *fixture, u64 number, u32 depth, u64 first)
{
	struct stack *stack = fixture->stack;

	stack->depth = depth;
	stack->flags = 0;
	for (u32 i = 0; i < depth; i++)
		stack->word[i] = first + 16 * (number + i);
	stack_pack(stack);
	guard(preempt)();
	return stack_map_get_id(fixture->table, &fixture->geometry, smp_processor_id(), stack);
}

static void a_stack_has_one_id(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	s64 id = id_of(fixture, 1, 20, KERNEL_FRAME(0));
	struct table_view *element;

	KUNIT_EXPECT_GT(test, id, 0);
	KUNIT_EXPECT_EQ(test, id_of(fixture, 1, 20, KERNEL_FRAME(0)), id);
	KUNIT_EXPECT_NE(test, id_of(fixture, 1, 19, KERNEL_FRAME(0)), id);
	KUNIT_EXPECT_NE(test, id_of(fixture, 2, 20, KERNEL_FRAME(0)), id);
	KUNIT_ASSERT_EQ(test, stack_map_find(fixture->table, &fixture->geometry, id, &element), 0);
	KUNIT_EXPECT_EQ(test, element->ref_count, 2);
	KUNIT_EXPECT_EQ(test, IDENTITY_DEPTH(element->identity), 20);
	for (u32 i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, frame_of(element, i), KERNEL_FRAME(1 + i));
}

static void frames_outside_of_the_kernel_are_whole(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u64 first = FRAME_USER(7, 0x123456789a);
	s64 id = id_of(fixture, 0, STACK_USER_DEPTH_MAX, first);
	struct table_view *element;

	KUNIT_ASSERT_EQ(test, stack_map_find(fixture->table, &fixture->geometry, id, &element), 0);
	for (u32 i = 0; i < STACK_USER_DEPTH_MAX; i++)
		KUNIT_EXPECT_EQ(test, frame_of(element, i), first + 16 * i);
}

static void who_is_full_refuses_only_what_is_new(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	s64 first = id_of(fixture, 0, 3, KERNEL_FRAME(0));
	struct table_stat stat;

	for (u64 i = 1; i < 2UL << BITS; i++)
		id_of(fixture, i, 3, KERNEL_FRAME(0));
	KUNIT_EXPECT_EQ(test, id_of(fixture, 1UL << 20, 3, KERNEL_FRAME(0)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, id_of(fixture, 0, 3, KERNEL_FRAME(0)), first);
	stack_table_stat(fixture->table, &fixture->geometry, &stat);
	KUNIT_EXPECT_EQ(test, stat.entries, 1UL << BITS);
	KUNIT_EXPECT_EQ(test, stat.refs + table_stat_refused(&stat), (2UL << BITS) + 2);
}

static void an_id_is_of_its_generation(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	s64 id = id_of(fixture, 1, 3, KERNEL_FRAME(0));
	struct table_view *element;

	memset(fixture->table, 0, fixture->geometry.bytes);
	stack_table_init(fixture->table, &fixture->geometry, 2, 42);
	KUNIT_EXPECT_NE(test, id_of(fixture, 1, 3, KERNEL_FRAME(0)), id);
	KUNIT_EXPECT_EQ(test, stack_map_find(fixture->table, &fixture->geometry, id, &element),
			-ESTALE);
}

/* --- an instance that is reset while all CPUs write --- */

#define ROUNDS 200
#define BURST 256
#define BURST_US 20000
#define STACKS 20000 /* some more than a map takes by default */

struct burst {
	struct trace_array *tr;
	struct task_struct *task;
	u64 requests;
	u64 answers;
};

static void burst_write(struct burst *burst)
{
	unsigned long frames[40];
	u32 number = get_random_u32_below(STACKS);

	for (u32 i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = KERNEL_FRAME(number + i * i);
	guard(preempt)();
	burst->requests++;
	burst->answers += trace_stackmap_get_id(burst->tr, 0, frames, 5 + number % 35) > 0;
}

static int burst_run(void *data)
{
	struct burst *burst = data;

	while (!kthread_should_stop()) {
		for (int i = 0; i < BURST; i++)
			burst_write(burst);
		cond_resched();
	}
	return 0;
}

static void bursts_stop(struct burst *bursts)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (!IS_ERR_OR_NULL(bursts[cpu].task))
			kthread_stop(bursts[cpu].task);
}

static void bursts_start(struct kunit *test, struct burst *bursts, struct trace_array *tr)
{
	int cpu;

	for_each_online_cpu(cpu) {
		bursts[cpu].tr = tr;
		bursts[cpu].task = kthread_run_on_cpu(burst_run, &bursts[cpu], cpu, "burst/%u");
		KUNIT_EXPECT_FALSE(test, IS_ERR(bursts[cpu].task));
	}
}

/* A stack that is twice in a map is found under one of its ids only. */
static u32 duplicates(struct trace_stackmap *map, struct stack *stack)
{
	u32 count = 0;

	for (u32 i = 0; i <= map->geometry.slot_mask; i++) {
		struct table_view *element = stack_map_at(map->table, &map->geometry, i);

		if (!element)
			continue;
		stack->depth = IDENTITY_DEPTH(element->identity);
		stack->flags = IDENTITY_FLAGS(element->identity) & ~STACK_NARROW;
		for (u32 k = 0; k < stack->depth; k++)
			stack->word[k] = frame_of(element, k);
		stack_pack(stack);
		count += stack_map_lookup(map->table, &map->geometry, stack) !=
			 stack_map_id(map->table, i);
	}
	return count;
}

struct sums {
	u64 entries, refs, drops, duplicates;
};

/* Adds what a generation holds that nobody writes any more. */
static void sums_add(struct sums *sums, struct trace_stackmap *map, struct stack *stack)
{
	struct table_stat stat;

	stack_table_stat(map->table, &map->geometry, &stat);
	sums->entries += stat.entries;
	sums->refs += stat.refs;
	sums->drops += table_stat_refused(&stat);
	sums->duplicates += duplicates(map, stack);
}

static void generations_of(struct kunit *test, struct trace_array *tr, struct sums *sums,
			   struct stack *stack)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct trace_stackmap *map = trace_stackmap_get(tr);

		fsleep(BURST_US);
		KUNIT_EXPECT_EQ(test, trace_stackmap_reset(tr), 0);
		synchronize_rcu();
		sums_add(sums, map, stack);
		trace_stackmap_put(map);
	}
}

static void resets_under_writers_lose_nothing(struct kunit *test)
{
	struct burst *bursts = kunit_kcalloc(test, nr_cpu_ids, sizeof(*bursts), GFP_KERNEL);
	struct trace_array *tr = trace_array_get_by_name("stackmap_kunit", NULL);
	struct fixture *fixture = test->priv;
	struct trace_stackmap *map;
	u64 requests = 0, answers = 0;
	struct sums sums = {};
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, bursts);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	scoped_guard(mutex, &trace_types_lock)
		KUNIT_EXPECT_EQ(test, trace_stackmap_enable(tr), 0);
	bursts_start(test, bursts, tr);
	generations_of(test, tr, &sums, fixture->stack);
	bursts_stop(bursts);
	map = trace_stackmap_get(tr);
	sums_add(&sums, map, fixture->stack);
	trace_stackmap_put(map);
	for_each_online_cpu(cpu) {
		requests += bursts[cpu].requests;
		answers += bursts[cpu].answers;
	}
	kunit_info(test, "%d resets, %u CPUs: %llu requests, %llu stacks, %llu references, %llu drops",
		   ROUNDS, num_online_cpus(), requests, sums.entries, sums.refs, sums.drops);
	KUNIT_EXPECT_GT(test, answers, 0);
	KUNIT_EXPECT_EQ(test, sums.refs, answers);
	KUNIT_EXPECT_EQ(test, sums.refs + sums.drops, requests);
	KUNIT_EXPECT_EQ(test, sums.duplicates, 0);
	scoped_guard(mutex, &trace_types_lock)
		trace_stackmap_disable(tr);
	trace_array_put(tr);
	trace_array_destroy(tr);
}

static s64 id_of_depth(struct trace_array *tr, const unsigned long *frames, u32 depth)
{
	guard(preempt)();
	return trace_stackmap_get_id(tr, 0, frames, depth);
}

static void who_is_deeper_than_the_map_takes_is_refused(struct kunit *test)
{
	const u32 depth = STACK_USER_DEPTH_MAX;
	unsigned long *frames = kunit_kcalloc(test, depth + 1, sizeof(*frames), GFP_KERNEL);
	struct trace_array *tr = trace_array_get_by_name("stackmap_kunit", NULL);
	struct trace_stackmap *map;

	KUNIT_ASSERT_NOT_NULL(test, frames);
	KUNIT_ASSERT_NOT_NULL(test, tr);
	for (u32 i = 0; i <= depth; i++)
		frames[i] = KERNEL_FRAME(i);
	scoped_guard(mutex, &trace_types_lock)
		KUNIT_EXPECT_EQ(test, trace_stackmap_enable(tr), 0);
	KUNIT_EXPECT_GT(test, id_of_depth(tr, frames, depth), 0);
	KUNIT_EXPECT_EQ(test, id_of_depth(tr, frames, depth + 1), -E2BIG);
	map = trace_stackmap_get(tr);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&map->deep), 1);
	trace_stackmap_put(map);
	scoped_guard(mutex, &trace_types_lock)
		trace_stackmap_disable(tr);
	trace_array_put(tr);
	trace_array_destroy(tr);
}

static struct kunit_case stackmap_cases[] = {
	KUNIT_CASE(a_stack_has_one_id),
	KUNIT_CASE(frames_outside_of_the_kernel_are_whole),
	KUNIT_CASE(who_is_full_refuses_only_what_is_new),
	KUNIT_CASE(an_id_is_of_its_generation),
	KUNIT_CASE(who_is_deeper_than_the_map_takes_is_refused),
	KUNIT_CASE_SLOW(resets_under_writers_lose_nothing),
	{},
};

static struct kunit_suite stackmap_suite = {
	.name = "stackmap",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = stackmap_cases,
};
kunit_test_suite(stackmap_suite);

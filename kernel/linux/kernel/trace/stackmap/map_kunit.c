// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* KUnit tests of the stack map. */

#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "stack_map.h"
#include "stack_pack.h"

#define BITS STACKID_BITS_MIN
#define KERNEL_FRAME(n) (0xffffffff81000000UL + 16 * (n))

struct fixture {
	struct stackid_geometry geometry;
	void *table;
	struct stackid_stack *stack;
};

static int fixture_init(struct kunit *test)
{
	struct fixture *fixture =
		kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	ret = stackid_geometry_set(&fixture->geometry, BITS, nr_cpu_ids, 0);
	KUNIT_ASSERT_EQ(test, ret, 0);
	fixture->stack =
		kunit_kzalloc(test, sizeof(*fixture->stack), GFP_KERNEL);
	fixture->table = vzalloc(fixture->geometry.bytes);
	KUNIT_ASSERT_NOT_NULL(test, fixture->table);
	stackid_table_init(fixture->table, &fixture->geometry, 1, 42);
	test->priv = fixture;
	return 0;
}

static void fixture_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	vfree(fixture->table);
}

static u64 frame_of(const struct stackid_element *element, u32 i)
{
	return stackid_frame(element->word,
			     STACKID_IDENTITY_FLAGS(element->identity), i);
}

/* The id of a stack that differs for each number */
static s64 id_of(struct fixture *fixture, u64 number, u32 depth, u64 first)
{
	struct stackid_stack *stack = fixture->stack;

	stack->depth = depth;
	stack->flags = 0;
	for (u32 i = 0; i < depth; i++)
		stack->word[i] = first + 16 * (number + i);
	stackid_pack(stack);
	guard(preempt)();
	return stackid_map_get_id(fixture->table, &fixture->geometry,
				  smp_processor_id(), stack);
}

static void equal_stacks_have_one_id(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	s64 id = id_of(fixture, 1, 20, KERNEL_FRAME(0));
	struct stackid_element *element;

	KUNIT_ASSERT_GT(test, id, 0);
	KUNIT_EXPECT_EQ(test, id_of(fixture, 1, 20, KERNEL_FRAME(0)), id);
	KUNIT_EXPECT_NE(test, id_of(fixture, 1, 19, KERNEL_FRAME(0)), id);
	KUNIT_EXPECT_NE(test, id_of(fixture, 2, 20, KERNEL_FRAME(0)), id);
	element = stackid_map_at(fixture->table, &fixture->geometry,
				 id & fixture->geometry.slot_mask);
	KUNIT_ASSERT_NOT_NULL(test, element);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&element->ref_count), 2);
	KUNIT_EXPECT_EQ(test, STACKID_IDENTITY_DEPTH(element->identity), 20);
	for (u32 i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, frame_of(element, i),
				KERNEL_FRAME(1 + i));
}

static void full_map_refuses_new_stacks(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	s64 first = id_of(fixture, 0, 3, KERNEL_FRAME(0));
	struct stackid_stat stat;

	for (u64 i = 1; i < 2UL << BITS; i++)
		id_of(fixture, i, 3, KERNEL_FRAME(0));
	KUNIT_EXPECT_EQ(test, id_of(fixture, 1UL << 20, 3, KERNEL_FRAME(0)),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, id_of(fixture, 0, 3, KERNEL_FRAME(0)), first);
	stackid_table_stat(fixture->table, &fixture->geometry, &stat);
	KUNIT_EXPECT_EQ(test, stat.entries, 1UL << BITS);
	KUNIT_EXPECT_EQ(test, stat.refs + stackid_stat_refused(&stat),
			(2UL << BITS) + 2);
}

static void ids_differ_between_generations(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	s64 id = id_of(fixture, 1, 3, KERNEL_FRAME(0));

	memset(fixture->table, 0, fixture->geometry.bytes);
	stackid_table_init(fixture->table, &fixture->geometry, 2, 42);
	KUNIT_EXPECT_NE(test, id_of(fixture, 1, 3, KERNEL_FRAME(0)), id);
}

static struct kunit_case map_cases[] = {
	KUNIT_CASE(equal_stacks_have_one_id),
	KUNIT_CASE(full_map_refuses_new_stacks),
	KUNIT_CASE(ids_differ_between_generations),
	{}
};

static struct kunit_suite map_suite = {
	.name = "stackmap_map",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = map_cases,
};

kunit_test_suite(map_suite);

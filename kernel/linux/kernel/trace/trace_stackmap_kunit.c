// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* KUnit tests of the stack maps of trace instances. */
#include <kunit/test.h>
#include <linux/trace.h>

#include "trace.h"
#include "trace_stackmap.h"
#include "trace_stackmap_internal.h"

#define KERNEL_FRAME(n) (0xffffffff81000000UL + 16 * (n))

struct instance {
	struct trace_array *tr;
};

static int instance_init(struct kunit *test)
{
	struct instance *instance;
	int ret;

	instance = kunit_kzalloc(test, sizeof(*instance), GFP_KERNEL);
	if (!instance)
		return -ENOMEM;
	instance->tr = trace_array_get_by_name("stackmap_kunit", NULL);
	if (!instance->tr)
		return -ENOMEM;
	test->priv = instance;
	scoped_guard(mutex, &trace_types_lock)
		ret = trace_stackmap_enable(instance->tr);
	return ret;
}

static void instance_exit(struct kunit *test)
{
	struct instance *instance = test->priv;

	if (!instance)
		return;
	scoped_guard(mutex, &trace_types_lock)
		trace_stackmap_disable(instance->tr);
	trace_array_put(instance->tr);
	trace_array_destroy(instance->tr);
}

static s64 id_of_depth(struct trace_array *tr, const unsigned long *frames,
		       u32 depth)
{
	guard(preempt)();
	return trace_stackmap_get_id(tr, 0, frames, depth);
}

static void deep_stacks_are_refused_and_counted(struct kunit *test)
{
	const u32 depth = STACKID_DEPTH_MAX;
	struct instance *instance = test->priv;
	struct trace_stackmap *map;
	unsigned long *frames;

	frames = kunit_kcalloc(test, depth + 1, sizeof(*frames), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, frames);
	for (u32 i = 0; i <= depth; i++)
		frames[i] = KERNEL_FRAME(i);
	KUNIT_EXPECT_GT(test, id_of_depth(instance->tr, frames, depth), 0);
	KUNIT_EXPECT_EQ(test, id_of_depth(instance->tr, frames, depth + 1),
			-E2BIG);
	map = trace_stackmap_get(instance->tr);
	KUNIT_ASSERT_NOT_NULL(test, map);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&map->deep), 1);
	trace_stackmap_put(map);
}

static void instance_without_map_has_no_ids(struct kunit *test)
{
	struct instance *instance = test->priv;
	unsigned long frame = KERNEL_FRAME(0);

	scoped_guard(mutex, &trace_types_lock)
		trace_stackmap_disable(instance->tr);
	KUNIT_EXPECT_NULL(test, trace_stackmap_get(instance->tr));
	KUNIT_EXPECT_EQ(test, id_of_depth(instance->tr, &frame, 1), -ENOENT);
}

static struct kunit_case stackmap_cases[] = {
	KUNIT_CASE(deep_stacks_are_refused_and_counted),
	KUNIT_CASE(instance_without_map_has_no_ids),
	{}
};

static struct kunit_suite stackmap_suite = {
	.name = "stackmap",
	.init = instance_init,
	.exit = instance_exit,
	.test_cases = stackmap_cases,
};

kunit_test_suite(stackmap_suite);

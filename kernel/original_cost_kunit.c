// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What an id of the RFC's map costs for the same stacks; kernel/measure adds it for one build. */
#include "trace_stackmap_cost_kunit.c"

#include "trace_original.h"

static struct ftrace_stackmap *original;

static void find_original(struct subject *subject)
{
	ftrace_stackmap_get_id(original, subject->frames, subject->depth);
}

static void cost_of_the_original(struct kunit *test)
{
	static const unsigned int depths[] = {10, 20, DEPTH_MAX};
	struct trace_array *tr = trace_array_get_by_name("original_cost", NULL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	original = ftrace_stackmap_create(tr);
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(original));
	for (unsigned int i = 0; i < ARRAY_SIZE(depths); i++) {
		struct subject subject = {.depth = depths[i]};

		fill(&subject);
		kunit_info(test, "cost of a hit of %u frames: RFC's map %llu", depths[i],
			   cost(find_original, &subject, 0));
		kunit_info(test, "cost of a new stack of %u frames: RFC's map %llu", depths[i],
			   cost(find_original, &subject, 16));
	}
	ftrace_stackmap_destroy(original);
	trace_array_put(tr);
	trace_array_destroy(tr);
}

static struct kunit_case original_cases[] = {KUNIT_CASE(cost_of_the_original), {}};

static struct kunit_suite original_suite = {
	.name = "original_cost",
	.test_cases = original_cases,
};
kunit_test_suite(original_suite);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's flavour of the stack map (kernel/flavour) gives the same words, hashes, ids and
 * counters as the source of it, for the same stacks in the same order.
 */
#include "stack_map.h"

#include <stdlib.h>
#include <string.h>

#include "stack_hash.h"
#include "stack_pack.h"
#include "unit_test.h"

#include "../../../kernel/linux/kernel/trace/stackmap/stack_hash.h"
#include "../../../kernel/linux/kernel/trace/stackmap/stack_map.h"
#include "../../../kernel/linux/kernel/trace/stackmap/stack_pack.h"

#define BITS 10
#define CPUS 3
#define SEED 99
#define GENERATION 5
#define CALLS 40000
#define STACKS 3000 /* more stacks than the map holds */

static struct table_geometry geometry;
static struct stackid_geometry kernel_geometry;
static void *table, *kernel_table;
static struct stack stack;
static struct stackid_stack kernel_stack;
static u64 random_state = 1;

/* xorshift64: the same numbers in each run */
static u64 random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static int make_tables(void **state)
{
	(void)state;
	if (table_geometry_set(&geometry, BITS, CPUS, 0) ||
	    stackid_geometry_set(&kernel_geometry, BITS, CPUS, 0))
		return -1;
	table = calloc(1, geometry.bytes);
	kernel_table = aligned_alloc(64, (kernel_geometry.bytes + 63) & ~63ULL);
	if (!table || !kernel_table)
		return -1;
	memset(kernel_table, 0, kernel_geometry.bytes);
	stack_table_init(table, &geometry, GENERATION, SEED);
	stackid_table_init(kernel_table, &kernel_geometry, GENERATION, SEED);
	return 0;
}

static int free_tables(void **state)
{
	(void)state;
	free(table);
	free(kernel_table);
	return 0;
}

/* Stack number n: kernel frames, user frames, or both; of one to 511 frames. */
static void make_stack(u64 n)
{
	u64 kind = n % 4;

	stack.depth = n % 5 ? 1 + n * 7 % 60 : 1 + n * 13 % STACK_USER_DEPTH_MAX;
	stack.flags = kind == 1 ? STACK_USER : kind == 2 ? STACK_USER | STACK_TRUNCATED : 0;
	for (u32 i = 0; i < stack.depth; i++)
		stack.word[i] = kind == 0	     ? FRAME_NARROW_TOP + n * 4096 + i
				: kind == 3 && i % 2 ? FRAME_NARROW_TOP + n + i
						     : FRAME_USER(n % 50 + 1, n * 16 + i);
	kernel_stack.depth = stack.depth;
	kernel_stack.flags = stack.flags;
	memcpy(kernel_stack.word, stack.word, sizeof(stack.word));
}

TEST(both_take_the_same_memory, make_tables, free_tables)
{
	assert_int_equal(kernel_geometry.bytes - sizeof(struct stackid_header),
			 geometry.bytes - sizeof(struct table_header));
	assert_int_equal(sizeof(struct stackid_cpu), sizeof(struct table_cpu));
	assert_int_equal(sizeof(struct stackid_element), sizeof(struct table_view));
	assert_int_equal(sizeof(struct stackid_stack), sizeof(struct stack));
}

TEST(both_pack_and_hash_alike)
{
	for (u64 n = 0; n < STACKS; n++) {
		make_stack(n);
		assert_int_equal(stackid_pack(&kernel_stack), stack_pack(&stack));
		assert_int_equal(kernel_stack.flags, stack.flags);
		assert_memory_equal(kernel_stack.word, stack.word, stack.words * sizeof(u64));
		assert_int_equal(stackid_hash(&kernel_stack, SEED), stack_hash(&stack, SEED));
	}
}

TEST(both_refuse_the_same_depths)
{
	for (u32 depth = STACK_USER_DEPTH_MAX - 1; depth <= STACK_USER_DEPTH_MAX + 1; depth++) {
		make_stack(0);
		stack.depth = kernel_stack.depth = depth;
		assert_int_equal(stackid_pack(&kernel_stack), stack_pack(&stack));
	}
	stack.depth = kernel_stack.depth = 0;
	assert_int_equal(stackid_pack(&kernel_stack), stack_pack(&stack));
}

static void assert_stack_map_elements_equal(void)
{
	for (u32 i = 0; i <= geometry.slot_mask; i++) {
		struct table_view *element = stack_map_at(table, &geometry, i);
		struct stackid_element *other = stackid_map_at(kernel_table, &kernel_geometry, i);

		assert_int_equal(!other, !element);
		if (!element)
			continue;
		assert_int_equal(other->identity, element->identity);
		assert_int_equal(other->ref_count.counter, element->ref_count);
	}
}

static void assert_stack_map_counters_equal(void)
{
	struct table_stat stat;
	struct stackid_stat other;

	stack_table_stat(table, &geometry, &stat);
	stackid_table_stat(kernel_table, &kernel_geometry, &other);
	assert_int_equal(other.entries, stat.entries);
	assert_int_equal(other.refs, stat.refs);
	assert_int_equal(other.pool_used, stat.pool_used);
	assert_int_equal(other.wasted, stat.wasted);
	assert_int_equal(stackid_stat_refused(&other), table_stat_refused(&stat));
	assert_int_equal(stat.refs + table_stat_refused(&stat), CALLS);
	assert_true(table_stat_refused(&stat) > 0);
	assert_true(stat.refs > stat.entries);
}

TEST(both_give_the_same_ids, make_tables, free_tables)
{
	for (u32 i = 0; i < CALLS; i++) {
		u32 cpu = random_number() % CPUS;

		make_stack(random_number() % STACKS);
		stack_pack(&stack);
		stackid_pack(&kernel_stack);
		assert_int_equal(
			stackid_map_get_id(kernel_table, &kernel_geometry, cpu, &kernel_stack),
			stack_map_get_id(table, &geometry, cpu, &stack));
	}
	assert_stack_map_elements_equal();
	assert_stack_map_counters_equal();
}

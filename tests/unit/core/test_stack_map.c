/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stack_map.h"

#include <stdlib.h>
#include <string.h>

#include "stack_hash.h"
#include "stack_pack.h"
#include "unit_test.h"

#define BITS 10
#define MAX (1U << BITS)
#define GENERATION 7

static struct table_geometry geometry;
static void *table;
static struct stack stack;

static int empty_table(u32 pool_words)
{
	if (table_geometry_set(&geometry, BITS, 2, pool_words))
		return -1;
	table = calloc(1, geometry.bytes);
	if (!table)
		return -1;
	stack_table_init(table, &geometry, GENERATION, 99);
	return 0;
}

static int default_table(void **state)
{
	(void)state;
	return empty_table(0);
}

static int smallest_pool(void **state)
{
	(void)state;
	return empty_table(TABLE_POOL_WORDS_MIN);
}

static int table_free(void **state)
{
	(void)state;
	free(table);
	return 0;
}

/* Inserts stack number n, which has `depth` narrow frames that contain n. */
static s64 get_id(u32 n, u32 depth, u32 flags)
{
	stack.depth = depth;
	stack.flags = flags;
	for (u32 i = 0; i < depth; i++)
		stack.word[i] = FRAME_NARROW_TOP + n * 16 + i;
	stack_pack(&stack);
	return stack_map_get_id(table, &geometry, n % 2, &stack);
}

static struct table_stat stat_get(void)
{
	struct table_stat stat;

	stack_table_stat(table, &geometry, &stat);
	return stat;
}

static struct table_view *find(s64 id)
{
	struct table_view *element = NULL;

	assert_true(id > 0);
	assert_int_equal(stack_map_find(table, &geometry, id, &element), 0);
	return element;
}

TEST(the_same_stack_has_the_same_id, default_table, table_free)
{
	s64 id = get_id(1, 5, 0);

	assert_true(id > 0 && id <= 0xffffffffLL);
	assert_int_equal(get_id(1, 5, 0), id);
	assert_int_equal(find(id)->ref_count, 2);
	assert_int_equal(stat_get().inserts, 1);
	assert_int_equal(stat_get().refs, 2);
}

TEST(the_fill_is_that_of_what_was_handed_out, default_table, table_free)
{
	assert_int_equal(stack_table_fill_percent(table, &geometry), 0);
	for (u32 n = 0; n < MAX / 2; n++)
		assert_true(get_id(n, 5, 0) > 0);
	assert_int_equal(stack_table_fill_percent(table, &geometry), 50);
	for (u32 n = 0; n < 2 * MAX; n++)
		get_id(n, 5, 0);
	assert_int_equal(stack_table_fill_percent(table, &geometry), 100);
}

TEST(an_id_gives_the_stack_back, default_table, table_free)
{
	struct table_view *element = find(get_id(3, 5, STACK_TRUNCATED));

	assert_int_equal(IDENTITY_DEPTH(element->identity), 5);
	assert_int_equal(IDENTITY_FLAGS(element->identity), STACK_TRUNCATED | STACK_NARROW);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(stack_frame(element->word, STACK_NARROW, i),
				 FRAME_NARROW_TOP + 48 + i);
}

TEST(prefix_and_truncation_make_another_stack, default_table, table_free)
{
	s64 whole = get_id(1, 5, 0), cut = get_id(1, 5, STACK_TRUNCATED);
	s64 prefix = get_id(1, 4, 0), even = get_id(1, 6, 0);

	assert_true(whole > 0 && cut > 0 && prefix > 0 && even > 0);
	assert_true(whole != cut && whole != prefix && whole != even && prefix != even);
	assert_int_equal(stat_get().entries, 4);
}

/* An odd narrow stack ends with a zero half, like one more frame whose lower half is zero. */
TEST(an_odd_stack_is_not_its_zero_extended_one, default_table, table_free)
{
	s64 odd, even;

	stack.depth = 1;
	stack.flags = 0;
	stack.word[0] = 0xffffffff81000000;
	stack_pack(&stack);
	odd = stack_map_get_id(table, &geometry, 0, &stack);
	stack.depth = 2;
	stack.words = 1;
	even = stack_map_get_id(table, &geometry, 0, &stack);
	assert_true(odd > 0 && even > 0 && odd != even);
}

TEST(no_frames_are_refused_and_not_counted, default_table, table_free)
{
	struct table_stat stat;

	assert_int_equal(get_id(1, 0, 0), -EINVAL);
	stat = stat_get();
	assert_int_equal(stat.refs + stat.drops[TABLE_DROP_RESETTING], 0);
}

TEST(a_map_being_reset_refuses, default_table, table_free)
{
	((struct table_header *)table)->resetting = 1;
	assert_int_equal(get_id(1, 5, 0), -EINVAL);
	assert_int_equal(stat_get().drops[TABLE_DROP_RESETTING], 1);
	assert_int_equal(stat_get().entries, 0);
}

TEST(exactly_2_to_the_bits_stacks_fit, default_table, table_free)
{
	struct table_stat stat;

	for (u32 n = 0; n < MAX; n++)
		assert_true(get_id(n, 10, 0) > 0);
	for (u32 n = MAX; n < 2 * MAX; n++)
		assert_int_equal(get_id(n, 10, 0), -ENOSPC);
	for (u32 n = 0; n < MAX; n++)
		assert_int_equal(find(get_id(n, 10, 0))->ref_count, 2);
	stat = stat_get();
	assert_int_equal(stat.entries, MAX);
	assert_int_equal(stat.refs, 2 * MAX);
	assert_int_equal(stat.drops[TABLE_DROP_TABLE_FULL], MAX);
	assert_int_equal(stat.pool_used, MAX * (TABLE_ELEMENT_HEADER_WORDS + 5));
	assert_int_equal(stat.wasted, 0);
}

TEST(a_full_pool_still_takes_what_fits, smallest_pool, table_free)
{
	for (u32 n = 0; n < 3; n++)
		assert_true(get_id(n, 511, 0) > 0); /* 258 words each */
	assert_int_equal(get_id(4, 511, 0), -ENOSPC);
	assert_true(get_id(5, 10, 0) > 0);
	assert_int_equal(stat_get().drops[TABLE_DROP_POOL_FULL], 1);
	assert_int_equal(stat_get().pool_used, 3 * 258 + 7);
}

TEST(a_full_pool_is_not_written_to, smallest_pool, table_free)
{
	struct table_header *header = table;
	u64 allocated;

	header->allocated = TABLE_POOL_WORDS_MIN - 1;
	allocated = header->allocated;
	assert_int_equal(get_id(1, 10, 0), -ENOSPC);
	assert_int_equal(header->allocated, allocated);
}

TEST(sixty_four_foreign_neighbours_are_the_probe_limit, default_table, table_free)
{
	u64 *slots = (u64 *)((u8 *)table + geometry.slots_offset);

	for (u32 i = 0; i <= geometry.slot_mask; i++)
		slots[i] = 1; /* upper hash bits 0, which no stack has */
	assert_int_equal(get_id(1, 10, 0), -ENOSPC);
	assert_int_equal(stat_get().drops[TABLE_DROP_PROBE_LIMIT], 1);
}

TEST(a_spare_is_used_before_new_words, default_table, table_free)
{
	struct table_header *header = table;
	struct table_cpu *line = (struct table_cpu *)(header + 1);

	header->allocated = 20;
	line->spare = 20ULL << 32 | 1;
	assert_true(get_id(2, 10, 0) > 0);
	assert_int_equal(header->allocated, 1ULL << 32 | 20);
	assert_int_equal(line->spare, 0);
	assert_int_equal(stat_get().wasted, 20 - 7);
}

TEST(a_spare_too_small_stays, default_table, table_free)
{
	struct table_cpu *line = (struct table_cpu *)((struct table_header *)table + 1);

	line->spare = 6ULL << 32 | 900;
	assert_true(get_id(2, 10, 0) > 0);
	assert_int_equal(line->spare, 6ULL << 32 | 900);
}

TEST(ids_of_another_generation_are_stale, default_table, table_free)
{
	s64 id = get_id(1, 5, 0);
	struct table_view *element;

	memset(table, 0, geometry.bytes);
	stack_table_init(table, &geometry, GENERATION + 1, 99);
	assert_int_equal(get_id(1, 5, 0), id + MAX * 2);
	assert_int_equal(stack_map_find(table, &geometry, id, &element), -ESTALE);
}

TEST(ids_that_were_never_given_are_unknown, default_table, table_free)
{
	struct table_view *element;
	u32 id = get_id(1, 5, 0);

	assert_int_equal(stack_map_find(table, &geometry, id ^ 1, &element), -ENOENT);
	assert_int_equal(stack_map_find(table, &geometry, 0, &element), -ENOENT);
	assert_int_equal(stack_map_find(table, &geometry, 5, &element), -ENOENT);
}

TEST(an_element_outside_of_the_pool_is_not_followed, default_table, table_free)
{
	u64 *slots = (u64 *)((u8 *)table + geometry.slots_offset);

	slots[3] = geometry.pool_words + 1;
	assert_null(stack_map_at(table, &geometry, 3));
}

TEST(a_geometry_out_of_range_is_refused)
{
	struct table_geometry out = {.bits = 77};

	assert_int_equal(table_geometry_set(&out, TABLE_BITS_MIN - 1, 1, 0), -ERANGE);
	assert_int_equal(table_geometry_set(&out, TABLE_BITS_MAX + 1, 1, 0), -ERANGE);
	assert_int_equal(table_geometry_set(&out, BITS, 0, 0), -ERANGE);
	assert_int_equal(table_geometry_set(&out, BITS, 1, TABLE_POOL_WORDS_MIN - 1), -ERANGE);
	assert_int_equal(table_geometry_set(&out, BITS, 1, TABLE_POOL_WORDS_MAX + 1), -ERANGE);
	assert_int_equal(out.bits, 77);
	assert_int_equal(table_geometry_set(&out, TABLE_BITS_MAX, 1024, TABLE_POOL_WORDS_MAX), 0);
	assert_true(out.bytes < 1ULL << 29);
}

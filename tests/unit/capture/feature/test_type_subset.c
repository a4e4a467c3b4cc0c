/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The running kernel's types, all of them and the subset that an object names: equal names have
 * equal types in both. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/feature/kernel_btf.h"
#include "capture/feature/kernel_types.h"
#include "unit_test.h"

static struct kernel_btf_bytes raw;

static int open_raw(void **state)
{
	(void)state;
	if (kernel_btf_open(&raw))
		raw = (struct kernel_btf_bytes){};
	return 0;
}

static int close_raw(void **state)
{
	(void)state;
	if (raw.bytes)
		kernel_btf_close(&raw);
	return 0;
}

/* Makes types as an object names them. */
static struct btf *make_btf_of_names(const char *const names[], u32 count)
{
	struct btf *btf = btf__new_empty();
	u32 i;

	assert_non_null(btf);
	for (i = 0; i < count; i++)
		assert_true(btf__add_struct(btf, names[i], 0) > 0);
	return btf;
}

static struct btf *subset_of(const char *const names[], u32 count)
{
	struct btf *wanted = make_btf_of_names(names, count), *subset;
	size_t bytes;
	void *out;

	assert_int_equal(type_subset_make(raw.bytes, raw.count, wanted, &out, &bytes), 0);
	subset = btf__new(out, bytes);
	assert_non_null(subset);
	free(out);
	btf__free(wanted);
	return subset;
}

struct comparison {
	const struct btf *all, *some;
	bool *compared; /* true for compared types of the subset */
	u32 structs;
};

static void assert_same_btf_type(struct comparison *comparison, u32 in_all, u32 in_some);

static void assert_same_btf_members(struct comparison *comparison, const struct btf_type *a,
				    const struct btf_type *b)
{
	const struct btf_member *left = btf_members(a), *right = btf_members(b);
	u32 i;

	comparison->structs++;
	for (i = 0; i < btf_vlen(a); i++) {
		assert_string_equal(btf__name_by_offset(comparison->all, left[i].name_off),
				    btf__name_by_offset(comparison->some, right[i].name_off));
		assert_int_equal(left[i].offset, right[i].offset);
		assert_same_btf_type(comparison, left[i].type, right[i].type);
	}
}

/* Compares a type with all types inside it. */
static void assert_same_btf_type(struct comparison *comparison, u32 in_all, u32 in_some)
{
	const struct btf_type *a = btf__type_by_id(comparison->all, in_all);
	const struct btf_type *b = btf__type_by_id(comparison->some, in_some);

	if (comparison->compared[in_some])
		return;
	comparison->compared[in_some] = true;
	assert_string_equal(btf__name_by_offset(comparison->all, a->name_off),
			    btf__name_by_offset(comparison->some, b->name_off));
	assert_int_equal(a->info, b->info);
	assert_true(btf__resolve_size(comparison->all, in_all) ==
		    btf__resolve_size(comparison->some, in_some));
	if (btf_is_composite(a))
		assert_same_btf_members(comparison, a, b);
	else if (btf_is_array(a))
		assert_same_btf_type(comparison, btf_array(a)->type, btf_array(b)->type);
	else if (btf_is_mod(a) || btf_is_typedef(a))
		assert_same_btf_type(comparison, a->type, b->type);
}

static u32 compare_types_in_subset(const struct btf *all, const struct btf *some, const char *name)
{
	s32 in_all = btf__find_by_name_kind(all, name, BTF_KIND_STRUCT);
	s32 in_some = btf__find_by_name_kind(some, name, BTF_KIND_STRUCT);
	struct comparison comparison = {
		.all = all, .some = some, .compared = calloc(btf__type_cnt(some), sizeof(bool))};

	assert_true(in_all > 0 && in_some > 0);
	assert_same_btf_type(&comparison, in_all, in_some);
	free(comparison.compared);
	return comparison.structs;
}

TEST(subset_types_equal_the_kernels_types)
{
	static const char *const names[] = {"task_struct", "mm_struct___old", "vm_area_struct"};
	struct btf *all = kernel_btf_load(), *some;

	if (!raw.bytes || !all)
		skip();
	some = subset_of(names, 3);
	assert_true(compare_types_in_subset(all, some, "task_struct") > 20);
	assert_true(compare_types_in_subset(all, some, "mm_struct") > 5);
	assert_true(compare_types_in_subset(all, some, "vm_area_struct") > 0);
	assert_true(btf__type_cnt(some) < btf__type_cnt(all) / 10);
	btf__free(some);
	btf__free(all);
}

TEST(a_pointer_of_a_subset_points_to_void)
{
	static const char *const names[] = {"list_head"};
	struct btf *some;
	const struct btf_member *next;

	if (!raw.bytes)
		skip();
	some = subset_of(names, 1);
	next = btf_members(btf__type_by_id(some, 1));
	assert_true(btf_is_ptr(btf__type_by_id(some, next->type)));
	assert_int_equal(btf__type_by_id(some, next->type)->type, 0);
	assert_int_equal(btf__type_cnt(some), 3);
	btf__free(some);
}

TEST(unknown_names_are_left_out)
{
	static const char *const names[] = {"nobody_has_this", "nor___this"};
	struct btf *some;

	if (!raw.bytes)
		skip();
	some = subset_of(names, 2);
	assert_int_equal(btf__type_cnt(some), 1);
	btf__free(some);
}

/* Types that are cut anywhere, or have a changed byte in their header, are refused or taken, but
 * never read beyond their end. */
TEST(damaged_types_are_refused)
{
	static const char *const names[] = {"pair"};
	struct btf *wanted = make_btf_of_names(names, 1), *small = btf__new_empty();
	const void *bytes;
	size_t out_bytes;
	u32 count, i;
	void *out;

	btf__add_int(small, "int", 4, BTF_INT_SIGNED);
	btf__add_struct(small, "pair", 8);
	btf__add_field(small, "a", 1, 0, 0);
	btf__add_field(small, "b", 7, 32, 0);
	bytes = btf__raw_data(small, &count);
	assert_int_equal(type_subset_make(bytes, count, wanted, &out, &out_bytes), -EINVAL);
	for (i = 0; i < count; i++) {
		char *copy = memcpy(malloc(count), bytes, count);

		copy[i] ^= 0x55;
		if (!type_subset_make(copy, count, wanted, &out, &out_bytes))
			free(out);
		free(copy);
		copy = memcpy(malloc(i ?: 1), bytes, i);
		assert_int_equal(type_subset_make(copy, i, wanted, &out, &out_bytes), -EINVAL);
		free(copy);
	}
	btf__free(small);
	btf__free(wanted);
}

TEST_GROUP(open_raw, close_raw)

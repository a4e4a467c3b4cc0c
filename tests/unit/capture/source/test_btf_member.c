/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Members of structures, in types that are made here:
 *
 *   struct inner { int a; unsigned char flag : 1; union { u64 b; u16 c; }; };
 *   struct outer { u64 first; struct inner in; struct outer *next; const char *text; };
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "capture/source/btf_member.h"
#include "unit_test.h"

#define WORD_OFFSET 112

static struct btf *btf;
static int outer_pointer, outer, integer;
static struct source_number number;
static char reason[384];

static int make_types(void **state)
{
	int wide, narrow, inner, shared, text;

	(void)state;
	btf = btf__new_empty();
	assert_non_null(btf);
	integer = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	wide = btf__add_int(btf, "u64", 8, 0);
	narrow = btf__add_int(btf, "u16", 2, 0);
	shared = btf__add_union(btf, "", 8);
	btf__add_field(btf, "b", wide, 0, 0);
	btf__add_field(btf, "c", narrow, 0, 0);
	inner = btf__add_struct(btf, "inner", 16);
	btf__add_field(btf, "a", integer, 0, 0);
	btf__add_field(btf, "flag", integer, 32, 1);
	btf__add_field(btf, "", shared, 64, 0);
	text = btf__add_ptr(btf, narrow);
	outer_pointer = btf__add_ptr(btf, text + 2);
	outer = btf__add_struct(btf, "outer", 40);
	assert_int_equal(outer, text + 2);
	btf__add_field(btf, "first", wide, 0, 0);
	btf__add_field(btf, "in", inner, 64, 0);
	btf__add_field(btf, "next", outer_pointer, 192, 0);
	btf__add_field(btf, "text", text, 256, 0);
	return 0;
}

static int free_types(void **state)
{
	(void)state;
	btf__free(btf);
	return 0;
}

TEST_GROUP(make_types, free_types)

static int follow_member_path(int type, const char *path)
{
	number = (struct source_number){.number.offset = WORD_OFFSET};
	reason[0] = '\0';
	return btf_member_follow(btf, type, path, &number, reason, sizeof(reason));
}

static void assert_number(const char *path, u32 steps, s32 first, s32 second, u32 bytes)
{
	assert_int_equal(follow_member_path(outer_pointer, path), 0);
	assert_int_equal(number.number.offset, WORD_OFFSET);
	assert_int_equal(number.number.place, NUMBER_IN_KERNEL_MEMORY);
	assert_int_equal(number.number.steps, steps);
	assert_int_equal(number.number.displacement[0], first);
	assert_int_equal(number.number.displacement[1], second);
	assert_int_equal(number.number.bytes, bytes);
}

TEST(a_member_lies_behind_a_pointer)
{
	assert_number("->first", 1, 0, 0, 8);
	assert_number("->in.a", 1, 8, 0, 4);
	assert_true(number.number.is_signed);
}

TEST(members_of_a_structure_without_a_name_count_as_those_around_it)
{
	assert_number("->in.c", 1, 16, 0, 2);
	assert_false(number.number.is_signed);
	assert_number("->in.b", 1, 16, 0, 8);
}

TEST(pointers_are_followed_in_turn)
{
	assert_number("->next->in.a", 2, 24, 8, 4);
	assert_int_equal(follow_member_path(outer_pointer, "->next->next->next->first"), 0);
	assert_int_equal(number.number.steps, 4);
	assert_int_equal(number.number.displacement[2], 24);
	assert_int_equal(number.number.displacement[3], 0);
}

TEST(a_pointer_at_the_end_is_an_address)
{
	assert_number("->text", 1, 32, 0, 7);
	assert_true(number.is_address);
}

static void assert_refused(int type, const char *path, int code, const char *text)
{
	assert_int_equal(follow_member_path(type, path), -code);
	assert_string_equal(reason, text);
	assert_int_equal(number.number.steps, 0);
}

TEST(unknown_members_are_refused)
{
	assert_refused(outer_pointer, "->last", ENOENT,
		       "outer has no member last; it has first, in, next, text");
	assert_refused(outer_pointer, "->in.d", ENOENT,
		       "inner has no member d; it has a, flag, b, c");
	assert_refused(outer_pointer, "->in", EINVAL, "it is no number");
	assert_refused(outer_pointer, "->in.flag", EOPNOTSUPP, "flag is a member of some bits");
	assert_refused(outer_pointer, "->first->x", EINVAL, "no pointer stands before ->");
	assert_refused(outer_pointer, "->first.x", EINVAL, "no structure stands before x");
	assert_refused(outer_pointer, ".first", EINVAL, "-> or . is expected at .first");
	assert_refused(integer, "->first", EINVAL, "no pointer stands before ->");
	assert_refused(outer, "->first", EINVAL, "no pointer stands before ->");
	assert_refused(outer_pointer, "->next->next->next->next->first", E2BIG,
		       "more than 4 pointers");
	assert_refused(outer_pointer, "->", ENOENT,
		       "outer has no member ; it has first, in, next, text");
}

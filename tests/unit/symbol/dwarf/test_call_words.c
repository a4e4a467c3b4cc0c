/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers and stack bytes of arguments, by both conventions whatever this machine has. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "symbol/dwarf/call_words.h"
#include "unit_test.h"

static const struct call_shape integer = {.bytes = 4, .align = 4, .words = {CALL_INTEGER}};
static const struct call_shape number = {
	.bytes = 8, .align = 8, .words = {CALL_FLOAT}, .floats = 1};
static const struct call_shape wide = {
	.bytes = 16, .align = 16, .words = {CALL_INTEGER, CALL_INTEGER}};
static const struct call_shape pair = {
	.bytes = 16, .align = 8, .words = {CALL_INTEGER, CALL_INTEGER}, .is_composite = true};
static const struct call_shape mixed = {
	.bytes = 16, .align = 8, .words = {CALL_FLOAT, CALL_INTEGER}, .is_composite = true};
static const struct call_shape floats = {.bytes = 12,
					 .align = 4,
					 .words = {CALL_FLOAT, CALL_FLOAT},
					 .floats = 3,
					 .is_composite = true};
static const struct call_shape large = {.bytes = 24, .align = 8, .is_composite = true};
static const struct call_shape class = {.bytes = 4,
					.align = 4,
					.words = {CALL_INTEGER},
					.by_reference = true,
					.is_composite = true};
static const struct call_shape long_double = {.bytes = 16, .align = 16, .in_memory = true};
static const struct call_shape empty = {.bytes = 1, .align = 1, .is_composite = true};

/* The places as text: a number for each register, "-" for none, "sp+N" for the stack, "*" before
 * an address. */
static char places[256];

static void place_all(enum call_convention convention, u32 count,
		      const struct call_shape *const *shapes)
{
	struct call_state state = {};
	char *at = places;

	for (u32 i = 0; i < count; i++) {
		struct call_place place = call_next_argument_place(convention, shapes[i], &state);

		at += sprintf(at, "%s%s", i ? " " : "", place.is_address ? "*" : "");
		if (place.stack >= 0)
			at += sprintf(at, "sp+%d", (int)place.stack);
		else if (place.registers[0] < 0)
			at += sprintf(at, "-");
		else
			at += sprintf(at, "%d", place.registers[0]);
		if (place.registers[1] >= 0)
			at += sprintf(at, ",%d", place.registers[1]);
	}
}

#define PLACES(convention, expected, ...)                                                          \
	do {                                                                                       \
		const struct call_shape *const shapes[] = {__VA_ARGS__};                           \
                                                                                                   \
		place_all(convention, sizeof(shapes) / sizeof(*shapes), shapes);                   \
		assert_string_equal(places, expected);                                             \
	} while (0)

TEST(integers_take_registers_and_then_the_stack)
{
	PLACES(CALL_SYSV, "0 1 2 3 4 5 sp+0 sp+8", &integer, &integer, &integer, &integer, &integer,
	       &integer, &integer, &integer);
	PLACES(CALL_AAPCS64, "0 1 2 3 4 5 6 7 sp+0", &integer, &integer, &integer, &integer,
	       &integer, &integer, &integer, &integer, &integer);
}

TEST(floats_take_no_register_of_integers)
{
	PLACES(CALL_SYSV, "- 0 - 1", &number, &integer, &floats, &integer);
	PLACES(CALL_AAPCS64, "- 0 - 1", &number, &integer, &floats, &integer);
}

TEST(floats_after_the_eighth_take_stack)
{
	PLACES(CALL_SYSV, "- - - - - - - - sp+0 0", &number, &number, &number, &number, &number,
	       &number, &number, &number, &number, &integer);
	PLACES(CALL_AAPCS64, "- - - - - - sp+0 sp+16 0", &number, &number, &number, &number,
	       &number, &number, &floats, &number, &integer);
}

TEST(structures_take_their_words)
{
	PLACES(CALL_SYSV, "0,1 -,2 3 sp+0 4", &pair, &mixed, &integer, &large, &integer);
	PLACES(CALL_AAPCS64, "0,1 2,3 4 *5 6", &pair, &mixed, &integer, &large, &integer);
}

TEST(a_structure_is_in_registers_as_a_whole_or_not)
{
	PLACES(CALL_SYSV, "0 1 2 3 4 sp+0 5 sp+16", &integer, &integer, &integer, &integer,
	       &integer, &pair, &integer, &integer);
	PLACES(CALL_AAPCS64, "0,1 2,3 4,5 6 sp+0 sp+16", &pair, &pair, &pair, &integer, &pair,
	       &integer);
}

TEST(a_wide_integer_is_aligned)
{
	PLACES(CALL_SYSV, "0 1,2 3,4 sp+0 5 sp+16 sp+32", &integer, &wide, &wide, &wide, &integer,
	       &integer, &wide);
	PLACES(CALL_AAPCS64, "0 2,3 4", &integer, &wide, &integer);
}

TEST(a_class_with_a_destructor_is_an_address)
{
	PLACES(CALL_SYSV, "*0 1", &class, &integer);
	PLACES(CALL_AAPCS64, "*0 1", &class, &integer);
	PLACES(CALL_SYSV, "0,1 2,3 4,5 *sp+0", &pair, &pair, &pair, &class);
}

TEST(long_double_and_empty_classes)
{
	PLACES(CALL_SYSV, "sp+0 0 - 1 sp+16 sp+48", &long_double, &integer, &empty, &integer,
	       &large, &long_double);
}

TEST(a_large_result_is_an_argument_of_x86_64)
{
	assert_true(call_passes_address_of_result(CALL_SYSV, &large));
	assert_true(call_passes_address_of_result(CALL_SYSV, &class));
	assert_false(call_passes_address_of_result(CALL_SYSV, &pair));
	assert_false(call_passes_address_of_result(CALL_SYSV, &wide));
	assert_false(call_passes_address_of_result(CALL_SYSV, &long_double));
	assert_false(call_passes_address_of_result(CALL_AAPCS64, &large));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "call_words.h"

#define WORD 8
#define SYSV_INTEGERS 6
#define AAPCS64_INTEGERS 8
#define FLOATS 8
#define COMPOSITE_MAX 16 /* the most bytes of a structure that is passed in registers */

static u64 round_up(u64 number, u64 unit)
{
	return (number + unit - 1) / unit * unit;
}

static struct call_place assign_stack_slot(const struct call_shape *shape, struct call_state *state)
{
	struct call_place place = {.registers = {-1, -1}};

	state->stack = round_up(state->stack, shape->align > WORD ? 2 * WORD : WORD);
	place.stack = (s64)state->stack;
	state->stack += round_up(shape->bytes, WORD);
	return place;
}

static struct call_place assign_place_of_reference(enum call_convention convention,
						   struct call_state *state)
{
	static const struct call_shape address = {
		.bytes = WORD, .align = WORD, .words = {CALL_INTEGER}};
	struct call_place place = call_next_argument_place(convention, &address, state);

	place.is_address = true;
	return place;
}

static struct call_place sysv_next_place(const struct call_shape *shape, struct call_state *state)
{
	struct call_place place = {.registers = {-1, -1}, .stack = -1};
	u32 integers = 0, floats = 0;

	if (shape->in_memory || (shape->is_composite && shape->bytes > COMPOSITE_MAX))
		return assign_stack_slot(shape, state);
	for (u32 i = 0; i < CALL_WORDS; i++) {
		integers += shape->words[i] == CALL_INTEGER;
		floats += shape->words[i] == CALL_FLOAT;
	}
	if (state->integers + integers > SYSV_INTEGERS || state->floats + floats > FLOATS)
		return assign_stack_slot(shape, state);
	state->floats += floats;
	for (u32 i = 0; i < CALL_WORDS; i++)
		if (shape->words[i] == CALL_INTEGER)
			place.registers[i] = (s32)state->integers++;
	return place;
}

/* Gives the place of the next argument by AAPCS64. An argument that no longer fits into registers
 * ends the use of registers for all later arguments of its kind (integer or float).
 */
static struct call_place aapcs64_next_place(const struct call_shape *shape,
					    struct call_state *state)
{
	struct call_place place = {.registers = {-1, -1}, .stack = -1};
	u32 words = (u32)(round_up(shape->bytes, WORD) / WORD);

	if (shape->floats) {
		if (state->floats + shape->floats <= FLOATS) {
			state->floats += shape->floats;
			return place;
		}
		state->floats = FLOATS;
		return assign_stack_slot(shape, state);
	}
	if (shape->is_composite && shape->bytes > COMPOSITE_MAX)
		return assign_place_of_reference(CALL_AAPCS64, state);
	if (shape->align > WORD)
		state->integers = (u32)round_up(state->integers, 2);
	if (state->integers + words > AAPCS64_INTEGERS) {
		state->integers = AAPCS64_INTEGERS;
		return assign_stack_slot(shape, state);
	}
	for (u32 i = 0; i < words && i < CALL_WORDS; i++)
		place.registers[i] = (s32)state->integers++;
	return place;
}

/* AAPCS64 passes the address of the result in x8, which no argument uses. */
bool call_passes_address_of_result(enum call_convention convention, const struct call_shape *result)
{
	if (convention != CALL_SYSV)
		return false;
	return result->by_reference ||
	       (result->is_composite && (result->in_memory || result->bytes > COMPOSITE_MAX));
}

struct call_place call_next_argument_place(enum call_convention convention,
					   const struct call_shape *shape, struct call_state *state)
{
	if (shape->by_reference)
		return assign_place_of_reference(convention, state);
	return convention == CALL_SYSV ? sysv_next_place(shape, state)
				       : aapcs64_next_place(shape, state);
}
